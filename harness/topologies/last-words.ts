/** What a server, or a program of its kind, said last. */
import type { Host, ProcessExit } from '../vocabulary/host.js';

const LAST_WORDS = 3;
const LONGEST_LAST_WORDS = 300;

/** The last lines of a server's log, without process ids and dates, in one. */
export function lastWords(log: string): string {
  const lines = log.split('\n').map((line) => line.replace(/^\d+:[A-Z] .{20,24}? [.*#-] /, '').trim());
  const words = lines.filter((line) => /[a-z]/i.test(line)).slice(-LAST_WORDS);
  return words.join(' | ').slice(-LONGEST_LAST_WORDS);
}

/** How an error begins on the standard error of most languages. */
const ERROR = /^[\w.:]*(Error|Exception|panic)\b/;

/** What a program died of, by what it said last: the line of an error, else its last words. */
export function diedOf(log: string): string {
  return log.split('\n').findLast((line) => ERROR.test(line)) ?? lastWords(log);
}

/** How a server ended by itself, with its own last words, in one line. */
export async function obituaryOf(host: Host, exit: ProcessExit): Promise<string> {
  const how =
    exit.signal === 'SIGKILL'
      ? 'killed by something outside of the run (the kernel does so when memory runs out)'
      : exit.signal
        ? `it crashed (${exit.signal})`
        : `exit status ${exit.code}`;
  const log = await host.exec(['tail', '-c', '8192', `../../logs/${host.name}.log`]).catch(() => undefined);
  const words = lastWords(log?.stdout ?? '');
  return `${how}; ${words ? `last words: ${words} (` : '('}all of them in logs/${host.name}.log)`;
}
