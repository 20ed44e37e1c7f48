/**
 * Reads a file of lines in large pieces that end with a line break each: what it takes in memory does not depend on the
 * file. Synchronous, because a process that reads a whole run has nothing else to do meanwhile.
 */
import { closeSync, openSync, readSync } from 'node:fs';

/** Whole lines: `bytes` from 0 to its length. It is overwritten when the next piece is read. */
export interface LinePiece {
  bytes: Buffer;
  /** Where it begins in the file. */
  offset: number;
}

const PIECE_BYTES = 1 << 20;
export const NEWLINE = 0x0a;

/** The pieces of a file in order; the result says whether anything follows its last line break. */
export function* piecesOf(path: string): Generator<LinePiece, boolean> {
  const file = openSync(path, 'r');
  try {
    let buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
    let [offset, kept] = [0, 0];
    for (;;) {
      const read = readSync(file, buffer, kept, buffer.length - kept, offset + kept);
      const filled = kept + read;
      if (read === 0) return filled > 0;
      const end = buffer.lastIndexOf(NEWLINE, filled - 1) + 1;
      if (end > 0) yield { bytes: buffer.subarray(0, end), offset };
      offset += end;
      kept = filled - end;
      // One line alone may be longer than all the room that there is.
      const next = filled - end === buffer.length ? Buffer.allocUnsafeSlow(2 * buffer.length) : buffer;
      buffer.copy(next, 0, end, filled);
      buffer = next;
    }
  } finally {
    closeSync(file);
  }
}

/** Calls `visit` with the bounds of each line, its line break left out. `bytes` ends with a line break. */
export function forEachLine(bytes: Buffer, visit: (start: number, end: number) => void): void {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, start);
    visit(start, end);
    start = end + 1;
  }
}
