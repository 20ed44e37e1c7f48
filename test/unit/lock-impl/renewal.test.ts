import { describe, expect, test } from 'vitest';
import { keepRenewed } from '../../../lock-impl/renewal.js';
import { FakeAccess } from './fake-access.js';

const LEASE_MS = 900;
/** What is left of a lease when it is over for its holder: 1 % and 2 ms. */
const DRIFT_MS = 11;

type Answer = boolean | Error | 'silence' | (() => boolean);

/** Keeps a lease that was granted now; the nth renewal is answered so, the last answer for ever. */
function kept(answers: Answer[]) {
  const fake = new FakeAccess([]);
  const renewedAtMs: number[] = [];
  const asked: number[] = [];
  const beganMs = fake.nowMs;
  const watchdog = keepRenewed(fake.access, {
    leaseMs: LEASE_MS,
    grantSentNs: fake.access.nowNs(),
    async renew() {
      asked.push(fake.nowMs - beganMs);
      const answer = answers[Math.min(asked.length, answers.length) - 1]!;
      if (answer === 'silence') return new Promise(() => {});
      if (answer instanceof Error) throw answer;
      return typeof answer === 'function' ? answer() : answer;
    },
    renewed: (sentNs) => void renewedAtMs.push(sentNs / 1e6 - beganMs),
  });
  let lostAtMs: number | undefined;
  watchdog.lost.addEventListener('abort', () => {
    lostAtMs = fake.nowMs - beganMs;
  });
  return {
    fake,
    watchdog,
    asked,
    renewedAtMs,
    lostAtMs: () => lostAtMs,
    pass: (ms: number) => fake.run(fake.sleep(ms)),
    steps: fake.steps,
    now: () => fake.access.nowNs(),
  };
}

describe('a watchdog', () => {
  test('renews every third of the lease, from the first third on', async () => {
    const { pass, asked, renewedAtMs, lostAtMs, steps } = kept([true]);
    await pass(2_000);
    expect(asked).toEqual([300, 600, 900, 1_200, 1_500, 1_800]);
    expect(renewedAtMs).toEqual(asked);
    expect(steps).toEqual(Array(6).fill('before-renewal'));
    expect(lostAtMs()).toBeUndefined();
  });

  test('renews nothing once it was stopped, and is never lost after that', async () => {
    const { pass, asked, watchdog, lostAtMs } = kept([true]);
    await pass(700);
    watchdog.stop();
    await pass(5_000);
    expect(asked).toEqual([300, 600]);
    expect(lostAtMs()).toBeUndefined();
  });

  test('sends no renewal when it is stopped at the step before one', async () => {
    const { pass, asked, watchdog, fake } = kept([true]);
    fake.atStep = () => watchdog.stop();
    await pass(2_000);
    expect(fake.steps).toEqual(['before-renewal']);
    expect(asked).toEqual([]);
  });

  test('says nothing of a renewal that is answered after it was stopped', async () => {
    const { pass, asked, watchdog, renewedAtMs, lostAtMs } = kept([
      () => {
        watchdog.stop();
        return true;
      },
    ]);
    await pass(2_000);
    expect(asked).toEqual([300]);
    expect(renewedAtMs).toEqual([]);
    expect(lostAtMs()).toBeUndefined();
  });

  test('is lost when a renewal finds that it is not ours', async () => {
    const { pass, asked, watchdog, lostAtMs } = kept([true, false]);
    await pass(5_000);
    expect(lostAtMs()).toBe(600);
    expect(watchdog.lost.reason).toBe('not the owner any more');
    expect(asked).toEqual([300, 600]);
  });

  test('tries again at the next tick after a renewal that failed', async () => {
    const { pass, asked, renewedAtMs, lostAtMs } = kept([new Error('timed out'), new Error('timed out'), true]);
    await pass(1_000);
    expect(asked).toEqual([300, 600]);
    expect(renewedAtMs).toEqual([]);
    expect(lostAtMs()).toBe(LEASE_MS - DRIFT_MS);
  });

  test('one failure between two successes costs nothing', async () => {
    const { pass, renewedAtMs, lostAtMs } = kept([true, new Error('timed out'), true]);
    await pass(1_300);
    expect(renewedAtMs).toEqual([300, 900, 1_200]);
    expect(lostAtMs()).toBeUndefined();
  });

  test('is lost when the last confirmed lease is over, while a renewal hangs, and not before', async () => {
    const { pass, asked, watchdog, lostAtMs } = kept([true, 'silence']);
    await pass(5_000);
    expect(asked).toEqual([300, 600]);
    expect(lostAtMs()).toBe(300 + LEASE_MS - DRIFT_MS);
    expect(watchdog.lost.reason).toBe('no renewal was confirmed within the lease');
  });

  test('counts other renewals of the lease', async () => {
    const { pass, watchdog, lostAtMs, now } = kept([new Error('timed out')]);
    await pass(500);
    watchdog.confirmed(now());
    await pass(5_000);
    expect(lostAtMs()).toBe(500 + LEASE_MS - DRIFT_MS);
  });
});
