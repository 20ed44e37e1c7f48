/**
 * A fencing token did not rise because its client had drawn it before it waited for the lock.
 *
 * Example: c1 counts the tokens up to 5 and is refused; c2 counts them up to 6 and is granted. When that is over c1 tries
 * again, and is granted with its 5.
 *
 * Named where the one server was seen to count both up (`INCR`, `INCRBY`), each for its own client: the lower one first, and
 * before the attempt that was granted with it had left. Neither client can have come to that number another time (a server that
 * was promoted may count from where nobody saw it begin), and every server was watched from the first count until the second client had its grant.
 *
 * Excludes a token that its client had had with an earlier grant: it was drawn for that, in time, and said again; tokens that are
 * counted anywhere else; and independent nodes.
 */
import { type Evidence, OBSERVED_WITHIN_NS } from '../../harness/record/facts/evidence.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { moment } from '../../harness/record/facts/words.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, Hold } from '../../harness/vocabulary/verdict.js';
import { RelatedKeys } from './own-stores.js';
import { type Draw, drawLink, drawsOf, tokenLink } from './token-counts.js';
import { wholeEvidenceOf } from './whole-evidence.js';

/** `first` was granted before `second`, with the higher token. */
export function tokenDrawnEarly(first: Hold, second: Hold, input: CheckInput): Cause | undefined {
  if (!(first.token! > second.token!)) return undefined;
  const evidence = wholeEvidenceOf(input);
  if (!evidence || evidence.majority !== undefined) return undefined;
  const related = new RelatedKeys(input.history.operations.keys);
  const [late, early] = [drawOf(first, evidence, related), drawOf(second, evidence, related)];
  if (!early || !late || early.node !== late.node || early.key !== late.key) return undefined;
  // The later one ran before the first client had its grant, and that before the second one's attempt left.
  if (early.change.line >= late.change.line) return undefined;
  if (hadEarlier(second, input)) return undefined;
  const untilNs = second.fromNs + OBSERVED_WITHIN_NS;
  if (!evidence.nodes.every((node) => evidence.watchedThroughout(node, early.change.atNs, untilNs))) return undefined;
  return causeOf(first, second, early, late);
}

/** The only time that any node counted up to its token for the client, by its answer; undefined: none, or perhaps several. */
function drawOf(hold: Hold, evidence: Evidence, related: RelatedKeys): Draw | undefined {
  const [draw, ...others] = drawsOf(hold, evidence, related) ?? [];
  return others.length === 0 && draw && draw.change.ranFromNs <= hold.fromNs ? draw : undefined;
}

/** Whether its client had been granted the key with that token before: for that it had drawn it, and said it again. */
function hadEarlier({ client, key, token, fromNs }: Hold, { history }: CheckInput): boolean {
  const holds = holdsOf(history);
  const { operations: ops } = history;
  const [who, which] = [ops.clients.indexOf(client), ops.keys.indexOf(key)];
  const isIt = (row: number) => ops.client[row] === who && ops.key[row] === which && ops.token[row] === token;
  return holds.row.some((row, k) => isIt(row) && holds.fromNs[k]! < fromNs);
}

function causeOf(first: Hold, second: Hold, early: Draw, late: Draw): Cause {
  return {
    name: 'token-drawn-early',
    sentence: `${second.client} had drawn its token ${second.token} from ${early.key} by ${moment(early.change.atNs)}, before ${first.client} drew ${first.token}; it was granted ${second.key} only after that, by an attempt that left at ${moment(second.grantSentNs)}.`,
    chain: [drawLink(early, second), drawLink(late, first), tokenLink(first), tokenLink(second)].sort(
      (a, b) => a.atNs - b.atNs,
    ),
  };
}
