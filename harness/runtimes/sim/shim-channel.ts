/**
 * A server program under `harness/native/sim-shim.c`, and the two pipes over which it is told the time and what has come. The
 * exchange is synchronous: whoever asks waits until the program has nothing more to do.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ProcessExit } from '../../vocabulary/host.js';
import { DISK_NEWS, type DiskNews, diskNewsIn } from './disk-news.js';

/** What the program did since it was last asked. `id` names a connection, or what it listens at. */
export type Said =
  /** `name`: an address and port, or the path of a unix socket. */
  | { kind: 'listen'; id: number; name: string }
  | { kind: 'connect'; id: number; address: string; port: number; ownPort: number }
  | { kind: 'send'; id: number; bytes: Buffer }
  | { kind: 'close'; id: number }
  | DiskNews;

/** What it is to hear of. */
export type Heard =
  | { kind: 'data'; id: number; bytes: Buffer }
  /** `id` is what it listens at; the connection gets `connection`, which must be 2^31 or more. */
  | { kind: 'accepted'; id: number; connection: number; address: string; port: number }
  | { kind: 'connected' | 'failed' | 'ended' | 'reset'; id: number }
  | { kind: 'clock'; offsetNs: number; ratePpb: number; baseNs: number }
  /** How long a sync takes from now on. */
  | { kind: 'disk'; syncNs: number }
  /** What its randomness is from now on. */
  | { kind: 'seed'; value: number };

/** As the shim numbers them. */
const HEARD = {
  data: 1,
  accepted: 2,
  connected: 3,
  failed: 4,
  ended: 5,
  reset: 6,
  clock: 7,
  seed: 10,
  disk: 11,
} as const;
const EXIT = 8;
const COPY = 9;
const SAID = ['', 'listen', 'connect', 'send', 'close', ...DISK_NEWS] as const;
const FOR_EVER = 2n ** 63n - 1n;
const HEAD_BYTES = 9;
/** Length and time of a frame. */
const HEAD_OF_FRAME = 12;
const IN = 'in';
const OUT = 'out';

/** Pipes in a folder: some are free again when their program has ended. */
export class PipePool {
  private readonly free: string[] = [];
  private made = 0;

  constructor(private readonly folder: string) {}

  take(): string {
    const known = this.free.pop();
    if (known !== undefined) return known;
    const place = join(this.folder, `pipes-${this.made++}`);
    mkdirSync(place);
    execFileSync('mkfifo', [join(place, IN), join(place, OUT)]);
    return place;
  }

  giveBack(place: string): void {
    this.free.push(place);
  }
}

export interface ShimmedProgram {
  argv: readonly string[];
  env: Record<string, string>;
  /** Where it runs; what it is to read must be there. */
  cwd: string;
  /** Where its output goes. */
  log: string;
  nowNs: number;
}

interface Ends {
  inFd: number;
  outFd: number;
}

export class ShimChannel {
  /** Until when there is nothing to do for it; absent: until something comes. */
  untilNs: number | undefined;
  private closed = false;

  private constructor(
    private readonly pipes: PipePool,
    private readonly place: string,
    private readonly ends: Ends,
    /** Absent where it is a copy, which nobody here waits for. */
    private readonly process?: ChildProcess,
  ) {}

  static start(pipes: PipePool, { argv, env, cwd, log, nowNs }: ShimmedProgram): ShimChannel {
    const place = pipes.take();
    const { O_RDONLY, O_WRONLY } = constants;
    const logFd = openSync(log, 'a');
    const [ends, started] = between(place, () => {
      const theirs = [openSync(join(place, IN), O_RDONLY), openSync(join(place, OUT), O_WRONLY)] as const;
      try {
        return spawn(argv[0]!, argv.slice(1), {
          cwd,
          // It tells by what path it was called (INFO): the same wherever it lies.
          argv0: basename(argv[0]!),
          env: { ...env, SIM_PIPES: '3,4', SIM_PARENT: String(process.pid), SIM_NOW: String(nowNs) },
          stdio: ['ignore', logFd, logFd, ...theirs],
        });
      } finally {
        for (const fd of [...theirs, logFd]) closeSync(fd);
      }
    });
    started.on('error', () => {}); // then its end of the pipe is closed, too
    return new ShimChannel(pipes, place, ends, started);
  }

  /**
   * A copy of the program as it stands, that goes on by itself in that folder, which must have what the program's has. Undefined
   * where the program has ended, or the copy could not be made: then the program's log says why.
   */
  copy(cwd: string, log: string): ShimChannel | undefined {
    const place = this.pipes.take();
    const names = Buffer.from([join(place, IN), join(place, OUT), cwd, log].map((name) => `${name}\0`).join(''));
    const frame = Buffer.alloc(HEAD_OF_FRAME + HEAD_BYTES + names.length);
    frame.writeUInt32LE(frame.length - 4, 0);
    frame[HEAD_OF_FRAME] = COPY;
    frame.writeUInt32LE(names.length, 17);
    frame.set(names, HEAD_OF_FRAME + HEAD_BYTES);
    const [ends, isThere] = between(place, ({ outFd }) => {
      if (!this.exchange(frame)) return false;
      // It says nothing first, which is a head alone: then it has both of its ends.
      return readSync(outFd, Buffer.alloc(HEAD_OF_FRAME), 0, HEAD_OF_FRAME, null) > 0;
    });
    const copy = new ShimChannel(this.pipes, place, ends);
    if (isThere && copy.read()) return copy;
    copy.kill();
    return undefined;
  }

  /** Reads what it did until its first wait; undefined where it has ended. */
  first(): Said[] | undefined {
    return this.read();
  }

  /** Asks it by a frame (`frameOf`); returns what it did, or undefined where it has ended. */
  exchange(frame: Buffer): Said[] | undefined {
    return this.write(frame) ? this.read() : undefined;
  }

