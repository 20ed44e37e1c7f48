/** What a lock cost is told by the stamps of its clients. */
import { expect, test } from 'vitest';
import { handOverMs, latencyMs, newLeaderMs, promotedMs, withoutHolderMs } from '../../../bench/costs-of-runs.js';
import type { HistoryEvent, Observation } from '../../../harness/vocabulary/history.js';

const MS = 1e6;
const done = (op: string, client: string, beganMs: number, endedMs: number, type = 'ok') =>
  ({ type, op, client, key: 'k', id: 1, i: 0, atNs: 0, beganNs: beganMs * MS, endedNs: endedMs * MS }) as HistoryEvent;

/** At 100 ms, told 30 ms later. */
const deathOf = (server: string) =>
  ({
    type: 'fault',
    state: 'strike',
    atNs: 130 * MS,
    effects: [{ kind: 'killed', who: [server], sinceNs: 100 * MS }],
  }) as unknown as HistoryEvent;

/** One and the other in turn: held for 10 ms, handed over in 3. */
const turns = Array.from({ length: 30 }, (_, n) => [
  done('acquire', `c${n % 2}`, 13 * n - 12, 13 * n),
  done('release', `c${n % 2}`, 13 * n + 10, 13 * n + 11),
]).flat();

test('a hand-over is from the release to the next grant, if somebody was waiting', () => {
  expect(handOverMs(turns)).toBe(3);
  const nobodyWaits = turns.map((event) => ({ ...event, client: 'c1' }) as HistoryEvent);
  expect(handOverMs(nobodyWaits)).toBeUndefined();
});

test('the latency is the median of what was granted, and of a few nothing is told', () => {
  const quick = Array.from({ length: 21 }, (_, n) => done('acquire', 'c1', 100 * n, 100 * n + n));
  expect(latencyMs([...quick, done('acquire', 'c1', 5_000, 9_000, 'fail')])).toBe(10);
  expect(latencyMs(quick.slice(2))).toBeUndefined();
});

test('nobody holds from the death to the first grant that was asked for after it', () => {
  const strike = deathOf('e1');
  const before = done('acquire', 'c1', 90, 104);
  expect(
    withoutHolderMs([strike, before, done('acquire', 'c2', 105, 400, 'fail'), done('acquire', 'c3', 300, 350)]),
  ).toBe(250);
  expect(withoutHolderMs([before, done('acquire', 'c3', 300, 350)])).toBeUndefined();
  expect(withoutHolderMs([strike, before])).toBeUndefined();
});

test('a new leader is one that says so after the death, in a newer term', () => {
  const strike = deathOf('e1');
  const role = (atMs: number, node: string, what: string, term: number) =>
    ({ type: 'role', atNs: atMs * MS, node, role: what, term, runId: '1' }) as Observation;
  const before = [role(50, 'e1', 'primary', 2), role(60, 'e2', 'replica', 2), role(70, 'e3', 'replica', 2)];
  const late = role(110, 'e1', 'primary', 2);
  const chosen = [role(160, 'e2', 'replica', 3), role(180, 'e3', 'replica', 3), role(210, 'e2', 'primary', 3)];
  expect(newLeaderMs([strike], [...before, late, ...chosen])).toEqual({ notYetMs: 60, saidMs: 110 });
  expect(newLeaderMs([strike], [...before, late])).toBeUndefined();
  expect(newLeaderMs([], [...before, ...chosen])).toBeUndefined();
});

test('a promotion is the first look after the death at which a replica has become the primary', () => {
  const strike = deathOf('r1');
  const look = (atMs: number, node: string, role: string) =>
    ({ type: 'sample', atNs: atMs * MS, node, role }) as Observation;
  const before = [look(50, 'r1', 'primary'), look(50, 'r2', 'replica'), look(50, 'r3', 'primary')];
  const after = [look(150, 'r3', 'primary'), look(150, 'r2', 'replica'), look(250, 'r2', 'primary')];
  expect(promotedMs([strike], [...before, ...after])).toBe(150);
  expect(promotedMs([strike], [...before, ...after.slice(0, 2)])).toBeUndefined();
  expect(promotedMs([], [...before, ...after])).toBeUndefined();
});
