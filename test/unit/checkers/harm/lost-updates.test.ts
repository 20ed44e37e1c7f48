import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lostUpdates } from '../../../../checkers/harm/lost-updates.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { cases, drawn } from '../../../support/drawn.js';
import { acquire, checkInput, KEY, ns, read, stall, type Told, write } from '../literal.js';

const judged = (told: Told[][], model?: LockModel) => lostUpdates.check(checkInput(told.flat(), model));

/** `client` holds, reads `found` and writes one more; the version is the number of the write, as the value is. */
const turn = (
  client: string,
  at: number,
  found: { value: number; version: number },
  version: number,
  type: 'ok' | 'fail' | 'info' = 'ok',
  wroteAt = at + 0.2,
): Told[] => [
  ...acquire(client, at * 100, { at }),
  ...read(client, at * 100 + 1, { at: at + 0.1, hold: at * 100, ...found }),
  ...write(client, at * 100 + 2, {
    at: wroteAt,
    hold: at * 100,
    value: found.value + 1,
    type,
    ...(type === 'ok' && { version }),
  }),
];
const look = (client: string, at: number, value: number, version: number): Told[] => [
  ...acquire(client, at * 100, { at }),
  ...read(client, at * 100 + 1, { at: at + 0.1, hold: at * 100, value, version }),
];
const START = { value: 0, version: 0 };

it('rejects two acknowledged writes that stem from the same value', () => {
  const result = judged([turn('c1', 1, START, 1, 'ok', 3), turn('c2', 2, START, 2, 'ok', 4)]);
  expect(result).toMatchObject({
    verdict: 'invalid',
    stats: { updates: 2, lostUpdates: 1, lostUpdatesAtLeast: 1 },
    violations: [
      {
        class: 'harm',
        kind: 'lost-update',
        key: KEY,
        fromNs: ns(3),
        untilNs: ns(4.001),
        // c2's read, c1's write, c2's write.
        evidence: [6, 7, 8, 9, 10, 11],
        cause: { name: 'unexplained', chain: [{ history: 7 }, { history: 9 }, { history: 11 }] },
      },
    ],
  });
  expect(result.violations[0]!.proof).toBe(
    "c1's write of 1 to lock:0 (version 1) was acknowledged at 3.001 s; c2's write of 1 to lock:0 (version 2) came after it, but had last seen c2's read of 0 from lock:0 (version 0): the update is lost.",
  );
  expect(result.violations[0]!.holds.map(({ client }) => client)).toEqual(['c1', 'c2']);
});

it('rejects every update that a late write buried, each once, and names the first that buried it', () => {
  const result = judged([
    turn('c1', 1, START, 4, 'ok', 10),
    turn('c2', 2, START, 1),
    turn('c3', 3, { value: 1, version: 1 }, 2),
    turn('c2', 4, { value: 2, version: 2 }, 3),
    turn('c4', 1.5, START, 5, 'ok', 11),
  ]);
  const lines = (client: string) => result.violations.filter(({ proof }) => proof.includes(`${client}'s write`));
  expect(result.stats).toMatchObject({ updates: 5, lostUpdates: 4 });
  expect(lines('c1')).toHaveLength(4);
  expect(lines('c4')).toHaveLength(1);
});

it('rejects an acknowledged write that a later read does not find, whichever client overwrote it', () => {
  const story = (found: number, version: number) =>
    judged([
      turn('c1', 1, START, 0, 'info', 2.8),
      turn('c2', 2, START, 1),
      turn('c3', 2.5, { value: 1, version: 1 }, 2),
      look('c4', 4, found, version),
    ]);
  expect(story(1, 3)).toMatchObject({
    verdict: 'invalid',
    stats: { updates: 2, lostUpdates: 1 },
    violations: [
      {
        kind: 'lost-update',
        proof:
          "c3's write of 2 to lock:0 (version 2) was acknowledged at 2.701 s; c4's read of 1 from lock:0 (version 3), begun at 4.100 s, found less: the update is lost.",
      },
    ],
  });
  expect(story(2, 2)).toMatchObject({ verdict: 'valid', violations: [] });
});

it('a read that began before the write was acknowledged need not find it', () => {
  const story = (lookedAt: number, found: number, version: number) =>
    judged([turn('c2', 2, { value: 5, version: 5 }, 6, 'ok', 3), look('c3', lookedAt, found, version)]);
  // It reads from a tenth of a second later on; the write is acknowledged at 3.001 s.
  expect(story(2.9005, 5, 5)).toMatchObject({ verdict: 'valid', notes: [] });
  expect(story(2.901, 1, 7)).toMatchObject({ verdict: 'valid', notes: [] });
  expect(story(2.901000001, 1, 7)).toMatchObject({ verdict: 'invalid', stats: { lostUpdates: 1 } });
});

