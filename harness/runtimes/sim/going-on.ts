/** Who goes on as it hears an answer: nothing else can have made what a host sends in that instant. */
import type { Timeline } from './timeline.js';

/** Less than the harness, or a timer, takes to have it begin something else. */
const GOES_ON_NS = 10_000;

export class GoingOn {
  private readonly answeredNs = new Map<string, number>();

  constructor(private readonly timeline: Timeline) {}

  /** A host hears an answer now. */
  heard(host: string): void {
    this.answeredNs.set(host, this.timeline.nowNs);
  }

  /** Whether what the host sends now it sends as it hears an answer. */
  goesOn(host: string): boolean {
    return this.timeline.nowNs - (this.answeredNs.get(host) ?? Number.NEGATIVE_INFINITY) < GOES_ON_NS;
  }
}
