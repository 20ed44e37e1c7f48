/** A plan from text, as `--plan` reads it from a file. */
import { readPlanText } from '../../../harness/record/schemas/plan.js';
import type { Plan } from '../../../harness/vocabulary/faults.js';
import { fitPlan, PlanError, type PlanTopology } from '../../../nemesis/index.js';

export function readPlan(text: string, name: string, topology: PlanTopology, unavailable = {}): Plan {
  const { value, problem } = readPlanText(text);
  if (problem !== undefined) throw new PlanError(`${name}: ${problem}`);
  return fitPlan(value, name, topology, unavailable);
}
