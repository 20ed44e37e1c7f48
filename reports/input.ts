/** What every report is made from: plain data of one run, nothing live. Pieces may be missing; a report says so. */
import type { History, Hold, Observation, Plan, Results, RunConfig, Setting } from '../harness/api.js';

export interface ReportInput {
  config: RunConfig;
  plan: Plan;
  history: History;
  /** Lines of `observations.jsonl`, in order: a cause cites them by their index. */
  observations: readonly Observation[];
  results: Results;
  holds: readonly Hold[];
  settings: readonly Setting[];
  serverVersion: string;
}
