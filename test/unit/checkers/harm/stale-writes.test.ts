import { expect, it } from 'vitest';
import { staleWrites } from '../../../../checkers/harm/stale-writes.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import {
  acquire,
  checkInput,
  clientUpWithoutLeases,
  fault,
  KEY,
  ns,
  read,
  release,
  stall,
  type Told,
  write,
} from '../literal.js';

const judged = (told: Told[][], model?: LockModel) => staleWrites.check(checkInput(told.flat(), model));

/** c1 has the key from 1 s with a lease until 6 s; c2 from 7 s. */
const holders = [acquire('c1', 1, { at: 1 }), acquire('c2', 1, { at: 7 })];
/** c2 reads what the resource had before anybody wrote. */
const looked = read('c2', 2, { at: 7.5, hold: 1, value: 0, version: 0 });

it('rejects a write that began after the next holder had read, its own lease being over', () => {
  const result = judged([...holders, looked, write('c1', 2, { at: 8, hold: 1, value: 1, version: 1 })]);
  expect(result).toMatchObject({
    verdict: 'invalid',
    stats: { writesTaken: 1, staleWrites: 1 },
    violations: [
      {
        class: 'harm',
        kind: 'stale-write',
        key: KEY,
        fromNs: ns(7.001),
        untilNs: ns(8.001),
        evidence: [0, 1, 2, 3, 4, 5, 6, 7],
        cause: { name: 'client-slow' },
      },
    ],
  });
  expect(result.violations[0]!.proof).toBe(
    "c1's write (version 1) to lock:0, begun at 8.000 s and answered at 8.001 s, came after c2's read (version 0), which was answered at 7.501 s; c2 had been granted the key at 7.001 s, later than c1 (at 1.001 s); c1's lease had ended at 6.000 s when it began to write.",
  );
  expect(result.violations[0]!.holds.map(({ client }) => client)).toEqual(['c1', 'c2']);
});

it('says of a lock without leases that exclusion was broken', () => {
  const late = write('c1', 2, { at: 8, hold: 1, value: 1, version: 1 });
  const [violation] = judged([[clientUpWithoutLeases('c1')], ...holders, looked, late]).violations;
  expect(violation!.proof).toMatch(/; exclusion was broken: no lease ended what c1 held\.$/);
});

it('accepts what is written before a later holder was at the resource, which cannot know of one', () => {
  const late = write('c1', 2, { at: 8, hold: 1, version: 1 });
  expect(judged([...holders, late])).toMatchObject({ verdict: 'valid', notes: [], stats: { staleWrites: 0 } });
  // Stopped between its grant and its read, c2 finds what c1 has written meanwhile, and builds on it.
  const woken = [
    read('c2', 2, { at: 9, hold: 1, value: 1, version: 1 }),
    write('c2', 3, { at: 9.1, hold: 1, version: 2 }),
  ];
  expect(judged([...holders, late, ...woken]).verdict).toBe('valid');
});

