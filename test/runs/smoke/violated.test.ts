/**
 * One violated run for each main deployment: what the fault breaks is found, and why. Two at once, as in a batch on two cores.
 *
 * @module-tag namespaces
 */
import { describe, expect, test } from 'vitest';
import { torture } from '../../support/torture.js';

/** As long as it takes: whether a fault strikes a lock that is held is a matter of chance. */
const UNTIL_FOUND = ['--stop-at-first', '--time-limit', '60s'];

const classes = (results: { found: object }) => Object.keys(results.found);

describe('what a fault breaks on one logical server is found', () => {
  test.concurrent('sentinel, failover: exclusion broken, and why', async () => {
    const run = await torture(['--topology', 'sentinel', '--nemesis', 'failover', '--seed', '7', ...UNTIL_FOUND]);
    expect(run.status).toBe(1);
    expect(classes(run.results)).toEqual(['exclusion']);
    // Its grant, or the renewal of one that outlasts its lease.
    expect(run.results.violations.map(({ cause }) => cause.name).join()).toMatch(/failover-lost-(write|renewal)/);
    expect(run.output).toContain('--seed 7');
  });

  test.concurrent('single, paused clients: a stale holder', async () => {
    const run = await torture([
      '--topology',
      'single',
      '--nemesis',
      'pause:client',
      '--lease',
      '2s',
      '--seed',
      '3',
      ...UNTIL_FOUND,
    ]);
    expect(run.status).toBe(1);
    expect(classes(run.results)).toEqual(['stale']);
    const allowed = await torture([run.folder], { command: 'check' });
    expect(allowed.status).toBe(1);
  });
});

describe('and what breaks on independent nodes, or without a fault', () => {
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
});
