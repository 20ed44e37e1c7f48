/**
 * One event of a history in Jepsen's form, as EDN or JSON gave it: its form, in three steps. An event that no client made, or
 * that is not about locks, is left out whatever else it says; so nothing of it is looked at that the step before it needs not.
 *
 * Keywords are texts with their colon in EDN, without it in JSON.
 */
import * as z from 'zod';

/** `given`, where it is a keyword, without its colon. */
export function withoutColon<Given>(given: Given): Given | string {
  return typeof given === 'string' && given.startsWith(':') ? given.slice(1) : given;
}

function keyword<const Words extends readonly string[]>(...words: Words) {
  return z.preprocess(withoutColon, z.enum(words));
}

/** Whose it is. */
export const performedSchema = z.object(
  {
    process: z.unknown().refine((process) => process !== undefined && process !== null && process !== '', {
      error: 'missing, expected the number or the name of a client',
    }),
  },
  { error: 'an operation, a map with :type, :process and :f' },
);

/** What it is. */
export const calledSchema = z.object({ type: keyword('invoke', 'ok', 'fail', 'info'), f: z.string() });

const anything = z.unknown().optional();

/** An operation of a lock. What `key`, `value` and `error` hold is the recorded program's own business. */
export const lockOperationSchema = z.object({
  time: z
    .number()
    // Not `int`: of a wall clock they are above 2^53.
    .refine(Number.isInteger, { error: ({ input }) => `expected whole nanoseconds, got ${input}` })
    .nullish(),
  index: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .nullish(),
  mode: keyword('read', 'write', 'exclusive').nullish(),
  key: anything,
  value: anything,
  error: anything,
  token: anything,
  fence: anything,
  'fencing-token': anything,
  fencingToken: anything,
  fencing_token: anything,
});

export type LockOperation = z.output<typeof lockOperationSchema>;
