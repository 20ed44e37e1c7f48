import { describe, expect, test } from 'vitest';
import redlockWithQuorum, { majority } from '../../../lock-impl/redlock.js';
import { FakeAccess, type FakeNode, node, options, silent, taken, unreachable, willing } from './fake-access.js';

/** Lease 5 s: a node is given 50 ms, drift is 52 ms. */
async function acquire(nodes: FakeNode[], waitMs = 0, leaseMs = 5_000) {
  const fake = new FakeAccess(nodes);
  const client = await redlockWithQuorum.connect(fake.access);
  const hold = await fake.run(client.acquire('k', options(leaseMs, waitMs)));
  return { fake, hold: hold! };
}

const released = (one: FakeNode) => one.commands.some(([name, , , key]) => name === 'eval' && key === 'k');

test('a majority is more than half', () => {
  expect([1, 2, 3, 4, 5, 6, 7].map(majority)).toEqual([1, 2, 2, 3, 3, 4, 4]);
});

describe('acquire', () => {
  test.each<[string, FakeNode[], number]>([
    ['all five', [willing(), willing(), willing(), willing(), willing()], 0],
    ['three of five', [willing(), taken(), willing(), taken(), willing()], 0],
    ['two unreachable', [willing(), unreachable(), willing(), unreachable(), willing()], 0],
    ['two silent, at the price of their time-out', [willing(), silent(), willing(), silent(), willing()], 50],
  ])('granted: %s', async (_case, nodes, costMs) => {
    const { hold } = await acquire(nodes);
    expect(hold.validForMs).toBeCloseTo(5_000 - 52 - costMs, 6);
    expect(hold.grantSentNs).toBe(1_000e6);
    expect(nodes.some(released)).toBe(false);
  });

  test.each<[string, FakeNode[], string]>([
    ['held', [taken(), taken(), taken(), taken(), taken()], 'held'],
    ['a split vote', [willing(), willing(), taken(), taken(), taken()], 'no-quorum'],
    ['a majority unreachable', [willing(), willing(), unreachable(), unreachable(), unreachable()], 'unreachable'],
    ['a majority silent', [willing(), willing(), silent(), silent(), silent()], 'unreachable'],
  ])('refused, and released on every node: %s', async (_case, nodes, reason) => {
    await expect(acquire(nodes)).rejects.toThrow(`refused: ${reason}`);
    expect(nodes.every(released)).toBe(true);
    const owners = nodes.map((one) => one.commands[0]![2]);
    expect(new Set(owners).size).toBe(1);
    expect(nodes.map((one) => one.commands[1]!.at(-1))).toEqual(owners);
  });

  test('a majority that comes after the end of the lease is none', async () => {
    // The slow ones use up their 20 ms, which leave less than nothing of 22 ms after drift.
    const slow = () => node((name) => ({ reply: name === 'set' ? 'OK' : 1, afterMs: 30 }));
    const quick = [willing(), willing(), willing()];
    const nodes = [...quick, slow(), slow()];
    await expect(acquire(nodes, 0, 22)).rejects.toThrow('refused: granted-late');
    expect(nodes.every(released)).toBe(true);
  });

  test('tries again with a new random value until the wait is over', async () => {
    const nodes = [0, 1, 2].map(() => node((name, nth) => ({ reply: name === 'eval' ? 0 : nth < 2 ? null : 'OK' })));
    const { hold, fake } = await acquire(nodes, 1_000);
    expect(hold.grantSentNs).toBe(Math.round(fake.nowMs * 1e6));
    const owners = nodes[0]!.commands.filter(([name]) => name === 'set').map((command) => command[2]);
    expect(new Set(owners).size).toBe(3);
  });
});

describe('release', () => {
  const afterGrant = (answers: ('yes' | 'no' | 'silent')[]) =>
    answers.map((answer) =>
      node((name) => {
        if (name === 'set') return { reply: 'OK' };
        return answer === 'silent' ? 'silence' : { reply: answer === 'yes' ? 1 : 0 };
      }),
    );

  test.each<[('yes' | 'no' | 'silent')[], boolean | RegExp]>([
    [['yes', 'yes', 'yes', 'yes', 'yes'], true],
    [['yes', 'yes', 'yes', 'silent', 'no'], true],
    [['no', 'no', 'no', 'yes', 'yes'], false],
    [['no', 'no', 'no', 'silent', 'silent'], false],
    [['yes', 'yes', 'no', 'no', 'silent'], /unanswered by 1 of 5/],
    [['yes', 'silent', 'silent', 'silent', 'silent'], /unanswered by 4 of 5/],
  ])('%j', async (answers, expected) => {
    const { hold, fake } = await acquire(afterGrant(answers));
    const release = fake.run(hold.release() as Promise<boolean>);
    if (typeof expected === 'boolean') expect(await release).toBe(expected);
    else await expect(release).rejects.toThrow(expected);
    const { hold: other, fake: again } = await acquire(afterGrant(answers));
    const extended = again.run(other.extend!(5_000));
    if (expected === true) expect(await extended).not.toBeNull();
    else if (expected === false) expect(await extended).toBeNull();
    else await expect(extended).rejects.toThrow(/unanswered/);
  });
});
