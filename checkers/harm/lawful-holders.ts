/**
 * Did a protected resource refuse the one lawful holder, as if it were a stale one?
 *
 * A resource refuses a token that is lower than one which it has seen. That is how a holder is stopped whose lease has ended. A
 * holder whose lease still runs, and after whom no client was granted the key, is refused only if its token is worth nothing: it
 * does its work in vain, and all of them may.
 *
 * Promises: a hold is accused (`lawful-holder-refused`, harm) if the resource refused a read or write of its for its token, and
 *
 * - its lease, less the margin (`margin.ts`), was still running when the refusal was there, and the hold was not over;
 * - no grant of the key that may have been made after its own was asked for by then, and none to its own client (nested);
 * - nothing about the key whose outcome is not known had begun by then: an acquire may have been granted, a write been taken;
 * - no other hold read or wrote between its grant and the refusal: what it showed the resource may be the reason.
 *
 * Each hold is reported once, by its first refusal; one whose token did not rise is reported by `fencing` alone.
 *
 * Excludes readers, permits, and resources that ask for a token where the lock gives none. A cause is named only where the count
 * was certainly lost with the lock (`causes/counter-lost.ts`): then the deployment is to blame.
 */

import { byKey, countBelow, sortedBy } from '../../harness/record/facts/by-key.js';
import { nestedHolds } from '../../harness/record/facts/hold-order.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { leaseMarginNs } from '../../harness/record/facts/margin.js';
import { accessesOf } from '../../harness/record/facts/resource.js';
import { duration, moment, plural } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CauseLink, CheckerFindings, Violation } from '../../harness/vocabulary/verdict.js';
import { tokenExplainerOf } from '../causes/explain.js';
import { unexplained } from '../causes/unexplained.js';
import { TOKENS_MUST_RISE, tokensNotRisen } from './fencing.js';

/** Holds that are reported with evidence and proof; all are counted. */
const MOST_REPORTED = 200;

function findRefusedHolders(input: CheckInput): CheckerFindings {
  const { history, model } = input;
  const { operations: ops } = history;
  const refused = model.kind === 'semaphore' ? [] : refusalsOf(input);
  const toldByFencing = refused.length > 0 ? tokensNotRisen(input) : new Set<number>();
  const accused = firstOfEach(input, refused).filter(({ k }) => !toldByFencing.has(k));
  const explain = explainerOf(input);
  const violations = accused.slice(0, MOST_REPORTED).map((one) => violation(one, input, explain));
  const used = accessesOf(history).some((rows) => rows.some((row) => ops.outcome[row] === OUTCOME.ok));
  return {
    verdict: violations.length > 0 ? 'invalid' : 'valid',
    notes: [],
    violations,
    ...(accused.length > violations.length && { found: { harm: accused.length } }),
    ...(!used && refused.length === 0 && { notJudged: 'no holder used a protected resource' }),
    stats: { refusedForTheirToken: refused.length, lawfulHoldersRefused: accused.length },
  };
}

export const lawfulHolders: Checker = {
  name: 'lawful-holders',
  summary: 'the protected resource refused no holder that was the lawful one',
  properties: [
    {
      class: 'harm',
      holds:
        'The protected resource refused no holder whose lease was running and after whom no client was granted the lock',
      broken:
        'The protected resource refused a holder whose lease was running and after whom no client was granted the lock',
      kinds: {
        'lawful-holder-refused': {
          headline: (count) => `Fencing broken: ${plural(count, 'lawful holder')} refused by the protected resource`,
          accusedIf:
            'the resource refused a holder for its token while its lease was running, and no other client can have been granted the key or have used the resource since its grant',
          ownMistake: TOKENS_MUST_RISE,
        },
      },
    },
  ],
  judges: { models: ['fenced'], plays: true },
  check: findRefusedHolders,
};

interface Refusal {
  k: number;
  row: number;
}

/** Reads and writes that were refused for their token, in the order of their invokes. */
function refusalsOf({ history }: CheckInput): Refusal[] {
  const { operations: ops } = history;
  const holds = holdsOf(history);
  const refused = accessesOf(history).flatMap((rows) =>
    [...rows].filter(
      (row) => ops.outcome[row] === OUTCOME.fail && /^stale-token\b/.test(ops.reasons[ops.reason[row]!] ?? ''),
    ),
  );
  return refused
    .sort((a, b) => a - b)
    .map((row) => ({ k: holds.about(row), row }))
    .filter(({ k }) => k >= 0);
}

