/**
 * Servers that are started once for many schedules. Until a deployment is ready every schedule goes the same way: so what its
 * servers heard and did until then is remembered, and what hears the same is taken to have done the same. From then on each
 * schedule has copies of the servers as they were (`ShimChannel.copy`).
 *
 * Where a server hears anything else it is started for this schedule alone, and told again what it has heard so far. So nothing
 * depends on what was played before.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProcessExit } from '../../vocabulary/host.js';
import { frameOf, type Heard, type PipePool, type Said, ShimChannel, type ShimmedProgram } from './shim-channel.js';

/** How a server is reached by its process (`server-process.ts`). */
export interface ServerChannel {
  readonly untilNs: number | undefined;
  /** What it did until its first wait; undefined where it has ended. */
  first(): Said[] | undefined;
  /** Tells it the time and what has come; returns what it did then, or undefined where it has ended. */
  step(nowNs: number, heard: readonly Heard[]): Said[] | undefined;
  /** The deployment is ready: from here on this schedule is another than any. */
  ready(): void;
  kill(): void;
  readonly exit: ProcessExit;
}

interface Step {
  /** Undefined: what it did before it was asked anything. */
  frame: Buffer | undefined;
  said: Said[];
  untilNs: number | undefined;
}

/** A server's way until its deployment was ready. */
interface Start {
  steps: Step[];
  /** As it was then; absent while it is on that way for the first time. */
  original?: ShimChannel;
  files: Map<string, Buffer>;
  log: Buffer;
}

export class WarmServers {
  private readonly starts = new Map<string, Start>();

  constructor(private readonly pipes: PipePool) {}

  /** One that is part of a deployment which is not ready yet. */
  start(program: ShimmedProgram): ServerChannel {
    const key = keyOf(program);
    const known = this.starts.get(key);
    // The same in one deployment twice it cannot be: its host is part of it.
    if (known?.original) return new Remembered(known, program, this.pipes);
    const start: Start = { steps: [], files: new Map(), log: Buffer.alloc(0) };
    return new Remembered(start, program, this.pipes, () => this.starts.set(key, start));
  }

  /** One that is started later, as after a fault: nobody else has the same. */
  startAlone(program: ShimmedProgram): ServerChannel {
    return new Alone(ShimChannel.start(this.pipes, program));
  }
}

class Alone implements ServerChannel {
  constructor(private readonly channel: ShimChannel) {}

  get untilNs(): number | undefined {
    return this.channel.untilNs;
  }

  first(): Said[] | undefined {
    return this.channel.first();
  }

  step(nowNs: number, heard: readonly Heard[]): Said[] | undefined {
    return this.channel.exchange(frameOf(nowNs, heard));
  }

  ready(): void {}

  kill(): void {
    this.channel.kill();
  }

  get exit(): ProcessExit {
    return this.channel.exit;
  }
}

class Remembered implements ServerChannel {
  untilNs: number | undefined;
  /** How much of the start is behind it. */
  private at = 0;
  /** This schedule's own server; absent as long as it does what is remembered. */
  private own: ShimChannel | undefined;

  /** `keep`, given to the first on this way: has the start known to others. */
  constructor(
    private readonly start: Start,
    private readonly program: ShimmedProgram,
    private readonly pipes: PipePool,
    private readonly keep?: () => void,
  ) {
    if (keep) this.own = ShimChannel.start(pipes, program);
  }

  first(): Said[] | undefined {
    return this.does(undefined);
  }

  step(nowNs: number, heard: readonly Heard[]): Said[] | undefined {
    return this.does(frameOf(nowNs, heard));
  }

  ready(): void {
    const { own, start, program, keep } = this;
    if (!keep || !own || start.original) return;
    start.original = own;
    start.files = filesIn(program.cwd);
    start.log = readFileSync(program.log);
    this.own = undefined;
    this.at = start.steps.length;
    keep();
  }

  kill(): void {
    this.own?.kill();
  }

  get exit(): ProcessExit {
    return this.own?.exit ?? { code: 1, signal: null };
  }

  private does(frame: Buffer | undefined): Said[] | undefined {
    const { start } = this;
    if (this.own && !start.original) return this.learns(this.own, frame);
    if (!this.own) {
      const known = start.steps[this.at];
      if (known && isSame(known.frame, frame)) {
        this.at++;
        this.untilNs = known.untilNs;
        return known.said;
      }
      this.own = this.ownServer();
    }
    const said = frame && this.own.exchange(frame);
    this.untilNs = this.own.untilNs;
    return said;
  }

  private learns(own: ShimChannel, frame: Buffer | undefined): Said[] | undefined {
    const asked = frame && Buffer.from(frame);
    const said = frame ? own.exchange(frame) : own.first();
    this.untilNs = own.untilNs;
    if (said) this.start.steps.push({ frame: asked, said, untilNs: own.untilNs });
    return said;
  }

  /** As it is after what is behind it. */
  private ownServer(): ShimChannel {
    const { start, program, at, pipes } = this;
    const copy = at === start.steps.length ? this.copied() : undefined;
    if (copy) return copy;
    const alone = ShimChannel.start(pipes, program);
    for (const { frame } of start.steps.slice(0, at)) {
      if (frame) alone.exchange(frame);
      else alone.first();
    }
    return alone;
  }

  private copied(): ShimChannel | undefined {
    const { start, program } = this;
    for (const [name, bytes] of start.files) {
      const path = join(program.cwd, name);
      mkdirSync(dirname(path), { recursive: true });
      // Another file than the original's, which has its own open, and locked, for good: this may be its folder.
      rmSync(path, { force: true });
      writeFileSync(path, bytes);
    }
    writeFileSync(program.log, start.log);
    return start.original!.copy(program.cwd, program.log);
  }
}

function isSame(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one && other ? one.equals(other) : one === other;
}

/** All that a server's start depends on. */
function keyOf({ argv, env, cwd, nowNs }: ShimmedProgram): string {
  const files = [...filesIn(cwd)].map(([name, bytes]) => [name, bytes.toString('latin1')]);
  return JSON.stringify([argv, env, nowNs, files]);
}

/** By their paths below the folder. */
function filesIn(folder: string): Map<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = entries.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  return new Map(names.sort().map((name) => [name, readFileSync(join(folder, name))]));
}
