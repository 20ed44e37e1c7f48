/** Errors whose message is for the user: one clear line, exit status 3, no stack trace. */

/** Bad input or a machine that cannot do what was asked. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export const EXIT_COULD_NOT_RUN = 3;

/** Names of errors, from wherever in the project, whose message is made for the user. */
const FOR_USERS = new Set([
  'UsageError',
  'StoreError',
  'HandshakeError',
  'UnfitLockError',
  'LockSpecError',
  'PlanError',
  'DamagedHistory',
  'RedisNotFoundError',
  'CommanderError',
]);

/** Prints why the program ends, in one line, and gives its exit status. A bug keeps its stack: whoever reads it needs it. */
export function couldNotRun(error: unknown): number {
  process.stderr.write(`lock-torture: ${explain(error)}\n`);
  return EXIT_COULD_NOT_RUN;
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (FOR_USERS.has(error.name) || process.env.LOCK_TORTURE_DEBUG === undefined)
    return error.message.split('\n').join(' ');
  return error.stack ?? error.message;
}
