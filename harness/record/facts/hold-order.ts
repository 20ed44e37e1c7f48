/**
 * Which grants of a key certainly came after which: what distinguishes a later holder from an earlier one.
 *
 * Only two bounds are used: a grant was made no later than its client had it in hands (`fromNs`), and no earlier than the
 * attempt that was granted left (`grantSentNs`). So a grant that came late, in answer to an attempt sent long before, is
 * never taken for the earlier one: c1's attempt leaves at 1 s and is delayed on its way; c2 is granted the key at 2 s,
 * releases it at 3 s; c1 is granted it at 3.5 s, rightly, and is not the stale holder that its old attempt makes it look.
 */
import type { History } from '../../vocabulary/history.js';
import type { LockModel } from '../../vocabulary/protocol.js';
import type { Hold } from '../../vocabulary/verdict.js';
import { byKey, countBelow, sortedBy } from './by-key.js';
import { type Holds, holdsOf } from './holds.js';
import { intervalsOf } from './intervals.js';
import { once } from './once.js';

const NONE = -1;

/**
 * For each hold the first hold of its key that was certainly granted after it, to another client: the one whose grant
 * reached its client first. -1 where there is none. Of a hold that shares the key (a reader's), and of a semaphore's, nothing
 * is said: others may rightly hold beside them.
 */
export function nextHolders(holds: Holds, keys: number, model: LockModel): Int32Array {
  const next = new Int32Array(holds.count).fill(NONE);
  if (model.kind === 'semaphore') return next;
  for (const ofKey of byKey(holds.key, holds.count, keys)) followersWithin(ofKey, holds, next);
  return next;
}

function followersWithin(ofKey: Int32Array, holds: Holds, next: Int32Array): void {
  const { client, fromNs, grantSentNs, shares } = holds;
  const bySent = sortedBy(ofKey, (a, b) => grantSentNs[a]! - grantSentNs[b]!);
  // Of all that were sent at that place or later.
  const firsts = new FirstHolders(ofKey.length + 1, holds);
  for (let at = ofKey.length - 1; at >= 0; at--) {
    firsts.copy(at + 1, at);
    firsts.enter(at, bySent[at]!);
  }
  for (const k of ofKey) {
    if (shares[k]) continue;
    const after = countBelow(bySent, grantSentNs, fromNs[k]!, 'or equal');
    next[k] = firsts.otherThan(client[k]!, after);
  }
}

/** At each of some places, of the holds that were entered there, the one that was had first, and the first of anybody else. */
export class FirstHolders {
  private readonly first: Int32Array;
  private readonly second: Int32Array;

  constructor(
    places: number,
    private readonly holds: Pick<Holds, 'client' | 'fromNs'>,
  ) {
    this.first = new Int32Array(places).fill(NONE);
    this.second = new Int32Array(places).fill(NONE);
  }

  /** Of holds that were had at the same instant the one that was entered first stays. */
  enter(place: number, k: number): void {
    const { client, fromNs } = this.holds;
    const [best, other] = [this.first[place]!, this.second[place]!];
    if (best === NONE || fromNs[k]! < fromNs[best]!) {
      this.first[place] = k;
      if (best !== NONE && client[best] !== client[k]) this.second[place] = best;
    } else if (client[k] !== client[best] && (other === NONE || fromNs[k]! < fromNs[other]!)) {
      this.second[place] = k;
    }
  }

  copy(from: number, to: number): void {
    this.first[to] = this.first[from]!;
    this.second[to] = this.second[from]!;
  }

  /** The hold that was had first of those at that place which are not this client's, or -1. */
  otherThan(client: number, place: number): number {
    const best = this.first[place]!;
    return best === NONE || this.holds.client[best] !== client ? best : this.second[place]!;
  }
}

/** 1 for each hold that its client took while it held the key already: it waited for no other client. */
export const nestedHolds = once(
  (history: History): Uint8Array =>
    Uint8Array.from(outermostHolds(history), (outermost, k) => (outermost === k ? 0 : 1)),
);

/** For each hold the one by which its client came to hold the key, and did until it took this one: itself, or it is nested. */
export const outermostHolds = once((history: History): Int32Array => {
  const holds = holdsOf(history);
  const { callNs } = intervalsOf(history);
  const keys = history.operations.keys.length;
  const outermost = new Int32Array(holds.count);
  const held = new Map<number, { outermost: number; untilNs: number }>();
  for (let k = 0; k < holds.count; k++) {
    const place = holds.client[k]! * keys + holds.key[k]!;
    const before = held.get(place);
    outermost[k] = before && callNs[holds.row[k]!]! < before.untilNs ? before.outermost : k;
    const untilNs = Math.max(before?.untilNs ?? Number.NEGATIVE_INFINITY, holds.untilNs[k]!);
    held.set(place, { outermost: outermost[k]!, untilNs });
  }
  return outermost;
});

/** Whether the client held the key already when it asked for this hold. */
export function isNested(history: History, hold: Hold): boolean {
  return outermostHold(history, hold) !== hold;
}

/** The hold by which its client came to hold the key: this very one, or it is nested. */
export function outermostHold(history: History, hold: Hold): Hold {
  const outermost = outermostOfNested(history).get(`${hold.client} ${hold.id}`);
  return outermost === undefined ? hold : holdsOf(history).hold(outermost);
}

const outermostOfNested = once((history: History): ReadonlyMap<string, number> => {
  const holds = holdsOf(history);
  const { clients, id } = history.operations;
  const nested = new Map<string, number>();
  outermostHolds(history).forEach((outermost, k) => {
    if (outermost !== k) nested.set(`${clients[holds.client[k]!]} ${id[holds.row[k]!]}`, outermost);
  });
  return nested;
});
