/**
 * From a schedule that found something to the smallest that finds the same: without any fault that can be left out, and each of
 * those that are left as short as fast-check gets it. What is found is the same where its fingerprint is.
 */
import fc from 'fast-check';
import type { PlanStep } from '../../harness/vocabulary/faults.js';

/** More is not worth the time: by then what is left is small, as a rule. */
const MOST_EXECUTIONS = 300;

export interface Shrunk {
  steps: PlanStep[];
  executions: number;
  /** Whether there was time for all of it. */
  isMinimal: boolean;
}

type Finds = (steps: PlanStep[]) => Promise<boolean>;

/** `finds` plays a plan, and says whether it still finds it; of `steps` it is known. */
export async function shrinkSteps(steps: PlanStep[], finds: Finds): Promise<Shrunk> {
  let executions = 0;
  const known = new Map([[JSON.stringify(steps), true]]);
  const stillFinds: Finds = async (tried) => {
    const key = JSON.stringify(tried);
    const before = known.get(key);
    if (before !== undefined) return before;
    // What was not tried does not find it, as far as anybody knows: so shrinking comes to its end.
    if (executions >= MOST_EXECUTIONS) return false;
    executions++;
    const does = await finds(tried);
    known.set(key, does);
    return does;
  };
  const needed = await withoutWhatIsNotNeeded(steps, stillFinds);
  const least = await shortened(needed, stillFinds);
  return { steps: least, executions, isMinimal: executions < MOST_EXECUTIONS };
}

/** Without any step that can be left out, one after the other, until none can. */
async function withoutWhatIsNotNeeded(steps: PlanStep[], finds: Finds): Promise<PlanStep[]> {
  let left = steps;
  for (let at = 0; at < left.length; ) {
    const fewer = left.filter((_, n) => n !== at);
    if (await finds(fewer)) {
      left = fewer;
      at = 0;
    } else {
      at++;
    }
  }
  return left;
}

async function shortened(steps: PlanStep[], finds: Finds): Promise<PlanStep[]> {
  if (steps.length === 0) return steps;
  const lasting = (lengthsMs: readonly number[]) => steps.map((step, n) => ({ ...step, forMs: lengthsMs[n]! }));
  const lengths = fc.tuple(...steps.map(({ forMs }) => fc.integer({ min: Math.min(1, forMs), max: forMs })));
  const out = await fc.check(
    fc.asyncProperty(lengths, async (tried) => !(await finds(lasting(tried)))),
    { examples: [[steps.map(({ forMs }) => forMs)]], numRuns: 1 },
  );
  const [shorter] = out.counterexample ?? [];
  return shorter ? lasting(shorter) : steps;
}
