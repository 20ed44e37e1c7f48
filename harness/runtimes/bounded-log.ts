/** A log of what programs say, up to a limit: one that says something for ever must not fill the disk. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Of each log. */
const LONGEST_LOG_BYTES = 8 << 20;

export class BoundedLog implements Disposable {
  /** For programs that write it themselves; what they write does not count. */
  readonly fd: number;
  private takenBytes = 0;
  private isClosed = false;

  /** Opens the file, at its end, with the folder that it lies in. */
  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true });
    this.fd = openSync(path, 'a');
  }

  /** What is beyond the limit, or comes after it was closed, is dropped. */
  write(chunk: Buffer): void {
    const room = LONGEST_LOG_BYTES - this.takenBytes;
    if (this.isClosed || room <= 0) return;
    this.takenBytes += chunk.length;
    const cut =
      this.takenBytes >= LONGEST_LOG_BYTES ? `\n(more than ${LONGEST_LOG_BYTES} bytes; the rest is left out)\n` : '';
    try {
      writeSync(this.fd, Buffer.concat([chunk.subarray(0, room), Buffer.from(cut)]));
    } catch {
      // The disk is full; the history says so.
    }
  }

  [Symbol.dispose](): void {
    if (!this.isClosed) closeSync(this.fd);
    this.isClosed = true;
  }
}
