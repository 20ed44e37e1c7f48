/** Places that clients stored in a queue on a server, while they waited for a lock: in a list, or a sorted set. */
import { type Change, type KeyChanges, ownersBy } from '../../harness/record/facts/commands/changes.js';
import type { Origin, StoredState } from '../../harness/record/facts/commands/state.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';
import { type NamedStore, ownStoresOf, type RelatedKeys } from './own-stores.js';

/** Who waited, and who was granted the lock first. */
export interface Passed {
  readonly waiter: Hold;
  /** When the waiter's acquire began. */
  readonly waiterAskedNs: number;
  readonly by: Hold;
  /** When the other one's acquire began. */
  readonly askedNs: number;
}

/**
 * The last place that the waiter stored on a server before the other one asked: under each key that it stored one under, its last name
 * there. It may stand under one name in the queue, and under another beside it, among those that live, say.
 */
export function placesOf(
  { waiter, waiterAskedNs, askedNs }: Passed,
  node: string,
  history: History,
  evidence: Evidence,
  related: RelatedKeys,
): NamedStore[] {
  const reading = evidence.readingOf(node)!;
  const own = askedOverOf(waiter, waiterAskedNs, node, history, evidence, related);
  const keys = related.of(waiter.key, reading) ?? [];
  const ofKeys = keys.map((key) => reading.changes(key));
  const inItsPlace = evidence.inPlaceOf(waiter.client);
  const isOwnName = (name: string) => inItsPlace.includes(firstStored(name, ofKeys)?.client ?? '');
  const places = ofKeys.flatMap(({ list }, n) => {
    const stored: NamedStore[] = [];
    let at = firstIndex(list.length, (of) => list[of]!.atNs >= waiterAskedNs - RECKONING_NS);
    for (; list[at] && list[at]!.atNs < askedNs; at++) {
      const { by, after, line, atNs, ranFromNs } = list[at]!;
      if (by?.client !== waiter.client || !own.includes(by.source) || !isQueue(after)) continue;
      if (ranFromNs < waiterAskedNs - RECKONING_NS) continue;
      for (const name of ownersBy(after, line).filter(isOwnName))
        stored.push({ key: keys[n]!, name, line, atNs, serverWallMs: by.serverWallMs });
    }
    return stored.filter(({ name }) => name === stored.at(-1)!.name);
  });
  return places.sort((a, b) => a.line - b.line);
}

/** What first stored a place of this name: who sweeps a queue may store all anew that stand in it, and these are others'. */
function firstStored(name: string, ofKeys: readonly KeyChanges[]): Origin | undefined {
  const first = ofKeys.flatMap((changes) => firstStores(changes).get(name) ?? []);
  return first.sort((a, b) => a.line - b.line)[0];
}

const firstByName = new WeakMap<KeyChanges, ReadonlyMap<string, Origin>>();

function firstStores(changes: KeyChanges): ReadonlyMap<string, Origin> {
  const known = firstByName.get(changes);
  if (known) return known;
  const first = new Map<string, Origin>();
  for (const { by, after, line } of changes.list)
    if (by && isQueue(after)) for (const name of ownersBy(after, line)) if (!first.has(name)) first.set(name, by);
  firstByName.set(changes, first);
  return first;
}

/** Over which connections a client asks for a hold: where the server was away meanwhile, the same process came over another one before. */
export function askedOverOf(
  hold: Hold,
  askedNs: number,
  node: string,
  history: History,
  evidence: Evidence,
  related: RelatedKeys,
): (string | undefined)[] {
  const before = lastHoldBefore(hold.client, askedNs, history);
  return [hold, ...(before ? [before] : [])].map((one) => sourceOf(one, node, evidence, related));
}

function lastHoldBefore(client: string, byNs: number, history: History): Hold | undefined {
  const holds = holdsOf(history);
  const who = history.operations.clients.indexOf(client);
  let last = -1;
  for (let k = 0; k < holds.count; k++)
    if (holds.client[k] === who && holds.fromNs[k]! < byNs && (last < 0 || holds.fromNs[k]! >= holds.fromNs[last]!))
      last = k;
  return last < 0 ? undefined : holds.hold(last);
}

/** The connection over which a client was granted the lock. */
function sourceOf(hold: Hold, node: string, evidence: Evidence, related: RelatedKeys): string | undefined {
  const own = ownStoresOf(hold, evidence, related).find((store) => store.node === node);
  return own && evidence.readingOf(node)!.changes(own.key).ofLine(own.line)?.by?.source;
}

export function isQueue({ held }: StoredState): boolean {
  return held?.type === 'list' || held?.type === 'zset';
}

/** What became of a key from one command on until another had run; not that it had expired before the first of them came. */
export function changesBetween({ list }: KeyChanges, fromLine: number, untilLine: number): Change[] {
  return list.filter(
    ({ line, how }) => line >= fromLine && line <= untilLine && (line > fromLine || how !== 'expired'),
  );
}
