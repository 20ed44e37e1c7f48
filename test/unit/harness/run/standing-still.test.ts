import { expect, test } from 'vitest';
import { napOrStandStill } from '../../../../harness/run/standing-still.js';

const MS = 1e6;

/** Of work of a second under a process that is stopped in that span, milliseconds; `endsAtMs`: the nap ends early. */
async function worked({ stopped, endsAtMs = 1_000 }: { stopped?: [from: number, until: number]; endsAtMs?: number }) {
  let nowMs = 0;
  const sleepers: { dueMs: number; wake(): void }[] = [];
  const clock = {
    nowNs: () => nowMs * MS,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((wake) => {
        if (signal?.aborted) return wake();
        signal?.addEventListener('abort', () => wake());
        sleepers.push({ dueMs: nowMs + ms, wake });
      }),
  };
  const process = {
    state: async () => (stopped && nowMs >= stopped[0] && nowMs < stopped[1] ? 'stopped' : 'running'),
  };
  const run = { clock, process, stopping: undefined } as unknown as Parameters<typeof napOrStandStill>[1];
  const woke = napOrStandStill(1_000, run, async (_, goesOn) => {
    await clock.sleep(endsAtMs, goesOn);
    return { type: 'woke', lost: endsAtMs < 1_000 };
  });
  let isOver = false;
  void woke.then(() => {
    isOver = true;
  });
  for (; !isOver && nowMs < 5_000; nowMs++) {
    for (const sleeper of sleepers.splice(0)) {
      if (sleeper.dueMs <= nowMs) sleeper.wake();
      else sleepers.push(sleeper);
    }
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }
  return { woke: await woke, atMs: nowMs };
}

test('work ends with its time where its process runs', async () => {
  const { woke, atMs } = await worked({});
  expect(woke).toEqual({ type: 'woke', lost: false });
  expect(atMs).toBeCloseTo(1_000, -1);
});

test.each([
  ['within its time', [250, 600], 600],
  ['until after it', [250, 2_000], 2_000],
] as const)(
  'work during which its process is stopped, %s, is told what was left then, when that runs again',
  async (_, stopped, untilMs) => {
    const { woke, atMs } = await worked({ stopped: [...stopped] });
    expect(woke.leftMs).toBeGreaterThan(600);
    expect(woke.leftMs).toBeLessThanOrEqual(750);
    expect(atMs).toBeGreaterThanOrEqual(untilMs);
    expect(atMs).toBeLessThan(untilMs + 50);
  },
);

test('a hold that is lost ends it at once', async () => {
  const { woke, atMs } = await worked({ endsAtMs: 300 });
  expect(woke).toEqual({ type: 'woke', lost: true });
  expect(atMs).toBeLessThan(320);
});
