/** `check` of a lock history that was recorded elsewhere: from its file to the verdict under each reading. */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type Command, Option } from 'commander';
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
import { decidingKeys, IMPORT_MODELS, type ImportModel, parsedModel } from './import-model.js';
import { type ChosenReading, importJson, importText } from './import-summary.js';

/** After the options of `check --help`. */
export const IMPORT_HELP = `
A history recorded elsewhere is judged under each reading of what such histories leave open: strictly; with a failed
release ending the hold; and, with --lease, with a hold ending with its lease. --reading says which of these verdicts is
the exit status. docs/import.md says what a history must hold, and how to get it out of Jepsen.

Examples:
  npm run torture -- check store/latest                              a folder of Jepsen's
  npm run torture -- check history.edn --model reentrant:2
  npm run torture -- check history.jsonl --lease 5s --reading lease
  npm run torture -- check history.json.gz --key value --owner holder-id

Exit status: 0 it can be explained, 1 it cannot, 2 cannot tell, 3 it could not be read.
`;

/** The flags of `check` that are for histories recorded elsewhere, parsed. */
export interface ImportFlags {
  model?: ImportModel;
  reading?: ReadingName;
  lease?: number;
  key?: string;
  owner?: string;
  refused?: string[];
  torn?: true;
}

const DECIDING = (Object.keys(READINGS) as ReadingName[]).filter((name) => READINGS[name].accuses);

export function addImportFlags(command: Command): Command {
  const options = [
    new Option(
      '--model <model>',
      `of a history recorded elsewhere, what the lock promises: ${IMPORT_MODELS}`,
    ).argParser(parsedModel),
    new Option(
      '--reading <reading>',
      `of such a history, which verdict is the exit status: ${DECIDING.join(', ')} (default: strict)`,
    ).argParser(nameAmong(DECIDING)),
    new Option('--lease <duration>', 'of such a history, what every acquire was granted for').argParser(
      positiveDurationMs,
    ),
    new Option('--key <field>', 'of such a history, the field that names the lock; value: the value itself'),
    new Option(
      '--owner <field>',
      'of such a history, the field that names who owns a hold, where it is not the process',
    ),
    new Option(
      '--refused <value>',
      'of such a history, the value of an "ok" that was a refusal; may be repeated',
    ).argParser((value: string, before: string[] | undefined) => [...(before ?? []), value.replace(/^:/, '')]),
    new Option('--torn', 'of such a history that was cut off, judge what is whole'),
  ];
  for (const option of options) command.addOption(option);
  return command;
}

// ------------------------------------------------------------------------------------------------- what is to be judged

export type ToCheck = { run: string } | { history: string };

const PLAIN_NAMES = ['history.edn', 'history.jsonl', 'history.json'];
const HISTORY_NAMES = [...PLAIN_NAMES, ...PLAIN_NAMES.map((name) => `${name}.gz`)];

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
  if (!isThere && /\.(edn|jsonl?)(\.gz)?$/.test(named)) throw new UsageError(`there is no ${path}`);
  return { run: findRun(named, base, cwd) };
}

/** Of a run of this project's own everything is known. */
export function refuseImportFlags({ model, reading, lease, key, owner, refused, torn }: ImportFlags): void {
  const flags = { model, reading, lease, key, owner, refused, torn };
  const given = Object.entries(flags).find(([, value]) => value !== undefined);
  if (given) throw new UsageError(`--${given[0]} is for histories recorded elsewhere; of this run it is known`);
}

// ------------------------------------------------------------------------------------------------------------- judging

/** Bounds of a general search, where one is needed: some 10 s and 200 MB. */
const SEARCH = { configurations: 1_000_000, steps: 20_000_000 };
const WITNESSES = 5;

/** Judges the history and prints the verdict under each reading; resolves with the exit status. */
export async function checkHistory(file: string, flags: ImportFlags & { json: boolean; cwd: string }): Promise<number> {
  const imported = await read(file, flags);
  if (imported.format === 'own') refuseConventions(flags);
  const { history } = imported;
  const model = flags.model ? { ...flags.model, why: 'as --model says' } : guessedModel(history);
  const readings = readingsOf(imported, model);
  const chosen = chooseVerdict(readings, flags.reading ?? 'strict', imported);
  const input = {
    file: relative(flags.cwd, file) || file,
    imported,
    model,
    readings,
    chosen,
    notes: [
      ...runNotes(imported),
      ...imported.notes,
      ...modelNotes(history, model, imported),
      ...(await otherwiseNotes(file, flags, { imported, model, readings, chosen })),
    ],
  };
  process.stdout.write(`${flags.json ? JSON.stringify(importJson(input)) : importText(input)}\n`);
  return chosen.exitStatus;
}

