/** Time that passes by itself, and chance: the ground on which a small deployment, its clients and its faults run. */

export const MS = 1e6;
/** The machine's wall clock at the run's epoch. */
export const EPOCH_WALL_MS = 1_700_000_000_000;

interface Due {
  atNs: number;
  n: number;
  happen: () => void;
}

export class Simulation {
  nowNs = 0;
  private readonly due: Due[] = [];
  private count = 0;
  private state: number;

  constructor(noise: number) {
    this.state = noise >>> 0;
  }

  /** Lets it happen after so many milliseconds, in the order in which it was asked for where that is the same instant. */
  after(ms: number, happen: () => void): void {
    const due = { atNs: Math.round(this.nowNs + ms * MS), n: this.count++, happen };
    let at = this.due.length;
    while (at > 0 && isAfter(this.due[at - 1]!, due)) at--;
    this.due.splice(at, 0, due);
  }

  run(untilNs: number): void {
    while (this.due[0] && this.due[0].atNs <= untilNs) {
      const next = this.due.shift()!;
      this.nowNs = next.atNs;
      next.happen();
    }
    this.nowNs = untilNs;
  }

  /** From 0 up to, not including, 1 (mulberry32, by Tommy Ettinger). */
  chance(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(least: number, most: number): number {
    return least + this.chance() * (most - least);
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.chance() * items.length)]!;
  }
}

function isAfter(one: Due, other: Due): boolean {
  return one.atNs > other.atNs;
}
