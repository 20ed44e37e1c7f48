/**
 * A run's folder: `runs/<id>/` and the link `runs/latest`. Everything a run writes is below it.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Plan, Results, RunConfig } from './api.js';

/** A store that cannot be used; the message is one clear line. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** Creates `<base>/<id>/`; rejects if it exists. */
export function createRunFolder(base: string, id: string): string {
  const folder = join(base, id);
  try {
    mkdirSync(base, { recursive: true });
    mkdirSync(folder);
  } catch (error) {
    throw new StoreError(`cannot create ${folder}: ${(error as Error).message}`);
  }
  return folder;
}

/** Points `<base>/latest` at a run; a link that is there is replaced in one step. */
export function linkLatest(folder: string): void {
  const link = join(dirname(folder), 'latest');
  const temporary = `${link}.${process.pid}`;
  symlinkSync(folder.slice(dirname(folder).length + 1), temporary);
  renameSync(temporary, link);
}

/** The run folder that a user names: a path, or an id or `latest` below `base`. */
export function findRun(named: string, base: string, cwd: string): string {
  const candidates = [resolve(cwd, named), join(base, named)];
  const folder = candidates.find((candidate) => existsSync(join(candidate, 'config.json')));
  if (!folder) throw new StoreError(`no run at ${named} (looked for config.json in ${candidates.join(' and ')})`);
  return folder;
}

/** Writes a file whole or not at all. */
export function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
}

export function writeJson(folder: string, name: string, value: unknown): void {
  writeWhole(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
}

export function readConfig(folder: string): RunConfig {
  return readJson(folder, 'config.json') as RunConfig;
}

export function readPlan(folder: string): Plan {
  return readJson(folder, 'plan.json') as Plan;
}

/** The verdict of a run; undefined where it has none yet. */
export function readResults(folder: string): Results | undefined {
  return existsSync(join(folder, 'results.json')) ? (readJson(folder, 'results.json') as Results) : undefined;
}

function readJson(folder: string, name: string): unknown {
  const path = join(folder, name);
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as { version?: unknown };
    if (value?.version !== 1) throw new Error(`version is ${JSON.stringify(value?.version)}, not 1`);
    return value;
  } catch (error) {
    throw new StoreError(`${path}: ${(error as Error).message}`);
  }
}
