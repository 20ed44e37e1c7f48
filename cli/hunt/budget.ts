/** Real time that may be spent, and parts of it: what one part leaves the next has. */
export class Budget {
  private constructor(
    private readonly endMs: number,
    private readonly nowMs: () => number,
  ) {}

  /** From now on; `forMs` undefined: without an end. */
  static of(forMs: number | undefined, nowMs: () => number): Budget {
    return new Budget(nowMs() + (forMs ?? Number.POSITIVE_INFINITY), nowMs);
  }

  isSpent(): boolean {
    return this.nowMs() >= this.endMs;
  }

  /** From now on, a part of what is left: `share` of 1. */
  part(share: number): Budget {
    const now = this.nowMs();
    return new Budget(now + Math.max(0, this.endMs - now) * share, this.nowMs);
  }
}
