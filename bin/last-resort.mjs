// Promises: an error that nothing caught, whoever's it is, ends a process of the tool with one line and status 3, never with 1,
// which means "violated"; and output that cannot be written is lost, and nothing else: a reader that went away, a full disk, a
// terminal that was closed. Excludes what a signal ends.
//
// `torture.mjs` loads it, so it keeps to what Node 12 can parse (`node-version.mjs`).

import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

const COULD_NOT_RUN = 3;
/** What is compiled and what is in bin/: an error that comes from there is a mistake of ours. */
const OURS = ['../dist/', './'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** Descriptors that were a terminal when this began. */
const TERMINALS = [0, 1, 2].filter((descriptor) => isatty(descriptor));

/** Whether there was a terminal, and it is closed. */
export function terminalIsGone() {
  return TERMINALS.length > 0 && !TERMINALS.some((descriptor) => isatty(descriptor));
}

/**
 * Tells this process of a terminal that is gone as the kernel would, and does not always: false where nobody here is prepared for it.
 * More than once does no more.
 */
export function hangUp() {
  return process.listenerCount('SIGHUP') > 0 && process.emit('SIGHUP', 'SIGHUP');
}

/** From now on, until the process ends. */
export function surviveLostOutput() {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (error.code === 'EIO') hangUp();
    });
  }
}

/** From now on, until the process ends. A rejected promise that nobody waits for is such an error, too. */
export function reportUncaught() {
  const giveUp = (error) => {
    process.stderr.write(`lock-torture: ${uncaughtText(error)}\n`);
    process.exit(COULD_NOT_RUN);
  };
  // Both: Node words a rejection with what is no Error at length.
  process.on('uncaughtException', giveUp);
  process.on('unhandledRejection', giveUp);
}

/**
 * What is said of such an error: a line, with the place that it came from. A mistake of ours keeps its stack, for its report.
 *
 * @param {unknown} error
 */
export function uncaughtText(error) {
  const stack = error instanceof Error && typeof error.stack === 'string' ? error.stack : '';
  const place = placeOf(stack);
  const line = `an error that nothing caught: ${asText(error).split('\n').join(' ')}`;
  if (place === undefined) return line;
  return OURS.some((folder) => place.startsWith(folder))
    ? `${line} (a mistake of lock-torture)\n${stack}`
    : `${line} (${place})`;
}

/** Where it was thrown: path, line and column. Undefined: in Node itself, or not to be known. */
function placeOf(stack) {
  for (const frame of stack.split('\n')) {
    const found = /^\s+at (?:.* \()?(?:file:\/\/)?(\/.*:\d+:\d+)\)?$/.exec(frame);
    if (found) return decodeURI(found[1]);
  }
  return undefined;
}

/** Anything may be thrown, also what cannot be made text. */
function asText(error) {
  try {
    return String(error);
  } catch (_) {
    return 'something that is no Error';
  }
}
