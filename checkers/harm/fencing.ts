/**
 * Do fencing tokens rise? If one grant was had before the attempt that was granted another had left, its token must be the
 * lower one; and no two grants of a key have the same token, in whatever order they were made.
 *
 * The order is that of the grants, not of the calls: a lock that numbers its tokens before it waits draws 5 for c1, which
 * waits; draws 6 for c2, which is granted first and writes; and grants c1 with 5 at last. c1 had asked before c2 was granted,
 * yet a resource that saw 6 refuses c1, the lawful holder, until somebody else is granted.
 *
 * Promises: every pair that breaks this is counted (`fenceInversions`, `fenceRepeats`), and none is accused by stamps that do
 * not prove an order: equal stamps are concurrent. Each grant whose token is not above all that were had before it is one
 * violation, told beside the highest of those; the first of them by completion are given with evidence.
 *
 * They are of class `harm`, although nothing need have been written yet. Two clients need not hold at once for it (so it is
 * not exclusion), and none acted after its lease (nor stale holder). What is broken is the resource's own defence: c1 has
 * token 7 and is paused; a failover takes the counter back; c2 is given 7 too, and writes. When c1 wakes, the resource takes
 * its write as well: there is nothing left by which it could tell.
 *
 * Excludes: grants without a token, nested grants of one owner (they may be given the token that it has), readers of a
 * read-write lock (they may share one) and permits of a semaphore; and what a resource made of a token (`stale-writes`).
 * A token above 2^53 is not known exactly, so it is not judged.
 *
 * A cause is named only where the count was certainly lost with the lock (`causes/counter-lost.ts`), or the token was certainly
 * drawn before the lock was waited for (`causes/token-drawn-early.ts`).
 */

import { byKey, sortedBy } from '../../harness/record/facts/by-key.js';
import { Earliest } from '../../harness/record/facts/earliest.js';
import { nestedHolds } from '../../harness/record/facts/hold-order.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { countInversions } from '../../harness/record/facts/inversions.js';
import { moment, plural } from '../../harness/record/facts/words.js';
import type { Checker, CheckInput, OwnMistake } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Violation } from '../../harness/vocabulary/verdict.js';
import { tokenExplainerOf } from '../causes/explain.js';

/** Where no server lost a count, and none ended by a clock that moved. */
export const TOKENS_MUST_RISE: OwnMistake = {
  theory:
    'Tokens must rise from grant to grant: they are counted up in one place on the server, by the script that grants the lock.',
  link: 'https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html',
  onlyIf: 'servers kept all, by steady clocks',
};

/** Grants that are reported with evidence and proof; all are counted. */
const MOST_REPORTED = 200;

/** A grant whose token is not above the one of `before`. */
interface Accused {
  grant: number;
  before: number;
  /** Whether `before` was certainly had before the attempt that `grant` answers had left. */
  ordered: boolean;
}

function findTokensNotRisen(input: CheckInput): CheckerFindings {
  const { history, model } = input;
  const { operations: ops } = history;
  const holds = holdsOf(history);
  const { token, sentNs, expected, judged } = tokensOf(input, holds);

  const accused = new Earliest<Accused>(MOST_REPORTED, (a, b) => lineOf(a.grant) - lineOf(b.grant));
  const lineOf = (k: number) => ops.completionLine[holds.row[k]!]!;
  const grants = { judged: 0, expected: 0, inversions: 0, repeats: 0 };
  for (let k = 0; k < holds.count; k++) if (expected(k)) grants.expected++;
  for (const ofKey of byKey(holds.key, holds.count, ops.keys.length, judged)) {
    const found = judgeKey(ofKey, { token, sentNs, returnNs: holds.fromNs }, (one) => accused.add(one));
    grants.judged += ofKey.length;
    grants.inversions += found.inversions;
    grants.repeats += found.repeats;
  }

  const explain = tokenExplainerOf(input);
  const violations = accused.list().map((one) => violation(one, holds, { token, sentNs }, explain));
  const notes = model.kind === 'fenced' ? withoutToken(grants) : [];
  return {
    verdict: violations.length > 0 ? 'invalid' : notes.length > 0 ? 'unknown' : 'valid',
    notes,
    violations,
    ...(accused.count > violations.length && { found: { harm: accused.count } }),
    ...(notes.length > 0 && { open: ['harm' as const] }),
    ...(grants.judged === 0 && { notJudged: 'no grant came with a fencing token' }),
    stats: {
      tokens: grants.judged,
      fencesNotRisen: accused.count,
      fenceInversions: grants.inversions,
      fenceRepeats: grants.repeats,
    },
  };
}

export const fencing: Checker = {
  name: 'fencing',
  summary: 'every grant carries a higher fencing token than those before it',
  properties: [
    {
      class: 'harm',
      holds: 'Every grant had a higher fencing token than those before it',
      broken: 'A grant had no higher fencing token than one before it',
      kinds: {
        'fence-inversion': {
          headline: (count) => `Fencing broken: ${plural(count, 'grant')} without a higher token than one before`,
          accusedIf:
            'the attempt that was granted left after another grant had been answered, and was given a lower token',
          ownMistake: { ...TOKENS_MUST_RISE, since: 'its evidence' },
        },
        'fence-repeat': {
          headline: (count) => `Fencing broken: ${plural(count, 'grant')} without a higher token than one before`,
          accusedIf: 'two grants of a key have the same token',
          ownMistake: { ...TOKENS_MUST_RISE, since: 'its evidence' },
        },
      },
    },
  ],
  judges: { models: ['fenced'], plays: true },
  check: findTokensNotRisen,
};

