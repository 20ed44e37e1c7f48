/**
 * A client said that it holds the lock although no server had stored its grant: SET NX answers nil, and the lock takes any
 * answer for a yes; a transaction is aborted, and the lock does not look; a hold is served from memory.
 *
 * Named where that is proven by how the grants of the run are stored (`never-stored.ts`). Where there are too few of them to
 * show it, also where every request of the attempt was certainly refused, while another owner's value was there, and the
 * other hold was granted by a request of the same form: so this is how the lock stores its grants, and no other place is left
 * in which it may have stored this one. And where all requests of the attempt were of a kind by which any other attempt was seen to
 * be stored, and all that the servers had stored meanwhile was others'.
 *
 * Excludes permits, readers and nested holds, which may rightly be granted without a write of their own; what the holder before
 * stored for the client while it waited, or left to it when it was done, or it had stored itself before and saw there; and independent nodes of which some, but too
 * few, granted it (`minority-granted`).
 */

import type { Origin } from '../../harness/record/facts/commands/state.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { isNested } from '../../harness/record/facts/hold-order.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { foundAnother, type KeyWrite, RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { listed, moment } from '../../harness/record/facts/words.js';
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, Hold } from '../../harness/vocabulary/verdict.js';
import { acquiresOf } from './asks.js';
import { keptItsData } from './meanwhile.js';
import { neverStoredIn, ownersIn, type Refuted, refutedName } from './never-stored.js';
import { isOnlyNamer } from './stored-owners.js';
import { requestLine } from './tenure.js';
import { mayBeOfAttempt, mayHaveFoundItsOwn, watchedForAttempt } from './votes.js';

const ONE_GRANT_ONE_WRITE: ReadonlySet<LockModel['kind']> = new Set(['mutex', 'fenced', 'fair']);

export function neverGranted(overlap: Overlap, evidence: Evidence, input: CheckInput): Cause | undefined {
  const { first, second } = overlap;
  const { holds, alike } = neverStoredIn(input);
  const named = [second, first].map(refutedName);
  const refuted = [holds, alike].flatMap((known) => named.flatMap((name) => known.get(name) ?? []))[0];
  if (refuted) return causeOfRefused(refuted);
  if (evidence.majority !== undefined || !ONE_GRANT_ONE_WRITE.has(input.model.kind)) return undefined;
  return refusedHold(second, first, evidence, input) ?? refusedHold(first, second, evidence, input);
}

