/** What every report is made from: plain data of one run, nothing live. Pieces may be missing; a report says so. */
import type { Message } from '../harness/record/messages.js';
import type { Plan } from '../harness/vocabulary/faults.js';
import type { History, Observations } from '../harness/vocabulary/history.js';
import type { RunConfig } from '../harness/vocabulary/run.js';
import type { Setting } from '../harness/vocabulary/topology.js';
import type { Hold, Results } from '../harness/vocabulary/verdict.js';

/** Commands as they are pasted. */
export interface CommandsOfRun {
  /** Absent: what repeats the run says all that can be had. */
  replay?: string;
  check: string;
}

export interface ReportInput {
  config: RunConfig;
  plan: Plan;
  history: History;
  /** A cause cites them by their lines. */
  observations: Observations;
  results: Results;
  holds: HoldTable;
  settings: readonly Setting[];
  serverVersion: string;
  /** Of a simulated run that kept them: every message, with what became of it. */
  messages?: readonly Message[];
  /** What is typed to see it again, where its folder is now. */
  again?: CommandsOfRun;
  /** The folder of the tool's documentation, as a link from the run's folder: `../../docs`. Absent: it is not on this machine. */
  docs?: string;
  /** Files of the run's folder that a report may lead to, relative to it: `history.jsonl`, `logs/r1.log`. */
  files?: readonly string[];
}

/**
 * Every proven hold, numbered from 0 in the order of their grants. A long run has a million: an object is made only of one
 * that is described.
 */
export interface HoldTable {
  readonly count: number;
  hold(k: number): Hold;
  /** By number: indexes into the history's `operations.clients` and `operations.keys`, and what `Hold` says. */
  readonly client: Int32Array;
  readonly key: Int32Array;
  readonly fromNs: Float64Array;
  readonly untilNs: Float64Array;
  readonly grantSentNs: Float64Array;
}
