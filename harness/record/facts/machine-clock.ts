/**
 * The machine's wall clock on the run's own time: what servers stamp their commands by, where no fault moved theirs.
 *
 * Both are one clock of the kernel's but for its steps: what the record says of these (`wall-clock-step`) is added to what the wall
 * clock showed at the epoch. Example: a clock that is stepped by 40 ms at 3 s shows at 4 s what it would have shown at 4.04 s, and a
 * command that is stamped so ran at 4 s. How it went between two readings nobody knows: by even steps, as good as any.
 */
import type { History } from '../../vocabulary/history.js';
import { RECKONING_NS } from './key-writes.js';
import { once } from './once.js';

/** Between two instants, ns since the epoch: how far it was stepped in all before, and by how much meanwhile, milliseconds. */
interface Stretch {
  readonly fromNs: number;
  readonly untilNs: number;
  readonly beforeMs: number;
  readonly ms: number;
}

export class MachineClock {
  private readonly stretches: readonly Stretch[];

  /** `epochWallMs`: what it showed at the run's epoch. `steps`: how far it was stepped between two readings, in order. */
  constructor(
    private readonly epochWallMs: number,
    steps: readonly { readonly beganNs: number; readonly atNs: number; readonly ms: number }[] = [],
  ) {
    const stretches: Stretch[] = [];
    let [fromNs, beforeMs] = [Number.NEGATIVE_INFINITY, 0];
    for (const { beganNs, atNs, ms } of steps) {
      const sinceNs = Math.max(beganNs, fromNs);
      stretches.push({ fromNs, untilNs: sinceNs, beforeMs, ms: 0 });
      if (atNs > sinceNs) stretches.push({ fromNs: sinceNs, untilNs: atNs, beforeMs, ms });
      [fromNs, beforeMs] = [Math.max(atNs, sinceNs), beforeMs + ms];
    }
    this.stretches = [...stretches, { fromNs, untilNs: Number.POSITIVE_INFINITY, beforeMs, ms: 0 }];
  }

  /** What it showed at an instant, ns since the epoch: milliseconds since 1970. */
  wallMs(ns: number): number {
    return this.epochWallMs + ns / 1e6 + this.steppedMs(ns);
  }

  /** How far a clock that showed `wallMs` at that instant was ahead of it, milliseconds. */
  aheadMs(wallMs: number, ns: number): number {
    return wallMs - this.epochWallMs - ns / 1e6 - this.steppedMs(ns);
  }

  /**
   * When a clock that is so far ahead of it showed `wallMs`, ns since the epoch, for something that was read by `readNs`: the last such
   * time, for what was set back shows it twice. What it can never have shown by then, or has passed over, is placed as if nothing had
   * been stepped about then.
   */
  showed(wallMs: number, aheadMs: number, readNs: number): number {
    const sinceMs = wallMs - this.epochWallMs - aheadMs;
    for (let at = this.stretches.length - 1; at >= 0; at--) {
      const { fromNs, untilNs, beforeMs, ms } = this.stretches[at]!;
      if (fromNs > readNs + RECKONING_NS) continue;
      if (ms === 0) {
        const ns = (sinceMs - beforeMs) * 1e6;
        if (ns >= fromNs && ns <= untilNs && ns <= readNs + RECKONING_NS) return ns;
        continue;
      }
      // It went on by so many times as much as the run's time.
      const pace = 1 + (ms * 1e6) / (untilNs - fromNs);
      const ns = fromNs + ((sinceMs - beforeMs) * 1e6 - fromNs) / pace;
      if (pace !== 0 && ns >= fromNs && ns <= untilNs && ns <= readNs + RECKONING_NS) return ns;
    }
    const now = this.stretches.findLast(({ fromNs }) => fromNs <= readNs) ?? this.stretches[0]!;
    return (sinceMs - now.beforeMs) * 1e6;
  }

  /** How far apart the steps between the two instants put it at the most, milliseconds. */
  movedMs(fromNs: number, untilNs: number): number {
    const between = this.stretches.map(({ untilNs: endNs }) => endNs).filter((ns) => ns > fromNs && ns < untilNs);
    const stepped = [fromNs, ...between, untilNs].map((ns) => this.steppedMs(ns));
    return Math.max(...stepped) - Math.min(...stepped);
  }

  private steppedMs(ns: number): number {
    const { beforeMs, ms, fromNs, untilNs } = this.stretches.find((one) => ns < one.untilNs) ?? this.stretches.at(-1)!;
    return ms === 0 ? beforeMs : beforeMs + (ms * (ns - fromNs)) / (untilNs - fromNs);
  }
}

/** Undefined: the record does not say what it showed at the epoch. */
export const machineClockOf = once((history: History): MachineClock | undefined => {
  const run = history.rare.find((event) => event.type === 'run');
  if (run?.type !== 'run') return undefined;
  const steps = history.rare.flatMap((event) =>
    event.type === 'disturbance' && event.disturbance === 'wall-clock-step' ? [event] : [],
  );
  return new MachineClock(
    run.epochWallMs,
    steps.sort((a, b) => a.beganNs - b.beganNs),
  );
});
