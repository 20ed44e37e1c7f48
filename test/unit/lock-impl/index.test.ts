import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { LockDefinition } from '../../../harness/vocabulary/lock.js';
import { builtinLock, locks } from '../../../lock-impl/index.js';

const folder = fileURLToPath(new URL('../../../lock-impl/', import.meta.url));

test.each(Object.entries(locks))('%s is what its module says', async (name, entry) => {
  const { default: lock } = (await import(`${folder}${entry.module}`)) as { default: LockDefinition };
  expect(lock.name).toBe(name);
  expect(lock.topologies).toEqual(entry.topologies);
  const { module, topologies, library } = entry;
  expect(builtinLock(name)).toEqual({
    modulePath: `${folder}${module.slice(2)}`,
    topologies,
    ...(library && { library }),
    // Those of etcd and ZooKeeper have clients of the tool's own.
    ...(/^(pg|mariadb|mysql|mongo)-/.test(name) && { hasPackage: true }),
  });
  // What of a client outlives it is said by every lock that keeps a queue or permits.
  if (lock.model?.kind === 'fair') expect(lock.deadlines).toHaveProperty('place');
  if (lock.model?.kind === 'semaphore') expect(lock.deadlines).toHaveProperty('permit');
  expect(entry.canary ?? false).toBe(entry.family === 'canary');
  // Of other services: what is to be caught stands beside what it is told from.
  if (entry.canary && !name.startsWith('broken/'))
    expect(locks).toHaveProperty([/(\S+) is its twin/.exec(entry.claims)![1]!]);
});

test('every canary has its twin', () => {
  const names = Object.keys(locks).filter((name) => name.startsWith('broken/') && !name.endsWith('-mended'));
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect(locks).toHaveProperty([`${name}-mended`]);
  const files = readdirSync(`${folder}broken`).filter((file) => file.endsWith('-mended.ts'));
  expect(files).toHaveLength(names.length);
});

test('an unknown name finds nothing, not even a name that every object has', () => {
  expect(builtinLock('nothing')).toBeUndefined();
  expect(builtinLock('constructor')).toBeUndefined();
});
