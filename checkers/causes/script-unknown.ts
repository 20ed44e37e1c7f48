/**
 * A lock calls its script by a digest that the server does not know, again and again: `script-unknown`.
 *
 * Example: the script was loaded once. The replica that is promoted has the keys that it stored, but not the script: it answers
 * NOSCRIPT to whoever asks for the lock.
 *
 * Named where the lock itself says so (NOSCRIPT), and the servers' record agrees: whatever its client sent about the key was
 * EVALSHA, several times, to one server that was watched all the time, and none of them ran a command.
 *
 * Excludes functions, and a lock that sends the script when it was told so.
 */

import { durationOfMs, plural } from '../../harness/record/facts/words.js';
import type { CommandObservation } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause } from '../../harness/vocabulary/verdict.js';
import { wholeEvidenceOf } from './whole-evidence.js';

/** Fewer may be those of a lock that sends the script after the first refusal. */
const LEAST_CALLS = 3;

/** An acquire that was refused in the end. */
export interface Refused {
  client: string;
  key: string;
  /** As the lock says it. */
  reason?: string | undefined;
  /** When it was asked for, and the answer, ns since the epoch. */
  fromNs: number;
  atNs: number;
  /** History line of the answer. */
  line: number;
}

interface Call {
  line: number;
  command: CommandObservation;
  /** Whether the next thing that the server ran was called by it. */
  ran: boolean;
}

export function scriptUnknown(refused: Refused, input: CheckInput): Cause | undefined {
  const { client, key, reason = '', fromNs, atNs, line } = refused;
  if (!/noscript/i.test(reason)) return undefined;
  const calls = callsOf(client, key, input.observations.commands(fromNs, atNs));
  const [first] = calls;
  if (!first || calls.length < LEAST_CALLS) return undefined;
  if (calls.some(({ ran, command: { argv } }) => ran || argv[0]?.toUpperCase() !== 'EVALSHA')) return undefined;
  const last = calls.at(-1)!;
  const { node } = last.command;
  if (calls.some(({ command }) => command.node !== node)) return undefined;
  // What was not seen may have been the script, or what it ran.
  if (!wholeEvidenceOf(input)?.watchedThroughout(node, first.command.atNs, last.command.atNs)) return undefined;
  const sent = `${client} called a script by its digest ${plural(calls.length, 'time')} within ${durationOfMs((last.command.atNs - first.command.atNs) / 1e6)}`;
  return {
    name: 'script-unknown',
    sentence: `${sent}, and ${node} ran nothing: it does not know that script (${reason}), and was not sent it in between.`,
    chain: [
      { atNs: first.command.atNs, text: `${client} sent EVALSHA, which ran nothing`, observation: first.line },
      { atNs: last.command.atNs, text: `${client} sent EVALSHA once more, which ran nothing`, observation: last.line },
      { atNs, text: `${key} could not be acquired: ${reason}`, history: line },
    ],
  };
}

/** What the client sent to servers about the key. */
function callsOf(client: string, key: string, commands: Iterable<readonly [number, CommandObservation]>): Call[] {
  const calls: Call[] = [];
  const latest = new Map<string, Call | undefined>();
  for (const [line, command] of commands) {
    const before = latest.get(command.node);
    if (command.source === 'lua') {
      if (before) before.ran = true;
      continue;
    }
    const call = command.client === client && command.argv.includes(key) ? { line, command, ran: false } : undefined;
    latest.set(command.node, call);
    if (call) calls.push(call);
  }
  return calls;
}
