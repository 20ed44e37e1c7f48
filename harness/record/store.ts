/**
 * A run's folder: `runs/<id>/` and the link `runs/latest`. Everything a run writes is below it.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Plan } from '../vocabulary/faults.js';
import type { RunConfig } from '../vocabulary/run.js';
import type { Results } from '../vocabulary/verdict.js';
import { makeFolder } from './make-folder.js';
import { runConfigSchema } from './schemas/config.js';
import { type Conformed, conform, conformText, conformWhole } from './schemas/conform.js';
import { planSchema } from './schemas/plan.js';
import { playSchema } from './schemas/play.js';
import { resultsSchema } from './schemas/results.js';
import { inVersion2 } from './version-1.js';

/** A store that cannot be used; the message is one clear line. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** What a system call says where the disk itself is the trouble. */
const DISK_TROUBLES: Record<string, string> = {
  ENOSPC: 'the disk was full',
  EDQUOT: 'the disk quota was used up',
  EFBIG: 'a file grew larger than is allowed here',
  EROFS: 'the disk was read-only',
  EIO: 'the disk had errors',
};

/** What helps against most of them. */
export const DISK_REMEDY = 'free some space, or give --out on another disk';

/** In words, what was wrong with the disk; undefined if the error is about something else. */
export function diskTrouble(error: unknown): string | undefined {
  return DISK_TROUBLES[(error as NodeJS.ErrnoException | undefined)?.code ?? ''];
}

/** The error as one clear line, if it is the disk's fault; anything else as it is. */
export function asStoreError(error: unknown): unknown {
  const trouble = diskTrouble(error);
  return trouble === undefined ? error : new StoreError(`${trouble} (${(error as Error).message}); ${DISK_REMEDY}`);
}

/** Creates `<base>/<id>/`, and gives its path; undefined if something of that name is there. Throws a StoreError. */
export function createRunFolder(base: string, id: string): string | undefined {
  const folder = join(base, id);
  try {
    makeFolder(base);
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && existsSync(folder)) return undefined;
    throw new StoreError(`cannot create ${folder}: ${(error as Error).message}`);
  }
  return folder;
}

/** Points `<base>/latest` at a run; a link that is there is replaced in one step. */
export function linkLatest(folder: string): void {
  const link = join(dirname(folder), 'latest');
  const temporary = `${link}.${process.pid}`;
  try {
    symlinkSync(folder.slice(dirname(folder).length + 1), temporary);
    renameSync(temporary, link);
  } catch (error) {
    throw new StoreError(`cannot point ${link} at the run: ${(error as Error).message}`);
  }
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
  let unfinished: string | undefined;
  try {
    // Two processes may write the same file at once, the list of runs for example: each writes in a folder of its own.
    unfinished = mkdtempSync(`${path}.`);
    writeFileSync(join(unfinished, 'whole'), text);
    renameSync(join(unfinished, 'whole'), path);
  } catch (error) {
    throw new StoreError(`cannot write ${path}: ${(error as Error).message}`);
  } finally {
    if (unfinished) rmSync(unfinished, { recursive: true, force: true });
  }
}

const RESERVE = 'reserve';
/** For the last events of a run whose disk is full: those of healing and of letting go. */
const RESERVE_FOR_RECORD_BYTES = 128 * 1024;
/** For its results and reports. */
const RESERVE_FOR_REPORT_BYTES = 1024 * 1024;

/** Takes room on the disk, so that a run which fills it can still be brought to its end and be judged. */
export function takeReserve(folder: string): void {
  try {
    // Not zeros, which some file systems leave out: what matters is that the blocks are taken.
    writeFileSync(join(folder, RESERVE), Buffer.alloc(RESERVE_FOR_RECORD_BYTES + RESERVE_FOR_REPORT_BYTES, 'reserve'));
  } catch (error) {
    rmSync(join(folder, RESERVE), { force: true });
    throw asStoreError(error);
  }
}

/** The disk is full: gives the part back that is meant for the end of the history. */
export function giveBackForRecord(folder: string): void {
  try {
    truncateSync(join(folder, RESERVE), RESERVE_FOR_REPORT_BYTES);
  } catch {
    // Somebody has removed it: then the room is there, or it never was.
  }
}

/** Nothing more will be recorded: gives all of it back. */
export function giveBackReserve(folder: string): void {
  rmSync(join(folder, RESERVE), { force: true });
}

export function writeJson(folder: string, name: string, value: unknown): void {
  writeWhole(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
}

/** Throws StoreError where it is damaged; fields that this version does not know are left out. */
export function readConfig(folder: string): RunConfig {
  return readJson(folder, 'config.json', (data) => conform(runConfigSchema, inVersion2(data)));
}

/** As `readConfig`, for running it again: a field that this version does not know is an error, too. */
export function readWholeConfig(folder: string): RunConfig {
  return readJson(folder, 'config.json', (data) => conformWhole(runConfigSchema, inVersion2(data)));
}

export function readPlan(folder: string): Plan {
  return readJson(folder, 'plan.json', (data) => conform(planSchema, data));
}

/** Why the play of a scenario was not played to its end; undefined: it was. */
export function readPlayTrouble(folder: string): string | undefined {
  if (!existsSync(join(folder, 'play.json'))) return 'the run ended before the play did';
  return readJson(folder, 'play.json', (data) => conform(playSchema, data)).error;
}

/** The verdict of a run; undefined where it has none yet. */
export function readResults(folder: string): Results | undefined {
  if (!existsSync(join(folder, 'results.json'))) return undefined;
  return readJson(folder, 'results.json', (data) => conform(resultsSchema, inVersion2(data)));
}

export function readJson<Value>(folder: string, name: string, conformed: (data: unknown) => Conformed<Value>): Value {
  const path = join(folder, name);
  const { value, problem } = conformText(readText(path), conformed);
  if (problem !== undefined) throw new StoreError(`${path}: ${problem}`);
  return value;
}

/** The text of a file. Throws StoreError. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new StoreError(`${path}: ${(error as Error).message}`);
  }
}
