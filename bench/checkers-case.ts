/**
 * One case of the checker benchmark, in a process of its own so that its peak memory means something:
 * `checkers-case.js <JSON of a Case>` prints the JSON of a `Measured`.
 */
import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { decide } from '../checkers/linearizability/decide.js';
import { modelOf } from '../checkers/linearizability/models/index.js';
import { search } from '../checkers/linearizability/search.js';
import type { KeyHistory, Reading, SearchBudget } from '../checkers/linearizability/types.js';
import { OP } from '../harness/record/history-table.js';
import { type LockHistory, lockHistory } from './lock-histories.js';

export interface Case {
  history: LockHistory;
  /** `none` only makes the history: what the others take memory on top of. */
  engine: 'decide' | 'search' | 'none';
  /** Writes the history for Porcupine into this file. */
  writeTo?: string;
}

export interface MeasuredDecision {
  verdict: string;
  /** Of the first call in a fresh process, as in `check`. */
  ms: number;
  /** Which procedure decided, or how far it got. */
  how: string;
  maxRssKb: number;
}

const MUTEX = { kind: 'mutex' } as const;
const READING: Reading = { failedReleaseEnds: false, leases: false, triesInform: false };
const BUDGET: SearchBudget = { configurations: 10_000_000, steps: 100_000_000 };

const { history, engine, writeTo } = JSON.parse(process.argv[2]!) as Case;
const made = lockHistory(history);
if (writeTo !== undefined) writeFileSync(writeTo, forPorcupine(made));
const beganMs = performance.now();
const { verdict, how } = run(made);
const ms = performance.now() - beganMs;
const measured: MeasuredDecision = { verdict, ms, how, maxRssKb: process.resourceUsage().maxRSS };
process.stdout.write(`${JSON.stringify(measured)}\n`);

function run(keyHistory: KeyHistory): { verdict: string; how: string } {
  if (engine === 'none') return { verdict: '', how: '' };
  if (engine === 'search') {
    const { verdict, note } = search(modelOf(MUTEX), keyHistory, READING, BUDGET);
    return { verdict, how: note ?? 'search' };
  }
  const { verdict, procedure } = decide(keyHistory, MUTEX, READING, { witnesses: 10, search: BUDGET });
  return { verdict, how: procedure };
}

/** See `porcupine/main.go`. */
function forPorcupine({ operations: ops, rows, callNs, returnNs }: KeyHistory): string {
  const lines = Array.from(rows, (row) => {
    const [letter, section] = ops.op[row] === OP.acquire ? ['a', row] : ['r', ops.hold[row]!];
    const returned = Number.isFinite(returnNs[row]!) ? returnNs[row]! : '-';
    return `${letter} ${section} ${callNs[row]} ${returned}`;
  });
  return `${lines.join('\n')}\n`;
}
