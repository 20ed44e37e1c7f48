/**
 * Locks that a full server throws away: found, named as the cause, and refused where nothing would be evicted.
 *
 * @module-tag namespaces
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HistoryEvent, Observation } from '../../harness/vocabulary/history.js';
import { namedCauses, torture } from '../support/torture.js';

const lines = <T>(folder: string, file: string): T[] =>
  readFileSync(join(folder, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('single, volatile-ttl: exclusion broken because the server evicted the lock; all settings restored', async () => {
  // Two keys, which are held for long, so that each one that is evicted is held still, and waited for.
  const flags = ['--maxmemory-policy', 'volatile-ttl', '--nemesis', 'evict', '--time-limit', '14s', '--keys', '2'];
  const run = await torture([...flags, '--hold', '0.4x..0.7x']);
  expect(run.output + run.errors).toContain('a full server evicted it');
  expect(run.status).toBe(1);
  expect(Object.keys(run.results.found)).toEqual(['exclusion']);
  expect(namedCauses(run.results)).toEqual(['evicted']);

  const observations = lines<Observation>(run.folder, 'observations.jsonl');
  for (const { cause, key } of run.results.violations.filter((one) => one.cause.name === 'evicted')) {
    const shown = cause.chain.flatMap(({ observation }) =>
      observation === undefined ? [] : observations[observation],
    );
    expect(shown).toContainEqual(expect.objectContaining({ type: 'evicted', node: 'r1', key }));
  }
  // Only evicted locks are reported: other keys do not matter here.
  const evicted = observations.filter((one) => one.type === 'evicted');
  expect(evicted.every(({ key }) => key.startsWith('lock:'))).toBe(true);

  const faults = lines<HistoryEvent>(run.folder, 'history.jsonl').filter((event) => event.type === 'fault');
  expect(faults.filter(({ state }) => state === 'failed' || state === 'refused')).toEqual([]);
  const healed = faults.filter(({ state }) => state === 'heal');
  expect(healed.length).toBeGreaterThan(0);
  for (const { proof } of healed) expect(proof).toMatch(/^r1 has maxmemory 0 again; \d+ .* none is left$/);
});

test('without a policy that evicts: one clear line, exit status 3', async () => {
  for (const policy of [[], ['--maxmemory-policy', 'noeviction']]) {
    const run = await torture(['--nemesis', 'evict', ...policy]);
    expect(run.status).toBe(3);
    const said = run.errors.trim().split('\n').at(-1);
    expect(said).toMatch(/evict makes no sense here: .*; give --maxmemory-policy volatile-ttl$/);
  }
});
