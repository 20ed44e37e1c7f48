/**
 * A history's verdict under each reading of what such histories leave open. Published checkers differ in just these, and a
 * history can be valid under one and invalid under another:
 *
 *     c1 acquires, ok · its lease runs out · c2 acquires, ok · c1 releases: "not yours" · c2 releases, ok
 *
 * is invalid strictly (c1 never released, so c2 was granted what c1 had), and valid where leases are known.
 *
 * It promises one verdict for each reading that the history has the facts for, every key decided by itself. It chooses none
 * of them: that is up to the caller.
 */

import { Earliest } from '../../harness/record/facts/earliest.js';
import { leaseKindOf } from '../../harness/record/facts/lease-kind.js';
import { OP } from '../../harness/record/history-table.js';
import type { History, Operations } from '../../harness/vocabulary/history.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import { decide } from './decide.js';
import { keyHistoriesOf } from './key-histories.js';
import { refusedForHolder } from './models/answers.js';
import type {
  DecideKey,
  DecideOptions,
  Decision,
  KeyHistory,
  Reading,
  SearchBudget,
  Witness,
  WitnessKind,
} from './types.js';

export type ReadingName = 'strict' | 'tries-inform' | 'failed-release-ends' | 'lease';

interface Known {
  /** For tables. */
  title: string;
  reading: Reading;
  /**
   * False: what it finds proves no violation by itself. (A refused try: keys of crashed clients and split votes refuse
   * while the lock is free.)
   */
  accuses: boolean;
  /** Whether the history has what the reading is about. */
  applies: (history: History) => boolean;
}

export const READINGS: { readonly [Name in ReadingName]: Known } = {
  strict: {
    title: 'strict',
    reading: { failedReleaseEnds: false, leases: false, triesInform: false },
    accuses: true,
    applies: () => true,
  },
  'tries-inform': {
    title: 'strict, refused tries inform',
    reading: { failedReleaseEnds: false, leases: false, triesInform: true },
    accuses: false,
    applies: ({ operations }) => someRow(operations, (row) => refusedForHolder(operations, row)),
  },
  'failed-release-ends': {
    title: 'a failed release ends the hold',
    reading: { failedReleaseEnds: true, leases: false, triesInform: false },
    accuses: true,
    applies: () => true,
  },
  lease: {
    title: 'a hold ends with its lease',
    reading: { failedReleaseEnds: false, leases: true, triesInform: false },
    accuses: true,
    applies: (history) =>
      leaseKindOf(history) === 'timed' &&
      someRow(
        history.operations,
        (row) => history.operations.op[row] === OP.acquire && history.operations.leaseMs[row]! > 0,
      ),
  },
};

export interface ReadingVerdict {
  reading: ReadingName;
  /** For tables. */
  title: string;
  verdict: Decision['verdict'];
  /** False: what was found proves no violation by itself. */
  accuses: boolean;
  /** Which procedures decided: `cores`, or `cores, search` where keys needed different ones. */
  procedure: string;
  /** How many findings there are, over all keys. */
  found: number;
  /** Of the first `counted` of them how many are of each kind. */
  byKind: Partial<Record<WitnessKind, number>>;
  counted: number;
  /** The earliest by completion. */
  witnesses: Witness[];
  notes: string[];
}

export interface ReadingOptions {
  /** Witnesses to give for each reading at most; all are counted. */
  witnesses: number;
  search: SearchBudget;
  /** Decides one key; absent: as where each release names its hold. */
  decideKey?: DecideKey;
  /** Readings to leave out. */
  without?: readonly ReadingName[];
  /** So many findings of each key are classed by kind; each costs a second opinion. */
  countedByKind?: number;
  /** Called after each key that was decided. */
  between?: () => void;
}

const COUNTED_BY_KIND = 1_000;

/** Decides it under every reading that it has the facts for: the strict one is always the first. */
export function decideReadings(history: History, model: LockModel, options: ReadingOptions): ReadingVerdict[] {
  const keys = keyHistoriesOf(history);
  const names = Object.keys(READINGS) as ReadingName[];
  return names
    .filter((name) => !options.without?.includes(name) && READINGS[name].applies(history))
    .map((name) => decideReading(keys, model, name, options));
}

function decideReading(
  keys: readonly KeyHistory[],
  model: LockModel,
  name: ReadingName,
  { witnesses, search, decideKey = decide, countedByKind = COUNTED_BY_KIND, between }: ReadingOptions,
): ReadingVerdict {
  const { title, reading, accuses } = READINGS[name];
  const decideOptions: DecideOptions = { witnesses: Math.max(witnesses, countedByKind), search };
  const earliest = new Earliest<Witness>(witnesses, (a, b) => a.untilNs - b.untilNs || a.fromNs - b.fromNs);
  const procedures = new Set<string>();
  const notes = new Set<string>();
  const verdicts = new Set<Decision['verdict']>();
  const byKind: ReadingVerdict['byKind'] = {};
  let found = 0;
  for (const history of keys) {
    const decision = decideKey(history, model, reading, decideOptions);
    verdicts.add(decision.verdict);
    procedures.add(decision.procedure);
    found += decision.found;
    for (const note of decision.notes) notes.add(keys.length === 1 ? note : `${history.key}: ${note}`);
    for (const witness of decision.witnesses) {
      earliest.add(witness);
      byKind[witness.kind] = (byKind[witness.kind] ?? 0) + 1;
    }
    between?.();
  }
  return {
    reading: name,
    title,
    verdict: gravest(verdicts),
    accuses,
    procedure: [...procedures].join(', '),
    found,
    byKind,
    counted: earliest.count,
    witnesses: [...earliest.list()],
    notes: [...notes],
  };
}

/** One key that cannot be explained is enough; and one that cannot be decided leaves the whole open. */
function gravest(verdicts: ReadonlySet<Decision['verdict']>): Decision['verdict'] {
  if (verdicts.has('invalid')) return 'invalid';
  return verdicts.has('unknown') ? 'unknown' : 'valid';
}

function someRow({ count }: Operations, test: (row: number) => boolean): boolean {
  for (let row = 0; row < count; row++) if (test(row)) return true;
  return false;
}
