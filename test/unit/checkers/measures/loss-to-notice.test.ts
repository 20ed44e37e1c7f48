import { expect, it } from 'vitest';
import { lossToNotice } from '../../../../checkers/measures/loss-to-notice.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { acquire, checkInput, clientDown, clientUp, KEY, ns, operation, release, type Told } from '../literal.js';

const measured = (told: (Told | Told[])[], model?: LockModel) => {
  const result = lossToNotice.check(checkInput(told.flat(), model));
  expect(result).toMatchObject({ verdict: 'valid', notes: [], violations: [] });
  return result;
};
const lost = (client: string, hold: number, at: number): Told => ({
  at,
  body: { type: 'lost', client, hold, key: KEY, clientNs: ns(at) },
});
const renewed = (client: string, hold: number, at: number): Told => ({
  at,
  body: { type: 'renewed', client, hold, key: KEY, sentNs: ns(at), leaseMs: 5_000 },
});
/** From 1 s on, the lease until 6 s. */
const held = acquire('c1', 1, { at: 1 });
const end = release('c1', 2, { at: 9, hold: 1 });
/** After how many milliseconds the client that lost was told, or never. */
const told = (...story: (Told | Told[])[]) => {
  const [summary] = measured([held, ...story]).measurements!;
  return summary && [summary.of.includes('never') ? 'never' : 'told', summary.values.maxMs];
};

it('measures from the end of the lease to the notice', () => {
  const result = measured([held, lost('c1', 1, 8), release('c1', 2, { at: 9, hold: 1 })]);
  expect(result.stats).toEqual({ lossesNoticed: 1, lossesNeverNoticed: 0 });
  expect(result.measurements).toEqual([
    {
      name: 'loss-to-notice',
      of: 'holds whose client learned that they were lost',
      values: { count: 1, p50Ms: 2_000, p99Ms: 2_000, maxMs: 2_000 },
      evidence: [],
    },
    {
      name: 'loss-to-notice',
      of: "c1's hold of lock:0, learned that it was lost",
      key: KEY,
      fromNs: ns(6),
      untilNs: ns(8),
      values: { unawareMs: 2_000 },
      evidence: [0, 1, 2, 3, 4],
    },
  ]);
});

it('measures from the grant to another client, where that was earlier', () => {
  expect(told(acquire('c2', 1, { at: 2, until: 3 }), lost('c1', 1, 4), end)).toEqual(['told', 1_000]);
  expect(told(acquire('c2', 1, { at: 2, until: 7 }), lost('c1', 1, 8), end)).toEqual(['told', 2_000]);
  expect(told(acquire('c2', 1, { at: 2, until: 3, key: 'lock:1' }), lost('c1', 1, 8), end)).toEqual(['told', 2_000]);
});

it('a refused extension or release counts as a notice too; the first one counts', () => {
  const refusal = (op: 'extend' | 'release', at: number) =>
    operation(op, 'c1', 5, { at: at - 0.5, until: at, hold: 1, type: 'fail', reason: 'not yours', leaseMs: 5_000 });
  expect(told(refusal('extend', 7), lost('c1', 1, 8), end)).toEqual(['told', 1_000]);
  expect(told(refusal('release', 9))).toEqual(['told', 3_000]);
});

it('a client that was never told acted on until it ended its hold, was killed, or the run ended', () => {
  expect(told(end)).toEqual(['never', 3_000]);
  expect(told(clientDown('c1', 8))).toEqual(['never', 2_000]);
  expect(told(acquire('c3', 1, { at: 19, until: 20, key: 'lock:1' }))).toEqual(['never', 14_000]);
});

it('says nothing of holds that ended in time, or whose client was told in time', () => {
  expect(told(release('c1', 2, { at: 6, hold: 1 }))).toBeUndefined();
  expect(told(lost('c1', 1, 5), end)).toBeUndefined();
  expect(told(renewed('c1', 1, 5), release('c1', 2, { at: 9.9, hold: 1 }))).toBeUndefined();
  expect(told(renewed('c1', 1, 5), release('c1', 2, { at: 11, hold: 1 }))).toEqual(['never', 1_000]);
});

it('does not know how far the lease of a lock ran that renews itself and does not say when', () => {
  expect(told(clientUp('c1', 'c1', ['renews']), end)).toBeUndefined();
  expect(told(clientUp('c1', 'c1', ['renews']), acquire('c2', 1, { at: 7, until: 8 }), end)).toEqual(['never', 1_000]);
  expect(told(clientUp('c1', 'c1', ['renews']), renewed('c1', 1, 2), end)).toEqual(['never', 2_000]);
});

it('a permit does not exclude other holders', () => {
  const story = [held, acquire('c2', 1, { at: 2, until: 3 }), release('c1', 2, { at: 5, hold: 1 })];
  const losses = (model: LockModel) => measured(story, model).stats.lossesNeverNoticed;
  expect(losses({ kind: 'semaphore', permits: 2 })).toBe(0);
  expect(losses({ kind: 'mutex' })).toBe(1);
});

it('shows the worst five', () => {
  const story = Array.from({ length: 8 }, (_, n) => [
    acquire(`c${n}`, 1, { at: n * 100, key: `lock:${n}` }),
    release(`c${n}`, 2, { at: n * 100 + 6 + n, hold: 1, key: `lock:${n}` }),
  ]);
  const [summary, ...worst] = measured(story.flat()).measurements!;
  expect(summary!.values).toEqual({ count: 8, p50Ms: 4_000, p99Ms: 8_000, maxMs: 8_000 });
  expect(worst.map(({ values }) => values.unawareMs)).toEqual([8_000, 7_000, 6_000, 5_000, 4_000]);
});