it('goes by time where there are no versions: what was answered before the write began', () => {
  const told = (answered: number, op: typeof read) =>
    judged([...holders, op('c2', 2, { at: 7.5, until: answered, hold: 1 }), write('c1', 2, { at: 8, hold: 1 })]);
  expect(told(7.9, read)).toMatchObject({
    verdict: 'invalid',
    violations: [{ proof: expect.stringMatching(/came after c2's read, which was answered at 7\.900 s; /) }],
  });
  expect(told(7.9, write).verdict).toBe('invalid');
  expect(told(8.5, write)).toMatchObject({ verdict: 'valid', stats: { writesTaken: 2 } });
  expect(told(8.5, read).verdict).toBe('valid');
});

it('counts nothing that may not have happened, or was refused', () => {
  const told = (type: 'ok' | 'fail' | 'info' | 'none', op: typeof read) =>
    judged([...holders, op('c2', 2, { at: 7.5, hold: 1, type }), write('c1', 2, { at: 8, hold: 1, version: 1 })]);
  for (const op of [read, write]) {
    expect(told('ok', op).verdict).toBe('invalid');
    for (const type of ['fail', 'info', 'none'] as const) expect(told(type, op).verdict).toBe('valid');
  }
});

it("does not count what the writer's own client did under a later hold, but what any other later holder did", () => {
  const told = (client: string) =>
    judged([
      ...holders,
      acquire(client, 10, { at: 13 }),
      read(client, 11, { at: 13.5, hold: 10, value: 0, version: 0 }),
      write('c1', 20, { at: 14, hold: 1, version: 1 }),
    ]);
  // c2, the next holder, was stopped before it came to read.
  expect(told('c1').verdict).toBe('valid');
  expect(told('c3')).toMatchObject({
    verdict: 'invalid',
    violations: [
      {
        holds: [{ client: 'c1' }, { client: 'c3' }],
        evidence: [0, 1, 4, 5, 6, 7, 8, 9],
        proof: expect.stringMatching(
          /came after c3's read \(version 0\), .*; c3 had been granted the key at 13\.001 s, later than c1 /,
        ),
      },
    ],
  });
});

it('names the later holder that was there first of those that had been at the resource, and its first access', () => {
  const result = judged([
    ...holders,
    acquire('c3', 1, { at: 8 }),
    acquire('c4', 1, { at: 9 }),
    read('c4', 2, { at: 9.5, hold: 1, value: 0, version: 0 }),
    read('c3', 2, { at: 10, hold: 1, value: 0, version: 0 }),
    write('c3', 3, { at: 10.5, hold: 1, version: 1 }),
    write('c1', 2, { at: 11, hold: 1, version: 2 }),
    read('c2', 2, { at: 12, hold: 1, value: 0, version: 2 }),
  ]);
  const accused = result.violations.find(({ proof }) => proof.startsWith("c1's"))!;
  expect(accused.holds.map(({ client }) => client)).toEqual(['c1', 'c3']);
  expect(accused.proof).toMatch(/came after c3's read \(version 0\), which was answered at 10\.001 s;/);
});

it('names the cause as for an overlap, and what is known where there is no cause', () => {
  const late = write('c1', 2, { at: 8, hold: 1, version: 1 });
  const causeOf = (...told: Told[]) => judged([...holders, looked, late, told]).violations[0]!.cause;
  const paused = causeOf(
    fault(2, 0, 'any', 'strike', ['c1'], [{ kind: 'stopped', who: ['c1'] }]),
    fault(7.5, 0, 'any', 'heal', ['c1']),
  );
  expect(paused.name).toBe('client-paused');
  // c1 had been told before c2 was there, and wrote all the same.
  const told: Told = { at: 5, body: { type: 'lost', client: 'c1', hold: 1, key: KEY, clientNs: ns(5) } };
  expect(causeOf(told)).toMatchObject({
    name: 'unexplained',
    chain: [
      { history: 1, text: 'c1 was granted lock:0' },
      { history: 4, text: 'c2 was granted lock:0' },
      { history: 5, text: 'c2 began to read' },
      { history: 7, text: 'c1 began to write' },
    ],
  });
});

it('rejects it also where the later holder has come and gone', () => {
  const gone = release('c2', 3, { at: 7.6, hold: 1 });
  expect(judged([...holders, looked, gone, write('c1', 2, { at: 8, hold: 1, version: 1 })]).verdict).toBe('invalid');
});

it("rejects a write that the resource took after a later holder's, whenever it began", () => {
  const sentInTime = (version: number) =>
    judged([
      ...holders,
      write('c2', 2, { at: 7.5, hold: 1, value: 5, version: 3 - version }),
      write('c1', 2, { at: 5.5, until: 9, hold: 1, value: 4, version }),
    ]);
  expect(sentInTime(1)).toMatchObject({ verdict: 'valid', stats: { writesTaken: 2, staleWrites: 0 } });
  expect(sentInTime(2)).toMatchObject({
    verdict: 'invalid',
    violations: [
      {
        evidence: [0, 1, 2, 3, 4, 5, 6, 7],
        proof: expect.stringMatching(
          /came after c2's write \(version 1\), begun at 7\.500 s, in the resource's own order; c2 had .*; c1's lease ended at 6\.000 s, while the write was on its way\.$/,
        ),
      },
    ],
  });
});

it('rejects a write that came after what a later holder read', () => {
  const told = (version: number) => [
    ...holders,
    read('c2', 2, { at: 7.5, hold: 1, value: 0, version: 1 }),
    write('c1', 2, { at: 5.5, until: 9, hold: 1, version }),
  ];
  expect(judged(told(2)).verdict).toBe('invalid');
  // c2 found it: it was there before.
  expect(judged(told(1)).verdict).toBe('valid');
});

it('says that exclusion was broken where the lease still ran', () => {
  const early = [
    acquire('c1', 1, { at: 1 }),
    acquire('c2', 1, { at: 3 }),
    read('c2', 2, { at: 3.5, hold: 1, value: 0, version: 0 }),
  ];
  expect(judged([...early, write('c1', 2, { at: 4, hold: 1, version: 1 })])).toMatchObject({
    verdict: 'invalid',
    violations: [{ proof: expect.stringMatching(/; exclusion was broken: c1's lease ran until 6\.000 s\.$/) }],
  });
});

it('accepts writes of holders that follow one another, and an answer that only came late', () => {
  expect(
    judged([
      acquire('c1', 1, { at: 1 }),
      write('c1', 2, { at: 2, hold: 1, version: 1 }),
      release('c1', 3, { at: 3, hold: 1 }),
      acquire('c2', 1, { at: 3.5 }),
      write('c2', 2, { at: 4, hold: 1, version: 2 }),
    ]),
  ).toMatchObject({ verdict: 'valid', notes: [], stats: { writesTaken: 2, staleWrites: 0 } });
  // Begun in time, answered when c2 had been there: the resource may have taken it before.
  const whileLooking = [
    ...holders,
    write('c1', 2, { at: 5, until: 9, hold: 1 }),
    read('c2', 2, { at: 7.5, hold: 1, value: 0 }),
  ];
  expect(judged(whileLooking).verdict).toBe('valid');
});

it("takes equal stamps as concurrent; in the resource's own order nothing is concurrent", () => {
  const begun = (at: number, version?: number) => {
    const known = version !== undefined && { version };
    return judged([
      ...holders,
      read('c2', 2, { at: 7.5, until: 8, hold: 1, value: 0, ...(known && { version: 0 }) }),
      write('c1', 2, { at, until: 9, hold: 1, ...known }),
    ]).verdict;
  };
  expect(begun(8)).toBe('valid');
  expect(begun(8.000000001)).toBe('invalid');
  expect(begun(8, 1)).toBe('invalid');
});

it('allows for a late grant, which may be the later of the two', () => {
  const told = (until: number) => [
    acquire('c1', 1, { at: 1, until, leaseMs: 1_000 }),
    acquire('c2', 1, { at: 7 }),
    read('c2', 2, { at: 9.5, hold: 1, value: 0, version: 0 }),
    write('c1', 2, { at: 10, hold: 1, version: 1 }),
  ];
  expect(judged(told(9)).verdict).toBe('valid');
  expect(judged(told(6)).verdict).toBe('invalid');
});

it("leaves out what happened within the margin of the lease's end", () => {
  const told = (granted: number, wrote: number) => [
    acquire('c1', 1, { at: 1 }),
    acquire('c2', 1, { at: granted, until: granted }),
    read('c2', 2, { at: granted + 0.001, until: granted + 0.002, hold: 1, value: 0, version: 0 }),
    write('c1', 2, { at: wrote, until: wrote + 0.0001, hold: 1, version: 1 }),
  ];
  // A lease of 5 s has a margin of 7 ms.
  expect(judged(told(5.994, 5.999)).verdict).toBe('valid');
  expect(judged(told(5.992, 5.999)).verdict).toBe('invalid');
  expect(judged(told(5.994, 6.008)).verdict).toBe('invalid');
  // The margin is about the later holder that was at the resource: c3, the next one, was not.
  const between = acquire('c3', 1, { at: 3 });
  expect(judged([...told(5.994, 5.999), between]).verdict).toBe('valid');
});

it('counts what the resource refused for its token: fencing at work', () => {
  const refused = (reason: string) =>
    judged([
      ...holders,
      write('c1', 2, { at: 8, until: 9, hold: 1, type: 'fail', reason }),
      write('c2', 2, { at: 7.5, hold: 1, version: 1 }),
    ]);
  expect(refused('stale-token: 1 is older than 2')).toMatchObject({
    verdict: 'valid',
    stats: { writesTaken: 1, writesRefused: 1, refusedStale: 1, staleWrites: 0 },
  });
  expect(refused('unreachable: it is gone')).toMatchObject({ stats: { writesRefused: 1, refusedStale: 0 } });
});

it('does not accuse a write of unknown outcome', () => {
  const told = [
    looked,
    write('c1', 2, { at: 8, hold: 1, type: 'info', reason: 'timeout' }),
    write('c2', 3, { at: 8.5, hold: 1, version: 1 }),
  ];
  expect(judged([...holders, ...told])).toMatchObject({ verdict: 'valid', stats: { writesTaken: 1 } });
});

it('cannot tell where nothing was written, where holders share, and where the resource contradicts itself', () => {
  expect(judged(holders)).toMatchObject({ verdict: 'unknown', notes: [expect.stringMatching(/no write/)] });
  const stale = [...holders, looked, write('c1', 2, { at: 8, hold: 1, version: 1 })];
  expect(judged(stale, { kind: 'semaphore', permits: 2 }).verdict).toBe('unknown');
  expect(
    judged([
      ...holders,
      write('c1', 2, { at: 2, hold: 1, version: 1 }),
      write('c2', 2, { at: 8, hold: 1, version: 1 }),
    ]),
  ).toMatchObject({
    verdict: 'unknown',
    notes: [
      'the order in which writes were taken is not known: two writes got version 1 of the resource of lock:0 (history 3 and 7)',
    ],
  });
  const forgetful = [
    ...holders,
    write('c1', 2, { at: 2, hold: 1, value: 3, version: 3 }),
    write('c2', 2, { at: 8, hold: 1, value: 1, version: 1 }),
  ];
  expect(judged(forgetful)).toMatchObject({
    verdict: 'unknown',
    notes: [expect.stringMatching(/version 3 .* was answered before an earlier one was asked for/)],
  });
  // What time proves stands all the same, whatever the versions say.
  const late = write('c1', 3, { at: 9, hold: 1, value: 0, version: 0 });
  expect(judged([...forgetful, late])).toMatchObject({
    verdict: 'invalid',
    open: ['harm'],
    stats: { staleWrites: 1 },
  });
});

it('cannot tell where a stalled harness may have made the holder stale', () => {
  const late = write('c1', 2, { at: 8, hold: 1, version: 1 });
  const told = [...holders, looked, late, release('c1', 3, { at: 8.1, hold: 1 })];
  expect(judged([...told, [stall(5, 2_500)]])).toMatchObject({
    verdict: 'unknown',
    violations: [],
    stats: { staleWrites: 0, staleWritesInDoubt: 1 },
    notes: [expect.stringMatching(/^a stale write that need not be the lock's doing: c1's write .* But the harness/)],
  });
});

it("a reader of a read-write lock that comes later is harmed by a writer's late write", () => {
  const told = (mode: 'read' | 'write') => [
    acquire('c1', 1, { at: 1, mode }),
    acquire('c2', 1, { at: 7, mode: 'read' }),
    looked,
    write('c1', 2, { at: 8, hold: 1, version: 1 }),
  ];
  expect(judged(told('write'), { kind: 'read-write' }).verdict).toBe('invalid');
  // Beside a reader another may rightly be.
  expect(judged(told('read'), { kind: 'read-write' }).verdict).toBe('valid');
});

it('finds a later holder behind those of the same client, and counts what it does not report', () => {
  const again = acquire('c1', 9, { at: 6.5 });
  const writes = Array.from({ length: 250 }, (_, n) =>
    write('c1', 10 + n, { at: 8 + n / 100, hold: 1, value: n, version: n + 1 }),
  );
  const result = judged([acquire('c1', 1, { at: 1 }), again, acquire('c2', 1, { at: 7 }), looked, ...writes]);
  expect(result).toMatchObject({ stats: { staleWrites: 250 }, found: { harm: 250 } });
  expect(result.violations).toHaveLength(200);
});
