/**
 * The live block at the bottom of a terminal: drawn in place, below the lines that scroll by.
 *
 * Promises: the only thing it ever does to the terminal is to move up over its own block and overwrite it. The cursor is
 * never hidden and always left at the beginning of the line below the block, so whatever happens to this process the
 * terminal is as usable as before. Nothing is written where nothing changed. Excludes: what the block says.
 */
import { stripVTControlCharacters } from 'node:util';

/** A terminal, as far as it is needed here: `process.stdout`. */
export interface Terminal {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

export interface Size {
  columns: number;
  rows: number;
}

const ERASE_TO_LINE_END = '\u001b[K';
const ERASE_BELOW = '\u001b[J';

export class Screen {
  private lines: readonly string[] = [];

  constructor(private readonly terminal: Terminal) {}

  /** Of the terminal now; one that does not know its size counts as 80 by 24. */
  get size(): Size {
    return { columns: this.terminal.columns || 80, rows: this.terminal.rows || 24 };
  }

  /** Draws the block over the one before. */
  draw(lines: readonly string[]): void {
    if (lines.length === this.lines.length && lines.every((line, n) => line === this.lines[n])) return;
    const block = lines.map((line) => `${line}${ERASE_TO_LINE_END}\n`).join('');
    this.terminal.write(`${this.toTop()}${block}${ERASE_BELOW}`);
    this.lines = lines;
  }

  /** Lets whole lines (with their ends) scroll by above the block; `write` may be another stream to the same terminal. */
  above(text: string, write: (text: string) => unknown = (all) => this.terminal.write(all)): void {
    const { lines } = this;
    this.erase();
    write(text);
    this.draw(lines);
  }

  /** Takes the block away. */
  erase(): void {
    if (this.lines.length > 0) this.terminal.write(`${this.toTop()}${ERASE_BELOW}`);
    this.lines = [];
  }

  /** The block is not where it was any more (somebody else wrote): the next one is drawn at the cursor. */
  lose(): void {
    this.lines = [];
  }

  /** A terminal that became narrower has wrapped our lines. */
  private toTop(): string {
    const { columns } = this.size;
    const width = (line: string) => stripVTControlCharacters(line).length;
    const rows = this.lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(width(line) / columns)), 0);
    return rows > 0 ? `\r\u001b[${rows}A` : '';
  }
}
