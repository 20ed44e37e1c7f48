/** Canaries and their twins whose difference shows in what they make of answers and clocks. The others: test/locks/canaries.test.ts. */
import { describe, expect, test } from 'vitest';
import type { LockDefinition, LockHold } from '../../../harness/vocabulary/lock.js';
import deletedUntilGone from '../../../lock-impl/broken/deleted-until-gone.js';
import deletedUntilGoneMended from '../../../lock-impl/broken/deleted-until-gone-mended.js';
import noValidityCheck from '../../../lock-impl/broken/no-validity-check.js';
import noValidityCheckMended from '../../../lock-impl/broken/no-validity-check-mended.js';
import releaseWhereAcquired from '../../../lock-impl/broken/release-where-acquired.js';
import releaseWhereAcquiredMended from '../../../lock-impl/broken/release-where-acquired-mended.js';
import wallClockValidity from '../../../lock-impl/broken/wall-clock-validity.js';
import wallClockValidityMended from '../../../lock-impl/broken/wall-clock-validity-mended.js';
import { FakeAccess, node, options, taken, willing } from './fake-access.js';

const LEASE_MS = 1_000;

/** What comes of a try whose client is paused, and whose wall clock is set back, between the answers and the decision. */
async function tryWith(lock: LockDefinition, pausedMs: number, setBackMs: number): Promise<LockHold | string> {
  const nodes = Array.from({ length: 5 }, willing);
  const fake = new FakeAccess(nodes);
  let wallBehindMs = 0;
  fake.atStep = () => {
    fake.nowMs += pausedMs;
    wallBehindMs = setBackMs;
  };
  const access = { ...fake.access, wallMs: () => fake.nowMs - wallBehindMs };
  const client = await lock.connect(access);
  const hold = await fake.run(client.acquire('k', options(LEASE_MS))).catch((error: Error) => error.message);
  const gaveBack = nodes.filter(({ commands }) => commands.some(([name]) => name === 'eval')).length;
  expect(gaveBack).toBe(typeof hold === 'string' ? 5 : 0);
  return hold!;
}

describe('a majority that comes together in time', () => {
  test.each([noValidityCheck, noValidityCheckMended, wallClockValidity, wallClockValidityMended])(
    '$name: granted',
    async (lock) => {
      expect(await tryWith(lock, 0, 0)).toMatchObject({ validForMs: LEASE_MS - 12, grantSentNs: 1_000e6 });
    },
  );
});

describe('a majority that comes together when its lease is over', () => {
  test.each([
    [noValidityCheck, 0],
    [wallClockValidity, 2_000],
    [wallClockValidity, 3_000],
  ])('$name is granted, with a clock set back by %d ms', async (lock, setBackMs) => {
    const hold = await tryWith(lock, 2_000, setBackMs);
    expect((hold as LockHold).validForMs).toBeGreaterThanOrEqual(LEASE_MS - 12);
  });

  test.each([
    [noValidityCheckMended, 0],
    [wallClockValidity, 0],
    [wallClockValidityMended, 0],
    [wallClockValidityMended, 3_000],
  ])('$name is refused, with a clock set back by %d ms', async (lock, setBackMs) => {
    expect(await tryWith(lock, 2_000, setBackMs)).toBe('refused: granted-late');
  });
});

test.each([
  [releaseWhereAcquired, true],
  [releaseWhereAcquiredMended, false],
])('$name leaves a node taken whose answer was lost: %s', async (lock, left) => {
  let held = false;
  const answersTooLate = node((name) => {
    held = name === 'set';
    return held ? { error: new Error('Command timed out') } : { reply: 1 };
  });
  const granted = willing();
  const fake = new FakeAccess([granted, answersTooLate, taken(), taken(), taken()]);
  const client = await lock.connect(fake.access);
  await expect(fake.run(client.acquire('k', options(LEASE_MS)))).rejects.toThrow('refused: no-quorum');
  expect(granted.commands.map(([name]) => name)).toEqual(['set', 'eval']);
  expect(held).toBe(left);
});

test.each([
  [deletedUntilGone, ['eval', 'exists', 'del', 'exists']],
  [deletedUntilGoneMended, ['eval']],
])('$0.name releases, the next one takes the lock at once, and it sends $1', async (lock, sent) => {
  let isTaken = true;
  const server = node((name) => {
    if (name === 'set') return { reply: 'OK' };
    if (name === 'del') isTaken = false;
    return { reply: name === 'exists' ? Number(isTaken) : 1 };
  });
  const fake = new FakeAccess([server]);
  const hold = await fake.run((await lock.connect(fake.access)).acquire('k', options(LEASE_MS)));
  expect(await fake.run(hold!.release() as Promise<boolean>)).toBe(true);
  expect(server.commands.slice(1).map(([name]) => name)).toEqual(sent);
});
