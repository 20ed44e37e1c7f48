/**
 * The process in which schedules are played. A schedule that does not end (a script of the server's, or a turn of the lock's,
 * that goes on for ever: no virtual time passes then) ends with the process, and the next is played in another.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findOnPath } from '../../harness/machine/command.js';
import { processorMsOfSession } from '../../harness/machine/processor-time.js';
import { diedOf } from '../../harness/topologies/last-words.js';
import type { Plan } from '../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import { UsageError } from '../common/errors.js';
import { PrintedLines } from '../common/lock-log.js';
import { NotSimulatedError } from '../run/not-simulated.js';
import type { OrderRequest } from './exhaustive/course.js';
import {
  type RunView,
  type ScheduleRequest,
  type ScheduleResult,
  STOP_PLAYING,
  type WorldAnswer,
  type WorldTold,
} from './schedule.js';

/** The program that plays them, as it is compiled. */
export const WORLD_MAIN = fileURLToPath(new URL('./world-main.js', import.meta.url));
/**
 * Of the processors' time, for some seconds of virtual time that take a tenth of one. Not of real time: on a busy machine a schedule
 * would not end that ends on a quiet one.
 */
const SCHEDULE_TAKES_AT_MOST_MS = 60_000;
/** One in which nobody does anything any more uses none of it, and ends after this, in real time. */
const SLEEPS_AT_MOST_MS = 600_000;
const LOOKS_EVERY_MS = 5_000;
/** What a dead process had printed may take so long to arrive: a server that it started may keep the pipe open for longer. */
const LAST_WORDS_MS = 100;
const LAST_WORDS_LENGTH = 8_192;

/** Of a schedule that did not end in real time. */
export class EndlessScheduleError extends Error {
  override name = 'EndlessScheduleError';
}

export interface WorldOptions {
  /** Where schedules are played, each in a folder of its own that goes when it is over. */
  workFolder: string;
  shim: string;
  lock: string;
  /** It and its servers stay on this core: they take turns, and what waits there need not be woken on another. */
  core?: number;
  /** Its working folder and environment, none of which may reach a schedule; absent: this process's. */
  cwd?: string;
  env?: Record<string, string>;
  /** Takes each line that locks print on standard output and standard error; absent: they are dropped. */
  printed?: ((line: string) => void) | undefined;
}

export interface PlayOptions {
  /** A folder in which the run stays, with its messages. */
  keep?: string;
  /** What is to be done step by step; absent: clients follow their scripts, and faults the plan. */
  order?: OrderRequest;
  /** It is a run of its own, told while it is played; `interrupt` ends it early. Its folder has its config and plan already. */
  asRun?: RunView & { tell(told: WorldTold): void; interrupt: AbortSignal };
}

/** Of schedules, in all worlds of this process: each is played in a folder of its own. */
let played = 0;

export class WorldProcess {
  private child: ChildProcess | undefined;
  /** The end of what was printed in it. */
  private words = '';

  constructor(private options: WorldOptions) {}

  /** From the next schedule on it plays with this lock (`WorldOptions.lock`). */
  take(lock: string): void {
    this.options = { ...this.options, lock };
  }

  /** Plays and judges. Rejects with an error for the user, or an EndlessScheduleError. */
  async play(config: RunConfig, plan: Plan, { keep, order, asRun }: PlayOptions = {}): Promise<ScheduleResult> {
    const folder = keep ?? join(this.options.workFolder, `schedule-${played++}`);
    mkdirSync(folder, { recursive: true });
    try {
      const { workFolder, shim, lock } = this.options;
      const request: ScheduleRequest = {
        config,
        plan,
        folder,
        workFolder,
        shim,
        lock,
        keepsMessages: keep !== undefined && !asRun,
        ...(order && { order }),
        ...(asRun && { run: { json: asRun.json, live: asRun.live } }),
      };
      const answer = await this.ask(request, asRun);
      if (answer.type === 'played') return answer.result;
      if (answer.type === 'lacks') throw new NotSimulatedError(answer.message, answer.what);
      throw answer.isForUsers ? new UsageError(answer.message) : new Error(answer.message);
    } finally {
      if (keep === undefined) rmSync(folder, { recursive: true, force: true });
    }
  }

  /** What it and its servers have used of the processors so far. */
  processorMs(): number {
    return this.child?.pid === undefined ? 0 : processorMsOfSession(this.child.pid);
  }

  /** Ends it; its servers end with it. */
  async close(): Promise<void> {
    const child = this.child;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    await silenceOf(child);
  }

