/**
 * A client took a key for its grant that it had stored itself for something earlier, and that had less time left than the
 * lease that it claims: the key expired in the midst of that lease, and another client was granted it.
 *
 * Example: a lock names its owner after the machine. c1 is killed while it holds; c1.2, in its place, finds "its own" value,
 * and calls that a grant of 5 s, of which 2 s are left.
 *
 * A lock that asks under another name, or under a new one each time, and takes the refusal for a yes, has adopted nothing; nor
 * has one that asked by nothing but SET NX or PTTL, say, whose answers do not say whose the key is. And the other one must
 * have asked.
 *
 * Named where the server that granted the other one was watched from the earlier request until then, and by its own reading:
 * the client, or its predecessor in the same place, had stored the value before the acquire began; the value was there when
 * the client had its answer; no request that the client sent since the acquire began, on any server, stored or prolonged
 * anything; and the value was removed by nothing but its expiry, by a clock that nothing moved, before the other's grant, and by
 * the time that it had when the acquire began.
 *
 * Excludes permits and readers, nested holds, which may rest on the outer grant, and independent nodes.
 */

import { isBlind, isToldBefore, READS_OWNER } from '../../harness/record/facts/asked.js';
import { clientNames } from '../../harness/record/facts/clients.js';
import {
  type Change,
  type KeyChanges,
  ownersOf,
  storedBy,
  stores,
} from '../../harness/record/facts/commands/changes.js';
import { type Origin, type StoredState, stateBy } from '../../harness/record/facts/commands/state.js';
import { isScript } from '../../harness/record/facts/commands/table.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { isNested } from '../../harness/record/facts/hold-order.js';
import { asksFor, RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { moment } from '../../harness/record/facts/words.js';
import type { CommandObservation } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, Hold } from '../../harness/vocabulary/verdict.js';
import { acquiresOf } from './asks.js';
import { isBelieved } from './believed.js';
import { BLUR_MS } from './meanwhile.js';
import { ONE_OWNER } from './never-stored.js';
import { formOf, type OwnStore, ownStoresOf, READ_WITHIN_NS, RelatedKeys } from './own-stores.js';

/** What a client had stored before its acquire began, and what became of it. */
interface Kept {
  readonly owner: string;
  readonly by: Origin;
  readonly loss: Change;
  /** What was there when the acquire began. */
  readonly state: StoredState;
}

export function adoptedStaleKey({ first, second }: Overlap, evidence: Evidence, input: CheckInput): Cause | undefined {
  const { history, model } = input;
  if (evidence.majority !== undefined || !ONE_OWNER.has(model.kind) || isNested(history, first)) return undefined;
  const invokedNs = history.event(first.evidence[0]!)!.atNs;
  const related = new RelatedKeys(history.operations.keys);
  const own = clientNames(history, first.client);
  const isOwn = (client: string | undefined) =>
    client !== undefined && [...clientNames(history, client)].some((name) => own.has(name));
  for (const granted of ownStoresOf(second, evidence, related)) {
    const changes = evidence.readingOf(granted.node)!.changes(granted.key);
    const kept = granted.inTime ? keptBefore(invokedNs, first, granted, changes, isOwn) : undefined;
    const grant = changes.ofLine(granted.line);
    if (!kept || !grant || !isBelieved(granted.node, kept.by.atNs, grant.atNs, evidence, 0)) continue;
    const others = evidence.nodes.filter((node) => node !== granted.node);
    if (!others.every((node) => isBelieved(node, invokedNs, first.fromNs, evidence))) continue;
    // Else somebody who gave it less time since let the other one in.
    if (wouldBeThere(kept, grant.by!)) continue;
    if (!outlastsAcquire(kept, first, isOwn, input)) continue;
    if (!mayHaveLooked(first, granted, invokedNs, input)) continue;
    if (hasStoredBlindly(second, granted, kept, input)) continue;
    if (evidence.nodes.some((node) => asksAsAnother(node, invokedNs, first, kept.owner, evidence, input))) continue;
    const untilNs = Math.max(kept.loss.atNs, first.fromNs + READ_WITHIN_NS);
    if (mayHaveStored(first, { fromNs: invokedNs, untilNs }, evidence, related, isOwn)) continue;
    return adoption(first, second, granted, kept, grant);
  }
  return undefined;
}

function keptBefore(
  invokedNs: number,
  { fromNs }: Hold,
  granted: OwnStore,
  changes: KeyChanges,
  isOwn: (client: string | undefined) => boolean,
): Kept | undefined {
  const state = changes.spans(invokedNs, invokedNs)[0]?.state;
  for (const owner of state ? ownersOf(state) : []) {
    const by = storedBy(state!, owner);
    if (!by || !isOwn(by.client)) continue;
    if (changes.storedAt(owner, fromNs).truth !== 'yes') continue;
    const loss = changes.lossOf(owner, by.line);
    if (loss?.how !== 'expired' || stores(loss.after, owner) !== 'no' || loss.line > granted.line) continue;
    return { owner, by, loss, state: state! };
  }
  return undefined;
}

/** Whether it would have been there still when the other one's own was stored, by the time that it had when the acquire began. */
function wouldBeThere({ owner, state }: Kept, { serverWallMs }: Origin): boolean {
  return stores(stateBy(state, { fromMs: serverWallMs, untilMs: serverWallMs + BLUR_MS }), owner) === 'yes';
}

/**
 * Whether the client, or its predecessor, was seen to ask with this value again in a later acquire, as it had when it stored it:
 * one that draws a new value for each cannot have taken an old one for its own.
 */
