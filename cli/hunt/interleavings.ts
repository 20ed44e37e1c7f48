/**
 * What order of commands a schedule has shown: each command of one client that a server carried out between two successive ones of
 * another's, with what each was answered. Who the clients are does not matter, nor which lock it was about.
 */
import { createHash } from 'node:crypto';
import { type Exchange, exchangesOf } from '../../harness/record/facts/exchanges.js';
import type { RespValue } from '../../harness/record/facts/resp.js';
import type { Message } from '../../harness/record/messages.js';

/** Of a script its first so many digits, by which EVAL and EVALSHA of one are the same. */
const HASH_DIGITS = 6;
/** Between two commands of who waits for long there is everything; the last ones are what the second met. */
const MOST_BETWEEN = 8;

/** `isClient`: of hosts. Each once, in the order in which they were first seen. */
export function interleavingsOf(messages: readonly Message[], isClient: (host: string) => boolean): string[] {
  const carriedOut = exchangesOf(messages, isClient).filter((one) => one.answer !== undefined);
  // In the order of the answers: a server answers when it carries out. Of one instant's they are recorded in that order.
  const order = new Map(messages.map((message, n) => [message, n]));
  carriedOut.sort((one, other) => order.get(one.answer!.message)! - order.get(other.answer!.message)!);
  const seen = new Set<string>();
  const servers = new Set(carriedOut.map(({ server }) => server));
  for (const name of servers)
    addOf(
      carriedOut.filter(({ server }) => server === name),
      seen,
    );
  return [...seen];
}

/** Of one server's. */
function addOf(commands: readonly Exchange[], seen: Set<string>): void {
  const words = commands.map(wordsOf);
  const last = new Map<string, number>();
  for (const [n, { client }] of commands.entries()) {
    const before = last.get(client);
    last.set(client, n);
    if (before === undefined) continue;
    for (let between = Math.max(before + 1, n - MOST_BETWEEN); between < n; between++)
      seen.add(`${words[before]} < ${words[between]} < ${words[n]}`);
  }
}

function wordsOf({ argv, answer }: Exchange): string {
  return `${commandOf(argv)}=${answeredWith(answer!.value)}`;
}

function commandOf([name = '', first = '']: readonly string[]): string {
  const upper = name.toUpperCase();
  if (upper === 'EVALSHA') return `EVAL ${first.slice(0, HASH_DIGITS)}`;
  if (upper === 'EVAL') return `EVAL ${createHash('sha1').update(first, 'latin1').digest('hex').slice(0, HASH_DIGITS)}`;
  return upper === 'FCALL' ? `FCALL ${first}` : upper;
}

/** Values are random, and counts grow: only what code asks of them is told apart. */
function answeredWith(value: RespValue): string {
  switch (value.type) {
    case 'simple':
      return value.text;
    case 'error':
      return value.text.split(' ')[0]!;
    case 'number':
      return /^-?[01]$/.test(value.text) ? value.text : value.text.startsWith('-') ? 'negative' : 'more';
    default:
      return value.type;
  }
}
