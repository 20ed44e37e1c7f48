/**
 * Violated runs on independent nodes, and without a fault: what breaks is found, and a replay finds it again.
 *
 * @module-tag namespaces
 */
import { expect, test } from 'vitest';
import { torture } from '../../support/torture.js';

/** As long as it takes: whether a fault strikes a lock that is held is a matter of chance. */
const UNTIL_FOUND = ['--stop-at-first', '--time-limit', '60s'];

const classes = (results: { found: object }) => Object.keys(results.found);

test.concurrent('redlock, one of the granting nodes forgets: exclusion broken', async () => {
  // Long holds: what a node forgets is held still when another client comes.
  const flags = ['--nemesis', 'forget-granted', '--lease', '5s', '--hold', '0.6x..0.9x', '--seed', '5'];
  const run = await torture(['--topology', 'redlock', ...flags, ...UNTIL_FOUND]);
  expect(run.status).toBe(1);
  expect(classes(run.results)).toEqual(['exclusion']);
});

test.concurrent('a canary is caught, and its replay finds the same again', async () => {
  const flags = ['--topology', 'single', '--lock', 'broken/lease-in-seconds', '--nemesis', 'none', '--lease', '2s'];
  const run = await torture([...flags, '--seed', '1', ...UNTIL_FOUND]);
  expect(run.status, run.output + run.errors).toBe(1);
  expect(run.results.found.exclusion).toBeGreaterThan(0);
  const again = await torture([run.folder], { command: 'replay' });
  expect(again.status, again.output + again.errors).toBe(1);
});
