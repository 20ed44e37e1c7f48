/** What the inside of `--runtime container` tells the outside on its standard output: a line of JSON each. */
import { shown } from '../../harness/record/schemas/foreign-text.js';

export type ContainedFrame =
  /** What the inner process printed, or told on the descriptor on which it watches the outer one. */
  | { to: 'output' | 'channel'; text: string }
  /** What ended it. */
  | { signal: NodeJS.Signals };

/** Characters of a line: far more than is printed at once. */
const LONGEST_LINE = 16 << 20;
/** Of a line that is no frame. */
const SHOWN = 80;

/** What came is no frame: nothing more is read. The message is one line. */
export class ContainedFrameError extends Error {
  override name = 'ContainedFrameError';
}

/** Makes frames of what comes in pieces. */
export class ContainedReader {
  private rest = '';

  /** Throws a ContainedFrameError where it is none. */
  push(text: string): ContainedFrame[] {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop()!;
    if (this.rest.length > LONGEST_LINE)
      throw new ContainedFrameError(`the container printed a line of more than ${LONGEST_LINE} characters`);
    return lines.map(frameIn);
  }
}

function frameIn(line: string): ContainedFrame {
  const wrong = new ContainedFrameError(`the container printed what is not the tool's: ${shown(line, SHOWN)}`);
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw wrong;
  }
  const frame = (value ?? {}) as Record<string, unknown>;
  const isFrame =
    typeof frame.signal === 'string' ||
    ((frame.to === 'output' || frame.to === 'channel') && typeof frame.text === 'string');
  if (!isFrame) throw wrong;
  return frame as ContainedFrame;
}
