/** What a lock draws at random: repeatable where it paces a client, and never where it names an owner. */
import { expect, test } from 'vitest';
import { CommandLog } from '../../../../harness/client/command-log.js';
import { topologyAccess } from '../../../../harness/client/topology-access.js';
import { randomPauseMs } from '../../../../lock-impl/attempts.js';

function accessOf(client: string, seed: number) {
  const node = { name: 'r1', host: '127.0.0.1', port: 1 };
  const options = { client, seed, leaseMs: 5_000, commandTimeoutMs: 100 };
  const notices = { step: async () => {}, renewed: () => {} };
  return topologyAccess({ kind: 'single', node }, options, new CommandLog(), notices);
}

function pauses(client: string, seed: number): number[] {
  const access = accessOf(client, seed);
  return Array.from({ length: 20 }, () => randomPauseMs(access, { minMs: 10, maxMs: 30 }));
}

test('the same seed and name give the same pauses, another name or another seed others', () => {
  const mine = pauses('c1', 7);
  expect(mine.every((ms) => ms >= 10 && ms < 30)).toBe(true);
  expect(new Set(mine).size).toBeGreaterThan(10);
  expect(pauses('c1', 7)).toEqual(mine);
  expect(pauses('c2', 7)).not.toEqual(mine);
  expect(pauses('c1.2', 7)).not.toEqual(mine);
  expect(pauses('c1', 8)).not.toEqual(mine);
});

test('owners are never drawn from the seed', () => {
  const [a, b] = [accessOf('c1', 7), accessOf('c1', 7)];
  const owners = [a, b, a, b].map((access) => access.randomValue());
  expect(new Set(owners).size).toBe(4);
  for (const owner of owners) expect(owner).toMatch(/^[0-9a-f]{40}$/);
});
