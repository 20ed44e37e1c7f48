/**
 * Whole runs, as a user starts them: what must be found is found, and nothing else.
 *
 * @module-tag namespaces
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freshFolder, namedCauses, ROOT, RUN_FILES, torture } from '../support/torture.js';

const classes = (results: { found: object }) => Object.keys(results.found);

// On single: smoke/held.test.ts.
describe('no fault, no accusation', () => {
  test.each([['sentinel'], ['redlock'], ['cluster']])('%s with its default lock', async (topology) => {
    const run = await torture([
      '--topology',
      topology,
      '--nemesis',
      'none',
      '--time-limit',
      '6s',
      '--hold',
      '0.01x..0.05x',
    ]);
    expect(run.output + run.errors).toContain('HELD');
    expect(run.status).toBe(0);
    expect(run.results.violations).toEqual([]);
    expect(RUN_FILES.filter((file) => !existsSync(join(run.folder, file)))).toEqual([]);
  });
});

describe('what a fault breaks is found', () => {
  test('cluster with a password, failover: exclusion broken, and why', async () => {
    // Holds that outlive a failover, nearly all of them.
    const flags = ['--hold', '0.5x..0.7x', '--time-limit', '14s', '--seed', '7'];
    const run = await torture(['--topology', 'cluster', '--auth', '--nemesis', 'failover', ...flags]);
    expect(run.status, run.output + run.errors).toBe(1);
    expect(classes(run.results)).toEqual(['exclusion']);
    expect(namedCauses(run.results)).toEqual(['failover-lost-write']);
  });

  test('paused clients: a stale holder and nothing else; --fail-on: known and accepted, it does not fail the run', async () => {
    const plan = join(freshFolder(), 'plan.json');
    // Each for longer than the lease, which others wait for.
    const steps = [300, 4_000].map((atMs) => ({ atMs, forMs: 3_000, fault: 'pause', target: 'holder' }));
    writeFileSync(plan, JSON.stringify({ version: 1, seed: 1, steps }));
    const flags = ['--plan', plan, '--time-limit', '8s', '--lease', '2s', '--hold', '0.4x..0.7x', '--keys', '2'];
    const run = await torture(['--topology', 'single', ...flags, '--fail-on', 'exclusion,liveness']);
    expect(classes(run.results)).toEqual(['stale']);
    expect(run.status).toBe(0);
  });
});

describe('canaries are caught, their twins are not', () => {
  // A careless holder outlives its lease: the only way to delete somebody else's lock.
  const CANARIES: [string, string, string[]][] = [
    ['blind-del', 'single', ['--careless', '--hold', '0.5x..1.5x', '--lease', '1s']],
    // Two must start at once: seen by chance only, unless all want the same key again and again.
    ['half-quorum', 'redlock', ['--nodes', '4', '--clients', '8', '--keys', '1', '--hold', '0.001x..0.01x']],
    ['shared-owner', 'single', []],
  ];
  const common = ['--nemesis', 'none', '--fail-on', 'exclusion'];
  // As long as it takes: what is left to chance may take its time.
  const caught = ['--stop-at-first', '--time-limit', '90s'];

  test.each(CANARIES)('%s on %s', async (name, topology, flags) => {
    const broken = await torture(['--lock', `broken/${name}`, '--topology', topology, ...common, ...caught, ...flags]);
    expect(broken.status, broken.output).toBe(1);
    expect(broken.results.found.exclusion).toBeGreaterThan(0);
    const sound = ['--lock', `broken/${name}-mended`, '--time-limit', '10s'];
    const mended = await torture([...sound, '--topology', topology, ...common, ...flags]);
    expect(mended.status, mended.output).toBe(0);
    expect(mended.results.found.exclusion ?? 0).toBe(0);
  });
});

describe("a user's own lock", () => {
  test('the TypeScript file of the tutorial, outside the project', async () => {
    const folder = freshFolder();
    const tutorial = readFileSync(join(ROOT, 'docs/write-your-own-lock.md'), 'utf8');
    writeFileSync(join(folder, 'user-lock.ts'), /```ts\n([\s\S]*?)```/.exec(tutorial)![1]!);
    const run = await torture(
      ['--lock', './user-lock.ts', '--nemesis', 'none', '--time-limit', '6s', '--hold', '0.01x..0.05x'],
      { cwd: folder },
    );
    expect(run.status, run.output + run.errors).toBe(0);
    expect(run.output).toContain('HELD');
  });

  test('a Python program that speaks the protocol', { tags: ['python'] }, async () => {
    const program = join(ROOT, 'lock-impl/external/python/lock_client.py');
    const run = await torture([
      '--lock',
      `cmd:python3 ${program}`,
      '--nemesis',
      'none',
      '--time-limit',
      '6s',
      '--hold',
      '0.01x..0.05x',
    ]);
    expect(run.status, run.output + run.errors).toBe(0);
  });
});
