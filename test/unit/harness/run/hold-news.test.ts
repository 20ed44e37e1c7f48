import { expect, test } from 'vitest';
import { HoldNews } from '../../../../harness/run/hold-news.js';
import type { HistoryBody } from '../../../../harness/vocabulary/history.js';

const LEASE_MS = 1_000;
const MS = 1e6;

interface Sleep {
  fromMs: number;
  ms: number;
  lateMs: number;
  /** For which hold. */
  holds?: number[];
  woken?: boolean;
}

/** Of a hold whose lease began at 0: sleeps from `fromMs` for `ms`, and wakes `lateMs` after that. */
async function slept({ fromMs, ms, lateMs, holds = [7], woken = false }: Sleep): Promise<HistoryBody[]> {
  let nowNs = fromMs * MS;
  const recorded: HistoryBody[] = [];
  const held = { client: 'c1', key: 'lock:0', id: 7, invokedNs: 0, grantedNs: 1, fromNs: 1, grantSentNs: 0 };
  const stop = new AbortController();
  const run = {
    clock: {
      nowNs: () => nowNs,
      sleep: async (asked: number) => {
        nowNs += (asked + lateMs) * MS;
        if (woken) stop.abort();
      },
    },
    ledger: { find: (_: string, id: number) => (id === held.id ? held : undefined) },
    recorder: { record: (body: HistoryBody) => recorded.push(body) },
    leaseMs: LEASE_MS,
    epochNs: 0,
  } as unknown as ConstructorParameters<typeof HoldNews>[0];
  const news = new HoldNews(run, { callers: ['c1'], isAlive: () => true, awaits: () => false, distrust: () => {} });
  expect(await news.idle(ms, holds[0], 'c1', [stop.signal])).toEqual({ type: 'woke', lost: false });
  return recorded;
}

test('who was to wake while the lease ran, and woke after it, is taken down as late, however little', async () => {
  expect(await slept({ fromMs: 100, ms: 880, lateMs: 30 })).toEqual([
    { type: 'disturbance', disturbance: 'harness-stall', ms: 30, beganNs: 980 * MS },
  ]);
});

test.each([
  ['late, but in time', { fromMs: 100, ms: 880, lateMs: 15 }],
  ['meant to outstay the lease', { fromMs: 100, ms: 950, lateMs: 30 }],
  ['for nothing that is held', { fromMs: 100, ms: 880, lateMs: 30, holds: [] }],
  ['for what has been given back', { fromMs: 100, ms: 880, lateMs: 30, holds: [8] }],
  ['woken by somebody else', { fromMs: 100, ms: 880, lateMs: 30, woken: true }],
])('nothing is taken down of a sleep that was %s', async (_, sleep) => {
  expect(await slept(sleep)).toEqual([]);
});
