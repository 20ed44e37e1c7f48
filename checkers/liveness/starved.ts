/**
 * Was a key that no client held granted to those who asked for it, while the run went on?
 *
 * Promises: a key is accused (`starved`) only if it was free, was asked for throughout by one client or several in turn, and
 * servers carried out requests for it for longer than a lease, 2 s, and what the lock declares that places and permits last;
 * and no client was granted it. What counts as free, and which times are left out, `free-and-asked.ts` says; which requests
 * count, `starvation.ts`. The cause is who was in the way, where the servers' own record proves it.
 *
 * A key that the probe at the end could not acquire either is reported as a deadlock, not as both.
 *
 * Cannot tell where the lock has a queue or permits and does not declare when those of a silent client end.
 *
 * Excludes waits during which no request was sent (`waiting` asks about these); independent nodes, unless the record proves
 * that no majority was left: those who ask may split the votes.
 */
import { deadlineMs } from '../../harness/record/facts/deadlines.js';
import { mishaps } from '../../harness/record/facts/faults.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { longestLeaseMs } from '../../harness/record/facts/longest-lease.js';
import { missingObservations } from '../../harness/record/facts/missing-observations.js';
import { duration, durationOfMs, moment, plural } from '../../harness/record/facts/words.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Violation } from '../../harness/vocabulary/verdict.js';
import { unexplained } from '../causes/unexplained.js';
import { tooManyCommands } from '../causes/whole-evidence.js';
import { longWishes, patienceOf } from './free-and-asked.js';
import { deadlocksOf } from './liveness.js';
import { type Starvation, starvationsOf } from './starvation.js';

const MOST_REPORTED = 200;

function findStarved(input: CheckInput): CheckerFindings {
  const { history, observations } = input;
  const notJudged = whyNotJudged(input);
  if (notJudged !== undefined) return { verdict: 'valid', notes: [], violations: [], notJudged, stats: { starved: 0 } };
  const untold =
    longWishes(history).length > 0
      ? (missingObservations({ history, observations }) ?? tooManyCommands(input))
      : undefined;
  if (untold !== undefined) return unknown(`whether clients starved beside a free lock cannot be told: ${untold}`);
  const deadlocks = deadlocksOf(input);
  const found = starvationsOf(input).filter((one) => !deadlocks.some((deadlock) => isSame(deadlock, one, history)));
  const undeclared = found.length > 0 ? undeclaredOf(input) : undefined;
  if (undeclared) {
    const [{ key, fromNs }] = found as [Starvation];
    return unknown(
      `whether clients that asked for ${key} from ${moment(fromNs)} on starved cannot be told: the lock does not declare when a silent client's ${undeclared} ends (deadlines)`,
    );
  }
  const violations = found.slice(0, MOST_REPORTED).map((one) => violation(one, input));
  return {
    verdict: violations.length > 0 ? 'invalid' : 'valid',
    notes: [],
    violations,
    ...(found.length > violations.length && { found: { liveness: found.length } }),
    stats: { starved: found.length },
  };
}

export const starved: Checker = {
  name: 'starved',
  summary: 'no key that no client held was asked for in vain for longer than a lease, a grace and declared deadlines',
  properties: [
    {
      class: 'liveness',
      holds: 'No client asked in vain for a lock that had long been free',
      broken: 'Clients asked in vain for a lock that had long been free',
      kinds: {
        starved: {
          headline: (count) =>
            `Starved: ${plural(count, 'lock')} that no client held, asked for and granted to no client`,
          accusedIf:
            'servers carried out requests for a key that no client held or can have held, for longer than a lease, 2 s and the declared deadlines, and no client was granted it',
        },
      },
    },
  ],
  judges: { models: 'all', plays: true },
  check: findStarved,
};

function unknown(note: string): CheckerFindings {
  return { verdict: 'unknown', notes: [note], violations: [], stats: { starved: 0 } };
}

function whyNotJudged({ history, observations }: CheckInput): string | undefined {
  if (observations.commandCount === 0) return 'no command of any client was observed';
  return mishaps(history).length > 0 ? 'something befell the run that was not the lock' : undefined;
}

/** What such a lock has on its servers beside a lease, and does not say when it ends. */
function undeclaredOf({ history, model }: CheckInput): 'place' | 'permit' | undefined {
  const kept: Partial<Record<LockModel['kind'], 'place' | 'permit'>> = { fair: 'place', semaphore: 'permit' };
  const what = kept[model.kind];
  return what !== undefined && deadlineMs(history, what, 0) === undefined ? what : undefined;
}

/** Whether a deadlock tells the same: that key was granted to no client any more. */
function isSame(deadlock: Violation, { key, fromNs }: Starvation, history: History): boolean {
  if (deadlock.key !== key) return false;
  const holds = holdsOf(history);
  const nth = history.operations.keys.indexOf(key);
  return !holds.key.some((one, k) => one === nth && holds.fromNs[k]! >= fromNs);
}

function violation(
  { key, fromNs, untilNs, first, last, asks, clients, cause }: Starvation,
  { history }: CheckInput,
): Violation {
  const { operations: ops } = history;
  const { ms } = patienceOf(history);
  const places = ms > 0 ? `, and ${durationOfMs(ms)} for which the lock keeps places or permits` : '';
  const lines = [first.row, last.row].flatMap((row) => [ops.invokeLine[row]!, ops.completionLine[row]!]);
  return {
    class: 'liveness',
    kind: 'starved',
    key,
    fromNs,
    untilNs,
    holds: [],
    evidence: [...new Set(lines)].filter((line) => line >= 0).sort((a, b) => a - b),
    proof: `No client held ${key} or can have held it from ${moment(fromNs)} on; ${plural(asks, 'request')} of ${plural(clients, 'client')} for it, the last at ${moment(untilNs)}, were carried out, and no client was granted it for ${duration(untilNs - fromNs)}: longer than the longest lease (${durationOfMs(longestLeaseMs(history))}) and 2 s${places}.`,
    cause:
      cause ??
      unexplained([
        { atNs: fromNs, text: `${first.client} asked ${first.node} for ${key}`, observation: first.line },
        { atNs: untilNs, text: `${last.client} asked ${last.node} for ${key}`, observation: last.line },
      ]),
  };
}
