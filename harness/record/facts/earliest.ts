/**
 * Of however many things, the earliest few: all are counted, and a bounded number is kept.
 */
export class Earliest<T> {
  /** All that were added. */
  count = 0;
  private kept: T[] = [];

  /** Keeps `most` of them, the first in the order of `before` (negative where `a` comes first). */
  constructor(
    private readonly most: number,
    private readonly before: (a: T, b: T) => number,
  ) {}

  add(one: T): void {
    this.count++;
    this.kept.push(one);
    // Room for as many again: sorted once for each `most` additions.
    if (this.kept.length >= 2 * this.most + 1) this.prune();
  }

  /** In order. */
  list(): readonly T[] {
    this.prune();
    return this.kept;
  }

  private prune(): void {
    this.kept.sort(this.before);
    this.kept.length = Math.min(this.kept.length, this.most);
  }
}