it('accepts increments one after the other, and unknown ones that were taken or not', () => {
  expect(judged([turn('c1', 1, START, 1), turn('c2', 2, { value: 1, version: 1 }, 2)])).toMatchObject({
    verdict: 'valid',
    notes: [],
    stats: { updates: 2, lostUpdates: 0, lostUpdatesAtLeast: 0 },
  });
  const after = (taken: 0 | 1) =>
    judged([
      turn('c1', 1, START, 0, 'info'),
      turn('c2', 2, { value: taken, version: taken }, taken + 1),
      look('c3', 3, taken + 1, taken + 1),
    ]);
  expect(after(0)).toMatchObject({ verdict: 'valid', notes: [] });
  expect(after(1)).toMatchObject({ verdict: 'valid', notes: [] });
});

it('a write that was refused is no update, and loses none', () => {
  expect(judged([turn('c1', 1, START, 0, 'fail', 3), turn('c2', 2, START, 1)])).toMatchObject({
    verdict: 'valid',
    stats: { updates: 1 },
  });
});

it('counts all missing updates where it cannot say which they are', () => {
  // Without versions it is unknown what was overwritten; three were acknowledged, and one is found.
  const blind = (client: string, at: number, found: number, wroteAt = at + 0.2) =>
    turn(client, at, { value: found, version: Number.NaN }, Number.NaN, 'ok', wroteAt);
  const result = judged([
    look('c9', 0, 0, 0),
    blind('c1', 1, 0, 5),
    blind('c2', 2, 0, 5.1),
    blind('c3', 3, 0, 5.2),
    look('c4', 6, 1, 3),
  ]);
  expect(result).toMatchObject({
    verdict: 'invalid',
    stats: { updates: 3, lostUpdates: 0, lostUpdatesAtLeast: 2 },
    violations: [{ kind: 'missing-updates', class: 'harm', key: KEY, fromNs: ns(6.1), evidence: [24, 25] }],
  });
  expect(result.violations[0]!.proof).toBe(
    "3 increments had been acknowledged before c4's read of 1 from lock:0 (version 3) began at 6.100 s; beginning with 0 it should have found 3 or more: at least 2 of them are lost.",
  );
});

it('cannot tell whether the last update stands after a write that may have buried it', () => {
  const story = (later: Told[]) => judged([turn('c1', 1, START, 0, 'info', 5), turn('c2', 2, START, 1), later]);
  expect(story([])).toMatchObject({
    verdict: 'unknown',
    notes: [
      expect.stringMatching(
        /^whether the last update of lock:0 stands cannot be determined: no client read it after c1's/,
      ),
    ],
  });
  expect(story(look('c3', 6, 1, 1))).toMatchObject({ verdict: 'valid', notes: [] });
});

it('says that more may be lost where one of two keys cannot be told', () => {
  const lost = [turn('c1', 1, START, 2, 'ok', 9), turn('c2', 7, START, 1)];
  expect(judged(lost)).toMatchObject({ verdict: 'invalid' });
  expect(judged(lost).open).toBeUndefined();
  const unseen = write('c3', 3, { at: 12, hold: 1, key: 'lock:1', value: 1, version: 1 });
  const told = [...acquire('c3', 1, { at: 11, key: 'lock:1' }), ...unseen];
  expect(judged([...lost, told])).toMatchObject({ verdict: 'invalid', open: ['harm'] });
});

it('cannot tell for what is no counter, for a resource that contradicts itself, and for no accesses at all', () => {
  const notOneMore = [
    ...acquire('c1', 1, { at: 1 }),
    ...read('c1', 2, { at: 2, hold: 1, ...START }),
    ...write('c1', 3, { at: 3, hold: 1, value: 7, version: 1 }),
  ];
  expect(judged([notOneMore])).toMatchObject({
    verdict: 'unknown',
    notes: ['whether lock:0 lost updates cannot be determined: c1 wrote 7, not one more than it had seen (history 4)'],
  });
  const unseen = [...acquire('c1', 1, { at: 1 }), ...write('c1', 3, { at: 3, hold: 1, value: 1, version: 1 })];
  expect(judged([unseen])).toMatchObject({ verdict: 'unknown', notes: [expect.stringMatching(/before it had seen/)] });
  expect(judged([turn('c1', 1, START, 1, 'ok', 3), turn('c2', 2, START, 1, 'ok', 4)])).toMatchObject({
    verdict: 'unknown',
    notes: [expect.stringMatching(/two writes got version 1/)],
  });
  expect(judged([turn('c1', 1, START, 1), look('c2', 2, 9, 1)])).toMatchObject({
    verdict: 'unknown',
    notes: [expect.stringMatching(/version 1 .* was found with two values/)],
  });
  expect(judged([acquire('c1', 1, { at: 1 })]).verdict).toBe('unknown');
  expect(judged([turn('c1', 1, START, 1)], { kind: 'semaphore', permits: 2 }).verdict).toBe('unknown');
});

