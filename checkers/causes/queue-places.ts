/** Places that clients stored in a queue on a server, while they waited for a lock: in a list, or a sorted set. */
import { type Change, type KeyChanges, ownersBy } from '../../harness/record/facts/commands/changes.js';
import type { StoredState } from '../../harness/record/facts/commands/state.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
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

/** The last place that the waiter stored on a server before the other one asked, under all keys that it stored it under. */
export function placesOf(
  { waiter, waiterAskedNs, askedNs }: Passed,
  node: string,
  history: History,
  evidence: Evidence,
  related: RelatedKeys,
): NamedStore[] {
  const reading = evidence.readingOf(node)!;
  // Where the server was away meanwhile, the same process came over another one before.
  const before = lastHoldBefore(waiter.client, waiterAskedNs, history);
  const own = [waiter, ...(before ? [before] : [])].map((hold) => sourceOf(hold, node, evidence, related));
  const places = (related.of(waiter.key, reading) ?? []).flatMap((key) =>
    reading.changes(key).list.flatMap(({ by, after, line, atNs, ranFromNs }): NamedStore[] => {
      if (by?.client !== waiter.client || !own.includes(by.source) || !isQueue(after)) return [];
      if (ranFromNs < waiterAskedNs - RECKONING_NS || atNs >= askedNs) return [];
      return ownersBy(after, line).map((name) => ({ key, name, line, atNs, serverWallMs: by.serverWallMs }));
    }),
  );
  places.sort((a, b) => a.line - b.line);
  const name = places.at(-1)?.name;
  return places.filter((place) => place.name === name);
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