function outlastsAcquire(
  { owner, by }: Kept,
  { key, fromNs }: Hold,
  isOwn: (client: string | undefined) => boolean,
  { history, observations }: CheckInput,
): boolean {
  const stored = observations.line(by.script?.line ?? by.line) as CommandObservation;
  const acquireAt = acquiresOf(history, key);
  const first = acquireAt(by.client!, stored.atNs);
  const kind = formOf(stored);
  // What is read sooner may be another try of the acquire that stored it.
  for (const [, command] of observations.commands(stored.atNs + READ_WITHIN_NS, fromNs + READ_WITHIN_NS)) {
    const { client, argv, atNs } = command;
    if (!isOwn(client) || formOf(command) !== kind || !argv.includes(owner)) continue;
    const acquire = acquireAt(client!, atNs);
    if (acquire !== undefined && acquire !== first) return true;
  }
  return false;
}

/**
 * Whether a request of the acquire was to store another owner: what it found was not its own, then, by its own word. A script
 * that is refused stores nothing, but names whom it asks for.
 */
function asksAsAnother(
  node: string,
  fromNs: number,
  { client, key, fromNs: untilNs }: Hold,
  owner: string,
  evidence: Evidence,
  { observations }: CheckInput,
): boolean {
  const names = (line: number) => {
    const request = observations.line(line);
    return request?.type === 'command' && request.argv.includes(owner);
  };
  return evidence
    .writes(node, key)
    .filter((write) => write.client === client && write.atNs >= fromNs && write.ranNs <= untilNs + RECKONING_NS)
    .some((write) => asksFor(write) && (write.value === undefined ? !names(write.observation) : write.value !== owner));
}

/**
 * Whether a request that the client sent since the acquire began told it whose the key was: that there is one, and how long for, does
 * not. One that was read late may have come after the grant.
 */
function mayHaveLooked(
  { client, fromNs }: Hold,
  { node, key }: OwnStore,
  invokedNs: number,
  input: CheckInput,
): boolean {
  return hasSent(client, { node, key }, { fromNs: invokedNs, untilNs: fromNs + RECKONING_NS }, input, (argv) => {
    const name = argv[0]!.toUpperCase();
    return READS_OWNER.has(name) || isToldBefore(name, argv);
  });
}

/**
 * Whether the other one stored its own whatever was there, and had not asked in its attempt since the key may have gone: it was granted
 * that be the key gone or not.
 */
function hasStoredBlindly(second: Hold, granted: OwnStore, { loss }: Kept, input: CheckInput): boolean {
  const request = input.observations.line(granted.request);
  if (request?.type !== 'command' || isScript(request.argv[0]!.toUpperCase())) return false;
  const asks = (argv: readonly string[]) => !isBlind(argv[0]!.toUpperCase(), argv);
  if (asks(request.argv)) return false;
  const span = { fromNs: Math.max(second.grantSentNs - RECKONING_NS, loss.ranFromNs), untilNs: request.atNs };
  return !hasSent(second.client, granted, span, input, asks);
}

/** Whether a client sent something that names a key of a node, itself or by a script, of which that holds. */
function hasSent(
  client: string,
  { node, key }: Pick<OwnStore, 'node' | 'key'>,
  { fromNs, untilNs }: { fromNs: number; untilNs: number },
  { observations }: CheckInput,
  is: (argv: readonly string[]) => boolean,
): boolean {
  let sender: string | undefined;
  for (const [, command] of observations.commands(fromNs, untilNs)) {
    if (command.node !== node) continue;
    if (command.source !== 'lua') sender = command.client;
    if (sender === client && command.argv.includes(key) && is(command.argv)) return true;
  }
  return false;
}

/** Whether the client may have stored, prolonged or removed anything of the resource's, on any server, between two instants. */
function mayHaveStored(
  { key: resource }: Hold,
  { fromNs, untilNs }: { fromNs: number; untilNs: number },
  evidence: Evidence,
  related: RelatedKeys,
  isOwn: (client: string | undefined) => boolean,
): boolean {
  return evidence.nodes.some((node) => {
    const reading = evidence.readingOf(node);
    if (!reading) return false;
    const keys = related.of(resource, reading);
    if (!keys) return true;
    return keys.some((key) =>
      reading
        .changes(key)
        .spans(fromNs, untilNs)
        .some(({ change }) => {
          return change !== undefined && change.atNs >= fromNs && change.applied !== 'no' && isOwn(change.by?.client);
        }),
    );
  });
}

function adoption(hold: Hold, other: Hold, { node, key }: OwnStore, { by, loss }: Kept, grant: Change): Cause {
  const stored = `${by.client} had stored at ${moment(by.atNs)}`;
  const until = Number.isFinite(hold.leaseEndNs) ? ` until ${moment(hold.leaseEndNs)}` : '';
  // By the machine's clock; the server's own was not moved.
  const expiredNs = by.atNs + (loss.before.expires.untilMs - by.serverWallMs) * 1e6;
  return {
    name: 'adopted-stale-key',
    sentence: `${hold.client} said at ${moment(hold.fromNs)} that it holds ${hold.key}${until}, but all that ${node} had of it under ${key} was what ${stored}, and no request of the attempt stored or prolonged anything: that had expired by ${moment(expiredNs)}, and ${other.client} was granted it.`,
    chain: [
      { atNs: by.atNs, text: `${node} stored ${by.client}'s own under ${key}`, observation: by.line },
      { atNs: hold.grantSentNs, text: `${hold.client}'s attempt left`, history: hold.evidence[0] },
      {
        atNs: hold.fromNs,
        text: `${hold.client} said at ${moment(hold.fromNs)} that it holds the lock`,
        history: hold.evidence.at(1),
      },
      { atNs: grant.atNs, text: `${node} stored ${other.client}'s own: the key had expired`, observation: grant.line },
    ],
  };
}
