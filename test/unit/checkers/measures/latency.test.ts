import { expect, it } from 'vitest';
import { latency } from '../../../../checkers/measures/latency.js';
import { acquire, checkInput, fault, read, release, type Told, write } from '../literal.js';

const measured = (told: (Told | Told[])[]) => {
  const result = latency.check(checkInput(told.flat()));
  expect(result).toMatchObject({ verdict: 'valid', notes: [], violations: [] });
  return Object.fromEntries(result.measurements!.map(({ of, values }) => [of, values]));
};

it("measures by operation and outcome, from the client's stamps; combinations that did not occur are left out", () => {
  expect(
    measured([
      acquire('c1', 1, { at: 1, until: 1.01 }),
      acquire('c2', 1, { at: 2, until: 2.03 }),
      acquire('c3', 1, { at: 3, until: 3.02, type: 'fail', reason: 'held' }),
      release('c1', 2, { at: 4, until: 4.004, hold: 1 }),
      read('c2', 2, { at: 5, until: 5.001, hold: 1, value: 0, version: 0 }),
      write('c2', 3, { at: 6, until: 6.002, hold: 1, value: 1, version: 1 }),
    ]),
  ).toEqual({
    'acquires that were granted': { count: 2, p50Ms: 10, p95Ms: 30, p99Ms: 30, p999Ms: 30, maxMs: 30 },
    'acquires that were refused': { count: 1, p50Ms: 20, p95Ms: 20, p99Ms: 20, p999Ms: 20, maxMs: 20 },
    'releases that were carried out': { count: 1, p50Ms: 4, p95Ms: 4, p99Ms: 4, p999Ms: 4, maxMs: 4 },
    'reads that were answered': { count: 1, p50Ms: 1, p95Ms: 1, p99Ms: 1, p999Ms: 1, maxMs: 1 },
    'writes that were acknowledged': { count: 1, p50Ms: 2, p95Ms: 2, p99Ms: 2, p999Ms: 2, maxMs: 2 },
  });
});

it('distinguishes what ran before, during and after faults, which may overlap', () => {
  const at = (n: number, from: number, until: number) => acquire(`c${n}`, 1, { at: from, until });
  const values = measured([
    fault(10, 0, 'pause', 'strike'),
    fault(12, 1, 'kill', 'strike'),
    fault(13, 0, 'pause', 'heal'),
    fault(20, 1, 'kill', 'heal'),
    fault(40, 2, 'kill', 'strike'),
    at(1, 9, 9.5),
    at(2, 9, 10),
    at(3, 15, 16),
    at(4, 20, 21),
    at(5, 22, 23),
    at(6, 41, 42),
  ]);
  expect(Object.fromEntries(Object.entries(values).map(([of, { count }]) => [of, count]))).toEqual({
    'acquires that were granted': 6,
    'acquires that were granted, before any fault': 1,
    'acquires that were granted, while a fault was in force': 4,
    'acquires that were granted, after a fault was healed': 1,
  });
});

it('leaves out what the client did not stamp, and stamps that cannot be true', () => {
  const [sent, answer] = acquire('c2', 1, { at: 2, until: 2.5 });
  const early = { ...answer!, at: 2.4 };
  const told = [acquire('c1', 1, { at: 1, stamps: false }), [sent!, early], acquire('c3', 1, { at: 3, type: 'info' })];
  expect(measured(told)).toEqual({});
  expect(latency.check(checkInput(told.flat())).stats).toEqual({ unstamped: 3 });
});
