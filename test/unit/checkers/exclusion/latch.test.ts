import { expect, it } from 'vitest';
import { countedLatches } from '../../../../checkers/exclusion/latch.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { acquire, checkInput, fault, KEY, ns, release, type Told } from '../literal.js';

const TWO: LockModel = { kind: 'latch', count: 2 };
const judged = (told: (Told | Told[])[], model: LockModel = TWO) =>
  countedLatches.check(checkInput(told.flat(), model));
const joins = (client: string, at: number) => acquire(client, 1, { at, mode: 'write' });
const counts = (client: string, at: number, more: { until?: number; type?: 'ok' | 'fail' | 'info' | 'none' } = {}) =>
  release(client, 2, { at, hold: 1, ...more });
const waits = (client: string, at: number, more: { until?: number; type?: 'ok' | 'fail'; reason?: string } = {}) =>
  acquire(client, 3, { at, mode: 'read', ...more });
const leaves = (client: string, at: number) => release(client, 4, { at, hold: 3 });
const both = [joins('c1', 1), joins('c2', 1.1), counts('c1', 2)];

it('accepts those who pass when all have counted, and counts them', () => {
  expect(judged([...both, waits('c1', 2.1, { until: 3.2 }), counts('c2', 3), waits('c2', 3.1)])).toMatchObject({
    verdict: 'valid',
    violations: [],
    stats: { latches: 1, latchPasses: 2, latchesNobodyPassed: 0 },
  });
});

it('rejects one who passes when one of two can have counted', () => {
  const { verdict, violations } = judged([...both, waits('c1', 2.1), counts('c2', 3)]);
  expect({ verdict, violations }).toMatchObject({
    verdict: 'invalid',
    violations: [{ class: 'exclusion', kind: 'passed-early', key: KEY, fromNs: ns(2.1), evidence: [6, 7] }],
  });
  expect(violations[0]!.proof).toBe(
    'c1 passed lock:0 by 2.101 s, when at most 1 of 2 clients can have counted it down.',
  );
});

it('takes a count-down of unknown outcome for one, from its call on, and one that was refused for none', () => {
  const passed = waits('c1', 2.6);
  for (const type of ['info', 'none'] as const)
    expect(judged([...both, counts('c2', 2.5, { until: 2.7, type }), passed]).violations).toEqual([]);
  expect(judged([...both, counts('c2', 2.5, { type: 'fail' }), passed]).violations).toHaveLength(1);
});

it('does not take the end of a wait for a count-down', () => {
  const story = [...both, counts('c2', 2.2), waits('c1', 2.3), leaves('c1', 2.4), waits('c3', 2.5)];
  expect(judged(story, { kind: 'latch', count: 3 }).violations).toHaveLength(2);
});

it('rejects that one is refused after all were answered that they had counted', () => {
  const all = [...both, counts('c2', 3)];
  const refused = { type: 'fail', reason: 'held' } as const;
  expect(judged([...all, waits('c1', 3.1, { until: 4, ...refused })]).violations).toMatchObject([
    { class: 'liveness', kind: 'not-opened', fromNs: ns(3.1), untilNs: ns(4) },
  ]);
  expect(judged([...all, waits('c1', 2.5, { until: 4, ...refused })]).violations).toEqual([]);
  expect(judged([...all, waits('c1', 3.1, { type: 'fail', reason: 'unreachable' })]).violations).toEqual([]);
  // Whether the second counted was never answered.
  const unanswered = counts('c2', 3, { until: 3.05, type: 'info' });
  expect(judged([...both, unanswered, waits('c1', 3.1, { until: 4, ...refused })]).violations).toEqual([]);
});

it('accuses no latch whose counter died, tells it as a number, and cannot tell where nobody ever passed', () => {
  expect(judged([...both, waits('c1', 2.1, { until: 9, type: 'fail', reason: 'held' })])).toMatchObject({
    verdict: 'unknown',
    violations: [],
    stats: { latchesNobodyPassed: 1 },
  });
});

it('cannot tell where a server ended by itself', () => {
  const died = fault(2.05, 1, 'kill', 'failed');
  const mishap = { ...died, body: { ...died.body, proof: 'r1 ended by itself', mishap: 'server' } as Told['body'] };
  expect(judged([...both, mishap, waits('c1', 2.1), counts('c2', 3)])).toMatchObject({
    verdict: 'unknown',
    violations: [],
    notes: ['whether a latch opened in time cannot be determined: r1 ended by itself'],
  });
});

it('judges each latch by itself', () => {
  const other = (told: Told[]) => told.map((one) => ({ ...one, body: { ...one.body, key: 'lock:1' } }) as Told);
  const story = [...both, other(joins('c3', 1)), other(counts('c3', 2)), waits('c1', 2.5)];
  expect(judged(story).violations).toHaveLength(1);
});
