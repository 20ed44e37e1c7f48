/** Known findings: a JSON file each, made by a campaign and kept by whoever wants to hear of it as known from then on. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { makeFolder } from '../../harness/record/make-folder.js';
import { conform } from '../../harness/record/schemas/conform.js';
import { describes } from '../../harness/record/schemas/describes.js';
import { readJson, writeJson } from '../../harness/record/store.js';
import type { KnownFindings } from '../../harness/vocabulary/run.js';
import { UsageError } from '../common/errors.js';
import { parseRunFlags } from './flags.js';
import { looksLikeFile } from './lock-source.js';

export interface KnownFinding {
  version: 1;
  lock: string;
  topology: string;
  /** Blame, class, kind and cause. */
  fingerprint: string;
  /** How it came about, where it was first kept. */
  sentence: string;
  /** What repeats the run of fewest faults that found it: flags of `run`, and the seed from which its plan is made. */
  argv: string[];
  seed: number;
  faults: number;
  /** Found in virtual time: the folder beside its file that has its shortest schedule; `argv` are flags of `hunt` then. */
  replay?: string;
}

export const knownSchema = describes<KnownFinding>()(
  z.object({
    version: z.literal(1),
    lock: z.string(),
    topology: z.string(),
    fingerprint: z.string(),
    sentence: z.string(),
    argv: z.array(z.string()),
    seed: z.number(),
    faults: z.number(),
    // A name, which leads nowhere else.
    replay: z
      .string()
      .regex(/^[a-z0-9-]+$/)
      .optional(),
  }),
);

/** What makes two findings the same. */
export function identityOf({ lock, topology, fingerprint }: Pick<KnownFinding, 'lock' | 'topology' | 'fingerprint'>) {
  return `${lock} ${topology} ${fingerprint}`;
}

/** The name of its file, without `.json`, and of the folder of its tries. */
export function slugOf(known: Pick<KnownFinding, 'lock' | 'topology' | 'fingerprint'>): string {
  const identity = identityOf(known);
  const words = identity.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return `${words.replace(/^-/, '').slice(0, 100)}-${createHash('sha256').update(identity).digest('hex').slice(0, 8)}`;
}

/** What a run's flags say of it. */
export interface KnownFlags {
  known?: string;
  knownOk: boolean;
}

/** What is known of a lock on a topology; undefined: no folder is named, or it has nothing of them. Throws as `readKnown`. */
export function knownOf(
  { known, knownOk }: KnownFlags,
  { lock, topology, cwd }: { lock: string; topology: string; cwd: string },
): KnownFindings | undefined {
  if (known === undefined) {
    if (knownOk) throw new UsageError('--known-ok: nothing is known without --known <folder>');
    return undefined;
  }
  const folder = resolve(cwd, known);
  // A file's path starts from where somebody stood who made a campaign, most likely where the folder lies.
  const isIt = (one: string) =>
    one === lock ||
    (looksLikeFile(one) &&
      looksLikeFile(lock) &&
      [cwd, dirname(folder)].some((from) => resolve(from, one) === resolve(cwd, lock)));
  const ofIt = readKnown(folder).filter((one) => one.topology === topology && isIt(one.lock));
  const fingerprints = [...new Set(ofIt.map(({ fingerprint }) => fingerprint))];
  return fingerprints.length === 0 ? undefined : { fingerprints, allowed: knownOk };
}

/** Throws one line where the folder or a file in it cannot be used. */
export function readKnown(folder: string): KnownFinding[] {
  const names = listed(folder).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => {
    const known = readJson(folder, name, (data) => conform(knownSchema, data));
    if (known.replay !== undefined) {
      if (existsSync(join(folder, known.replay, 'finding.json'))) return known;
      throw new UsageError(
        `${folder}/${name}: its schedule is not beside it: there is no ${known.replay}/finding.json`,
      );
    }
    try {
      parseRunFlags(known.argv);
    } catch (error) {
      throw new UsageError(`${folder}/${name}: argv: ${(error as Error).message}`);
    }
    return known;
  });
}

export function writeKnown(folder: string, known: KnownFinding): void {
  makeFolder(folder);
  writeJson(folder, `${slugOf(known)}.json`, known);
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = { ENOENT: 'there is no such folder', ENOTDIR: 'it is no folder' }[code ?? ''] ?? message;
    throw new UsageError(`--known ${folder}: ${why}`);
  }
}
