/** On a real terminal emulator: what is to be seen, not which bytes were sent. */
import xterm from '@xterm/headless';
import { describe, expect, it } from 'vitest';
import { Screen } from '../../../../cli/live/screen.js';

class Emulator {
  readonly writes: string[] = [];
  private readonly terminal = new xterm.Terminal({ cols: 40, rows: 10, convertEol: true, allowProposedApi: true });

  get columns(): number {
    return this.terminal.cols;
  }

  get rows(): number {
    return this.terminal.rows;
  }

  write(text: string): void {
    this.writes.push(text);
    this.terminal.write(text);
  }

  /** What a person at the keyboard makes appear. */
  typed(text: string): void {
    this.terminal.write(text);
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.settled();
    this.terminal.resize(columns, rows);
  }

  /** All lines, those that have scrolled away included. */
  async shown(): Promise<string[]> {
    await this.settled();
    const buffer = this.terminal.buffer.active;
    const lines = Array.from({ length: buffer.length }, (_, n) => buffer.getLine(n)?.translateToString(true) ?? '');
    while (lines.at(-1) === '') lines.pop();
    return lines;
  }

  private settled(): Promise<void> {
    return new Promise((done) => this.terminal.write('', done));
  }
}

describe('the block', () => {
  it('is redrawn in place, also when it grows and shrinks', async () => {
    const emulator = new Emulator();
    const screen = new Screen(emulator);
    emulator.write('before\n');
    screen.draw(['a long first line', 'two']);
    expect(await emulator.shown()).toEqual(['before', 'a long first line', 'two']);
    screen.draw(['one', 'two', 'three']);
    expect(await emulator.shown()).toEqual(['before', 'one', 'two', 'three']);
    screen.draw(['one']);
    expect(await emulator.shown()).toEqual(['before', 'one']);
    screen.erase();
    expect(await emulator.shown()).toEqual(['before']);
  });

  it('stays below what scrolls by', async () => {
    const emulator = new Emulator();
    const screen = new Screen(emulator);
    const events = Array.from({ length: 30 }, (_, n) => `event ${n}`);
    for (const event of events) {
      screen.draw([`after ${event}`, 'block']);
      screen.above(`${event}\n`);
    }
    expect(await emulator.shown()).toEqual([...events, 'after event 29', 'block']);
  });

  it('writes nothing when nothing has changed', () => {
    const emulator = new Emulator();
    const screen = new Screen(emulator);
    screen.draw(['one']);
    screen.draw(['one']);
    expect(emulator.writes).toHaveLength(1);
  });

  it('survives a ^C that the terminal shows', async () => {
    const emulator = new Emulator();
    const screen = new Screen(emulator);
    screen.draw(['one', 'two']);
    emulator.typed('^C');
    screen.above('stopping\n');
    expect(await emulator.shown()).toEqual(['stopping', 'one', 'two']);
  });

  it('leaves nothing behind when the terminal becomes narrower', async () => {
    const emulator = new Emulator();
    const screen = new Screen(emulator);
    emulator.write('before\n');
    screen.draw(['x'.repeat(39), 'y'.repeat(39)]);
    await emulator.resize(15, 10);
    screen.draw(['x'.repeat(14), 'y'.repeat(14)]);
    expect(await emulator.shown()).toEqual(['before', 'x'.repeat(14), 'y'.repeat(14)]);
  });

  it('never hides the cursor and leaves it below itself', () => {
    const emulator = new Emulator();
    const screen = new Screen(emulator);
    screen.draw(['one', 'two']);
    screen.above('event\n');
    for (const text of emulator.writes) {
      expect(text).not.toContain('\u001b[?');
      expect(text.replaceAll('\u001b[J', '')).toMatch(/\n$|A$/);
    }
  });
});
