/**
 * Leases: the earliest time for every grant, in the forced order of the cores.
 *
 * A hold whose release is known to have succeeded lasted until then. Any other may be over once its lease has run from the
 * grant, and not before: so a late grant means a late end, and a chain of holds that each just fit may not fit together.
 * Where cores do not overlap, their order is the order of the holds. Each grant as early as it can be leaves most room for
 * the rest, since no end comes earlier for a later grant: if one grant comes too late all the same, no schedule fits, and
 * the chain of those that pushed it, back to the last that was not pushed, is the proof.
 *
 * Excludes: windows (they are fitted in afterwards, see `sweep.ts`). A semaphore's permits are given out greedily, and a
 * hold that is adrift, or may have come before its own client's read, takes its place by the acquire's return: where such a
 * schedule fails, that proves nothing.
 */
import type { LockModel } from '../../harness/vocabulary/protocol.js';
import type { Sections } from './sections.js';
import { inOrder, SPAN, type Spans } from './spans.js';

/** Grants that cannot all have waited for the one before. */
export interface Chain {
  /** The first was not pushed; the last comes too late. */
  sections: number[];
  /** When the last could be granted at the earliest. */
  earliestNs: number;
}

export interface Schedule {
  /** When each section is granted and ends; of a wider window, the window. */
  spans: Spans;
  chains: Chain[];
  /** Whether it failed where that proves nothing. */
  isOpen: boolean;
}

const NONE = -1;

/** `beganExcluded`: those whose core overlaps an earlier one. */
export function schedule(
  sections: Sections,
  certain: Spans,
  model: LockModel,
  beganExcluded: Uint8Array | undefined,
): Schedule {
  const { count, callNs, returnNs, endCallNs, endKnown, leaseNs } = sections;
  const kind = certain.kind.slice();
  const fromNs = certain.fromNs.slice();
  const untilNs = certain.untilNs.slice();
  const pushedBy = new Int32Array(count).fill(NONE);
  const unproven = new Uint8Array(count);
  const held = heldFor(model, sections);
  const chains: Chain[] = [];
  let isOpen = false;

  for (const k of byGrant(sections, certain)) {
    if (certain.kind[k] === SPAN.adrift || (certain.ownRead?.[k] ?? NONE) !== NONE) unproven[k] = 1;
    if (beganExcluded?.[k]) held.clear();
    const push = held.latest(k);
    let atNs = callNs[k]!;
    if (push !== NONE && untilNs[push]! > atNs) {
      atNs = untilNs[push]!;
      pushedBy[k] = push;
      if (unproven[push] || mayBeUnder(sections, push, k)) unproven[k] = 1;
    }
    if (atNs > (certain.kind[k] === SPAN.window ? certain.untilNs[k]! : returnNs[k]!)) {
      if (unproven[k] || model.kind === 'semaphore') isOpen = true;
      else chains.push({ sections: chainTo(k, pushedBy), earliestNs: atNs });
      // What comes after is judged as if nothing had been before.
      held.clear();
      pushedBy[k] = NONE;
      atNs = callNs[k]!;
    }
    const releasedNs = Math.max(atNs, endCallNs[k]!);
    const endNs = endKnown[k] ? releasedNs : Math.min(releasedNs, atNs + leaseNs[k]!);
    // The end that a release gave it does not come later for a later grant, which leaves room for windows.
    fromNs[k] = endNs === endCallNs[k] && certain.kind[k] !== SPAN.adrift ? certain.fromNs[k]! : atNs;
    untilNs[k] = endNs;
    kind[k] = fromNs[k]! < endNs ? SPAN.core : SPAN.window;
    held.add(k, endNs);
  }
  return { spans: { kind, fromNs, untilNs }, chains, isOpen };
}

/** Whether a read lock that stands before its own client's write lock may as well have been taken under it. */
function mayBeUnder({ client, reads, callNs, returnNs }: Sections, read: number, writer: number): boolean {
  return reads[read] === 1 && !reads[writer] && client[read] === client[writer] && returnNs[read]! >= callNs[writer]!;
}

