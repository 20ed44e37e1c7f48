/**
 * What a campaign may run, seeds by cells, and in which order. Pure.
 *
 * Promises: a job is one seed of one cell, and has a seed that no other job of the campaign has, so a finished run says by its
 * seed which job it was; with a number of runs the jobs are the same whatever order they come in, whatever was found, and
 * over however many machines they are spread.
 */
import type { StruckByFault } from '../../harness/vocabulary/verdict.js';
import type { WorkShard } from '../common/values.js';
import { SEEDS } from '../run/flags.js';
import { Novelty } from './novelty.js';

/** A lock on a topology under faults with a workload; `argv`: the flags of `run`, without a seed. */
export interface GridCell {
  lock: string;
  topology: string;
  nemesis: string;
  workload: string;
  /** How long its clients hold, as `--hold` has it; absent: nothing was said of it. */
  hold?: string;
  argv: string[];
}

export interface Grid {
  cells: GridCell[];
  /** Of the first job. */
  seed: number;
  /** Jobs altogether; absent: without end. */
  runs?: number;
  shard: WorkShard;
}

/** `cell`: its place among the cells. */
export interface GridJob {
  cell: number;
  seed: number;
}

/** What a finished job says of where to look next. */
export interface JobOutcome extends GridJob {
  struckHolds: number;
  /** Of those, by fault and length of hold; absent: it had no faults, or is of an earlier version. */
  struck?: StruckByFault;
  /** What was found, by what makes two findings the same. */
  fingerprints: readonly string[];
}

/** So many rounds of a cell come first after it found something new. */
const ROUNDS_AFTER_FINDING = 3;
/** A round counts as so many struck holds: a cell whose faults never strike a held lock must not be run for ever. */
const STRUCK_HOLDS_A_ROUND = 5;

/** Undefined: a seed that is none of this campaign's. */
export function jobOf({ cells, seed: first, runs }: Grid, seed: number): GridJob | undefined {
  const n = (seed - first + SEEDS) % SEEDS;
  return runs !== undefined && n >= runs ? undefined : { cell: n % cells.length, seed };
}

/** How many jobs are this shard's; undefined: without end. */
export function jobsPlanned({ runs, shard: { index, of } }: Grid): number | undefined {
  return runs === undefined ? undefined : Math.max(0, Math.ceil((runs - (index - 1)) / of));
}

/**
 * Jobs that are not in `finished`, each once: first those of cells that lately found something new, then of those that have struck
 * the fewest holds, or have a fault or a length of hold that was struck seldom. `tell` it what each came to.
 */
export class JobOrder implements Iterable<GridJob> {
  private readonly cells: { next: number; begun: number; struckHolds: number; eager: number }[];
  private readonly done: Set<number>;
  private readonly seen = new Set<string>();
  private readonly novelty: Novelty;

  /** `known` fingerprints are nothing new; `goesOn`: whether another job may begin. */
  constructor(
    private readonly grid: Grid,
    finished: readonly JobOutcome[],
    known: readonly string[] = [],
    private readonly goesOn: () => boolean = () => true,
  ) {
    this.cells = grid.cells.map((_, cell) => ({ next: cell, begun: 0, struckHolds: 0, eager: 0 }));
    this.novelty = new Novelty(grid.cells);
    this.done = new Set(finished.map(({ seed }) => seed));
    for (const fingerprint of known) this.seen.add(fingerprint);
    for (const told of finished) {
      this.began(this.cells[told.cell]!);
      this.tell(told);
    }
  }

  tell({ cell: at, struckHolds, struck, fingerprints }: JobOutcome): void {
    const cell = this.cells[at]!;
    cell.struckHolds += struckHolds;
    if (struck) this.novelty.add(at, struck);
    if (fingerprints.some((one) => !this.seen.has(one))) cell.eager = ROUNDS_AFTER_FINDING;
    for (const one of fingerprints) this.seen.add(one);
  }

  *[Symbol.iterator](): Iterator<GridJob> {
    while (this.goesOn()) {
      const open = this.cells
        .filter((cell) => this.skipToOpen(cell))
        .map((cell) => ({ cell, weight: this.weightOf(cell) }));
      open.sort((a, b) => Math.sign(b.cell.eager) - Math.sign(a.cell.eager) || a.weight - b.weight);
      const first = open[0]?.cell;
      if (!first) return;
      const job = { cell: this.cells.indexOf(first), seed: this.seedOf(first.next) };
      first.next += this.grid.cells.length;
      this.began(first);
      yield job;
    }
  }

  private began(cell: { begun: number; eager: number }): void {
    cell.begun++;
    cell.eager = Math.max(0, cell.eager - 1);
  }

  /**
   * Of two cells that struck alike, the one goes first whose most seldom fault and length of hold was struck less. Where all were
   * struck as often, it is as if they did not count.
   */
  private weightOf(cell: (typeof this.cells)[number]): number {
    const { struckHolds, begun } = cell;
    const asSeldom = this.novelty.asSeldom(this.cells.indexOf(cell)) ?? struckHolds;
    return (struckHolds + asSeldom) / 2 + STRUCK_HOLDS_A_ROUND * begun;
  }

  private seedOf(n: number): number {
    return (this.grid.seed + n) % SEEDS;
  }

  /** Moves on to the cell's next job that is open and this shard's; false: it has none. */
  private skipToOpen(cell: { next: number }): boolean {
    const { cells, runs = SEEDS, shard } = this.grid;
    // One of `of` rounds in a row is this shard's, or none is.
    for (let others = 0; cell.next < runs && others < shard.of; cell.next += cells.length) {
      if (cell.next % shard.of !== shard.index - 1) others++;
      else if (!this.done.has(this.seedOf(cell.next))) return true;
      else others = 0;
    }
    return false;
  }
}
