/**
 * Workloads on real Redis: what each is for is found, and not found where it is not.
 *
 * @module-tag namespaces
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../harness/record/store.js';
import type { Plan, PlanStep } from '../../harness/vocabulary/faults.js';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import type { ViolationClass } from '../../harness/vocabulary/verdict.js';
import { type Ended, freshFolder, torture } from '../support/torture.js';

const calm = ['--topology', 'single', '--nemesis', 'none', '--time-limit', '6s'];

const events = ({ folder }: Ended): HistoryEvent[] =>
  readFileSync(join(folder, 'history.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const keysOf = ({ folder }: Ended) => readConfig(folder).keys;

const by = ({ results }: Ended, checker: string) => results.checkers.find((one) => one.checker === checker)!;

/** Fails with what the run said. */
function expectStatus(run: Ended, status: number): void {
  expect(run.status, run.output + run.errors).toBe(status);
}

/** A plan that stops every holder that it finds for longer than a lease of a second. */
function pausedHolders(): string {
  const path = join(freshFolder(), 'plan.json');
  const steps = [0, 1, 2, 3].map(
    (n): PlanStep => ({ atMs: 300 + 2_000 * n, forMs: 1_500, fault: 'pause', target: 'holder' }),
  );
  writeFileSync(path, JSON.stringify({ version: 1, seed: 1, steps } satisfies Plan));
  return path;
}

test('counter: no update is lost under a lock that holds, and some are under one that does not', async () => {
  // A lease that outlasts a busy machine's pauses: of what that let stand nothing could be told.
  const sound = await torture([...calm, '--workload', 'counter', '--lease', '3s']);
  expectStatus(sound, 0);
  const { stats, verdict } = by(sound, 'lost-updates');
  expect(verdict).toBe('valid');
  expect(stats.updates).toBeGreaterThan(10);
  // The last of them was looked at after everything was healed.
  const probed = events(sound).findIndex((event) => event.type === 'phase' && event.phase === 'probe');
  const read = events(sound)
    .slice(probed)
    .filter((event) => event.type === 'ok' && event.op === 'read');
  expect(read).toHaveLength(keysOf(sound).length);

  const broken = await torture([
    ...calm,
    '--workload',
    'counter',
    '--lock',
    'broken/shared-owner',
    '--fail-on',
    'harm',
    '--stop-at-first',
  ]);
  expectStatus(broken, 1);
  expect(by(broken, 'lost-updates').violations[0]).toMatchObject({ class: 'harm', kind: 'lost-update' });
});

test('fenced-resource: a resource that trusts takes what a stale holder writes, one that checks does not', async () => {
  const run = (resource: string, ...flags: string[]) =>
    torture([
      ...[
        '--topology',
        'single',
        '--workload',
        'fenced-resource',
        '--resource',
        resource,
        '--lease',
        '1s',
        '--keys',
        '1',
      ],
      ...['--careless', '--hold', '0.5x..0.9x', '--plan', pausedHolders(), '--time-limit', '10s', ...flags],
    ]);
  const trusting = await run('trusting', '--fail-on', 'harm');
  expectStatus(trusting, 1);
  // What the machine itself let stand may have written, too.
  const paused = { class: 'harm', cause: expect.objectContaining({ name: 'client-paused' }) };
  expect(by(trusting, 'stale-writes').violations).toContainEqual(expect.objectContaining(paused));

  const checking = await run('checking');
  expect(by(checking, 'stale-writes').violations).toEqual([]);
  expect(by(checking, 'stale-writes').stats.refusedStale, checking.output).toBeGreaterThan(0);
});

test.each<[string, string, ViolationClass]>([
  ['read-write', 'broken/upgrade-beside-readers', 'exclusion'],
  ['semaphore', 'broken/permit-returned-twice', 'exclusion'],
  ['late-release', 'broken/reused-owner', 'exclusion'],
])('%s: %s is found, its twin is not', async (workload, lock, found) => {
  const flags = [
    '--workload',
    workload,
    '--lease',
    '1s',
    '--topology',
    'single',
    '--nemesis',
    'none',
    '--stop-at-first',
  ];
  const broken = await torture([...flags, '--lock', lock, '--time-limit', '60s']);
  expectStatus(broken, 1);
  expect(broken.output).toMatch(/^found .*; ending the run$/m);
  expect(Object.keys(broken.results.found)).toContain(found);
  // It was ended long before its time.
  expect(events(broken).at(-1)!.atNs).toBeLessThan(59e9);

  const twin = await torture([...flags, '--lock', `${lock}-mended`, '--lease', '3s', '--time-limit', '12s']);
  expectStatus(twin, 0);
});

test('semaphore: a permit that was lost with its holder is found, because all of them are asked for at the end', async () => {
  const plan = join(freshFolder(), 'plan.json');
  const steps = [{ atMs: 1_000, forMs: 100, fault: 'kill', target: 'holder' }];
  writeFileSync(plan, JSON.stringify({ version: 1, seed: 1, steps }));
  const run = await torture(['--workload', 'semaphore', '--lease', '3s', '--plan', plan, '--time-limit', '10s']);
  expectStatus(run, 1);
  expect(by(run, 'permits').violations[0]).toMatchObject({ class: 'liveness', kind: 'permit-leak' });
});

test('a lock that cannot do what a workload asks of it is refused by name', async () => {
  const run = await torture(['--workload', 'read-write', '--lock', 'set-nx-px', '--topology', 'single']);
  expect(run.status).toBe(3);
  expect(run.errors).toContain('for locks with the feature shared, which "set-nx-px" does not say it has');
  const noResource = await torture(['--resource', 'checking']);
  expect(noResource.status).toBe(3);
  expect(noResource.errors).toMatch(/--resource is for workloads that write to what the lock protects/);
});
