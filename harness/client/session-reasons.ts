/** What a session says where it could not do what it was asked, or a lock returned what is no hold. */
import { type CallOutcome, firstLine } from './outcome.js';

type Refusal = Extract<CallOutcome<never>, { reason: string }>;

export const notConnected: Refusal = { type: 'fail', reason: 'not-initialised: init has not succeeded' };

export function unknownHold(id: number): Refusal {
  return { type: 'fail', reason: `unknown-hold: ${id}` };
}

/** `unreachable: ...` where a server could not be reached (trying again may help), `lock: ...` where the lock is wrong. */
export function handshakeReason(error: unknown): string {
  const kind = (error as Error | undefined)?.name === 'UnreachableError' ? 'unreachable' : 'lock';
  return `${kind}: ${firstLine(error)}`;
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
