/** A plan from a file: its form, and whether it can be carried out on this deployment. */
import { readFileSync } from 'node:fs';
import { readPlanText } from '../../harness/record/schemas/plan.js';
import type { Plan } from '../../harness/vocabulary/faults.js';
import type { Capability } from '../../harness/vocabulary/host.js';
import { fitPlan, PlanError, type PlanTopology } from '../../nemesis/index.js';
import { UsageError } from '../common/errors.js';

/** Throws UsageError or PlanError with one line, which calls the file `name`. */
export function readPlanFile(
  path: string,
  name: string,
  topology: PlanTopology,
  unavailable: Partial<Record<Capability, string>>,
): Plan {
  const { value, problem } = readPlanText(textOf(path));
  if (problem !== undefined) throw new PlanError(`${name}: ${problem}`);
  return fitPlan(value, name, topology, unavailable);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}`);
  }
}
