import { describe, expect, test } from 'vitest';
import { backingOff, listening } from '../../../lock-impl/waiting.js';
import { FakeAccess } from './fake-access.js';

/** How long a pause took. */
async function took(fake: FakeAccess, pause: Promise<void>): Promise<number> {
  const beganMs = fake.nowMs;
  await fake.run(pause);
  return fake.nowMs - beganMs;
}

const publish = (fake: FakeAccess) => {
  for (const heard of fake.listeners.get('c') ?? []) heard('free');
};

describe('listening', () => {
  test('the first pause only begins to listen: the caller has to look once more', async () => {
    const fake = new FakeAccess([]);
    const waiting = listening(fake.access, 'c');
    expect(await took(fake, waiting.pause(5_000))).toBe(0);
    expect(fake.listeners.get('c')!.size).toBe(1);
    expect(await took(fake, waiting.pause(5_000))).toBe(5_000);
    waiting.stop();
    expect(fake.listeners.get('c')!.size).toBe(0);
  });

  test('a message ends the pause, also one that came before it', async () => {
    const fake = new FakeAccess([]);
    const waiting = listening(fake.access, 'c');
    await waiting.pause(5_000);
    void fake.sleep(70).then(() => publish(fake));
    expect(await took(fake, waiting.pause(5_000))).toBe(70);
    publish(fake);
    expect(await took(fake, waiting.pause(5_000))).toBe(0);
    expect(await took(fake, waiting.pause(5_000))).toBe(5_000);
  });

  test('a signal ends the pause', async () => {
    const fake = new FakeAccess([]);
    const waiting = listening(fake.access, 'c');
    await waiting.pause(5_000);
    const gaveUp = new AbortController();
    void fake.sleep(70).then(() => gaveUp.abort());
    expect(await took(fake, waiting.pause(5_000, gaveUp.signal))).toBe(70);
  });

  test('where it cannot listen it looks every now and then, and listens when it can', async () => {
    const fake = new FakeAccess([]);
    fake.listenFails = new Error('no connection');
    const waiting = listening(fake.access, 'c');
    const pauseMs = await took(fake, waiting.pause(5_000));
    expect(pauseMs).toBeGreaterThanOrEqual(10);
    expect(pauseMs).toBeLessThanOrEqual(30);
    expect(await took(fake, waiting.pause(3))).toBe(3);
    fake.listenFails = undefined;
    expect(await took(fake, waiting.pause(5_000))).toBe(0);
    expect(await took(fake, waiting.pause(5_000))).toBe(5_000);
  });

  test('no wait is too long for a timer', async () => {
    const fake = new FakeAccess([]);
    const waiting = listening(fake.access, 'c');
    await waiting.pause(Number.POSITIVE_INFINITY);
    expect(await took(fake, waiting.pause(Number.POSITIVE_INFINITY))).toBe(2 ** 31 - 1);
  });
});

test('backing off doubles up to a longest pause, and never waits for longer than the given wait', async () => {
  const fake = new FakeAccess([]);
  const waiting = backingOff(fake.access, { minMs: 1, maxMs: 128 });
  for (const ceilingMs of [1, 2, 4, 8, 16, 32, 64, 128, 128, 128]) {
    const pauseMs = await took(fake, waiting.pause(5_000));
    expect(pauseMs).toBeGreaterThanOrEqual(ceilingMs / 2);
    expect(pauseMs).toBeLessThanOrEqual(ceilingMs);
  }
  expect(await took(fake, waiting.pause(7))).toBe(7);
});