  private ask(request: ScheduleRequest, asRun: PlayOptions['asRun']): Promise<WorldAnswer> {
    this.child ??= this.start();
    const child = this.child;
    return new Promise((resolve, reject) => {
      const stop = () => child.send(STOP_PLAYING, () => {});
      const over = () => {
        clearInterval(timer);
        asRun?.interrupt.removeEventListener('abort', stop);
        child.off('message', answered);
        child.off('exit', ended);
      };
      const answered = (answer: WorldAnswer | WorldTold) => {
        if (answer.type === 'line' || answer.type === 'snapshot' || answer.type === 'at') {
          // As long as virtual time passes it has not come to a standstill, however long it is.
          if (answer.type === 'at') {
            beganMs = performance.now();
            before = undefined;
          }
          asRun?.tell(answer);
          return;
        }
        over();
        resolve(answer);
      };
      const ended = (code: number | null, signal: string | null) => {
        over();
        this.child = undefined;
        void silenceOf(child).then(() => {
          const words = diedOf(this.words);
          const how = `${signal ?? `status ${code}`}${words === '' ? '' : `; its last words: ${words}`}`;
          reject(new Error(`the simulated world ended by itself (${how})`));
        });
      };
      let beganMs = performance.now();
      let before: number | undefined;
      const timer = setInterval(() => {
        const usedMs = processorMsOfSession(child.pid!);
        before ??= usedMs;
        const sleeps = performance.now() - beganMs > SLEEPS_AT_MOST_MS;
        if (usedMs - before < SCHEDULE_TAKES_AT_MOST_MS && !sleeps) return;
        over();
        const within = sleeps
          ? `${SLEEPS_AT_MOST_MS / 60e3} minutes`
          : `${SCHEDULE_TAKES_AT_MOST_MS / 1e3} s of the processor's time`;
        const why = `it did not end within ${within}: a script, or a turn of the lock's code, may go on for ever`;
        void this.close().then(() => reject(new EndlessScheduleError(why)));
      }, LOOKS_EVERY_MS);
      child.on('message', answered);
      child.on('exit', ended);
      // Of one that is gone its exit tells; without this the failed send would be nobody's.
      child.send(request, () => {});
      if (asRun?.interrupt.aborted) stop();
      else asRun?.interrupt.addEventListener('abort', stop);
    });
  }

  private start(): ChildProcess {
    // Short-lived objects of many schedules: a larger nursery is emptied less often. It stays on one core: V8's other threads could
    // only interrupt it there (on `single` a tenth of a schedule).
    const node = [process.execPath, '--single-threaded', '--max-semi-space-size=32', WORLD_MAIN];
    const { core, cwd, env, printed } = this.options;
    const withUs = findOnPath('setpriv') ? ['setpriv', '--pdeathsig', 'KILL', '--'] : [];
    const onCore = core !== undefined && findOnPath('taskset') ? ['taskset', '-c', String(core)] : [];
    const [program, ...args] = [...withUs, ...onCore, ...node];
    // A terminal's Ctrl-C is for the hunt alone, which ends its worlds itself when it has told what it found.
    const child = spawn(program!, args, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      ...(cwd !== undefined && { cwd }),
      env: { ...process.env, ...env },
      detached: true,
    });
    this.words = '';
    for (const stream of [child.stdout!, child.stderr!]) {
      const lines = new PrintedLines();
      const heard = (line: string) => {
        this.words = `${this.words}${line}\n`.slice(-LAST_WORDS_LENGTH);
        printed?.(line);
      };
      stream.on('data', (chunk: Buffer) => lines.push(chunk).forEach(heard));
      stream.on('close', () => lines.end().forEach(heard));
    }
    return child;
  }
}

/** Resolves when all that a process which has ended had printed is read, or is not waited for any longer. */
async function silenceOf({ stdout, stderr }: ChildProcess): Promise<void> {
  const streams = [stdout!, stderr!].filter((stream) => !stream.closed);
  const closed = streams.map((stream) => new Promise((resolve) => stream.once('close', resolve)));
  const timer = new AbortController();
  const late = setTimeout(LAST_WORDS_MS, undefined, { signal: timer.signal }).catch(() => {});
  await Promise.race([Promise.all(closed), late]);
  timer.abort();
  for (const stream of streams) stream.destroy();
}

/** Numbers of the cores that this process may run on. */
export function coresOfThisProcess(): number[] {
  const [, list = ''] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, n) => first + n);
  });
}