/** The first refusal of each hold that was the lawful one. */
function firstOfEach({ history }: CheckInput, refusals: readonly Refusal[]): Refusal[] {
  if (refusals.length === 0) return [];
  const { operations: ops } = history;
  const holds = holdsOf(history);
  const nested = nestedHolds(history);
  const { callNs, returnNs } = intervalsOf(history);
  const mayHaveActed = (row: number) =>
    (ops.outcome[row] === OUTCOME.info || ops.outcome[row] === OUTCOME.none) &&
    (ops.op[row] === OP.acquire || ops.op[row] === OP.read || ops.op[row] === OP.write);
  /** Of each key: when the first acquire or access of unknown outcome began. It may have taken effect at any time since. */
  const unknownFromNs = byKey(ops.key, ops.count, ops.keys.length, mayHaveActed).map((rows) =>
    rows.reduce((first, row) => Math.min(first, callNs[row]!), Number.POSITIVE_INFINITY),
  );
  const grants = byKey(holds.key, holds.count, ops.keys.length).map(
    (ofKey) => new Spans(ofKey, holds.grantSentNs, holds.fromNs),
  );
  const accesses = accessesOf(history).map((rows) => new Spans(rows, callNs, returnNs));

  const isLawful = ({ k, row }: Refusal) => {
    const [grantSentNs, refusedNs, key] = [holds.grantSentNs[k]!, returnNs[row]!, holds.key[k]!];
    return (
      !nested[k] &&
      !holds.shares[k] &&
      refusedNs < holds.leaseEndNs[k]! - leaseMarginNs(holds.leaseMs[k]!) &&
      refusedNs <= holds.untilNs[k]! &&
      unknownFromNs[key]! > refusedNs &&
      grants[key]!.every(grantSentNs, refusedNs, (other) => other === k) &&
      accesses[key]!.every(grantSentNs, refusedNs, (other) => holds.about(other) === k)
    );
  };
  const told = new Set<number>();
  return refusals.filter((one) => {
    if (told.has(one.k) || !isLawful(one)) return false;
    told.add(one.k);
    return true;
  });
}

/** Things that each lasted from one instant to another, to be looked through for those that touch a time. */
class Spans {
  private readonly byFrom: Int32Array;
  private readonly longestNs: number;

  constructor(
    of: Int32Array,
    private readonly fromNs: Float64Array,
    private readonly untilNs: Float64Array,
  ) {
    this.byFrom = sortedBy(of, (a, b) => fromNs[a]! - fromNs[b]!);
    // Those of unknown end are looked at by themselves.
    this.longestNs = of.reduce((most, one) => {
      const ns = untilNs[one]! - fromNs[one]!;
      return Number.isFinite(ns) ? Math.max(most, ns) : most;
    }, 0);
  }

  /** Whether all of them that touch that time, its ends included, are such. */
  every(fromNs: number, untilNs: number, isSuch: (one: number) => boolean): boolean {
    const count = countBelow(this.byFrom, this.fromNs, untilNs, 'or equal');
    for (let at = count - 1; at >= 0; at--) {
      const one = this.byFrom[at]!;
      if (this.fromNs[one]! + this.longestNs < fromNs) return true;
      if (this.untilNs[one]! >= fromNs && !isSuch(one)) return false;
    }
    return true;
  }
}

/** Why a hold has a token that is below an earlier one's. */
type Explain = (k: number, links: CauseLink[]) => Violation['cause'];

function explainerOf(input: CheckInput): Explain {
  const holds = holdsOf(input.history);
  const explain = tokenExplainerOf(input);
  return (k, links) => {
    const before = highestBefore(k, holds, input);
    return before === undefined ? unexplained(links) : explain(holds.hold(before), holds.hold(k), () => links);
  };
}

/** The hold of the key that was had before this one with the highest token above its own. */
function highestBefore(k: number, holds: Holds, { history: { operations: ops } }: CheckInput): number | undefined {
  const token = (j: number) => ops.token[holds.row[j]!]!;
  let highest: number | undefined;
  for (let j = 0; j < holds.count; j++) {
    if (holds.key[j] !== holds.key[k] || holds.fromNs[j]! >= holds.grantSentNs[k]! || !(token(j) > token(k))) continue;
    if (highest === undefined || token(j) > token(highest)) highest = j;
  }
  return highest;
}

function violation({ k, row }: Refusal, { history }: CheckInput, explain: Explain): Violation {
  const { operations: ops } = history;
  const { callNs, returnNs } = intervalsOf(history);
  const hold = holdsOf(history).hold(k);
  const { client, key } = hold;
  const what = ops.op[row] === OP.write ? 'write' : 'read';
  const reason = ops.reasons[ops.reason[row]!];
  const [begunNs, refusedNs] = [callNs[row]!, returnNs[row]!];
  const when = Number.isFinite(hold.leaseEndNs)
    ? `${duration(hold.leaseEndNs - refusedNs)} before its lease ended`
    : 'while it held it, for no lease could end';
  const links: CauseLink[] = [
    { atNs: hold.fromNs, text: `${client} was granted ${key} with token ${hold.token}`, history: hold.evidence[1]! },
    { atNs: refusedNs, text: `the resource refused ${client}'s ${what}: ${reason}`, history: ops.completionLine[row]! },
  ];
  return {
    class: 'harm',
    kind: 'lawful-holder-refused',
    key,
    fromNs: hold.fromNs,
    untilNs: refusedNs,
    holds: [hold],
    evidence: [...hold.evidence.slice(0, 2), ops.invokeLine[row]!, ops.completionLine[row]!].sort((a, b) => a - b),
    proof: `${client} was granted ${key} at ${moment(hold.fromNs)} with token ${hold.token}; its ${what}, begun at ${moment(begunNs)}, was refused at ${moment(refusedNs)} (${reason}), ${when}. No other client was granted the key or used the resource since the granted attempt left.`,
    cause: explain(k, links),
  };
}
