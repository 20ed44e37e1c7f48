/**
 * What a campaign's faults have struck seldom: for each lock on each topology, how many held locks each fault struck, by how long
 * they were held, over all cells. Pure; sums, so that the order in which runs came to their end plays no part.
 */
import type { HoldLength, StruckByFault } from '../../harness/vocabulary/verdict.js';

export const HOLD_LENGTHS = ['brief', 'short', 'long', 'over'] as const satisfies readonly HoldLength[];

type Pair = `${string}/${HoldLength}`;

export class Novelty {
  /** By lock and topology. */
  private readonly struck = new Map<string, Map<Pair, number>>();
  /** By cell: the faults of its plans, and how long its holds have lasted. */
  private readonly reach: { faults: Set<string>; lengths: Set<HoldLength> }[];

  constructor(private readonly cells: readonly { lock: string; topology: string }[]) {
    this.reach = cells.map(() => ({ faults: new Set(), lengths: new Set() }));
  }

  /** What a run of the cell struck. */
  add(cell: number, { holds, faults }: StruckByFault): void {
    const counts = this.countsOf(cell);
    const { faults: names, lengths } = this.reach[cell]!;
    for (const length of HOLD_LENGTHS) if (holds[length] > 0) lengths.add(length);
    for (const { fault, struck } of faults) {
      names.add(fault);
      for (const length of HOLD_LENGTHS) {
        const pair: Pair = `${fault}/${length}`;
        counts.set(pair, (counts.get(pair) ?? 0) + struck[length]);
      }
    }
  }

  /**
   * How many struck holds there would be of the cell's faults with lengths of hold that it has had, were all these pairs as seldom as
   * the most seldom of them. Undefined: nothing is known of its faults.
   */
  asSeldom(cell: number): number | undefined {
    const { faults, lengths } = this.reach[cell]!;
    const counts = this.countsOf(cell);
    const all = [...faults].flatMap((fault) => [...lengths].map((length) => counts.get(`${fault}/${length}`) ?? 0));
    return all.length === 0 ? undefined : all.length * Math.min(...all);
  }

  private countsOf(cell: number): Map<Pair, number> {
    const { lock, topology } = this.cells[cell]!;
    const about = JSON.stringify([lock, topology]);
    const counts = this.struck.get(about) ?? new Map<Pair, number>();
    this.struck.set(about, counts);
    return counts;
  }
}
