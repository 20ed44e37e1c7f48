/**
 * How the harness and the agent of a host talk: frames over one byte stream, many conversations at once.
 *
 *     length of the payload (4 bytes) | kind (1) | id of the conversation (4) | payload
 */

export const KIND = {
  /** JSON: a `Call`, or the `Answer` to one. */
  message: 0,
  /** Bytes of a process's standard input or output, or of a socket. */
  data: 1,
  /** Bytes for the host's log. */
  log: 2,
  /** JSON: a `ProcessExit`; nothing more follows. */
  exit: 3,
  /** No more data in this direction. */
  end: 4,
} as const;

export type Kind = (typeof KIND)[keyof typeof KIND];

const HEADER_BYTES = 9;
const KINDS: readonly number[] = Object.values(KIND);
/** Of a payload: more than any file that the harness reads or writes on a host. */
const LONGEST_PAYLOAD_BYTES = 128 << 20;

/** What came is no frame: nothing more of that stream can be understood. */
export class FrameError extends Error {
  override name = 'FrameError';
}

export function frame(kind: Kind, id: number, payload: Buffer | string = ''): Buffer {
  const body = typeof payload === 'string' ? Buffer.from(payload) : payload;
  const whole = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  whole.writeUInt32LE(body.length, 0);
  whole.writeUInt8(kind, 4);
  whole.writeUInt32LE(id, 5);
  body.copy(whole, HEADER_BYTES);
  return whole;
}

/** Calls `heard` for every whole frame in what is pushed. Throws a FrameError where something else begins. */
export class FrameReader {
  private chunks: Buffer[] = [];
  private bytes = 0;

  constructor(private readonly heard: (kind: Kind, id: number, payload: Buffer) => void) {}

  push(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    while (this.bytes >= HEADER_BYTES) {
      // Joined only when a frame is whole: a large one comes in many pieces.
      if (this.chunks[0]!.length < HEADER_BYTES) this.join();
      const head = this.chunks[0]!;
      const length = HEADER_BYTES + lengthIn(head);
      if (this.bytes < length) return;
      if (head.length < length) this.join();
      const whole = this.chunks[0]!;
      const rest = whole.subarray(length);
      this.chunks[0] = rest;
      if (rest.length === 0) this.chunks.shift();
      this.bytes -= length;
      this.heard(whole.readUInt8(4) as Kind, whole.readUInt32LE(5), whole.subarray(HEADER_BYTES, length));
    }
  }

  private join(): void {
    this.chunks = [Buffer.concat(this.chunks)];
  }
}

/** Of the payload, by its header. */
function lengthIn(head: Buffer): number {
  const length = head.readUInt32LE(0);
  const kind = head.readUInt8(4);
  if (!KINDS.includes(kind)) throw new FrameError(`a frame of no kind (${kind})`);
  if (length > LONGEST_PAYLOAD_BYTES)
    throw new FrameError(`a frame of ${length} bytes, and ${LONGEST_PAYLOAD_BYTES} are the most`);
  return length;
}

/** The object in a frame of JSON. Throws a FrameError where it is none. */
export function objectIn(payload: Buffer): object {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString('utf8'));
  } catch {
    throw new FrameError('a message that is no JSON');
  }
  if (typeof value !== 'object' || value === null) throw new FrameError('a message that is no object');
  return value;
}
