import fc from 'fast-check';
import { expect, it } from 'vitest';
import { laterAccesses } from '../../../../checkers/harm/later-access.js';
import { holdsOf } from '../../../../harness/record/facts/holds.js';
import { cases, drawn } from '../../../support/drawn.js';
import { acquire, checkInput, read, type Told, write } from '../literal.js';

interface Hold {
  client: string;
  id: number;
  at: number;
  grantSent: number;
  until: number;
}

interface Access {
  op: 'read' | 'write';
  hold: Hold;
  id: number;
  at: number;
  until: number;
  type: 'ok' | 'fail' | 'info';
  /** When the resource took it, somewhere between the two. */
  takenAt: number;
  version?: number;
}

const small = (max: number) => fc.integer({ min: 0, max });

const holdsArbitrary = fc
  .array(fc.record({ client: small(2), at: small(8), toSend: small(3), toHave: small(3) }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((specs) =>
    specs.map(({ client, at, toSend, toHave }, id): Hold => {
      const grantSent = at + toSend;
      return { client: `c${client}`, id, at, grantSent, until: grantSent + toHave };
    }),
  );

const accessesArbitrary = fc.array(
  fc.record({
    op: fc.constantFrom('read' as const, 'write' as const, 'write' as const),
    of: small(5),
    after: small(12),
    long: small(6),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
    type: fc.constantFrom('ok' as const, 'ok' as const, 'ok' as const, 'ok' as const, 'fail' as const, 'info' as const),
    counted: fc.boolean(),
  }),
  { minLength: 4, maxLength: 12 },
);

/** What versions a resource tells: all, some or none of them, or such as cannot be its order. */
const versionsArbitrary = fc.constantFrom('all' as const, 'some' as const, 'none' as const, 'wrong' as const);

/** Holds of one key, and what a resource makes of the accesses under them, each of which it takes at one instant. */
const storyArbitrary = fc
  .tuple(holdsArbitrary, accessesArbitrary, versionsArbitrary)
  .map(([holds, specs, versions]) => {
    const accesses = specs.map(({ of, after, long, part, counted, ...spec }, n) => {
      const hold = holds[of % holds.length]!;
      const at = hold.until + after;
      const access: Access = { ...spec, hold, id: 100 + n, at, until: at + long, takenAt: at + part * long };
      return { access, told: versions === 'all' || versions === 'wrong' || (versions === 'some' && counted) };
    });
    const taken = accesses.filter(({ access }) => access.type === 'ok');
    taken.sort((a, b) => a.access.takenAt - b.access.takenAt || a.access.id - b.access.id);
    let version = 0;
    for (const { access, told } of taken) {
      if (access.op === 'write') version++;
      // One that loses count gives numbers again.
      if (told) access.version = versions === 'wrong' ? version % 2 : version;
    }
    return {
      versions,
      holds,
      accesses: accesses.map(({ access }) => access),
      taken: taken.map(({ access }) => access),
    };
  });

function inputOf({ holds, accesses }: { holds: Hold[]; accesses: Access[] }) {
  const told: Told[][] = [
    ...holds.map(({ client, id, ...times }) => acquire(client, id, times)),
    ...accesses.map(({ op, hold, id, at, until, type, version }) =>
      (op === 'read' ? read : write)(hold.client, id, {
        ...{ at, until, type, hold: hold.id },
        ...(version !== undefined && { version }),
      }),
    ),
  ];
  return checkInput(told.flat());
}

/** Whether `a` certainly came before the write `b`. */
function certainlyBefore(a: Access, b: Access, ordered: boolean): boolean {
  if (ordered && a.version !== undefined && b.version !== undefined) return a.version < b.version;
  return a.until < b.at;
}

it('finds what the definition, tried on every pair, finds; and what it finds did come before', () => {
  const seen = { some: 0, none: 0, disordered: 0 };
  fc.assert(
    fc.property(storyArbitrary, (story) => {
      const { history, model } = inputOf(story);
      const { before, disorders } = laterAccesses(history, model);
      const { operations: ops } = history;
      if (disorders.length > 0) seen.disordered++;
      const accessIn = (row: number) => story.accesses.find(({ id }) => id === ops.id[row]);
      const rowOf = (access: Access) => ops.id.indexOf(access.id);
      for (const one of story.accesses) {
        const found = before[rowOf(one)]!;
        const later =
          one.op === 'read' || one.type !== 'ok'
            ? []
            : story.taken.filter(
                (other) =>
                  other.hold.client !== one.hold.client &&
                  other.hold.grantSent > one.hold.until &&
                  certainlyBefore(other, one, disorders.length === 0),
              );
        if (later.length === 0) {
          seen.none++;
          expect(found).toBe(-1);
          continue;
        }
        seen.some++;
        const chosen = accessIn(found)!;
        expect(later).toContain(chosen);
        expect(chosen.hold.until).toBe(Math.min(...later.map(({ hold }) => hold.until)));
        if (story.versions !== 'wrong') expect(story.taken.indexOf(chosen)).toBeLessThan(story.taken.indexOf(one));
      }
    }),
    drawn(1_000),
  );
  expect(seen.some).toBeGreaterThan(cases(200));
  expect(seen.none).toBeGreaterThan(cases(200));
  expect(seen.disordered).toBeGreaterThan(cases(20));
});

it('keeps keys apart, and says nothing about readers or permits', () => {
  const told = (key: string, mode?: 'read' | 'write') =>
    [
      acquire('c1', 1, { at: 1, ...(mode && { mode }) }),
      acquire('c2', 1, { at: 7, key }),
      read('c2', 2, { at: 8, hold: 1, key }),
      write('c1', 2, { at: 9, hold: 1 }),
    ].flat();
  const found = (...of: Parameters<typeof told>) => {
    const { history } = checkInput(told(...of));
    expect(holdsOf(history).count).toBe(2);
    return [...laterAccesses(history, { kind: 'read-write' }).before];
  };
  expect(found('lock:0')).toEqual([-1, -1, -1, 2]);
  expect(found('lock:0', 'write')).toEqual([-1, -1, -1, 2]);
  expect(found('lock:0', 'read')).toEqual([-1, -1, -1, -1]);
  expect(found('lock:1')).toEqual([-1, -1, -1, -1]);
  const { history } = checkInput(told('lock:0'));
  expect([...laterAccesses(history, { kind: 'semaphore', permits: 2 }).before]).toEqual([-1, -1, -1, -1]);
});
