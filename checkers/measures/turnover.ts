/**
 * Measures how often the lock was granted while clients contended for it, and how many of the holds were long. Never decides.
 *
 * A race of milliseconds shows once in hundreds or thousands of grants, so in a run that was to hammer (its holds are mixed,
 * nearly all of them brief) a lock that was granted rarely has not been put to that test: the run says so. It does not say
 * why. A lock that tries again late, faults that leave little time, and a busy machine look the same from here.
 */
import { holdsOf } from '../../harness/record/facts/holds.js';
import { count, duration } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History, Phase } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings } from '../../harness/vocabulary/verdict.js';

/** In parts of the lease. */
const LONG = 1 / 3;
/** Below these a run hammers too little to be relied on for a race of milliseconds. */
const GRANTS_PER_SECOND = 50;

function measureTurnover({ history, config }: CheckInput): CheckerFindings {
  const contended = contendedSpan(history);
  const granted = contended ? grantsIn(history, contended) : 0;
  const rare =
    contended !== undefined && 'briefMs' in config.hold && granted < GRANTS_PER_SECOND * secondsOf(contended);
  return {
    verdict: 'valid',
    notes: rare
      ? [
          `granted only ${count(granted)} times in ${duration(contended.untilNs - contended.fromNs)}: too rarely to rely on this run for a race of milliseconds (a lock that is tried again within 30 ms comes to ${GRANTS_PER_SECOND} a second and more)`,
        ]
      : [],
    violations: [],
    stats: { longHolds: longHolds(history, config.leaseMs) },
  };
}

export const turnover: Checker = {
  name: 'turnover',
  summary: 'measures how often the lock was granted, and how many holds lasted for more than a third of the lease',
  properties: [],
  judges: { models: 'all', plays: false },
  check: measureTurnover,
};

interface Span {
  fromNs: number;
  untilNs: number;
}

/** From when clients begin to contend until everything is healed; undefined where the record does not say. */
function contendedSpan({ rare, endNs }: History): Span | undefined {
  const began = (phase: Phase) => rare.find((event) => event.type === 'phase' && event.phase === phase)?.atNs;
  const fromNs = began('warm-up');
  if (fromNs === undefined) return undefined;
  const untilNs = began('heal') ?? endNs;
  return untilNs > fromNs ? { fromNs, untilNs } : undefined;
}

function secondsOf({ fromNs, untilNs }: Span): number {
  return (untilNs - fromNs) / 1e9;
}

function grantsIn({ operations: ops }: History, { fromNs, untilNs }: Span): number {
  let granted = 0;
  for (let row = 0; row < ops.count; row++)
    if (ops.op[row] === OP.acquire && ops.outcome[row] === OUTCOME.ok && ops.readNs[row]! >= fromNs)
      if (ops.readNs[row]! < untilNs) granted++;
  return granted;
}

function longHolds(history: History, leaseMs: number): number {
  const holds = holdsOf(history);
  let long = 0;
  for (let k = 0; k < holds.count; k++) if (holds.untilNs[k]! - holds.fromNs[k]! > LONG * leaseMs * 1e6) long++;
  return long;
}
