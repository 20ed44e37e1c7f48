/** `check` of a lock history that was recorded elsewhere: from its file to the verdict under each reading. */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { decideByOwner } from '../../checkers/linearizability/by-owner/decide-by-owner.js';
import {
  decideReadings,
  READINGS,
  type ReadingName,
  type ReadingVerdict,
} from '../../checkers/linearizability/decide-readings.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import { type Imported, importHistory } from '../../harness/record/import/index.js';
import { findRun } from '../../harness/record/store.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import { UsageError } from '../common/errors.js';
import { nameAmong, positiveDurationMs } from '../common/values.js';
import { type ChosenReading, importJson, importText } from './import-summary.js';

/** The flags of `check` that are for histories recorded elsewhere, parsed. */
export interface ImportFlags {
  model?: LockModel;
  reading?: ReadingName;
  lease?: number;
}

const DECIDING = (Object.keys(READINGS) as ReadingName[]).filter((name) => READINGS[name].accuses);

export function addImportFlags(command: Command): Command {
  const options = [
    new Option('--model <model>', `of a history recorded elsewhere, what the lock promises: ${MODELS}`).argParser(
      model,
    ),
    new Option(
      '--reading <reading>',
      `of such a history, which verdict is the exit status: ${DECIDING.join(', ')} (default: strict)`,
    ).argParser(nameAmong(DECIDING)),
    new Option('--lease <duration>', 'of such a history, what every acquire was granted for').argParser(
      positiveDurationMs,
    ),
  ];
  for (const option of options) command.addOption(option);
  return command;
}

const MODELS = 'mutex, reentrant[:DEPTH], read-write, semaphore:N, fenced or fair';

/** `reentrant:2` and the like. */
function model(text: string): LockModel {
  const [kind, number, ...more] = text.split(':');
  const count = /^[1-9]\d{0,8}$/.test(number ?? '') ? Number(number) : undefined;
  const wrong = new InvalidArgumentError(`"${text}" is not a model; known: ${MODELS}.`);
  if (more.length > 0 || (number !== undefined && count === undefined)) throw wrong;
  if (kind === 'semaphore' && count !== undefined) return { kind, permits: count };
  if (kind === 'reentrant') return { kind, depth: count ?? Number.MAX_SAFE_INTEGER };
  if (number !== undefined) throw wrong;
  if (kind === 'mutex' || kind === 'read-write' || kind === 'fenced' || kind === 'fair') return { kind };
  throw wrong;
}

// ------------------------------------------------------------------------------------------------- what is to be judged

export type ToCheck = { run: string } | { history: string };

const HISTORY_NAMES = ['history.edn', 'history.jsonl', 'history.json'];

/** A run of this project's own where there is one, else a history by its file, or by the folder that it is in. */
export function whatToCheck(named: string, base: string, cwd: string): ToCheck {
  const path = resolve(cwd, named);
  const isThere = existsSync(path);
  if (isThere && statSync(path).isFile()) {
    const isOfRun = basename(path) === 'history.jsonl' && existsSync(join(dirname(path), 'config.json'));
    return isOfRun ? { run: dirname(path) } : { history: path };
  }
  const history = HISTORY_NAMES.map((name) => join(path, name)).find(existsSync);
  if (history !== undefined && !existsSync(join(path, 'config.json'))) return { history };
  if (isThere && ['test.jepsen', 'test.fressian'].some((name) => existsSync(join(path, name))))
    throw new UsageError(`${named} is a folder of Jepsen's without history.edn, and only that file can be read`);
  if (!isThere && /\.(edn|jsonl?)$/.test(named)) throw new UsageError(`there is no ${path}`);
  return { run: findRun(named, base, cwd) };
}

/** Of a run of this project's own everything is known. */
export function refuseImportFlags({ model, reading, lease }: ImportFlags): void {
  const given = Object.entries({ model, reading, lease }).find(([, value]) => value !== undefined);
  if (given) throw new UsageError(`--${given[0]} is for histories recorded elsewhere; of this run it is known`);
}

// ------------------------------------------------------------------------------------------------------------- judging

/** Bounds of a general search, where one is needed: some 10 s and 200 MB. */
const SEARCH = { configurations: 1_000_000, steps: 20_000_000 };
const WITNESSES = 5;

