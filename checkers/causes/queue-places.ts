/** Places that clients stored in a queue on a server, while they waited for a lock: in a list, or a sorted set. */
import { type Change, type KeyChanges, ownersBy } from '../../harness/record/facts/commands/changes.js';
import type { StoredState } from '../../harness/record/facts/commands/state.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';
import { ownStoresOf, type RelatedKeys } from './own-stores.js';

/** Who waited, and who was granted the lock first. */
export interface Passed {
  readonly waiter: Hold;
  /** When the waiter's acquire began. */
  readonly waiterAskedNs: number;
  readonly by: Hold;
  /** When the other one's acquire began. */
  readonly askedNs: number;
}

/** What a client stored in a queue. */
export interface QueuePlace {
  readonly key: string;
  readonly name: string;
  readonly line: number;
  readonly atNs: number;
  /** By the server's own clock. */
  readonly serverWallMs: number;
}

/** The last place that the waiter stored on a server before the other one asked, under all keys that it stored it under. */
export function placesOf(
  { waiter, waiterAskedNs, askedNs }: Passed,
  node: string,
  evidence: Evidence,
  related: RelatedKeys,
): QueuePlace[] {
  const reading = evidence.readingOf(node)!;
  const connection = sourceOf(waiter, node, evidence, related);
  const places = (related.of(waiter.key, reading) ?? []).flatMap((key) =>
    reading.changes(key).list.flatMap(({ by, after, line, atNs, ranFromNs }): QueuePlace[] => {
      if (by?.client !== waiter.client || by.source !== connection || !isQueue(after)) return [];
      if (ranFromNs < waiterAskedNs - RECKONING_NS || atNs >= askedNs) return [];
      return ownersBy(after, line).map((name) => ({ key, name, line, atNs, serverWallMs: by.serverWallMs }));
    }),
  );
  places.sort((a, b) => a.line - b.line);
  const name = places.at(-1)?.name;
  return places.filter((place) => place.name === name);
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
