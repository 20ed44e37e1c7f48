/**
 * A server's transaction log as it grows: files below its data folder, the newest with the highest first number. Read from the
 * disk, so that no fault comes between: what a stopped or dead server has is there.
 */
import { join } from 'node:path';
import type { HostFiles } from '../../vocabulary/host.js';
import { type Transaction, transactionsIn } from './transaction-log.js';

/** Read at once; an entry of a lock is some hundred bytes. */
const CHUNK_BYTES = 256 << 10;

interface LogFile {
  name: string;
  /** Absent: nothing of it was read yet. */
  id?: string;
  offset: number;
}

export class LogTail {
  private current: LogFile | undefined;

  constructor(
    private readonly files: HostFiles,
    private readonly folder: string,
  ) {}

  /** What has come since; `isAnew`: some of what was told before is no longer there, and all that is there is told again. */
  async news(): Promise<{ transactions: Transaction[]; isAnew: boolean }> {
    const transactions: Transaction[] = [];
    let isAnew = false;
    const names = await this.names();
    // Removed.
    if (this.current && !names.includes(this.current.name)) {
      this.current = undefined;
      isAnew = true;
    }
    for (let at = 0; at < names.length; at++) {
      const name = names[at]!;
      if (this.current && firstOf(name) < firstOf(this.current.name)) continue;
      if (this.current?.name !== name) this.current = { name, offset: 0 };
      const found = await this.readOn(this.current);
      if (found) {
        transactions.push(...found);
        continue;
      }
      // Cut off (by a leader that knows nothing of it), or another by now: all is told from the first on.
      this.current = undefined;
      if (isAnew) break; // for the second time: the next look will tell
      isAnew = true;
      transactions.length = 0;
      at = -1;
    }
    return { transactions, isAnew };
  }

  private async names(): Promise<string[]> {
    const all = await this.files.listFolder(this.folder);
    return all.filter((name) => name.startsWith('log.')).sort((a, b) => firstOf(a) - firstOf(b));
  }

  /** Undefined where it is no longer what it was. */
  private async readOn(file: LogFile): Promise<Transaction[] | undefined> {
    const transactions: Transaction[] = [];
    for (;;) {
      const piece = { from: file.offset, bytesMax: CHUNK_BYTES };
      const read = await this.files.readFile(join(this.folder, file.name), piece);
      if (!read || (file.id ?? read.id) !== read.id || read.sizeBytes < file.offset) return undefined;
      file.id = read.id;
      const found = transactionsIn(read.data, file.offset);
      transactions.push(...found.transactions);
      const isEnd = found.next === file.offset || read.data.length < CHUNK_BYTES;
      file.offset = found.next;
      if (isEnd) return transactions;
    }
  }
}

/** The zxid that its name tells, in hex. */
function firstOf(name: string): number {
  return Number.parseInt(name.slice('log.'.length), 16);
}
