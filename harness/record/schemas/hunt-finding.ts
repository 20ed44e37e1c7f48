/**
 * `finding.json`, beside the run of a hunt's finding: what was found, and what must be the same for it to come out again. One of
 * another version may say more: that is left out, for its schedule can be played all the same.
 */
import * as z from 'zod';

const text = z.string();

export const huntFindingSchema = z.object({
  version: z.literal(1),
  /** Blame, class, kind and cause. */
  fingerprint: text,
  /** Of every message with its virtual time. */
  digest: text,
  /** The how many-th schedule of the hunt it was found in, from 1 on. */
  schedule: z.number(),
  /** Of an exhaustive search: its bound, and everything that was done, in order. Absent: the plan tells. */
  order: z.strictObject({ operations: z.number().int(), faults: z.number().int(), course: z.array(text) }).optional(),
  /** What decides, beside config and plan, what happens: versions, or the beginning of a SHA-256. */
  pins: z.object({
    node: text,
    ioredis: text,
    lock: text,
    server: text,
    shim: text,
    /** Of this tool, all that a world is made of; absent: it was kept before that was said. */
    harness: text.optional(),
    /** Whether servers have the same addresses in each start: `fixed` or `random`; absent as before. */
    addressing: text.optional(),
  }),
});

export type HuntFinding = z.output<typeof huntFindingSchema>;