/** Judges the history and prints the verdict under each reading; resolves with the exit status. */
export async function checkHistory(file: string, flags: ImportFlags & { json: boolean; cwd: string }): Promise<number> {
  const imported = await read(file, flags);
  if (imported.format === 'own' && flags.lease !== undefined)
    throw new UsageError('--lease is for histories that do not tell their leases, and this one does');
  const { history } = imported;
  const model = flags.model ? { ...flags.model, why: 'as --model says' } : guessedModel(history);
  const readings = decideReadings(history, model, {
    witnesses: WITNESSES,
    search: SEARCH,
    // A record of this project's own says which hold each release ends.
    ...(imported.format === 'own' ? {} : { decideKey: decideByOwner }),
  });
  const chosen = chooseVerdict(readings, flags.reading ?? 'strict', imported);
  const input = {
    file: relative(flags.cwd, file) || file,
    imported,
    model,
    readings,
    chosen,
    notes: [...runNotes(imported), ...imported.notes, ...modelNotes(history, model, imported)],
  };
  process.stdout.write(`${flags.json ? JSON.stringify(importJson(input)) : importText(input)}\n`);
  return chosen.exitStatus;
}

async function read(file: string, { lease, model }: ImportFlags): Promise<Imported> {
  try {
    return await importHistory(file, { leaseMs: lease, model });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : new UsageError(`cannot read ${file}: ${message}`);
  }
}

/** What the operations themselves say plainly; else a mutex. */
function guessedModel({ operations: ops }: History): LockModel & { why: string } {
  for (let row = 0; row < ops.count; row++)
    if (ops.mode[row] !== 0)
      return { kind: 'read-write', why: 'its acquires say read or write; --model says otherwise' };
  for (let row = 0; row < ops.count; row++)
    if (!Number.isNaN(ops.token[row]!))
      return { kind: 'fenced', why: 'its grants carry tokens; --model says otherwise' };
  return { kind: 'mutex', why: 'nothing says otherwise; --model does' };
}

/** A verdict about one file is not taken for that of the run which it was part of. */
function runNotes({ format }: Imported): string[] {
  if (format !== 'own') return [];
  return ["the run's config.json is missing beside it: this file alone was judged, as if recorded elsewhere"];
}

function modelNotes({ operations: ops }: History, model: LockModel, { bareTokens }: Imported): string[] {
  const notes: string[] = [];
  if (bareTokens > 0)
    notes.push(`${bareTokens} grants carry a whole number; if it is a fencing token, judge with --model fenced`);
  const hasToken = ops.token.subarray(0, ops.count).some((token) => !Number.isNaN(token));
  if (model.kind === 'fenced' && !hasToken) notes.push('no grant carries a token, so nothing is known of their order');
  return notes;
}

/** The verdict that is the exit status. */
function chooseVerdict(
  readings: readonly ReadingVerdict[],
  name: ReadingName,
  { history, isMeasured }: Imported,
): ChosenReading {
  const verdict = readings.find(({ reading }) => reading === name);
  if (!verdict) {
    const why = isMeasured ? 'tells no lease: say it with --lease' : 'has no times that say how long a hold lasted';
    throw new UsageError(`--reading ${name} is not possible: the history ${why}`);
  }
  if (verdict.verdict === 'invalid') return { reading: name, verdict: 'invalid', exitStatus: 1 };
  if (verdict.verdict === 'unknown') return { reading: name, verdict: 'unknown', exitStatus: 2 };
  const vacuous = vacuity(history);
  return vacuous
    ? { reading: name, verdict: 'unknown', exitStatus: 2, because: vacuous }
    : { reading: name, verdict: 'valid', exitStatus: 0 };
}

/** Why a valid history proves nothing; undefined if it does. */
function vacuity({ operations: ops }: History): string | undefined {
  const first = new Map<number, number>();
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] !== OP.acquire || ops.outcome[row] !== OUTCOME.ok) continue;
    const key = ops.key[row]!;
    if (!first.has(key)) first.set(key, ops.client[row]!);
    else if (first.get(key) !== ops.client[row]) return undefined;
  }
  return first.size === 0
    ? 'no acquire was granted, so nothing was shown'
    : 'no key was ever granted to two clients, so nothing was shown';
}
