/**
 * A server's transaction log as it grows: files below its data folder, the newest with the highest first number. Read from the
 * disk, so that no fault comes between: what a stopped or dead server has is there.
 */
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type Transaction, transactionsIn } from './transaction-log.js';

/** Read at once; an entry of a lock is some hundred bytes. */
const CHUNK_BYTES = 256 << 10;

interface LogFile {
  name: string;
  fd: number;
  offset: number;
}

export class LogTail {
  private current: LogFile | undefined;

  constructor(private readonly folder: string) {}

  /** What has come since; `isAnew`: some of what was told before is no longer there, and all that is there is told again. */
  news(): { transactions: Transaction[]; isAnew: boolean } {
    let isAnew = false;
    const transactions: Transaction[] = [];
    const names = this.names();
    const { current } = this;
    // Cut off (by a leader that knows nothing of it), or removed.
    if (current && (!names.includes(current.name) || fstatSync(current.fd).size < current.offset)) {
      this.close();
      isAnew = true;
    }
    for (const name of names) {
      const at = this.current;
      if (at && firstOf(name) < firstOf(at.name)) continue;
      if (at?.name !== name) {
        this.close();
        this.current = { name, fd: openSync(join(this.folder, name), 'r'), offset: 0 };
      }
      transactions.push(...readOn(this.current!));
    }
    return { transactions, isAnew };
  }

  close(): void {
    if (this.current) closeSync(this.current.fd);
    this.current = undefined;
  }

  private names(): string[] {
    try {
      return readdirSync(this.folder)
        .filter((name) => name.startsWith('log.'))
        .sort((a, b) => firstOf(a) - firstOf(b));
    } catch {
      return [];
    }
  }
}

function readOn(file: LogFile): Transaction[] {
  const transactions: Transaction[] = [];
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (;;) {
    const length = readSync(file.fd, chunk, 0, CHUNK_BYTES, file.offset);
    const found = transactionsIn(chunk.subarray(0, length), file.offset);
    transactions.push(...found.transactions);
    const isEnd = found.next === file.offset || length < CHUNK_BYTES;
    file.offset = found.next;
    if (isEnd) return transactions;
  }
}

/** The zxid that its name tells, in hex. */
function firstOf(name: string): number {
  return Number.parseInt(name.slice('log.'.length), 16);
}
