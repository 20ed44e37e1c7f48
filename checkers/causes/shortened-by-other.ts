/**
 * Another client of the lock gave the holder's key a shorter time to live than it had, and the key expired by that.
 *
 * Example: readers share one hash. c1 reads for 30 s; c3 comes in for 1 s, and its script gives the whole hash 1 s to live. A
 * writer gets in while c1 reads.
 *
 * Named where the server that had the key was watched all the time, and the last command that changed the key's time to live,
 * with the holder's value kept, was another client's. By the server's own clock the time that it set was over when the next one
 * was granted the key, and the time before it was not, wherever clocks had been moved to before; nor did a step of the machine's end it.
 *
 * Excludes commands of strangers and of the replication link, and keys that anything but their time may have taken.
 */

import { type Change, stores } from '../../harness/record/facts/commands/changes.js';
import { stateBy, type Times } from '../../harness/record/facts/commands/state.js';
import { durationOfMs } from '../../harness/record/facts/words.js';
import { goneLink, grantLink, leaseLink, type Reason, ranBy, ranFrom } from './contest.js';
import { BLUR_MS, READING_MS, wasMovedBetween } from './meanwhile.js';

export const shortenedByOther: Reason = (contest, evidence) => {
  const { earlier, later, key, reached, gone, tenure } = contest;
  const [loss, another] = tenure.losses;
  // It may have expired, and have been given another time if it had not.
  if (!reached?.value || loss?.how !== 'expired' || another) return undefined;
  const changes = evidence.readingOf(gone.node)!.changes(key);
  const isTimed = ({ before, after }: Change) => before.expires !== after.expires;
  // What was done before the holder came was not done to the holder: its own request left the time as it was.
  const since = changes.list.slice(changes.firstFrom(reached.observation), changes.list.indexOf(loss));
  const last = since.findLast(isTimed);
  if (last?.by?.client === undefined || last.by.client === earlier.hold.client) return undefined;
  const { by } = last;
  // A field may have had a time of its own.
  const then = { fromMs: gone.serverWallMs, untilMs: gone.serverWallMs + BLUR_MS };
  const unshortened = stateBy({ ...loss.before, expires: last.before.expires }, then);
  if (stores(unshortened, reached.value) !== 'yes') return undefined;
  if (last.after.expires.untilMs > gone.serverWallMs) return undefined;
  // While its clock was ahead for a moment the time that was left before may have been over, too.
  if (wasMovedBetween(gone.node, last.ranFromNs, gone.atNs, evidence)) return undefined;
  // And the machine's may have been stepped, which no look at a server shows: by the harness' clock it was over, too.
  const byNs = gone === later.write ? ranBy(later) : ranFrom(gone);
  if ((byNs - last.ranFromNs) / 1e6 < last.after.expires.fromMs - by.serverWallMs - READING_MS) return undefined;
  const left = ({ fromMs, untilMs }: Times) =>
    Number.isFinite(fromMs) ? durationOfMs(Math.round((fromMs + untilMs) / 2 - by.serverWallMs)) : 'no end';
  const shortened = `${by.client} gave ${key}, which had ${left(last.before.expires)} left, ${left(last.after.expires)} to live (${by.name})`;
  return {
    name: 'shortened-by-other',
    sentence: `${shortened}, while ${earlier.hold.client} held it; it had expired on ${gone.node} when ${later.hold.client} was granted it.`,
    chain: [
      grantLink(earlier),
      { atNs: last.atNs, text: shortened, observation: last.line },
      ...goneLink(contest),
      grantLink(later),
      leaseLink(earlier),
    ],
  };
};
