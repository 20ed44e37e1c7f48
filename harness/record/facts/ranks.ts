/** How many of the ranks that were added so far are how high: a Fenwick tree (Fenwick 1994), O(log n) a step. */
export class Ranks {
  private added = 0;
  private readonly tree: Int32Array;

  /** Ranks run from 0 to below `ranks`. */
  constructor(ranks: number) {
    this.tree = new Int32Array(ranks + 1);
  }

  add(rank: number): void {
    this.added++;
    for (let at = rank + 1; at < this.tree.length; at += at & -at) this.tree[at]!++;
  }

  /** How many were added that are `rank` or higher. */
  notBelow(rank: number): number {
    let lower = 0;
    for (let at = rank; at > 0; at -= at & -at) lower += this.tree[at]!;
    return this.added - lower;
  }
}
