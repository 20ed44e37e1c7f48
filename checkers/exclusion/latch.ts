/**
 * Does a latch open when all have counted it down, and not before? Each key is one latch, that is closed once.
 *
 * A pass is accused where it was answered although fewer than all can have counted by then: a count-down counts from its call, whatever
 * came of it. A wait that was refused is accused where all had been answered that they had counted before it was called.
 *
 * A counter that dies before it counts leaves all others waiting. That is what a latch is, and no finding: it is told as a number.
 * Excludes whether one count-down was carried out twice, unless somebody passes early by it.
 */
import { byKey } from '../../harness/record/facts/by-key.js';
import { mishaps } from '../../harness/record/facts/faults.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { moment, plural } from '../../harness/record/facts/words.js';
import { MODE, OP, OUTCOME } from '../../harness/record/history-table.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Violation } from '../../harness/vocabulary/verdict.js';
import { unexplained } from '../causes/unexplained.js';

/** The refusal that says that it is closed; others say something about servers. */
const CLOSED = 'held';

function judgeLatches(input: CheckInput): CheckerFindings {
  const { history, model } = input;
  if (model.kind !== 'latch') return unknown('only a latch is counted down');
  const [mishap] = mishaps(history);
  if (mishap) return unknown(`whether a latch opened in time cannot be determined: ${mishap.proof ?? mishap.did}`);
  const { operations: ops } = history;
  const { callNs, returnNs } = intervalsOf(history);
  const parts = partsOf(input);
  const violations: Violation[] = [];
  const stats = { latches: 0, latchPasses: 0, latchesNobodyPassed: 0 };
  for (const rows of byKey(ops.key, ops.count, ops.keys.length, (row) => parts[row] !== 0)) {
    const counts = [...rows].filter((row) => parts[row] === COUNTS);
    const waits = [...rows].filter((row) => parts[row] === WAITS);
    if (waits.length === 0) continue;
    stats.latches++;
    const possible = counts.filter((row) => ops.outcome[row] !== OUTCOME.fail).map((row) => callNs[row]!);
    const certain = counts.filter((row) => ops.outcome[row] === OUTCOME.ok).map((row) => returnNs[row]!);
    const passed = waits.filter((row) => ops.outcome[row] === OUTCOME.ok);
    stats.latchPasses += passed.length;
    if (passed.length === 0) stats.latchesNobodyPassed++;
    for (const row of passed) {
      const before = possible.filter((ns) => ns <= returnNs[row]!).length;
      if (before < model.count) violations.push(early(row, before));
    }
    for (const row of waits) {
      if (ops.outcome[row] !== OUTCOME.fail || ops.reasons[ops.reason[row]!] !== CLOSED) continue;
      if (certain.filter((ns) => ns < callNs[row]!).length >= model.count) violations.push(shut(row));
    }
  }
  return {
    verdict: violations.length > 0 ? 'invalid' : stats.latchPasses === 0 ? 'unknown' : 'valid',
    notes: stats.latchPasses === 0 ? ['no client passed a latch, so whether any opens in time is unknown'] : [],
    violations,
    stats,
  };

  function early(row: number, before: number): Violation {
    const { count } = model as { count: number };
    return of(row, 'exclusion', 'passed-early', [
      `${who(row)} passed ${key(row)} by ${moment(returnNs[row]!)}, when at most ${before} of ${plural(count, 'client')} can have counted it down.`,
      `${who(row)} passed`,
    ]);
  }

  function shut(row: number): Violation {
    return of(row, 'liveness', 'not-opened', [
      `${who(row)} was refused ${key(row)} between ${moment(callNs[row]!)} and ${moment(returnNs[row]!)}, after all had counted it down and were answered.`,
      `${who(row)} was refused`,
    ]);
  }

  function of(row: number, name: 'exclusion' | 'liveness', kind: string, [proof, text]: [string, string]): Violation {
    const evidence = [ops.invokeLine[row]!, ops.completionLine[row]!];
    return {
      class: name,
      kind,
      key: key(row),
      fromNs: callNs[row]!,
      untilNs: returnNs[row]!,
      holds: [],
      evidence,
      proof,
      cause: unexplained([{ atNs: returnNs[row]!, text, history: evidence[1]! }]),
    };
  }

  function who(row: number): string {
    return ops.clients[ops.client[row]!]!;
  }

  function key(row: number): string {
    return ops.keys[ops.key[row]!]!;
  }
}

const WAITS = 1;
const COUNTS = 2;

/** By row of the history: whether it waits for a latch, or counts it down. */
function partsOf({ history: { operations: ops } }: CheckInput): Uint8Array {
  const parts = new Uint8Array(ops.count);
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] === OP.acquire && ops.mode[row] === MODE.read) parts[row] = WAITS;
    if (ops.op[row] === OP.release && ops.mode[ops.hold[row]!] !== MODE.read) parts[row] = COUNTS;
  }
  return parts;
}

function unknown(note: string): CheckerFindings {
  return { verdict: 'unknown', notes: [note], violations: [], stats: {} };
}

const THEORY = {
  theory:
    'A latch opens when its count is zero, which each counter makes one less in one step, once, and by nothing else.',
  onlyIf: 'servers kept all, by steady clocks',
} as const;

export const countedLatches: Checker = {
  name: 'latch',
  summary: 'no client passes a latch before all have counted it down, and all pass after that',
  properties: [
    {
      class: 'exclusion',
      holds: 'No client passed a latch before all had counted it down',
      broken: 'Clients passed a latch before all had counted it down',
      kinds: {
        'passed-early': {
          headline: (count) => `Passed early: ${plural(count, 'client')} passed a latch that not all had counted down`,
          accusedIf: 'a client passed when fewer count-downs than there must be can have begun',
          ownMistake: THEORY,
        },
      },
    },
    {
      class: 'liveness',
      holds: 'Every latch let clients pass once all had counted it down',
      broken: 'A latch refused a client after all had counted it down',
      kinds: {
        'not-opened': {
          headline: (count) =>
            `Not opened: ${plural(count, 'client')} waited in vain for a latch that all had counted down`,
          accusedIf:
            'a client began to wait after all count-downs had been answered, and was told that the latch is closed',
          ownMistake: THEORY,
        },
      },
    },
  ],
  judges: { models: ['latch'], plays: false },
  check: judgeLatches,
};
