import { describe, expect, test } from 'vitest';
import type { TopologyAccess } from '../../../harness/vocabulary/lock.js';
import redlockMulti from '../../../lock-impl/redlock-multi.js';
import { FakeAccess, type FakeNode, node, options, taken, unreachable, willing } from './fake-access.js';

async function acquire(nodes: FakeNode[], { leaseMs = 5_000, waitMs = 0 } = {}) {
  const fake = new FakeAccess(nodes);
  const client = await redlockMulti.connect({ ...fake.access, step: async () => {} } as TopologyAccess);
  const hold = await fake.run(client.acquire('k', options(leaseMs, waitMs)));
  return { fake, hold: hold! };
}

const slow = (afterMs: number) => node((name) => ({ reply: name === 'set' ? 'OK' : 1, afterMs }));
const lost = () => node(() => ({ error: new Error('closed') }));
const asked = (nodes: FakeNode[]) => nodes.map((one) => one.commands.some(([name]) => name === 'set'));
const givenBack = (nodes: FakeNode[]) => nodes.map((one) => one.commands.some(([name]) => name === 'eval'));

describe('acquire', () => {
  test('asks one node after the other, and reports no validity', async () => {
    const nodes = [slow(20), slow(20), slow(20)];
    const { hold, fake } = await acquire(nodes);
    expect(fake.nowMs).toBe(1_060);
    expect(hold.grantSentNs).toBe(1_000e6);
    expect(hold.validForMs).toBeUndefined();
  });

  test.each<[string, FakeNode[], boolean[]]>([
    ['all five', [willing(), willing(), willing(), willing(), willing()], [true, true, true, true, true]],
    ['two held', [willing(), taken(), willing(), taken(), willing()], [true, true, true, true, true]],
    [
      'the last two are not needed',
      [willing(), willing(), willing(), lost(), willing()],
      [true, true, true, true, false],
    ],
  ])('granted: %s', async (_case, nodes, which) => {
    const { hold } = await acquire(nodes);
    expect(hold).not.toBeNull();
    expect(asked(nodes)).toEqual(which);
  });

  test.each<[string, FakeNode[], string, boolean[]]>([
    ['held', [taken(), taken(), willing()], 'held', [false, false, false]],
    ['a split vote', [willing(), taken(), taken()], 'no-quorum', [true, false, false]],
    ['unreachable', [willing(), unreachable(), unreachable()], 'unreachable', [true, false, false]],
    [
      'no answer: that node may have granted, and is not asked again',
      [willing(), lost(), lost()],
      'unreachable',
      [true, false, false],
    ],
  ])('refused: %s', async (_case, nodes, reason, back) => {
    await expect(acquire(nodes)).rejects.toThrow(`refused: ${reason}`);
    expect(givenBack(nodes)).toEqual(back);
  });

  test('time is checked against the wait', async () => {
    const nodes = [slow(60), slow(60), slow(60)];
    await expect(acquire(nodes, { waitMs: 100 })).rejects.toThrow('refused: wait-over');
    expect(asked(nodes)).toEqual([true, true, false]);
    expect(givenBack(nodes)).toEqual([true, true, false]);
  });

  test('and never against the lease', async () => {
    const { hold, fake } = await acquire([slow(60), slow(60), slow(60)], { leaseMs: 100, waitMs: 1_000 });
    expect(fake.nowMs - hold.grantSentNs! / 1e6).toBeGreaterThan(100);
  });
});

describe('release', () => {
  const afterGrant = (answers: (number | 'lost')[]) =>
    answers.map((answer) =>
      node((name) => {
        if (name === 'set') return { reply: 'OK' };
        return answer === 'lost' ? { error: new Error('closed') } : { reply: answer };
      }),
    );

  test.each<[(number | 'lost')[], boolean | RegExp]>([
    [[1, 1, 1], true],
    [[1, 1, 'lost'], true],
    [[1, 0, 0], false],
    [[0, 0, 'lost'], false],
    [[1, 0, 'lost'], /1 of 3 parts/],
  ])('%j', async (answers, expected) => {
    const { hold, fake } = await acquire(afterGrant(answers));
    const release = fake.run(hold.release());
    if (typeof expected === 'boolean') expect(await release).toBe(expected);
    else await expect(release).rejects.toThrow(expected);
    const { hold: other, fake: again } = await acquire(afterGrant(answers));
    const extension = again.run(other.extend!(2_000));
    if (expected === true) expect(await extension).toEqual({});
    else if (expected === false) expect(await extension).toBeNull();
    else await expect(extension).rejects.toThrow(expected);
  });
});