/** The holds whose tokens are not above all earlier ones: what follows from that is reported here. */
export function tokensNotRisen(input: CheckInput): ReadonlySet<number> {
  const holds = holdsOf(input.history);
  const { token, sentNs, judged } = tokensOf(input, holds);
  const accused = new Set<number>();
  for (const ofKey of byKey(holds.key, holds.count, input.history.operations.keys.length, judged))
    judgeKey(ofKey, { token, sentNs, returnNs: holds.fromNs }, ({ grant }) => accused.add(grant));
  return accused;
}

/** By hold: its token, when the attempt that was granted left, whether a token is expected of it, and whether that can be judged. */
function tokensOf({ history, model }: CheckInput, holds: Holds) {
  const nested = nestedHolds(history);
  const token = Float64Array.from(holds.row, (row) => history.operations.token[row]!);
  const { callNs } = intervalsOf(history);
  const sentNs = Float64Array.from(holds.row, (row, k) => Math.max(callNs[row]!, holds.grantSentNs[k]!));
  const expected = (k: number) => model.kind !== 'semaphore' && !nested[k] && !holds.shares[k];
  const judged = (k: number) => expected(k) && Math.abs(token[k]!) <= Number.MAX_SAFE_INTEGER;
  return { token, sentNs, expected, judged };
}

/** What a lock whose grants should all carry tokens leaves open. */
function withoutToken({ judged, expected }: { judged: number; expected: number }): string[] {
  if (expected === 0) return ['nothing was granted, so no token was given out'];
  if (judged === 0) return [`none of ${plural(expected, 'grant')} came with a fencing token that can be judged`];
  const missing = expected - judged;
  return missing > 0
    ? [`${missing} of ${plural(expected, 'grant')} came without a fencing token that can be judged`]
    : [];
}

interface Grants {
  token: Float64Array;
  /** When the attempt that was granted left. */
  sentNs: Float64Array;
  returnNs: Float64Array;
}

/** Tells `accuse` of each grant of one key whose token did not rise, and counts the pairs. */
function judgeKey(
  ofKey: Int32Array,
  { token, sentNs, returnNs }: Grants,
  accuse: (one: Accused) => void,
): { inversions: number; repeats: number } {
  const byReturn = sortedBy(ofKey, (a, b) => returnNs[a]! - returnNs[b]!);
  const bySent = sortedBy(ofKey, (a, b) => sentNs[a]! - sentNs[b]!);
  const accusedAlready = new Set<number>();
  let [highest, met, falls] = [-1, 0, 0];
  for (const grant of bySent) {
    for (; met < byReturn.length && returnNs[byReturn[met]!]! < sentNs[grant]!; met++)
      if (highest < 0 || token[byReturn[met]!]! > token[highest]!) highest = byReturn[met]!;
    if (highest < 0 || token[highest]! < token[grant]!) continue;
    if (token[highest]! > token[grant]!) falls++;
    accusedAlready.add(grant);
    accuse({ grant, before: highest, ordered: true });
  }

  let [repeats, same] = [0, 0];
  const byToken = sortedBy(ofKey, (a, b) => token[a]! - token[b]! || returnNs[a]! - returnNs[b]! || a - b);
  for (let at = 1; at < byToken.length; at++) {
    const [before, grant] = [byToken[at - 1]!, byToken[at]!];
    same = token[before] === token[grant] ? same + 1 : 0;
    repeats += same;
    if (same > 0 && !accusedAlready.has(grant)) accuse({ grant, before, ordered: false });
  }
  const points = (x: Float64Array) => ({
    x: Float64Array.from(ofKey, (k) => x[k]!),
    y: Float64Array.from(ofKey, (k) => token[k]!),
  });
  return { repeats, inversions: falls > 0 ? countInversions(points(returnNs), points(sentNs)) : 0 };
}

function violation(
  { grant, before, ordered }: Accused,
  holds: Holds,
  { token, sentNs }: Pick<Grants, 'token' | 'sentNs'>,
  explain: ReturnType<typeof tokenExplainerOf>,
): Violation {
  const [first, second] = [holds.hold(before), holds.hold(grant)];
  const repeat = token[before] === token[grant];
  const hadNs = [first.fromNs, second.fromNs] as const;
  return {
    class: 'harm',
    kind: repeat ? 'fence-repeat' : 'fence-inversion',
    key: first.key,
    fromNs: Math.min(...hadNs),
    untilNs: Math.max(...hadNs),
    holds: [first, second],
    evidence: [...first.evidence.slice(0, 2), ...second.evidence.slice(0, 2)].sort((a, b) => a - b),
    proof: ordered
      ? `${first.client} had token ${first.token} of ${first.key} at ${moment(first.fromNs)}; the attempt that was granted to ${second.client} left after that, at ${moment(sentNs[grant]!)}, and was given token ${second.token}, which is ${repeat ? 'the same' : 'lower'}.`
      : `${first.client} and ${second.client} were both given token ${second.token} of ${first.key}, at ${moment(first.fromNs)} and ${moment(second.fromNs)}: no resource can tell them apart.`,
    cause: explain(first, second, () =>
      [first, second].map((hold) => ({
        atNs: hold.fromNs,
        text: `${hold.client} was granted ${hold.key} with token ${hold.token}`,
        history: hold.evidence[1]!,
      })),
    ),
  };
}
