/**
 * Until when a node certainly had what a write had stored there, and what first may have taken it.
 *
 * Every explanation of a key that vanished, or that another took, rests on this one look, and each on a loss of its own kind:
 * a command, an eviction, its time, a gap in what was seen. So what may have happened before, seen or not, is never left out.
 *
 * Whose a stored value is follows from which line stored it (`storedBy`), so the same value that somebody else stored anew is
 * another's. One that was stored again while it was there goes on: say c1 and c2 have the same name, and c2's SET finds c1's;
 * what befalls the name then befalls both. One that its own client stored anew after it was gone stands again, so that what took it
 * before let nobody in: say a renewal sets again what c3 had deleted, and then that is evicted. After a gap only a value that nobody
 * else ever stored says whose it is.
 */
import { type Change, storedBy, stores } from '../../harness/record/facts/commands/changes.js';
import type { Origin, StoredState } from '../../harness/record/facts/commands/state.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { isOthersToo } from '../../harness/record/facts/grants.js';
import type { KeyWrite } from '../../harness/record/facts/key-writes.js';
import { keptItsData, type Party } from './meanwhile.js';

export interface Tenure {
  /** Whether it was certainly there at any time. */
  readonly held: boolean;
  /**
   * All that may have taken it since it was certainly there for the last time, in order: by the first it was not certainly
   * there any more. Empty: it was there until the end.
   */
  readonly losses: readonly Change[];
}

/** Nothing is known of it. */
export const NO_TENURE: Tenure = { held: false, losses: [] };

/** Whether it was certainly there, and was lost in this way and no other. */
export function lostBy({ losses }: Tenure, how: Change['how']): boolean {
  return losses.length > 0 && losses.every((loss) => loss.how === how);
}

/**
 * From a write that stored a grant's owner, be it by replication, until another write ran; without one, until the end of the record.
 * `shownNs`: when a look showed the owner there. What nobody else ever stored was the holder's then, whatever had come there before.
 */
export function tenureOf(
  write: KeyWrite,
  { hold }: Party,
  evidence: Evidence,
  until?: KeyWrite,
  shownNs = write.atNs,
): Tenure {
  const { node, observation, atNs } = write;
  const value = write.value!;
  const changes = evidence.readingOf(node)?.changes(hold.key);
  if (!changes) return NO_TENURE;
  const isOnly = !evidence.nodes.some((one) => isOthersToo(value, hold, clientsWrites(one, hold.key, evidence)));
  const own = new Set([observation]);
  const isThere = (state: StoredState) => {
    if (stores(state, value) !== 'yes') return false;
    const by = storedBy(state, value);
    return by ? own.has(requestLine(by)) : isOnly;
  };
  const isOwnAnew = ({ by, after }: Change) =>
    by !== undefined && storedBy(after, value) === by && (by.client === undefined ? isOnly : by.client === hold.client);
  let held = false;
  let losses: Change[] = [];
  let isGone = false;
  // When it was over by the server's clock, if nothing can have given it more time since it was certainly there.
  let overMs = Number.POSITIVE_INFINITY;
  const list = changes.list.slice(changes.firstFrom(observation));
  for (const change of until ? before(list, until) : list) {
    const was = isThere(change.before);
    if (change.by && stores(change.after, value) === 'yes' && (was || isOwnAnew(change)))
      own.add(requestLine(change.by));
    const is = isThere(change.after);
    held ||= is;
    if (is) losses = [];
    // What comes when it was certainly not there befell something else.
    else if (!isGone && (was || mayTake(change, value))) losses.push(change);
    if (was) overMs = change.before.expires.untilMs;
    if (mayProlong(change)) overMs = Number.POSITIVE_INFINITY;
    // Say c1's may or may not have been over when c2's SET NX came in the same millisecond: when c2 deletes the key by a clock
    // that is certainly past c1's time, it is not c1's any more, whatever became of the SET.
    const isOver = change.after.expires.fromMs > overMs;
    isGone = !is && (isGone || stores(change.after, value) === 'no' || isOver);
  }
  // A server that was made a replica unseen, and primary again, has what another one had.
  const endNs = losses[0]?.atNs ?? until?.atNs ?? hold.untilNs;
  const isItsOwn = !evidence.isReplicated || keptItsData(node, isOnly ? shownNs : atNs, endNs - 1, evidence);
  return held && isItsOwn ? { held, losses } : NO_TENURE;
}

function clientsWrites(node: string, key: string, evidence: Evidence): readonly KeyWrite[] {
  return evidence.writes(node, key).filter(({ client }) => client !== undefined);
}

/** Whether a change may have taken what may have been there; a look takes nothing. */
function mayTake({ how, before, after }: Change, value: string): boolean {
  if (how === 'sample') return false;
  // After a gap nothing is known, nor whose time it was that was over.
  if (how === 'expired' && !before.held) return false;
  return how !== 'command' || stores(after, value) === 'no';
}

/** Whether a change may have given what was there more time. */
function mayProlong({ how, onlyNew }: Change): boolean {
  return how === 'gap' || (how === 'command' && !onlyNew);
}

/** Those before a request; with them that what was there had expired, of which only the request tells. */
function before(list: readonly Change[], { observation }: KeyWrite): readonly Change[] {
  const next = list.findIndex(({ by }) => by !== undefined && requestLine(by) >= observation);
  if (list[next]?.by && requestLine(list[next].by) === observation) return list.slice(0, next);
  return list.filter(({ line }) => line <= observation);
}

/** The line of the command, or of the script that called it. */
export function requestLine({ script, line }: Origin): number {
  return script?.line ?? line;
}