it('cannot tell where the machine may have caused it', () => {
  const lost = [turn('c1', 1, START, 2, 'ok', 9), turn('c2', 7, START, 1)];
  expect(judged([...lost])).toMatchObject({ verdict: 'invalid' });
  expect(judged([...lost, [stall(5, 5_000)]])).toMatchObject({
    verdict: 'unknown',
    stats: { lostUpdates: 0, lostUpdatesInDoubt: 1 },
    notes: [expect.stringMatching(/need not be the lock's doing: .* But the harness stood still/)],
  });
});

it('nothing is concluded where a client added to less than it knew, under a nested hold', () => {
  const told = [
    ...acquire('c1', 1, { at: 1 }),
    ...read('c1', 2, { at: 1.1, hold: 1, ...START }),
    ...turn('c1', 2, START, 1),
    ...write('c1', 3, { at: 4, hold: 1, value: 1, version: 2 }),
  ];
  expect(judged([told], { kind: 'reentrant', depth: 2 })).toMatchObject({ verdict: 'unknown', violations: [] });
});

it('a client that writes twice after one read loses none of its own updates', () => {
  const told = [
    ...acquire('c1', 1, { at: 1 }),
    ...read('c1', 2, { at: 2, hold: 1, ...START }),
    ...write('c1', 3, { at: 3, hold: 1, value: 1, version: 1 }),
    ...write('c1', 4, { at: 4, hold: 1, value: 2, version: 2 }),
  ];
  expect(judged([told])).toMatchObject({ verdict: 'valid', stats: { updates: 2 } });
});

/** Clients that read and write a true register at random instants: what is lost is known from its own lineage. */
const schedule = fc.array(
  fc.record({
    client: fc.integer({ min: 0, max: 3 }),
    kind: fc.constantFrom('ok', 'ok', 'ok', 'fail', 'info-taken', 'info-not'),
  }),
  { minLength: 2, maxLength: 14 },
);

it('in random histories of a true register finds exactly the acknowledged updates that later values lack', () => {
  const seen = { invalid: 0, valid: 0, unknown: 0 };
  fc.assert(
    fc.property(schedule, (steps) => {
      const told: Told[] = [];
      /** The updates that the register's value is made of. */
      let state = { value: 0, version: 0, contains: new Set<number>() };
      const acknowledged = new Set<number>();
      const overwritten = new Set<number>();
      const everLost = new Set<number>();
      const open = new Map<string, { state: typeof state; hold: number }>();
      let [id, generation] = [0, 0];
      steps.forEach(({ client, kind }, n) => {
        const at = n + 1;
        const name = `c${client}.${generation}`;
        const mine = open.get(name);
        if (!mine) {
          open.set(name, { state, hold: id });
          told.push(...acquire(name, id, { at }));
          told.push(...read(name, id + 1, { at: at + 0.1, hold: id, value: state.value, version: state.version }));
          id += 2;
          return;
        }
        open.delete(name);
        const value = mine.state.value + 1;
        const type = kind.startsWith('info') ? 'info' : (kind as 'ok' | 'fail');
        const taken = kind === 'ok' || kind === 'info-taken';
        if (taken) {
          const contains = new Set([...mine.state.contains, id]);
          for (const one of acknowledged) {
            if (contains.has(one)) continue;
            everLost.add(one);
            if (type === 'ok' && state.contains.has(one)) overwritten.add(one);
          }
          state = { value, version: state.version + 1, contains };
          if (type === 'ok') acknowledged.add(id);
        }
        const version = type === 'ok' ? { version: state.version } : {};
        told.push(...write(name, id, { at, hold: mine.hold, value, type, ...version }));
        id++;
        if (type === 'info') generation++;
      });
      told.push(...look('last', steps.length + 2, state.value, state.version));
      const result = lostUpdates.check(checkInput(told));
      seen[result.verdict]++;
      if (acknowledged.size === 0) return;
      // Sound: whatever is accused was lost at some time. Complete: what acknowledged writes buried is all found.
      expect(result.stats.lostUpdates).toBeLessThanOrEqual(everLost.size);
      expect(result.stats.lostUpdates).toBeGreaterThanOrEqual(overwritten.size);
      expect(result.verdict === 'invalid').toBe(result.violations.length > 0);
      expect(result.stats.lostUpdatesAtLeast).toBeGreaterThanOrEqual(acknowledged.size - state.value);
      expect(result.stats.lostUpdatesAtLeast).toBeLessThanOrEqual(everLost.size);
      if (everLost.size === 0) expect(result.verdict).toBe('valid');
    }),
    drawn(1_000),
  );
  expect(Math.min(seen.invalid, seen.valid)).toBeGreaterThan(cases(100));
});