function refuseConventions({ lease, key, owner, refused }: ImportFlags): void {
  if (lease !== undefined)
    throw new UsageError('--lease is for histories that do not tell their leases, and this one does');
  const given = Object.entries({ key, owner, refused }).find(([, value]) => value !== undefined);
  if (given) throw new UsageError(`--${given[0]} is for histories recorded elsewhere, and this one is of our own`);
}

function readingsOf({ history, format, hasOwners }: Imported, model: ImportModel): ReadingVerdict[] {
  const decideKey = decidingKeys(model, { namesHolds: format === 'own', threads: hasOwners });
  return decideReadings(history, model, { witnesses: WITNESSES, search: SEARCH, decideKey });
}

async function read(file: string, { lease, model, key, owner, refused, torn }: ImportFlags): Promise<Imported> {
  try {
    return await importHistory(file, {
      leaseMs: lease,
      model,
      key,
      owner,
      refused: refused && new Set(refused),
      torn: torn ?? false,
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : new UsageError(`cannot read ${file}: ${message}`);
  }
}

// ---------------------------------------------------------------------------------------------------- judged otherwise

interface Judged {
  imported: Imported;
  model: ImportModel;
  readings: readonly ReadingVerdict[];
  chosen: ChosenReading;
}

/**
 * What else the history may mean, where nobody said what it means and the verdict would be another: a field that names the lock
 * or its owner, a lock that its holder may take again, one that anybody may release.
 */
async function otherwiseNotes(file: string, flags: ImportFlags, judged: Judged): Promise<string[]> {
  const { imported, chosen } = judged;
  const notes: string[] = [];
  const { values, owners } = imported.unread;
  if (values.length > 0 && flags.key === undefined) {
    const shown = values.slice(0, 4).join(', ') + (values.length > 4 ? ', …' : '');
    notes.push(
      `acquires carry ${values.length} different values (${shown}): if they name locks, judge with --key value`,
    );
  }
  for (const owner of owners) {
    const other = await read(file, { ...flags, owner });
    const verdict = verdictUnder(other, judged.model, chosen.reading);
    const own = judged.readings.find(({ reading }) => reading === chosen.reading)!.verdict;
    if (verdict === own) continue;
    notes.push(`if ${owner} names who owns a hold, it is ${verdict} under this reading: judge with --owner ${owner}`);
  }
  if (chosen.verdict !== 'invalid' || flags.model !== undefined) return notes;
  for (const { name, why, needsOneClient } of OTHER_MODELS[judged.model.kind] ?? []) {
    if (needsOneClient && !isBesideItself(judged)) continue;
    if (verdictUnder(imported, parsedModel(name), chosen.reading) === 'valid')
      notes.push(`${why}: try --model ${name}`);
  }
  return notes;
}

interface OtherModel {
  name: string;
  why: string;
  /** Whether it is looked at only where each finding that is shown is of one client's holds alone. */
  needsOneClient: boolean;
}

const BESIDE_ITSELF = 'every finding is a client beside itself, and of a reentrant lock the history can be explained';

/** By what the lock was taken for. */
const OTHER_MODELS: { readonly [Kind in LockModel['kind']]?: readonly OtherModel[] } = {
  mutex: [
    { name: 'reentrant', why: BESIDE_ITSELF, needsOneClient: true },
    {
      name: 'ownerless',
      why: 'of a lock that anybody may release the history can be explained',
      needsOneClient: false,
    },
  ],
  fenced: [{ name: 'reentrant-fenced', why: BESIDE_ITSELF, needsOneClient: true }],
};

function isBesideItself({ imported, readings, chosen }: Judged): boolean {
  const { client } = imported.history.operations;
  const { witnesses } = readings.find(({ reading }) => reading === chosen.reading)!;
  return witnesses.every(({ rows }) => new Set(rows.map((row) => client[row])).size === 1);
}

function verdictUnder(
  imported: Imported,
  model: ImportModel,
  reading: ReadingName,
): ReadingVerdict['verdict'] | undefined {
  return readingsOf(imported, model).find((one) => one.reading === reading)?.verdict;
}

// -------------------------------------------------------------------------------------------------------------- shared

/** What the operations themselves say plainly; else a mutex. */
function guessedModel({ operations: ops }: History): ImportModel & { why: string } {
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

function modelNotes({ operations: ops }: History, model: ImportModel, { bareTokens }: Imported): string[] {
  const notes: string[] = [];
  if (bareTokens > 0)
    notes.push(`${bareTokens} grants carry a whole number; if it is a fencing token, judge with --model fenced`);
  const hasToken = ops.token.subarray(0, ops.count).some((token) => !Number.isNaN(token));
  if (model.kind === 'reentrant' && !model.tokens && hasToken)
    notes.push('grants carry tokens, which a reentrant lock is not judged by; --model reentrant-fenced is');
  if ((model.kind === 'fenced' || model.tokens) && !hasToken)
    notes.push('no grant carries a token, so nothing is known of their order');
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
