/** What a session says where it could not do what it was asked, or a lock returned what is no hold. */
import { type CallOutcome, firstLine } from './outcome.js';
import { programmingError } from './programming-error.js';

type Refusal = Extract<CallOutcome<never>, { reason: string }>;

export const notConnected: Refusal = { type: 'fail', reason: 'not-initialised: init has not succeeded' };

export function unknownHold(id: number): Refusal {
  return { type: 'fail', reason: `unknown-hold: ${id}` };
}

/** Names of errors that are no mistake in what threw them: what they say is all that there is to say. */
const SAY_IT_ALL = new Set(['BadLockError', 'LockNotUsableError', 'OutsideOfTheWorldError']);

/**
 * `unreachable: ...` where a server could not be reached (trying again may help), `lock: ...` where the lock is wrong. `place`: where
 * it was thrown.
 */
export function handshakeReason(error: unknown, place: string | undefined): string {
  const name = (error as Error | undefined)?.name;
  if (name === 'UnreachableError') return `unreachable: ${firstLine(error)}`;
  if (name !== undefined && SAY_IT_ALL.has(name)) return `lock: ${firstLine(error)}`;
  return `lock: ${withPlace(`its connect() threw ${programmingError(error) ?? firstLine(error)}`, place)}`;
}

/** What was thrown, and where, if it is a mistake in the lock's program. */
export function bugThrown(thrown: unknown, thrownAt: (thrown: unknown) => string | undefined): string | undefined {
  if ((thrown as Error | undefined)?.name === 'BadLockError') return firstLine(thrown);
  const what = programmingError(thrown);
  return what === undefined ? undefined : withPlace(what, thrownAt(thrown));
}

/** Of a long one the place must not be cut off, where a line is. */
const LONGEST_WHAT = 180;

export function withPlace(what: string, place: string | undefined): string {
  return place === undefined ? what : `${what.slice(0, LONGEST_WHAT)} (${place})`;
}

export function whatIsWrongWith(hold: unknown): string | undefined {
  if (typeof hold !== 'object' || hold === null) return `returned ${typeof hold}, not a hold or null`;
  const { release, token, validForMs, grantSentNs: stamp } = hold as Record<string, unknown>;
  if (typeof release !== 'function') return 'returned a hold without a function `release`';
  for (const [name, value] of Object.entries({ token, validForMs, grantSentNs: stamp })) {
    if (value !== undefined && !Number.isFinite(value)) return `returned a hold whose ${name} is not a number`;
  }
  return undefined;
}
