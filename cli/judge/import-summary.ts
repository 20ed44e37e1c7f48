/** What `check` says of a history that was recorded elsewhere: text for people, an object for programs. Pure. */

import type { ReadingName, ReadingVerdict } from '../../checkers/linearizability/decide-readings.js';
import type { Witness } from '../../checkers/linearizability/types.js';
import { plural } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { Imported, Place } from '../../harness/record/import/index.js';
import { visible } from '../../harness/record/schemas/foreign-text.js';
import type { Operations } from '../../harness/vocabulary/history.js';
import { type ImportModel, modelText } from './import-model.js';

/** The verdict that is the exit status. */
export interface ChosenReading {
  reading: ReadingName;
  verdict: 'valid' | 'invalid' | 'unknown';
  exitStatus: 0 | 1 | 2;
  /** Why a valid history counts as unknown. */
  because?: string;
}

export interface ImportSummaryInput {
  /** As the user would name it. */
  file: string;
  imported: Imported;
  model: ImportModel & { why: string };
  readings: readonly ReadingVerdict[];
  chosen: ChosenReading;
  notes: readonly string[];
}

const EXIT_MEANING = {
  0: 'the history can be explained',
  1: 'the history cannot be explained',
  2: 'cannot tell',
};
const OUTCOME_NAMES = ['ok', 'fail', 'info', undefined] as const;

// ---------------------------------------------------------------------------------------------------------------- text

/** Several lines without a newline at the end; what the file said is made harmless for a terminal. */
export function importText(input: ImportSummaryInput): string {
  const { chosen, imported, model, readings } = input;
  const said = readings.find(({ reading }) => reading === chosen.reading)!;
  const others = readings.filter((one) => one !== said && tellsMore(one, said));
  return [
    `${chosen.verdict.toUpperCase()} under the reading "${said.title}" (exit status ${chosen.exitStatus}: ${EXIT_MEANING[chosen.exitStatus]})`,
    ...(chosen.because === undefined ? [] : [`Because ${chosen.because}.`]),
    `${input.file}: ${countsText(imported.history.operations)}`,
    `Judged as ${modelText(model)} (${model.why}).`,
    '',
    ...table(readings, chosen.reading),
    ...[said, ...others].flatMap((one) => witnessLines(one, imported)),
    ...noteLines(input),
  ]
    .map(visible)
    .join('\n');
}

/** Findings under another reading that the chosen one does not have. */
function tellsMore({ verdict, found }: ReadingVerdict, said: ReadingVerdict): boolean {
  return verdict === 'invalid' && (said.verdict !== 'invalid' || found > said.found);
}

function countsText(ops: Operations): string {
  const { acquires, granted, releases, clients, keys } = countsOf(ops);
  const parts = [`${plural(acquires, 'acquire')}, ${plural(granted, 'grant')}`, plural(releases, 'release')];
  return `${parts.join(', ')}, by ${plural(clients, 'client')} on ${plural(keys, 'key')}.`;
}

