/** Errors whose message is for the user: one clear line, exit status 3, no stack trace. */

import { shown } from '../../harness/record/schemas/foreign-text.js';
import { wrappedFor } from '../../reports/wrap.js';

/** Bad input or a machine that cannot do what was asked. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export const EXIT_COULD_NOT_RUN = 3;
/** How the inner process says that it met a bug of ours: the outer one then judges what had been recorded. */
export const EXIT_INTERNAL_ERROR = 70;

/** Names of errors, from wherever in the project, whose message is made for the user. */
const FOR_USERS = new Set([
  'UsageError',
  'StoreError',
  'HandshakeError',
  'UnfitLockError',
  'LockBugError',
  'DeploymentError',
  'HostError',
  'LockSpecError',
  'PlanError',
  'DamagedHistory',
  'RedisNotFoundError',
  'ServerNotFoundError',
  'CacheFolderError',
  'TemporaryFolderError',
  'ExternalBuildError',
  'ContainerError',
  'OptionalPackageError',
  'CommanderError',
]);

/** Prints why the program ends, in one line, and gives its exit status. A bug keeps its stack, for its report. */
export function couldNotRun(error: unknown): number {
  const text = `lock-torture: ${explain(error)}`;
  process.stderr.write(`${isForUsers(error) ? wrappedFor(process.stderr, text) : text}\n`);
  return EXIT_COULD_NOT_RUN;
}

/** True for an error that was foreseen: its message is all that there is to say. */
export function isForUsers(error: unknown): boolean {
  return error instanceof Error && (FOR_USERS.has(error.name) || isAboutFlags(error));
}

/** What Node itself says of a command line that it cannot parse. */
function isAboutFlags(error: NodeJS.ErrnoException): boolean {
  return error.code?.startsWith('ERR_PARSE_ARGS_') === true;
}

/** Of one that names several values. */
const LONGEST_MESSAGE = 4_000;

/** What is said of an error, on one line where it was foreseen. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return isForUsers(error)
    ? shown(error.message.split('\n').join(' '), LONGEST_MESSAGE)
    : (error.stack ?? error.message);
}
