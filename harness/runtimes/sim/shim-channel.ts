/**
 * A server program under `harness/native/sim-shim.c`, and the two pipes over which it is told the time and what has come. The
 * exchange is synchronous: whoever calls `step` waits until the program has nothing more to do.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** What the program did since it was last asked. `id` names a connection, or what it listens at. */
export type Said =
  /** `name`: an address and port, or the path of a unix socket. */
  | { kind: 'listen'; id: number; name: string }
  | { kind: 'connect'; id: number; address: string; port: number; ownPort: number }
  | { kind: 'send'; id: number; bytes: Buffer }
  | { kind: 'close'; id: number };

/** What it is to hear of. */
export type Heard =
  | { kind: 'data'; id: number; bytes: Buffer }
  /** `id` is what it listens at; the connection gets `connection`, which must be 2^31 or more. */
  | { kind: 'accepted'; id: number; connection: number; address: string; port: number }
  | { kind: 'connected' | 'failed' | 'ended' | 'reset'; id: number }
  | { kind: 'clock'; offsetNs: number; ratePpb: number; baseNs: number };

/** As the shim numbers them. */
const HEARD = { data: 1, accepted: 2, connected: 3, failed: 4, ended: 5, reset: 6, clock: 7 } as const;
const SAID = ['', 'listen', 'connect', 'send', 'close'] as const;
const FOR_EVER = 2n ** 63n - 1n;
const HEAD_BYTES = 9;

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
    execFileSync('mkfifo', [join(place, 'in'), join(place, 'out')]);
    return place;
  }

  giveBack(place: string): void {
    this.free.push(place);
  }
}

export interface ShimmedProgram {
  argv: readonly string[];
  env: Record<string, string>;
  cwd: string;
  /** Where its output goes. */
  logFd: number;
  nowNs: number;
}

export class ShimChannel {
  readonly process: ChildProcess;
  /** Until when there is nothing to do for it; absent: until something comes. */
  untilNs: number | undefined;
  private readonly place: string;
  private readonly inFd: number;
  private readonly outFd: number;
  private frame: Buffer = Buffer.alloc(1 << 16);
  private closed = false;

  constructor(
    private readonly pipes: PipePool,
    { argv, env, cwd, logFd, nowNs }: ShimmedProgram,
  ) {
    this.place = pipes.take();
    const [into, out] = [join(this.place, 'in'), join(this.place, 'out')];
    // A pipe opens at once only where its other end is open: so both for a moment, and then each side keeps its own. When
    // the program ends, nobody else has its ends, and we read the end of the file.
    const { O_RDONLY, O_WRONLY, O_RDWR } = constants;
    const guards = [openSync(into, O_RDWR), openSync(out, O_RDWR)];
    const theirs = [openSync(into, O_RDONLY), openSync(out, O_WRONLY)] as const;
    this.inFd = openSync(into, O_WRONLY);
    this.outFd = openSync(out, O_RDONLY);
    try {
      this.process = spawn(argv[0]!, argv.slice(1), {
        cwd,
        env: { ...env, SIM_PIPES: '3,4', SIM_PARENT: String(process.pid), SIM_NOW: String(nowNs) },
        stdio: ['ignore', logFd, logFd, ...theirs],
      });
    } finally {
      for (const fd of [...guards, ...theirs]) closeSync(fd);
    }
    this.process.on('error', () => {}); // then its end of the pipe is closed, too
  }

  /** Reads what it did until its first wait; undefined where it has ended. */
  first(): Said[] | undefined {
    return this.read();
  }

  /** Tells it the time and what has come, and resolves nothing: returns what it did, or undefined where it has ended. */
  step(nowNs: number, heard: readonly Heard[]): Said[] | undefined {
    let length = 12;
    for (const one of heard) length = this.put(one, length);
    this.frame.writeUInt32LE(length - 4, 0);
    this.frame.writeBigInt64LE(BigInt(nowNs), 4);
    try {
      for (let done = 0; done < length; ) done += writeSync(this.inFd, this.frame, done, length - done);
    } catch {
      return undefined; // EPIPE: it has ended
    }
    return this.read();
  }

  /** Ends the program, whatever it is doing. */
  kill(): void {
    if (this.closed) return;
    this.closed = true;
    this.process.kill('SIGKILL');
    // Until nobody has the other ends any more the pipes must not be used again.
    closeSync(this.inFd);
    const rest = Buffer.alloc(1 << 16);
    while (readSync(this.outFd, rest, 0, rest.length, null) > 0);
    closeSync(this.outFd);
    this.pipes.giveBack(this.place);
  }

  private put(heard: Heard, at: number): number {
    const bytes = payloadOf(heard);
    const end = at + HEAD_BYTES + bytes.length;
    if (end > this.frame.length) this.frame = Buffer.concat([this.frame], 2 * end);
    this.frame[at] = HEARD[heard.kind];
    this.frame.writeUInt32LE('id' in heard ? heard.id : 0, at + 1);
    this.frame.writeUInt32LE(bytes.length, at + 5);
    bytes.copy(this.frame, at + HEAD_BYTES);
    return end;
  }

  private read(): Said[] | undefined {
    const head = this.readWhole(12);
    if (!head) return undefined;
    const rest = this.readWhole(head.readUInt32LE(0) - 8);
    if (!rest) return undefined;
    const until = head.readBigInt64LE(4);
    this.untilNs = until === FOR_EVER ? undefined : Number(until);
    const said: Said[] = [];
    for (let at = 0; at < rest.length; ) {
      const length = rest.readUInt32LE(at + 5);
      const from = at + HEAD_BYTES;
      said.push(saidIn(SAID[rest[at]!]!, rest.readUInt32LE(at + 1), rest.subarray(from, from + length)));
      at = from + length;
    }
    return said;
  }

  /** Of a program that ends or is killed in the middle of a frame nothing more is read. */
  private readWhole(length: number): Buffer | undefined {
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length; ) {
      const count = readSync(this.outFd, bytes, done, length - done, null);
      if (count === 0) return undefined;
      done += count;
    }
    return bytes;
  }
}

const NOTHING = Buffer.alloc(0);

function payloadOf(heard: Heard): Buffer {
  if (heard.kind === 'data') return heard.bytes;
  if (heard.kind === 'clock')
    return Buffer.from(BigInt64Array.of(...[heard.offsetNs, heard.ratePpb, heard.baseNs].map(BigInt)).buffer);
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
    default:
      throw new Error(`the shim says something that is not known here: ${kind}`);
  }
}