export function causeOfRefused(refuted: Refuted): Cause {
  const { hold, instead, voters } = refuted;
  return {
    // Of independent nodes some may have granted it.
    name: voters.length > 0 ? 'minority-granted' : 'never-granted',
    sentence: inWords(refuted),
    chain: [
      { atNs: hold.grantSentNs, text: `${hold.client}'s attempt left`, history: hold.evidence[0] },
      ...instead.map(({ node, key, client, atNs, observation }) => ({
        atNs,
        text: `${node} stored ${client}'s own under ${key}`,
        observation,
      })),
      {
        atNs: hold.fromNs,
        text: `${hold.client} said at ${moment(hold.fromNs)} that it holds the lock`,
        history: hold.evidence.at(1),
      },
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

/** "c2 said at 3.000 s that it holds lock:0, by an attempt that left at 2.998 s; ..." */
export function inWords({ hold, instead, voters, shownBy, forms }: Refuted): string {
  const said = `${hold.client} said at ${moment(hold.fromNs)} that it holds ${hold.key}, by an attempt that left at ${moment(hold.grantSentNs)}`;
  const had =
    voters.length > 0
      ? `of the nodes only ${listed(voters)} can have granted it meanwhile, which are too few`
      : instead.length > 0
        ? `all that the servers had stored meanwhile was ${listed([...new Set(instead.map(({ client }) => `${client}'s`))])}`
        : 'no server had stored anything for any client meanwhile';
  return `${said}; ${had}. This lock stores a grant under ${listed(forms.map((form) => form.replaceAll('*', hold.key)))}, as ${shownBy} others show.`;
}

function refusedHold(hold: Hold, other: Hold, evidence: Evidence, input: CheckInput): Cause | undefined {
  const { history } = input;
  const granted = evidence.grantsOf(other).find(({ took }) => took === true);
  if (!granted || isNested(history, hold)) return undefined;
  if (!evidence.nodes.every((node) => watchedForAttempt(node, hold, evidence))) return undefined;
  const asked = evidence.nodes.flatMap((node) =>
    evidence.writes(node, hold.key).filter((write) => mayBeOfAttempt(write, hold, evidence)),
  );
  const [first] = asked;
  if (!first || !asked.every((write) => write.took === false && foundAnother(write))) return undefined;
  if (!asked.every((write) => write.command === granted.write.command)) return undefined;
  if (asked.some((write) => mayHaveComeElsewise(write, hold, evidence))) return undefined;
  if (asked.some(({ node }) => mayHaveBeenLeft(node, hold, evidence, input))) return undefined;
  if (evidence.isReplicated && !asked.every((write) => wasThere(write, hold.key, evidence))) return undefined;
  return {
    name: 'never-granted',
    sentence: `${hold.client} said that it holds ${hold.key}, but ${first.node} had refused its ${first.command}: another owner's value was there.`,
    chain: [
      {
        atNs: granted.write.atNs,
        text: `${granted.node} granted ${other.key} to ${other.client} (${granted.write.command})`,
        observation: granted.write.observation,
      },
      ...asked.map(({ atNs, node, command, observation }) => ({
        atNs,
        text: `${node} refused ${hold.client}'s ${command}: another owner's value was there`,
        observation,
      })),
      {
        atNs: hold.fromNs,
        text: `${hold.client} said at ${moment(hold.fromNs)} that it holds the lock`,
        history: hold.evidence.at(1),
      },
    ].sort((a, b) => a.atNs - b.atNs),
  };
}

/** Whether a client that was refused may have been granted it all the same: by what it asked for, or by what it had there before. */
function mayHaveComeElsewise({ node, value }: KeyWrite, hold: Hold, evidence: Evidence): boolean {
  const changes = evidence.readingOf(node)!.changes(hold.key);
  const handedOver = changes.everStored(value!, hold.grantSentNs, hold.fromNs).truth !== 'no';
  return handedOver || mayHaveFoundItsOwn(node, hold, evidence);
}

/**
 * Whether what the node had stored meanwhile may have been left to the client, which was only told so: by a holder that was done by
 * its own word, or by whoever stored it without having asked for the lock itself.
 */
function mayHaveBeenLeft(node: string, hold: Hold, evidence: Evidence, input: CheckInput): boolean {
  const { history } = input;
  const changes = evidence.readingOf(node)!.changes(hold.key);
  const spans = changes.spans(hold.grantSentNs - RECKONING_NS, hold.fromNs + RECKONING_NS);
  const acquireAt = acquiresOf(history, hold.key);
  const holds = holdsOf(history);
  const isHeldBy = (client: string) =>
    holds.row.some((_, k) => {
      const { operations: ops } = history;
      if (ops.clients[holds.client[k]!] !== client || ops.keys[holds.key[k]!] !== hold.key) return false;
      return holds.grantSentNs[k]! <= hold.fromNs && (holds.untilNs[k]! >= hold.fromNs || holds.endedByDeath(k));
    });
  // Who was not granted it may have let in whoever was next in a queue.
  const isItsOwn = (owner: string, { client, ranNs }: Stored) => {
    const row = acquireAt(client, ranNs + RECKONING_NS);
    const isNotGranted = row !== undefined && holds.ofRow[row]! < 0;
    return isHeldBy(client) || (isNotGranted && isOnlyNamer(client, owner, input));
  };
  const isTakenBack = (owner: string, { line, client }: Origin) => {
    const loss = changes.lossOf(owner, line);
    return client !== undefined && loss !== undefined && loss.atNs <= hold.fromNs && loss.by?.client === client;
  };
  return spans.some(({ state }) =>
    (ownersIn(state) ?? []).some(({ owner, by }) => {
      if ((by && isTakenBack(owner, by)) || by?.client === hold.client) return false;
      const stores = storedIts(owner, by, hold.key, evidence);
      // Nobody was seen to store it: whose it is is not known.
      return (!by && stores.length === 0) || stores.some((stored) => !isItsOwn(owner, stored));
    }),
  );
}

interface Stored {
  readonly client: string;
  readonly ranNs: number;
}

/** The client that stored an owner; where it came over a link, all that had stored the same. */
function storedIts(owner: string, by: Origin | undefined, key: string, evidence: Evidence): Stored[] {
  const requests = evidence.nodes.flatMap((node) =>
    evidence.writes(node, key).filter(({ value, took }) => value === owner && took !== false),
  );
  const line = by && requestLine(by);
  const own = requests.filter(({ observation }) => by?.client !== undefined && observation === line);
  return (own.length > 0 ? own : requests).flatMap(({ client, ranNs }) =>
    client === undefined ? [] : [{ client, ranNs }],
  );
}

/** Whether what a request found was its node's until then: no other's data can have taken its place unseen. */
function wasThere({ node, observation, atNs }: KeyWrite, key: string, evidence: Evidence): boolean {
  const changes = evidence.readingOf(node)!.changes(key);
  const last = changes.list[changes.firstFrom(observation) - 1]!;
  return keptItsData(node, last.atNs, atNs - 1, evidence);
}
