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
  if (name.endsWith('/fenced')) return ['--workload', 'fenced-resource'];
  return name in FOR_ITS_KIND ? ['--workload', FOR_ITS_KIND[name]!] : [];
};
/** What of Redisson only these workloads ask of it: its order, and nested grants. */
const FOR_ITS_KIND: Readonly<Record<string, string>> = {
  'redisson/fair': 'fair',
  'redisson/latch': 'latch',
  'redisson/watchdog': 'reentrant',
};
const folderOf = (name: string) => name.split('/')[0];

/** Versions of which results are published, beside the default one: the first is tried always, the others at night. */
const [older, ...evenOlder] = externalLocks['redisson/rlock']!.versions.alsoPinned.map(
  (one) => `redisson/rlock@${one}`,
);
const tried = [...Object.keys(externalLocks), older!, ...evenOlder].map((name) => [name, externalLock(name)!] as const);

/** Twins that are wrong, each with the workload that shows it, and the kind of finding. */
const TWINS: Readonly<Record<string, readonly [workload: string, kind: string]>> = {
  'redisson/force-unlock': ['reentrant', 'overlap'],
  'redisson/barging': ['fair', 'fifo-inversion'],
  'redisson/read-beside-lock': ['read-write', 'overlap'],
  'redisson/permits-added': ['semaphore', 'overlap'],
};
/** What these show is a scenario's. */
const IN_PLAYS: readonly string[] = ['redisson/kept-object', 'redisson/shutdown'];

describe.each(tried.filter(([name]) => !(name in TWINS) && !IN_PLAYS.includes(name)))(
  '%s',
  (name, { project, topologies }) => {
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
      if (workloadFor(name).includes('fair')) {
        expect(results.stats.fifoWaiters).toBeGreaterThan(0);
        expect(results.stats.fifoInversions).toBe(0);
      }
    }
  },
);

describe('Redisson as it is called', () => {
  const options = { timeout: BUILD_MS, ...skipWhere(['java', 'mvn'].flatMap((tool) => withoutTool(tool) ?? [])[0]) };
  const run = (lock: string, ...flags: string[]) =>
    torture([...QUIET, '--lock', lock, '--clients', '3', '--keys', '2', '--lease', '2s', ...flags]);

  it.each(Object.entries(TWINS))('%s is found', options, isFound);
  it.each(['lock', 'lock-lease', 'tryLock', 'tryLock-wait'])(
    'an unlock by force is found, by %s',
    { ...options, tags: ['night'] },
    (form) => isFound(`redisson/force-unlock:${form}`, TWINS['redisson/force-unlock']!),
  );

  async function isFound(lock: string, [workload, kind]: readonly [string, string]): Promise<void> {
    const { status, results } = await run(lock, '--workload', workload, '--time-limit', '4s');
    expect(status).toBe(1);
    expect(results.violations.map((one) => one.kind)).toContain(kind);
  }

  describe.each(['redisson/rlock', 'redisson/rlock@3.16.4', 'redisson/rlock@3.15.6'])(
    '%s',
    { tags: ['night'] },
    (lock) => {
      it.each(['lock', 'lock-lease', 'tryLock', 'tryLock-wait'])(
        'by %s: never two without faults',
        options,
        async (form) => {
          const { results } = await run(`${lock}:${form}`, '--time-limit', '5s');
          expect(results.violations.filter((one) => one.class !== 'liveness')).toEqual([]);
          expect(results.stats.holds).toBeGreaterThan(0);
        },
      );

      it('by lock(lease): who sleeps past the lease is a stale holder, by the pause', options, async () => {
        const { results } = await run(`${lock}:lock-lease`, '--nemesis', 'pause:holder', '--time-limit', '14s');
        expect(new Set(results.violations.map((one) => one.class))).toEqual(new Set(['stale']));
        expect(results.violations[0]!.cause?.name).toBe('client-paused');
      });

      it('by lock(): what a killed holder had is free again after the time of the watchdog', options, async () => {
        // Without acquires that are given up: what an interrupted one left is renewed for ever.
        const flags = ['--workload', 'reentrant', '--nemesis', 'kill:holder', '--time-limit', '14s'];
        const { results } = await run(`${lock}:lock`, ...flags);
        expect(results.violations).toEqual([]);
        expect(results.stats.struckHolds).toBeGreaterThan(0);
      });

      it('nested grants, and the order of its fair lock', options, async () => {
        const nested = await run(`${lock}:lock`, '--workload', 'reentrant', '--time-limit', '5s');
        expect(nested.results.violations).toEqual([]);
        const fair = await run(lock.replace('rlock', 'fair'), '--workload', 'fair', '--time-limit', '5s');
        expect(fair.results.stats).toMatchObject({ fifoInversions: 0 });
        expect(fair.results.stats.fifoWaiters).toBeGreaterThan(0);
      });
    },
  );
});
