/**
 * What the client process says of an operation: `ok`, `fail` (certainly not done) or `info` (cannot tell). Pure.
 *
 * The lock's own word counts only as far as the commands bear it out: whatever it says, an operation during which a
 * connection was lost with one of its commands unanswered is `info`, and one of which nothing left this process, or was
 * refused by every server that it reached, failed.
 */
import { asBug } from '../record/facts/bug.js';
import type { SpansReconnect } from '../vocabulary/protocol.js';
import { errorCode, isReplyError, noneDone, noneLeft, type OpCommands, spansReconnect } from './command-log.js';

/** How a call of the lock's code ended. */
export type Settled<T> =
  | { returned: T }
  | { threw: unknown /** What was thrown, if it is a mistake in the lock's program. */; bug?: string | undefined };

export type CallOutcome<T> = { type: 'ok'; value: T } | { type: 'fail' | 'info'; reason: string };

/** Set on errors that mean "certainly not, because ...": see `refused()` in `lock-impl/define-lock.ts`. */
export const REFUSED = Symbol.for('lock-torture.refused');

/**
 * `refusal` tells whether what the lock returned means "certainly not", and the reason for it.
 */
export function callOutcome<T, Granted extends T>(
  settled: Settled<T>,
  commands: OpCommands,
  refusal: (returned: T) => string | undefined,
): CallOutcome<Granted> {
  if (spansReconnect(commands)) return { type: 'info', reason: 'reconnect' satisfies SpansReconnect };
  if ('threw' in settled) {
    const reason = refusalReason(settled.threw);
    if (reason !== undefined) return { type: 'fail', reason };
    if (noneLeft(commands)) return { type: 'fail', reason: 'unreachable' };
    const { bug } = settled;
    if (bug !== undefined) return { type: noneDone(commands) ? 'fail' : 'info', reason: asBug(bug) };
    if (noneDone(commands)) return { type: 'fail', reason: refusedBecause(settled.threw) };
    return { type: 'info', reason: firstLine(settled.threw) };
  }
  const reason = refusal(settled.returned);
  if (reason === undefined) return { type: 'ok', value: settled.returned as Granted };
  return { type: 'fail', reason: noneLeft(commands) ? 'unreachable' : reason };
}

/** The first line of what was thrown, short enough for a protocol line. */
export function firstLine(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
  return (text.split('\n', 1)[0] || 'error without a message').slice(0, 500);
}

function refusedBecause(thrown: unknown): string {
  return isReplyError(thrown) ? errorCode(thrown).toLowerCase() : firstLine(thrown);
}

function refusalReason(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !(REFUSED in thrown)) return undefined;
  return String((thrown as { [REFUSED]: unknown })[REFUSED]);
}
