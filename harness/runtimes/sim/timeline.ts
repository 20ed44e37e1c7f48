/**
 * Virtual time: what is to happen, in the order of its time, and of two things at one time in the order in which they were
 * asked for. Time jumps from one to the next; while something happens it stands still.
 */

/** Something that is to happen, unless it is cancelled before. */
export interface Appointment {
  readonly atNs: number;
  cancel(): void;
}

interface Entry extends Appointment {
  readonly order: number;
  happen: (() => void) | undefined;
}

/** Servers have CLOCK_MONOTONIC at 0 only in a machine that was started this moment. */
const BEGIN_NS = 1e12;
/** The wall clock of a machine whose CLOCK_MONOTONIC is 0, as in `harness/native/sim-shim.c`. */
const EPOCH_WALL_MS = 1_700_000_000_000;

export class Timeline {
  nowNs = BEGIN_NS;
  /** How much has happened. */
  happened = 0;
  private order = 0;
  /** A binary heap. */
  private readonly heap: Entry[] = [];

  /** What a clock that no fault has moved shows at that time, milliseconds since 1970. */
  wallMsAt(ns: number): number {
    return EPOCH_WALL_MS + ns / 1e6;
  }

  /** Has it happen at that time, or now where that is over. */
  at(atNs: number, happen: () => void): Appointment {
    const entry: Entry = {
      atNs: Math.max(this.nowNs, Math.ceil(atNs)),
      order: this.order++,
      happen,
      cancel() {
        entry.happen = undefined;
      },
    };
    this.push(entry);
    return entry;
  }

  /** Lets the next thing happen; false where nothing is left. */
  next(): boolean {
    for (let entry = this.pop(); entry; entry = this.pop()) {
      const { happen } = entry;
      if (!happen) continue;
      this.nowNs = entry.atNs;
      this.happened++;
      entry.happen = undefined;
      happen();
      return true;
    }
    return false;
  }

  private push(entry: Entry): void {
    const { heap } = this;
    let at = heap.length;
    for (; at > 0; at = (at - 1) >> 1) {
      const above = heap[(at - 1) >> 1]!;
      if (isBefore(above, entry)) break;
      heap[at] = above;
    }
    heap[at] = entry;
  }

  private pop(): Entry | undefined {
    const { heap } = this;
    const [first] = heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++;
      if (isBefore(last, heap[below]!)) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.atNs < other.atNs || (one.atNs === other.atNs && one.order < other.order);
}
