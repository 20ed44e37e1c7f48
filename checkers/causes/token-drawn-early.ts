/**
 * A fencing token did not rise because its client had drawn it before it waited for the lock.
 *
 * Example: c1 counts the tokens up to 5 and is refused; c2 counts them up to 6 and is granted. When that is over c1 tries
 * again, and is granted with its 5.
 *
 * Named where the one server was seen to count both up (`INCR`, `INCRBY`), each for its own client: the lower one first, and
 * before the attempt that was granted with it had left. Neither client was seen to come to that number another time, and every
 * server was watched from the first count until the second client had its grant.
 *
 * Excludes tokens that are counted anywhere else, and independent nodes.
 */
import type { Change } from '../../harness/record/facts/commands/changes.js';
import { type Evidence, OBSERVED_WITHIN_NS } from '../../harness/record/facts/evidence.js';
import { moment } from '../../harness/record/facts/words.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, Hold } from '../../harness/vocabulary/verdict.js';
import { RelatedKeys } from './own-stores.js';
import { wholeEvidenceOf } from './whole-evidence.js';

const COUNTS_UP: ReadonlySet<string> = new Set(['INCR', 'INCRBY']);

/** A count that came to a hold's token. */
interface Draw {
  readonly node: string;
  readonly key: string;
  readonly change: Change;
}

/** `first` was granted before `second`, with the higher token. */
export function tokenDrawnEarly(first: Hold, second: Hold, input: CheckInput): Cause | undefined {
  if (!(first.token! > second.token!)) return undefined;
  const evidence = wholeEvidenceOf(input);
  if (!evidence || evidence.majority !== undefined) return undefined;
  const related = new RelatedKeys(input.history.operations.keys);
  const [late, early] = [drawOf(first, evidence, related), drawOf(second, evidence, related)];
  if (!early || !late || early.node !== late.node || early.key !== late.key) return undefined;
  if (early.change.line >= late.change.line || early.change.atNs >= second.grantSentNs) return undefined;
  const untilNs = second.fromNs + OBSERVED_WITHIN_NS;
  if (!evidence.nodes.every((node) => evidence.watchedThroughout(node, early.change.atNs, untilNs))) return undefined;
  return causeOf(first, second, early, late);
}

/** The only time that any node counted up to its token for the client; undefined: there is none, or there are several. */
function drawOf({ key: resource, client, token }: Hold, evidence: Evidence, related: RelatedKeys): Draw | undefined {
  const draws: Draw[] = [];
  for (const node of evidence.nodes) {
    const reading = evidence.readingOf(node);
    const keys = reading ? related.of(resource, reading) : [];
    if (!reading || !keys) return undefined;
    for (const key of keys)
      for (const change of reading.changes(key).list)
        if (change.by?.client === client && isCountTo(String(token), change)) draws.push({ node, key, change });
  }
  return draws.length === 1 ? draws[0] : undefined;
}

function isCountTo(token: string, { by, applied, after: { held } }: Change): boolean {
  return COUNTS_UP.has(by!.name) && applied === 'yes' && held?.type === 'string' && held.value === token;
}

function causeOf(first: Hold, second: Hold, early: Draw, late: Draw): Cause {
  const { node, key } = early;
  const counted = ({ change }: Draw, { client, token }: Hold) => ({
    atNs: change.atNs,
    text: `${node} counted ${key} up to ${token} for ${client}`,
    observation: change.line,
  });
  const granted = ({ client, key: resource, token, fromNs, evidence }: Hold) => ({
    atNs: fromNs,
    text: `${client} was granted ${resource} with token ${token}`,
    history: evidence[1]!,
  });
  return {
    name: 'token-drawn-early',
    sentence: `${second.client} had drawn its token ${second.token} from ${key} by ${moment(early.change.atNs)}, before ${first.client} drew ${first.token}; it was granted ${second.key} only after that, by an attempt that left at ${moment(second.grantSentNs)}.`,
    chain: [counted(early, second), counted(late, first), granted(first), granted(second)].sort(
      (a, b) => a.atNs - b.atNs,
    ),
  };
}
