/**
 * Each library of another language: built here, it grants, and never to two while nothing fails. Where all is required every
 * toolchain is expected; elsewhere a library whose toolchain is missing is skipped by name.
 *
 * A try that a library gives up when its time is over may leave something behind (redsync does): on a busy machine that is found,
 * and is no mistake of the way it is started.
 */
import { describe, expect, it } from 'vitest';
import { argvOfPlace } from '../../../cli/batches/matrix-cells.js';
import { topologies as kinds } from '../../../harness/topologies/index.js';
import { externalLock, externalLocks } from '../../../lock-impl/external/index.js';
import { skipWhere, withoutTool } from '../../support/needs.js';
import { lacking } from '../../support/needs-service.js';
import { QUIET, torture } from '../../support/torture.js';

/** Services that some of them are for, and why each cannot be had here. */
const services = new Set(Object.values(externalLocks).map(({ topologies }) => kinds[topologies[0]!]!.service));
const lacks = new Map(await Promise.all([...services].map(async (name) => [name, await lacking(name)] as const)));

/** A cold build downloads and compiles libraries on a machine that has other tests to run. */
const BUILD_MS = 10 * 60_000;

/** Every lock is tried on one topology; at night the first of a project on all, for the project's way to connect. */
const isFirst = (name: string) => Object.keys(externalLocks).find((one) => folderOf(one) === folderOf(name)) === name;
/** A lock that several may hold at once is taken for no other; one that has tokens shows them to a resource. */
const workloadFor = (name: string) => {
  if (/semaphore|permit/.test(name)) return ['--workload', 'semaphore'];
  return name.endsWith('/fenced') ? ['--workload', 'fenced-resource'] : [];
};
const folderOf = (name: string) => name.split('/')[0];

/** Versions of which results are published, beside the default one: the first is tried always, the others at night. */
const [older, ...evenOlder] = externalLocks['redisson/rlock']!.versions.alsoPinned.map(
  (one) => `redisson/rlock@${one}`,
);
const tried = [...Object.keys(externalLocks), older!, ...evenOlder].map((name) => [name, externalLock(name)!] as const);

describe.each(tried)('%s', (name, { project, topologies }) => {
  const noTool = project.needs.flatMap(([tool]) => withoutTool(tool) ?? [])[0];
  const lacking = noTool ?? lacks.get(kinds[topologies[0]!]!.service);
  const [first, ...others] = topologies;
  const options = { timeout: BUILD_MS, ...skipWhere(lacking) };
  const title = 'is granted on %s, and never to two';
  it.each([first!])(title, { ...options, ...(evenOlder.includes(name) && { tags: ['night'] }) }, isGranted);
  if (isFirst(name)) it.each(others)(title, { ...options, tags: ['night'] }, isGranted);

  async function isGranted(topology: string): Promise<void> {
    const { status, output, errors, results } = await torture([
      ...QUIET,
      ...workloadFor(name),
      ...argvOfPlace(topology),
      ...['--lock', name, '--time-limit', '3s', '--clients', '3'],
    ]);
    expect([0, 1, 2], output + errors).toContain(status);
    expect(results.violations.filter((one) => one.class !== 'liveness')).toEqual([]);
    expect(results.stats.holds).toBeGreaterThan(0);
  }
});
