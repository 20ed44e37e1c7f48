/**
 * What locks print on standard output and standard error, as people are shown it: each distinct line once, the first few of them,
 * and how much else there was. A lock that prints a line for every try must not hide the verdict. Lines that differ in numbers
 * alone (a key, a time of day) are one.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { count, plural } from '../../harness/record/facts/words.js';
import { shown } from '../../harness/record/schemas/foreign-text.js';
import { readHostFile } from '../../harness/runtimes/host-files.js';
import type { Say } from './say.js';

/** Distinct lines that are shown. */
const MOST_SHOWN = 5;
/** Distinct lines that are told apart; of more it is only known that there are more. */
const MOST_KNOWN = 1_000;
/** Of one line; the rest of it is left out. */
const LONGEST_LINE = 300;
/** What is read of each client's log; the rest of it can be looked at. */
const MOST_READ_BYTES = 1 << 20;

/** Lines of what comes in pieces, which end or not. */
export class PrintedLines {
  private readonly decoder = new StringDecoder('utf8');
  private rest = '';

  /** The lines that it ends, without their ends. What has no end takes no more room than the longest that is shown. */
  push(chunk: Buffer): string[] {
    const lines = (this.rest + this.decoder.write(chunk)).split('\n');
    this.rest = lines.pop()!.slice(0, LONGEST_LINE + 1);
    return lines;
  }

  /** A last line that was left without its end. */
  end(): string[] {
    const { rest } = this;
    this.rest = '';
    return rest === '' ? [] : [rest];
  }
}

export class LockLog {
  /** All that were printed. */
  private lines = 0;
  private readonly distinct = new Set<string>();

  /** Takes a line. What is to be shown of it, without anything that a terminal would act on; undefined: nothing. */
  heard(line: string): string | undefined {
    const text = shown(line.trimEnd(), LONGEST_LINE);
    if (text.trim() === '') return undefined;
    this.lines++;
    const kind = text.replace(/\d+/g, '0');
    if (this.distinct.has(kind) || this.distinct.size >= MOST_KNOWN) return undefined;
    this.distinct.add(kind);
    return this.distinct.size <= MOST_SHOWN ? text : undefined;
  }

  /** How much there was, where not all of it was shown. */
  get inAll(): string | undefined {
    if (this.lines <= Math.min(this.distinct.size, MOST_SHOWN)) return undefined;
    const atLeast = this.distinct.size >= MOST_KNOWN ? 'at least ' : '';
    return `${plural(this.lines, 'line')}, ${atLeast}${count(this.distinct.size)} of them distinct but for numbers`;
  }
}

/** Takes each line that locks print in virtual time, and says the few that are to be shown. `log` has the rest. */
export function sayingPrinted(log: LockLog, say: Say): (line: string) => void {
  return (line) => {
    const text = log.heard(line);
    if (text !== undefined) say(`the lock printed: ${text}`);
  };
}

/** Paragraph about what the lock printed in a run, one line an entry; empty: it printed nothing. */
export function lockLogOfRun(folder: string): string[] {
  const log = new LockLog();
  const files = clientLogs(folder);
  const lines = files.flatMap((file) => beginningOf(join(folder, 'logs'), file).split('\n'));
  const toShow = lines.flatMap((line) => log.heard(line) ?? []);
  if (toShow.length === 0) return [];
  const where = files.length === 1 ? `logs/${files[0]}` : 'logs/c*.log';
  const { inAll } = log;
  return [
    `The lock printed${inAll === undefined ? '' : ` ${inAll}`} (${where}):`,
    ...toShow.map((line) => `  ${line}`),
  ];
}

/** Names below `logs/`: of the hosts of clients, and of the process in which all of them are in virtual time. */
function clientLogs(folder: string): string[] {
  try {
    const logs = readdirSync(join(folder, 'logs')).filter((name) => /^(c\d+|clients)\.log$/.test(name));
    return logs.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  } catch {
    return []; // the run left none
  }
}

function beginningOf(folder: string, file: string): string {
  try {
    return readHostFile(folder, file, { from: 0, bytesMax: MOST_READ_BYTES })?.data.toString('utf8') ?? '';
  } catch {
    return ''; // nothing of a verdict hangs on it
  }
}
