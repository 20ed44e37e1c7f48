/** Why a queue was passed over, and who was in the way of a free lock, from everything that happened: nothing is read from the record. */
import { MS } from '../oracle/simulation.js';
import { LEASE_MS, type LivedAcquire, PLACE_MS, type Run } from './run.js';
import type { Entry, Refusal } from './server.js';

/** A client that was queued, and one that asked later and was granted first. */
export function truePassing(waiter: LivedAcquire, by: LivedAcquire, { server }: Run): Set<string> {
  const isOf = (one: LivedAcquire) => (entry: Entry) => entry.client === one.client && entry.acquire === one.id;
  const grant = server.grants.find(isOf(by))!;
  const places = server.places.filter(isOf(waiter)).filter(({ storedNs }) => storedNs < by.beganNs);
  const ofBy = server.places.filter(isOf(by));
  const found = new Set<string>();
  for (const place of places) {
    const { gone, shownWallMs, storedNs, client } = place;
    const stood = (gone?.ns ?? Number.POSITIVE_INFINITY) > grant.storedNs;
    if (stood && ofBy.every((own) => own.storedNs > storedNs)) found.add('granted-past-queue');
    const isInTime = gone !== undefined && gone.wallMs - shownWallMs < PLACE_MS;
    // Where it had no other when the other one was granted the lock.
    const stoodAgain = server.places.some((one) => isOf(waiter)(one) && isThere(one, grant.storedNs));
    if (gone?.isForgotten && isInTime && gone.ns < grant.storedNs && !stoodAgain) found.add('node-forgot');
    const isOthers = gone?.by !== undefined && gone.by !== client;
    if (isOthers && isInTime && gone!.ns < waiter.grantSentNs) found.add('place-removed');
  }
  return found;
}

function isThere({ storedNs, gone }: Entry, ns: number): boolean {
  return storedNs <= ns && (gone?.ns ?? Number.POSITIVE_INFINITY) > ns;
}

/** What was in the way of every request that was refused between the two instants: the same all the time. */
export function trueBlocker(fromNs: number, untilNs: number, { server, acquires }: Run): Set<string> {
  // A request is read a moment after it ran.
  const refusals = server.refusals.filter(({ ns }) => ns >= fromNs - 300 * MS && ns <= untilNs);
  const within = refusals.filter(({ ns }) => ns >= fromNs - 1 * MS);
  const overNs = ({ client, acquire }: Entry) =>
    acquires.find((one) => one.client === client && one.id === acquire)!.overNs;
  const all = within.map((refusal) => kindsOf(refusal, untilNs, overNs));
  return new Set([...(all[0] ?? [])].filter((kind) => all.every((kinds) => kinds.has(kind))));
}

function kindsOf({ ns, lock, head }: Refusal, untilNs: number, overNs: (entry: Entry) => number): Set<string> {
  const isGone = (entry: Entry) => overNs(entry) <= ns;
  const kinds = new Set<string>();
  if (lock && isGone(lock)) {
    const later = lock.prolonged.filter((one) => one.ns > overNs(lock) && one.ns <= untilNs);
    if (lock.expiresMs === Number.POSITIVE_INFINITY) kinds.add('key-never-expires');
    else if (later.some(({ by }) => by !== lock.client)) kinds.add('prolonged-for-others');
    else if (later.length > 0) kinds.add('prolonged-too-long');
    else if (lock.ttlMs > LEASE_MS) kinds.add('outlives-its-lease');
  } else if (!lock && head && isGone(head)) kinds.add('queue-head-gone');
  return kinds;
}

/** What was in the way of a probe to its end, when all that may rightly be in the way had long ended. */
export function trueDeadlock(probedNs: number, run: Run): Set<string> {
  return trueBlocker(probedNs - 1_500 * MS, probedNs, run);
}
