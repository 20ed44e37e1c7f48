/** Which runs are dead, from what is written on what they made. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { isDead, labelsOf, OWNER_LABEL } from '../../../docker/owner.js';
import { lastAddress } from '../../../docker/runtime.js';

const NOW_MS = 1e12;
const HOUR_MS = 3_600_000;
const own = JSON.parse(labelsOf('a-run')[OWNER_LABEL]!);
const label = (change: object) => JSON.stringify({ ...own, ...change });

describe('a run', () => {
  test('lives as long as the process that made it, however old it is', () => {
    expect(isDead(label({}), NOW_MS - 100 * HOUR_MS, NOW_MS)).toBe(false);
  });

  test('is dead when its process has ended, or its number belongs to another', async () => {
    expect(isDead(label({ started: '1' }), NOW_MS, NOW_MS)).toBe(true);
    const child = spawn('true');
    const { pid } = child;
    await once(child, 'exit');
    expect(isDead(label({ pid }), NOW_MS, NOW_MS)).toBe(true);
  });

  test.each([
    ['another boot', label({ boot: 'another' })],
    ['another process namespace', label({ namespace: 'pid:[1]' })],
    ['another version', '{}'],
    ['no JSON', 'x'],
  ])('of %s is left alone for a day', (_what, text) => {
    expect(isDead(text, NOW_MS - 23 * HOUR_MS, NOW_MS)).toBe(false);
    expect(isDead(text, NOW_MS - 25 * HOUR_MS, NOW_MS)).toBe(true);
  });
});

test.each([
  ['172.18.0.0/16', '172.18.255.254'],
  ['192.168.48.0/20', '192.168.63.254'],
  ['10.1.2.0/24', '10.1.2.254'],
])('the last address of %s is %s', (subnet, address) => {
  expect(lastAddress(subnet)).toBe(address);
});
