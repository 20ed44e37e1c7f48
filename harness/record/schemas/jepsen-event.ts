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

/** Whose it is: some recorders call the process `client`. */
export const performedSchema = z
  .object(
    { process: z.unknown().optional(), client: z.unknown().optional() },
    { error: 'an operation, a map with :type, :process and :f' },
  )
  .refine(({ process, client }) => !isNothing(process ?? client), {
    path: ['process'],
    error: 'missing, expected the number or the name of a client',
  });

function isNothing(name: unknown): boolean {
  return name === undefined || name === null || name === '';
}

/** What it is. */
export const calledSchema = z.object({ type: keyword('invoke', 'ok', 'fail', 'info'), f: z.string() });

const anything = z.unknown().optional();

const nanoseconds = z
  .number()
  // Not `int`: of a wall clock they are above 2^53.
  .refine(Number.isInteger, { error: ({ input }) => `expected whole nanoseconds, got ${input}` })
  .nullish();

/** An operation of a lock; its time has one of several names. What `key`, `value` and `error` hold is the recorded program's own business. */
export const lockOperationSchema = z.object({
  time: nanoseconds,
  time_ns: nanoseconds,
  'time-ns': nanoseconds,
  t_ns: nanoseconds,
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
