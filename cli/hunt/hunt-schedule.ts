/** What a hunt plays: one schedule of many. */
import type { PlanStep } from '../../harness/vocabulary/faults.js';

/** One of a hunt's, counted from 1 on. */
export interface HuntSchedule {
  number: number;
  seed: number;
  steps: PlanStep[];
  /** The number of the one that it was made of; absent: it was drawn. */
  madeOf?: number;
}
