// Promises: while something goes on that says nothing by itself, standard error shows each second that it still does: on a
// terminal the seconds, in a line that goes when it is over; elsewhere a dot, and every fifth second its number (`....5....10`),
// in a line of their own. What takes less than a second shows nothing.
// Excludes: what is shown of how far it is.
//
// It is written by a thread, because what goes on may be one long computation. Nothing waits for a terminal that stands still.
//
// Plain JavaScript without dependencies: set-up uses it before there is anything else.

import { writeSync } from 'node:fs';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const STDERR = 2;
const EVERY_MS = 1_000;
const DOTS = 5;
/** How long an end waits for a line that is being written. */
const PATIENCE_MS = 200;

/** What the thread is at: nothing, writing, or it is over. */
const [IDLE, WRITING, OVER] = [0, 1, 2];
/** Places in what both threads share. */
const [STATE, SECONDS] = [0, 1];

/**
 * Begins to show them; `[Symbol.dispose]` of the result, or `stop`, ends it. On a terminal that cannot redraw a line it does as
 * elsewhere.
 *
 * @param {{ redraws?: boolean }} options
 * @returns {{ stop(): void, [Symbol.dispose](): void }}
 */
export function signsOfLife({ redraws = canRedraw() } = {}) {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const thread = new Worker(new URL(import.meta.url), { workerData: { shared, redraws }, execArgv: [] });
  // It is for people: where no thread can be had, or it ends, nothing else does.
  thread.on('error', () => {});
  thread.unref();
  const stop = () => {
    if (shared[STATE] === OVER) return;
    while (Atomics.compareExchange(shared, STATE, IDLE, OVER) === WRITING) {
      if (Atomics.wait(shared, STATE, WRITING, PATIENCE_MS) === 'timed-out') break;
    }
    Atomics.store(shared, STATE, OVER);
    Atomics.notify(shared, STATE);
    if (Atomics.load(shared, SECONDS) > 0) write(redraws ? '\r\x1b[K' : '\n');
  };
  return { stop, [Symbol.dispose ?? Symbol.for('Symbol.dispose')]: stop };
}

function canRedraw() {
  const { TERM = '', CI = '' } = process.env;
  return process.stderr.isTTY === true && !['', 'dumb'].includes(TERM) && ['', 'false'].includes(CI);
}

/** What cannot be written is left out: whoever watched is gone. */
function write(text) {
  try {
    writeSync(STDERR, text);
    return true;
  } catch {
    return false;
  }
}

function show({ shared, redraws }) {
  const beganMs = performance.now();
  for (let second = 1; ; second++) {
    const dueMs = beganMs + second * EVERY_MS - performance.now();
    if (dueMs > 0 && Atomics.wait(shared, STATE, IDLE, dueMs) !== 'timed-out') return;
    if (Atomics.compareExchange(shared, STATE, IDLE, WRITING) === OVER) return;
    const text = redraws ? `\r\x1b[K  ${second} s` : second % DOTS === 0 ? String(second) : '.';
    const written = write(text);
    if (written) Atomics.add(shared, SECONDS, 1);
    const before = Atomics.compareExchange(shared, STATE, WRITING, IDLE);
    Atomics.notify(shared, STATE);
    if (before === OVER || !written) return;
  }
}

if (!isMainThread && workerData?.shared instanceof Int32Array) show(workerData);
