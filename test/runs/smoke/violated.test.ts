/**
 * Violated runs on one logical server: what the fault breaks is found, and why. Two at once, as in a batch on two cores.
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
