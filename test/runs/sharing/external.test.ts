/**
 * Each library of another language: built here, it grants, and breaks nothing while nothing fails. In CI every toolchain is expected;
 * elsewhere a library whose toolchain is missing is skipped by name.
 */
import { describe, expect, it } from 'vitest';
import { externalLocks } from '../../../lock-impl/external/index.js';
import { here } from '../../support/needs.js';
import { QUIET, torture } from '../../support/torture.js';

/** A cold build downloads and compiles libraries on a machine that has other tests to run. */
const BUILD_MS = 5 * 60_000;

describe.each(Object.entries(externalLocks))('%s', (name, { project, topologies }) => {
  const isBuildable = project.needs.every(([tool]) => here(tool));
  it.runIf(isBuildable).each(topologies)(
    'is granted on %s, and breaks nothing',
    { timeout: BUILD_MS },
    async (topology) => {
      const { status, output, errors, results } = await torture([
        ...QUIET,
        '--topology',
        topology,
        '--lock',
        name,
        '--time-limit',
        '3s',
        '--clients',
        '3',
      ]);
      expect([0, 2], output + errors).toContain(status);
      expect(results.violations).toEqual([]);
      expect(results.stats.holds).toBeGreaterThan(0);
    },
  );
});