function table(readings: readonly ReadingVerdict[], chosen: ReadingName): string[] {
  const rows = readings.map((one) => [
    one.reading === chosen ? '*' : ' ',
    one.title,
    one.verdict,
    one.accuses ? kindsText(one) : `${kindsText(one)} (proves nothing by itself)`,
    one.procedure,
  ]);
  const all = [[' ', 'reading', 'verdict', 'findings', 'decided by'], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

/** `3: 2 overlap, 1 protocol`. */
function kindsText({ found, byKind, counted }: ReadingVerdict): string {
  if (found === 0) return 'none';
  const kinds = Object.entries(byKind).map(([kind, count]) => `${count} ${kind}`);
  return `${found}: ${counted < found ? `of the first ${counted} ` : ''}${kinds.join(', ')}`;
}

function witnessLines(one: ReadingVerdict, imported: Imported): string[] {
  if (one.witnesses.length === 0) return [];
  const which = one.found > one.witnesses.length ? `, the earliest ${one.witnesses.length} of ${one.found}` : '';
  return [
    '',
    `Under the reading "${one.title}"${which}:`,
    ...one.witnesses.flatMap((witness, at) => [
      `${at + 1}. ${witness.kind}: ${witness.proof}`,
      ...recordedRows(witness, imported).map((row) => `   ${operationText(row, imported)}`),
    ]),
  ];
}

/** `line 3 (:index 2) to line 7 (:index 6): process 0 acquire, ok, token 5`. */
function operationText(row: number, { history, place }: Imported): string {
  const { operations: ops } = history;
  const completion = ops.completionLine[row]!;
  const [from, until] = [placeText(place(ops.invokeLine[row]!)), completion < 0 ? undefined : place(completion)];
  const where = until === undefined ? `from ${from}` : `${from} to ${placeText(until)}`;
  const outcome = OUTCOME_NAMES[ops.outcome[row]!] ?? 'never answered';
  const reason = ops.reason[row]! < 0 ? '' : ` (${ops.reasons[ops.reason[row]!]})`;
  const token = Number.isNaN(ops.token[row]!) ? '' : `, token ${ops.token[row]}`;
  return `${where}: ${ops.clients[ops.client[row]!]} ${opName(ops, row)}, ${outcome}${reason}${token}`;
}

function placeText({ line, index }: Place): string {
  return index === undefined ? `line ${line}` : `line ${line} (:index ${index})`;
}

function noteLines({ notes, readings }: ImportSummaryInput): string[] {
  const ofReadings = readings.flatMap(({ title, notes: own }) => own.map((note) => `${title}: ${note}`));
  const all = [...notes, ...ofReadings];
  return all.length === 0 ? [] : ['', ...all.map((note) => `Note: ${note}`)];
}

// ---------------------------------------------------------------------------------------------------------------- json

/** What `--json` prints. */
export function importJson({ file, imported, model, readings, chosen, notes }: ImportSummaryInput): object {
  const { why, ...lock } = model;
  return {
    file,
    format: imported.format,
    ...chosen,
    model: lock,
    modelBecause: why,
    operations: countsOf(imported.history.operations),
    readings: readings.map(({ witnesses, ...one }) => ({
      ...one,
      witnesses: witnesses.map((witness) => witnessJson(witness, imported)),
    })),
    notes,
  };
}

function witnessJson(witness: Witness, imported: Imported): object {
  const { history, place } = imported;
  const { operations: ops } = history;
  const operations = recordedRows(witness, imported).map((row) => ({
    client: ops.clients[ops.client[row]!],
    op: opName(ops, row),
    key: ops.keys[ops.key[row]!],
    outcome: OUTCOME_NAMES[ops.outcome[row]!],
    reason: ops.reasons[ops.reason[row]!],
    token: Number.isNaN(ops.token[row]!) ? undefined : ops.token[row],
    invoke: place(ops.invokeLine[row]!),
    completion: ops.completionLine[row]! < 0 ? undefined : place(ops.completionLine[row]!),
  }));
  const { kind, key, fromNs, untilNs, proof } = witness;
  return { kind, key, fromNs, untilNs, proof, operations };
}

// -------------------------------------------------------------------------------------------------------------- shared

/** Ends of leases may be among the rows of a proof; they stand in no line. */
function recordedRows({ rows }: Witness, { history }: Imported): number[] {
  return rows.filter((row) => row < history.operations.count);
}

function opName(ops: Operations, row: number): string {
  return ops.op[row] === OP.acquire ? 'acquire' : 'release';
}

function countsOf(ops: Operations) {
  let [acquires, granted, releases] = [0, 0, 0];
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] === OP.release) releases++;
    if (ops.op[row] !== OP.acquire) continue;
    acquires++;
    if (ops.outcome[row] === OUTCOME.ok) granted++;
  }
  return { acquires, granted, releases, clients: ops.clients.length, keys: ops.keys.length };
}
