/**
 * A server's wall clock against the run's time. Every line tells both, one of them with bounds: it was read by the harness
 * after the server had stamped it, and not before a time that is known, too.
 */
import { ANY_TIME, type Times } from './state.js';

export class ServerClock {
  private readonly wallMs: number[] = [];
  private readonly ranFromNs: number[] = [];
  private readonly atNs: number[] = [];

  /** A stamp of the server, and when it was made: no earlier than `ranFromNs`, and no later than it was read. */
  add(wallMs: number, ranFromNs: number, atNs: number): void {
    this.wallMs.push(wallMs);
    this.ranFromNs.push(ranFromNs);
    this.atNs.push(atNs);
  }

  /** What it showed at an instant: by the lines before and after, which agree unless the clock was moved between them. */
  at(ns: number): Times {
    if (!Number.isFinite(ns)) return ANY_TIME;
    const next = this.firstAfter(ns);
    const [before, later] = [this.by(next - 1, ns), this.by(next, ns)];
    if (!before || !later) return before ?? later ?? ANY_TIME;
    const both = { fromMs: Math.max(before.fromMs, later.fromMs), untilMs: Math.min(before.untilMs, later.untilMs) };
    if (both.fromMs <= both.untilMs) return both;
    return { fromMs: Math.min(before.fromMs, later.fromMs), untilMs: Math.max(before.untilMs, later.untilMs) };
  }

  private by(line: number, ns: number): Times | undefined {
    const wallMs = this.wallMs[line];
    if (wallMs === undefined) return undefined;
    return {
      fromMs: wallMs + (ns - this.atNs[line]!) / 1e6 - ROUNDED_MS,
      untilMs: wallMs + (ns - this.ranFromNs[line]!) / 1e6 + ROUNDED_MS,
    };
  }

  private firstAfter(ns: number): number {
    let [low, high] = [0, this.atNs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.atNs[middle]! > ns) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Expiries are reckoned in whole milliseconds. */
const ROUNDED_MS = 1;
