/** A command may take as long as its service may, and an operation as long as its commands. */
import { expect, test } from 'vitest';
import { commandTimeoutOf, operationGraceOf } from '../../../../harness/run/command-times.js';
import { topologies } from '../../../../harness/topologies/index.js';

test('Redis answers at once, or not at all', () => {
  for (const name of ['single', 'sentinel', 'redlock'])
    expect([
      commandTimeoutOf(topologies[name]!, { leaseMs: 4_700 }),
      operationGraceOf(topologies[name]!, { leaseMs: 4_700 }),
    ]).toEqual([500, 4_000]);
});

test.each(['zookeeper', 'zookeeper-single', 'etcd', 'etcd-single'])(
  'on %s a session gives an answer a third of its time, and is not over before another server can be asked',
  (name) => {
    const timeout = (leaseMs: number) => commandTimeoutOf(topologies[name]!, { leaseMs });
    expect([1_000, 2_300, 4_700, 30_000].map(timeout)).toEqual([500, 767, 1_500, 1_500]);
    for (const leaseMs of [2_000, 4_700, 10_000]) expect(2 * timeout(leaseMs)).toBeLessThan(leaseMs);
    expect([1_000, 4_700].map((leaseMs) => operationGraceOf(topologies[name]!, { leaseMs }))).toEqual([4_000, 6_000]);
  },
);
