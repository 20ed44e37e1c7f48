/**
 * The outer process's side of the live view: the only writer to the terminal while a run goes on. Whatever the inner
 * process prints scrolls by above the block. When the run has ended, however it ended, the block goes.
 */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { wrapped } from '../../reports/wrap.js';
import type { FeedMessage } from './feed.js';
import type { Display } from './lines.js';
import { render } from './render.js';
import type { Snapshot } from './run-state.js';
import { Screen, type Terminal } from './screen.js';

/** What comes from the inner process. */
export interface LiveSource {
  readonly output: Readable;
  readonly errors: Readable;
  readonly feed: Readable;
}

export interface LiveTerminal extends Terminal {
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

export interface LiveView extends Disposable {
  /** Writes whole lines to standard error, above the block if that is on the same terminal. */
  tell(text: string): void;
}

const JUDGING_EVERY_MS = 1_000;

/** Shows what `source` sends until it is disposed. */
export function showLive(
  source: LiveSource,
  terminal: LiveTerminal,
  errors: { write(text: string): unknown },
  look: Omit<Display, 'columns' | 'rows'>,
): LiveView {
  const screen = new Screen(terminal);
  let latest: Snapshot | undefined;
  const draw = () => {
    if (latest) screen.draw(render(latest, { ...look, ...screen.size }));
  };
  const tell = (text: string) => screen.above(text, (all) => errors.write(all));
  const leave = () => screen.erase();
  // Stopped with Ctrl-Z and continued: the shell has written below the block.
  const continued = () => {
    screen.lose();
    draw();
  };
  const broken = (text: string) => wrapped(text, screen.size.columns);
  const output = wholeLines(source.output, (text) => screen.above(broken(text)));
  const complaints = wholeLines(source.errors, (text) => tell(broken(text)));
  createInterface({ input: source.feed }).on('line', (line) => {
    const message = JSON.parse(line) as FeedMessage;
    if ('snapshot' in message) latest = message.snapshot;
    else latest = latest && { ...latest, phase: message.step, phaseForMs: 0 };
    draw();
  });
  // Whoever judges sends nothing.
  const whileJudging = setInterval(() => {
    if (latest?.phase !== 'end' && latest?.phase !== 'report') return;
    latest = { ...latest, phaseForMs: latest.phaseForMs + JUDGING_EVERY_MS };
    draw();
  }, JUDGING_EVERY_MS);
  terminal.on('resize', draw);
  process.on('SIGCONT', continued);
  process.on('exit', leave);
  return {
    tell,
    [Symbol.dispose]() {
      latest = undefined;
      clearInterval(whileJudging);
      terminal.off('resize', draw);
      process.off('SIGCONT', continued);
      process.off('exit', leave);
      leave();
      output.flush();
      complaints.flush();
    },
  };
}

/** Hands on text up to the last line's end that is there: the block must begin at the beginning of a line. */
function wholeLines(stream: Readable, write: (text: string) => void): { flush(): void } {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const end = (rest + chunk).lastIndexOf('\n') + 1;
    const text = rest + chunk;
    rest = text.slice(end);
    if (end > 0) write(text.slice(0, end));
  });
  return {
    flush() {
      if (rest !== '') write(`${rest}\n`);
      rest = '';
    },
  };
}
