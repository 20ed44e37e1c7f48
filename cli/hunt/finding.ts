/** A finding on disk, `hunts/<id>/<n>/`: a run's folder like any other, the lock as it was, and `finding.json`. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { conform } from '../../harness/record/schemas/conform.js';
import { type HuntFinding, huntFindingSchema } from '../../harness/record/schemas/hunt-finding.js';
import { readJson } from '../../harness/record/store.js';

export const FINDING = 'finding.json';
/** The lock as one module, beside it. */
export const LOCK_MODULE = 'lock.cjs';

export function isFinding(folder: string): boolean {
  return existsSync(join(folder, FINDING));
}

/** Throws StoreError where it is damaged. */
export function readFinding(folder: string): HuntFinding {
  return readJson(folder, FINDING, (data) => conform(huntFindingSchema, data));
}

/** Of what is on this machine now; paths of the lock's module, the server and the shim. */
export function pinsOf(lock: string, server: string, shim: string): HuntFinding['pins'] {
  const { version } = createRequire(import.meta.url)('ioredis/package.json') as { version: string };
  return { node: process.version, ioredis: version, lock: hashOf(lock), server: hashOf(server), shim: hashOf(shim) };
}

/** In words, what is not as it was. */
export function changedSince(then: HuntFinding['pins'], now: HuntFinding['pins']): string[] {
  const names = Object.keys(then) as (keyof typeof then)[];
  return names.filter((name) => then[name] !== now[name]).map((name) => `${name} (${then[name]}, now ${now[name]})`);
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16);
}
