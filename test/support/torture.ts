/** Runs the tool as a user does, and finds every process of a run whatever became of its parents. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll } from 'vitest';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import type { Results } from '../../harness/vocabulary/verdict.js';

export const ROOT = resolve(import.meta.dirname, '../..');
const MARK = 'LOCK_TORTURE_TEST_MARK';
/** A run without faults, of which nothing is to be found. */
export const QUIET = ['--topology', 'single', '--nemesis', 'none', '--hold', '0.01x..0.05x'];

/** What a run that came to its end leaves in its folder, on whatever topology of Redis. */
export const RUN_FILES = [
  'config.json',
  'plan.json',
  'history.jsonl',
  'observations.jsonl',
  'results.json',
  'report.html',
  'junit.xml',
  'ctrf.json',
  'logs/r1.log',
];

export interface Torture {
  child: ChildProcess;
  /** In the environment of every process of this run. */
  mark: string;
  /** Where its run folders go. */
  out: string;
  output(): string;
  errors(): string;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** Gone when the file's tests have ended. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-test-'));
  folders.push(folder);
  return folder;
}

/** Starts the tool; `viaNpm` as the README says, otherwise its bin file. */
export function start(
  args: readonly string[],
  options: {
    viaNpm?: boolean;
    cwd?: string;
    command?: string;
    env?: Record<string, string>;
    /** In a process group of its own, as a terminal gives it: a signal can be sent to all that are in it. */
    group?: boolean;
  } = {},
): Torture {
  const mark = randomUUID();
  const out = freshFolder();
  const command = options.command ?? 'run';
  const all = command === 'run' ? ['--out', out, ...onThisMachine(args), ...args] : [command, ...args];
  const [program, ...argv] = options.viaNpm
    ? ['npm', 'run', '--silent', 'torture', '--', ...all]
    : [process.execPath, join(ROOT, 'bin/torture.mjs'), ...all];
  const child = spawn(program!, argv, {
    cwd: options.cwd ?? ROOT,
    env: { ...process.env, [MARK]: mark, INIT_CWD: options.cwd ?? ROOT, GITHUB_STEP_SUMMARY: '', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: options.group === true,
  });
  let output = '';
  let errors = '';
  child.stdout!.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr!.on('data', (chunk) => {
    errors += chunk;
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((done) => {
    // Not at its exit: what it wrote last may be unread then.
    child.once('close', (code, signal) => done({ code, signal }));
  });
  return { child, mark, out, output: () => output, errors: () => errors, ended };
}

/** Tests are of the `netns` runtime unless they say otherwise, whatever container engine this machine has. */
function onThisMachine(args: readonly string[]): string[] {
  return args.some((argument) => argument.startsWith('--runtime')) ? [] : ['--runtime', 'netns'];
}

/**
 * The causes that a run named, each once. "unexplained" is not among them: a busy machine makes gaps in the record, and
 * to say so is right; what a test can hold the tool to is that a cause that is named is the true one.
 */
export function namedCauses(results: Pick<Results, 'violations'>): string[] {
  return [...new Set(results.violations.map(({ cause }) => cause.name))].filter((name) => name !== 'unexplained');
}

export interface Ended {
  status: number | null;
  output: string;
  errors: string;
  /** The run's folder, if one was made. */
  folder: string;
  results: Results;
}

/** Runs the tool to its end. */
export async function torture(args: readonly string[], options: Parameters<typeof start>[1] = {}): Promise<Ended> {
  const run = start(args, options);
  const { code } = await run.ended;
  const folder = join(run.out, 'latest');
  const file = join(folder, 'results.json');
  const results = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  return { status: code, output: run.output(), errors: run.errors(), folder, results };
}

export interface Found {
  pid: number;
  command: string;
}

/** Every living process of a run, by the mark in its environment. */
export function processesOf(mark: string): Found[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        if (!readFileSync(`/proc/${name}/environ`, 'utf8').includes(mark)) return [];
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return command === '' ? [] : [{ pid: Number(name), command }]; // a zombie has no command line
      } catch {
        return []; // gone while we looked
      }
    });
}

/** Network namespaces other than our own in which a process of the run lives. */
export function namespacesOf(mark: string): string[] {
  const own = readlinkSync('/proc/self/ns/net');
  const found = processesOf(mark).flatMap(({ pid }) => {
    try {
      return [readlinkSync(`/proc/${pid}/ns/net`)];
    } catch {
      return [];
    }
  });
  return [...new Set(found)].filter((namespace) => namespace !== own);
}

/** The recorded history so far; a line that is still being written is left out. */
export function historyOf(run: Torture): HistoryEvent[] {
  const file = join(run.out, 'latest', 'history.jsonl');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line));
}

/** Polls until `condition` gives something; throws when `limitMs` is over. */
export async function until<T>(what: string, condition: () => T | undefined | false, limitMs = 60_000): Promise<T> {
  const giveUp = Date.now() + limitMs;
  for (;;) {
    // One that stood itself until the time was over looks once more.
    const isLast = Date.now() > giveUp;
    const value = condition();
    if (value) return value;
    if (isLast) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Ends whatever is left of a run; for tests' clean-up. */
export function endAll(run: Torture): void {
  for (const { pid } of processesOf(run.mark)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it ended by itself meanwhile
    }
  }
}
