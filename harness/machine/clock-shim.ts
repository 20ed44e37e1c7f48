/**
 * The wall clock of a process as something a fault can move: compiles `native/clock-shim.c` (see there for what it
 * reaches and what not) on first use, and encodes what its file must hold. The shim is only a preloaded library: a
 * program that reads its time without the C library is not reached, so a fault reads the skewed clock back.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClockSkew } from '../vocabulary/host.js';
import { findOnPath, runProgram } from './command.js';
import { CacheFolderError, privateFolder } from './private-folder.js';

const COMPILERS = ['cc', 'gcc', 'clang'];
const FLAGS = ['-O2', '-shared', '-fPIC'];
const COMPILE_TIMEOUT_MS = 60_000;
const REMEDY = 'install a C compiler (Debian, Ubuntu: apt-get install gcc libc6-dev)';

/** `unavailable` is the whole sentence, what is wrong and what to do; `problem` and `remedy` are its halves. */
export type ClockShim = { path: string } | { unavailable: string; problem: string; remedy: string };

export interface BuildClockShimOptions {
  cacheFolder: string;
  say: (line: string) => void;
}

/**
 * The compiled shim, from the cache or made now; or why there is none and what to do about it. A shim that was compiled
 * now was also seen to work.
 */
export async function buildClockShim({ cacheFolder, say }: BuildClockShimOptions): Promise<ClockShim> {
  const source = sourcePath();
  const recipe = [readFileSync(source, 'utf8'), ...FLAGS, process.platform, process.arch].join('\0');
  const key = createHash('sha256').update(recipe).digest('hex').slice(0, 16);
  const folder = join(cacheFolder, 'clock-shim');
  const path = join(folder, `clock-shim-${key}.so`);
  if (/[\s:]/.test(path)) {
    return unavailable(
      `the loader cannot preload from ${folder}`,
      'set LOCK_TORTURE_CACHE to a folder without blanks and colons',
    );
  }
  if (existsSync(path)) return { path };
  const compiler = COMPILERS.find((name) => findOnPath(name));
  if (!compiler) return unavailable(`the clock shim needs a C compiler, and there is none of ${COMPILERS.join(', ')}`);
  say('compiling the clock shim (first run)…');
  try {
    return await compile(compiler, source, path);
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined && !(error instanceof CacheFolderError)) throw error;
    return unavailable(
      `the clock shim cannot be kept in ${folder}: ${message}`,
      'set LOCK_TORTURE_CACHE to a folder of yours',
    );
  }
}

async function compile(compiler: string, source: string, path: string): Promise<ClockShim> {
  using workshop = privateFolder(dirname(path));
  const made = join(workshop.path, 'clock-shim.so');
  const result = await runProgram([compiler, ...FLAGS, '-o', made, source], { timeoutMs: COMPILE_TIMEOUT_MS });
  if (result.exitCode !== 0) {
    const said = result.stderr.split('\n').find((line) => /error|not found|No such|took longer/i.test(line));
    return unavailable(`the clock shim does not compile (${compiler}: ${said ?? `exit status ${result.exitCode}`})`);
  }
  const trouble = await tryClockShim(made, workshop.path);
  if (trouble) return unavailable(trouble, 'set LOCK_TORTURE_CACHE to a folder from which programs may be run');
  // A process that compiled it at the same time has made the same file.
  renameSync(made, path);
  return { path };
}

function unavailable(problem: string, remedy = REMEDY): ClockShim {
  return { unavailable: `${problem}: ${remedy}`, problem, remedy };
}

/** Moves the clock of a real process by an hour and reads it back; resolves with what is wrong, or undefined. */
export async function tryClockShim(shimPath: string, scratchFolder: string): Promise<string | undefined> {
  const HOUR_MS = 3_600_000;
  const clockFile = join(scratchFolder, 'clock');
  writeFileSync(clockFile, encodeSkew({ offsetMs: HOUR_MS, ratePpm: 0 }, 0));
  const readClock = [process.execPath, '-p', 'Date.now()'];
  const before = await runProgram(readClock);
  const moved = await runProgram(readClock, { env: clockEnv(shimPath, clockFile) });
  const movedMs = Number(moved.stdout) - Number(before.stdout) - HOUR_MS;
  if (before.exitCode === 0 && moved.exitCode === 0 && movedMs >= 0 && movedMs < HOUR_MS / 2) return undefined;
  const [said] = `${moved.stderr}\n${before.stderr}`.trim().split('\n');
  return `the clock shim ${shimPath} has no effect: a process that should see its clock an hour ahead read "${moved.stdout.trim()}" after "${before.stdout.trim()}"${said ? ` (${said})` : ''}`;
}

/**
 * What the shim's file must hold for this skew, 24 bytes: offset_ns, rate_ppb, base_mono_ns, each an int64 of the
 * machine's byte order. The drift starts at `monotonicNowNs` (raw CLOCK_MONOTONIC), so that the clock does not jump by it.
 * Write it over the old content, at position 0, with one call; never truncate the file, which would end its readers.
 */
export function encodeSkew(skew: ClockSkew, monotonicNowNs: number): Buffer {
  const fields = new BigInt64Array([
    BigInt(Math.round(skew.offsetMs * 1e6)),
    BigInt(Math.round(skew.ratePpm * 1e3)),
    BigInt(Math.round(monotonicNowNs)),
  ]);
  return Buffer.from(fields.buffer);
}

/** The environment of a process whose clock follows `clockFile`, which must exist before the process starts. */
export function clockEnv(shimPath: string, clockFile: string): Record<string, string> {
  const others = process.env.LD_PRELOAD;
  return { LD_PRELOAD: others ? `${shimPath}:${others}` : shimPath, LOCK_TORTURE_CLOCK: clockFile };
}

/** The C source stays in the source tree: beside us in a test, two folders up when we run from dist/harness/. */
function sourcePath(): string {
  const places = ['../native/clock-shim.c', '../../../harness/native/clock-shim.c'].map((place) =>
    fileURLToPath(new URL(place, import.meta.url)),
  );
  const found = places.find((place) => existsSync(place));
  if (!found) throw new Error(`native/clock-shim.c is missing; looked at ${places.join(' and ')}`);
  return found;
}