  /** Ends the program, whatever it is doing. */
  kill(): void {
    if (this.closed) return;
    this.closed = true;
    // A copy waits for what it is asked, as all do while anything runs here.
    if (this.process) this.process.kill('SIGKILL');
    else this.write(GO);
    // Until nobody has the other ends any more the pipes must not be used again.
    closeSync(this.ends.inFd);
    const rest = Buffer.alloc(1 << 12);
    while (readSync(this.ends.outFd, rest, 0, rest.length, null) > 0);
    closeSync(this.ends.outFd);
    this.pipes.giveBack(this.place);
  }

  /** How it ended, as far as is known. */
  get exit(): ProcessExit {
    return { code: this.process?.exitCode ?? 1, signal: this.process?.signalCode ?? null };
  }

  private write(frame: Buffer): boolean {
    try {
      for (let done = 0; done < frame.length; ) done += writeSync(this.ends.inFd, frame, done, frame.length - done);
      return true;
    } catch {
      return false; // EPIPE: it has ended
    }
  }

  /** Of a program that ends or is killed in the middle of a frame nothing more is read. */
  private read(): Said[] | undefined {
    let have = 0;
    for (let whole = HEAD_OF_FRAME; have < whole; ) {
      // All of it as a rule: it says no more than what it was asked for.
      const count = readSync(this.ends.outFd, answer, have, answer.length - have, null);
      if (count === 0) return undefined;
      have += count;
      if (have >= HEAD_OF_FRAME) whole = 4 + answer.readUInt32LE(0);
      if (whole > answer.length) answer = Buffer.concat([answer], 2 * whole);
    }
    const until = answer.readBigInt64LE(4);
    this.untilNs = until === FOR_EVER ? undefined : Number(until);
    const said: Said[] = [];
    for (let at = HEAD_OF_FRAME; at < have; ) {
      const length = answer.readUInt32LE(at + 5);
      const from = at + HEAD_BYTES;
      said.push(
        saidIn(SAID[answer[at]!]!, answer.readUInt32LE(at + 1), Buffer.from(answer.subarray(from, from + length))),
      );
      at = from + length;
    }
    return said;
  }
}

/**
 * Our ends of two pipes, opened while `begin` has somebody take the others. A pipe opens at once only where its other end is
 * open: so both for a moment, and then each side keeps its own. When the program ends, nobody else has its ends, and we read the
 * end of the file.
 */
function between<Begun>(place: string, begin: (ends: Ends) => Begun): [Ends, Begun] {
  const { O_RDONLY, O_WRONLY, O_RDWR } = constants;
  const [into, out] = [join(place, IN), join(place, OUT)];
  const guards = [openSync(into, O_RDWR), openSync(out, O_RDWR)];
  try {
    const ends = { inFd: openSync(into, O_WRONLY), outFd: openSync(out, O_RDONLY) };
    return [ends, begin(ends)];
  } finally {
    for (const fd of guards) closeSync(fd);
  }
}

const NOTHING = Buffer.alloc(0);
const GO = Buffer.alloc(HEAD_OF_FRAME + HEAD_BYTES);
GO.writeUInt32LE(GO.length - 4, 0);
GO[HEAD_OF_FRAME] = EXIT;

let frame: Buffer = Buffer.alloc(1 << 16);
let answer: Buffer = Buffer.alloc(1 << 16);

/** What tells a program the time and what has come; good until the next is made. */
export function frameOf(nowNs: number, heard: readonly Heard[]): Buffer {
  let length = HEAD_OF_FRAME;
  for (const one of heard) length = put(one, length);
  frame.writeUInt32LE(length - 4, 0);
  frame.writeBigInt64LE(BigInt(nowNs), 4);
  return frame.subarray(0, length);
}

function put(heard: Heard, at: number): number {
  const bytes = payloadOf(heard);
  const end = at + HEAD_BYTES + bytes.length;
  if (end > frame.length) frame = Buffer.concat([frame], 2 * end);
  frame[at] = HEARD[heard.kind];
  frame.writeUInt32LE('id' in heard ? heard.id : 0, at + 1);
  frame.writeUInt32LE(bytes.length, at + 5);
  bytes.copy(frame, at + HEAD_BYTES);
  return end;
}

function payloadOf(heard: Heard): Buffer {
  if (heard.kind === 'data') return heard.bytes;
  if (heard.kind === 'clock')
    return Buffer.from(BigInt64Array.of(...[heard.offsetNs, heard.ratePpb, heard.baseNs].map(BigInt)).buffer);
  if (heard.kind === 'disk') return Buffer.from(BigInt64Array.of(BigInt(heard.syncNs)).buffer);
  if (heard.kind === 'seed') return Buffer.from(BigInt64Array.of(BigInt(heard.value)).buffer);
  if (heard.kind !== 'accepted') return NOTHING;
  const bytes = Buffer.alloc(10);
  bytes.writeUInt32LE(heard.connection, 0);
  bytes.set(heard.address.split('.').map(Number), 4);
  bytes.writeUInt16LE(heard.port, 8);
  return bytes;
}

function saidIn(kind: (typeof SAID)[number], id: number, bytes: Buffer): Said {
  switch (kind) {
    case 'listen':
      return { kind, id, name: bytes.toString('latin1') };
    case 'connect': {
      const address = [...bytes.subarray(0, 4)].join('.');
      return { kind, id, address, port: bytes.readUInt16LE(4), ownPort: bytes.readUInt16LE(6) };
    }
    case 'send':
      return { kind, id, bytes };
    case 'close':
      return { kind, id };
    case '':
      throw new Error('the shim says something that is not known here');
    default:
      return diskNewsIn(kind, id, bytes);
  }
}
