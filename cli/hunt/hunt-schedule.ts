/** What a hunt plays: one schedule of many. */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { HoldTimes } from '../../harness/vocabulary/workload.js';

/** One of a hunt's, counted from 1 on. */
export interface HuntSchedule {
  number: number;
  seed: number;
  steps: PlanStep[];
  /** How long clients hold; absent: as the hunt's config says. */
  hold?: HoldTimes;
  /** The number of the one that it was made of; absent: it was drawn. */
  madeOf?: number;
}
