/** `plan.json` and files for `--plan`: their form. Whether a plan suits a deployment is `nemesis/fit-plan.ts`'s business. */
import * as z from 'zod';
import type { Plan, PlanStep } from '../../vocabulary/faults.js';
import { type Conformed, conform, conformText } from './conform.js';
import { describes } from './describes.js';

const milliseconds = z.number().min(0);

const target = z.union([
  z.enum(['primary', 'replica', 'one', 'minority', 'majority', 'holder', 'client', 'sentinel', 'all']),
  z.strictObject({ names: z.array(z.string()).min(1) }),
]);

const trigger = z
  .strictObject({
    event: z.enum(['acquire', 'release', 'step']),
    count: z.int().min(1),
    client: z.string().optional(),
    step: z.string().optional(),
  })
  .refine(({ event, step }) => event !== 'step' || step !== undefined, {
    path: ['step'],
    error: 'missing, expected the name of a step of the lock',
  })
  .refine(({ event, step }) => event === 'step' || step === undefined, {
    path: ['step'],
    error: 'only for event "step"',
  });

const aim = z
  .strictObject({
    side: z.enum(['before', 'after']),
    event: z.enum(['request', 'going-on', 'change', 'expiry']),
    count: z.int().min(1),
  })
  .refine(({ side, event }) => side === 'after' || event !== 'change', {
    path: ['side'],
    error: 'only after a "change": which request it is its answer tells',
  });

const step = z
  .strictObject({
    atMs: milliseconds.optional(),
    aim: aim.optional(),
    after: trigger.optional(),
    fault: z.string(),
    target,
    forMs: milliseconds,
    args: z.record(z.string(), z.union([z.number(), z.string()])).optional(),
  })
  .transform(({ atMs, aim: aimed, after, ...rest }, context): PlanStep => {
    if (atMs !== undefined && after === undefined) return { atMs, ...(aimed && { aim: aimed }), ...rest };
    if (atMs === undefined && after !== undefined && aimed === undefined) return { after, ...rest };
    context.addIssue(aimed === undefined ? 'needs either atMs or after' : 'an aim needs atMs, and no after');
    return z.NEVER;
  });

export const planSchema = describes<Plan>()(
  z.strictObject({ version: z.literal(1), seed: z.int(), steps: z.array(step) }),
);

/** Reads the text of a plan; `problem` is one line that names the step and the field. */
export function readPlanText(text: string): Conformed<Plan> {
  return conformText(text, (data) => conform(planSchema, data));
}
