/** A finding on disk, `hunts/<id>/<n>/`: a run's folder like any other, the lock as it was, and `finding.json`. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { addressing } from '../../harness/machine/sim-shim.js';
import { conform } from '../../harness/record/schemas/conform.js';
import { type HuntFinding, huntFindingSchema } from '../../harness/record/schemas/hunt-finding.js';
import { readJson } from '../../harness/record/store.js';
import { WORLD_MAIN } from './world-process.js';

export const FINDING = 'finding.json';
/** The lock as one module, beside it. */
export const LOCK_MODULE = 'lock.cjs';

export type Pins = HuntFinding['pins'];

export function isFinding(folder: string): boolean {
  return existsSync(join(folder, FINDING));
}

/** Throws StoreError where it is damaged. */
export function readFinding(folder: string): HuntFinding {
  return readJson(folder, FINDING, (data) => conform(huntFindingSchema, data));
}

/** Of what is on this machine now; paths of the lock's module, the server and the shim. */
export function pinsOf(lock: string, server: string, shim: string): Pins {
  const { version } = createRequire(import.meta.url)('ioredis/package.json') as { version: string };
  return {
    node: process.version,
    ioredis: version,
    lock: hashOf([lock]),
    server: hashOf([server]),
    shim: hashOf([shim]),
    harness: harnessHash(),
    addressing: addressing(),
  };
}

/** In words, what is not as it was. */
export function changedSince(then: Pins, now: Pins): string[] {
  return changedPins(then, now).map((name) => `${name} (${then[name] ?? 'not told'}, now ${now[name]})`);
}

export function changedPins(then: Pins, now: Pins): (keyof Pins)[] {
  const names = Object.keys(now) as (keyof Pins)[];
  return names.filter((name) => then[name] !== now[name]);
}

/**
 * Of the program that plays schedules as it is compiled: of its file and all that these load by a path. What it loads by a
 * package's name is not in it. Other commands share some of these files, so a change of one of those may tell, too; never too little.
 */
export function harnessHash(main: string = WORLD_MAIN): string {
  const files = new Set([main]);
  for (const file of files)
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(LOADED)) files.add(join(dirname(file), path));
  return hashOf([...files].sort());
}

/** A relative path in `from "./x.js"`, `import "./x.js"` and `import("./x.js")`. */
const LOADED = /\b(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g;

function hashOf(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(readFileSync(path));
  return hash.digest('hex').slice(0, 16);
}