/** All but windows of more than one instant, in the order in which they were granted at the latest. */
function byGrant(sections: Sections, { kind, fromNs, untilNs }: Spans): Int32Array {
  const { count, returnNs, reads } = sections;
  const grantedNs = fromNs.slice();
  const ordered = kind.slice();
  for (let k = 0; k < count; k++) {
    if (kind[k] === SPAN.adrift) grantedNs[k] = returnNs[k]!;
    else if (kind[k] === SPAN.window && fromNs[k]! < untilNs[k]!) ordered[k] = LEFT_OUT;
  }
  // At one instant: holds of that instant alone, then writers, under which their own client may read.
  const isLonger = (k: number) => Number(fromNs[k] !== untilNs[k]);
  const tie = (a: number, b: number) => isLonger(a) - isLonger(b) || reads[a]! - reads[b]!;
  return inOrder(ordered, (one) => one !== LEFT_OUT, grantedNs, tie);
}

const LEFT_OUT = 255;

function chainTo(last: number, pushedBy: Int32Array): number[] {
  const chain: number[] = [];
  for (let k = last; k !== NONE; k = pushedBy[k]!) chain.push(k);
  return chain.reverse();
}

/** Whose hold a grant has to wait for longest. */
interface Held {
  latest(k: number): number;
  add(k: number, endNs: number): void;
  clear(): void;
}

function heldFor(model: LockModel, { client, reads }: Sections): Held {
  if (model.kind === 'semaphore') return new Permits(model.permits);
  const all = new LatestEnds();
  const add = (k: number, endNs: number) => all.add(k, client[k]!, endNs);
  const clear = () => all.clear();
  if (model.kind === 'reentrant') return { latest: (k) => all.latestBut(client[k]!), add, clear };
  if (model.kind !== 'read-write') return { latest: () => all.latest(), add, clear };
  const writers = new LatestEnds();
  return {
    latest: (k) => (reads[k] ? writers.latestBut(client[k]!) : all.latest()),
    add(k, endNs) {
      add(k, endNs);
      if (!reads[k]) writers.add(k, client[k]!, endNs);
    },
    clear() {
      clear();
      writers.clear();
    },
  };
}

interface End {
  section: number;
  client: number;
  endNs: number;
}

/** The latest end, and the latest of any other client's. */
class LatestEnds {
  private first: End = { section: NONE, client: NONE, endNs: Number.NEGATIVE_INFINITY };
  private second: End = { ...this.first };

  latest(): number {
    return this.first.section;
  }

  latestBut(client: number): number {
    return this.first.client === client ? this.second.section : this.first.section;
  }

  add(section: number, client: number, endNs: number): void {
    const { first, second } = this;
    if (client === first.client) {
      if (endNs > first.endNs) set(first, section, client, endNs);
    } else if (endNs > first.endNs) {
      this.first = second;
      this.second = first;
      set(second, section, client, endNs);
    } else if (endNs > second.endNs) {
      set(second, section, client, endNs);
    }
  }

  clear(): void {
    for (const one of [this.first, this.second]) set(one, NONE, NONE, Number.NEGATIVE_INFINITY);
  }
}

function set(one: End, section: number, client: number, endNs: number): void {
  one.section = section;
  one.client = client;
  one.endNs = endNs;
}

/** The hold on each permit; a grant gets the permit that is free first. */
class Permits implements Held {
  private readonly section: number[];
  private readonly endNs: number[];

  constructor(permits: number) {
    this.section = Array<number>(permits).fill(NONE);
    this.endNs = Array<number>(permits).fill(Number.NEGATIVE_INFINITY);
  }

  latest(): number {
    return this.section[this.firstFree()]!;
  }

  add(k: number, endNs: number): void {
    const permit = this.firstFree();
    this.section[permit] = k;
    this.endNs[permit] = endNs;
  }

  clear(): void {
    this.section.fill(NONE);
    this.endNs.fill(Number.NEGATIVE_INFINITY);
  }

  private firstFree(): number {
    const { endNs } = this;
    let free = 0;
    for (let permit = 1; permit < endNs.length; permit++) if (endNs[permit]! < endNs[free]!) free = permit;
    return free;
  }
}
