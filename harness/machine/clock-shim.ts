/**
 * The wall clock of a process as something a fault can move: compiles `native/clock-shim.c` (see there for what it
 * reaches and what not) on first use, and encodes what its file must hold. The shim is only a preloaded library: a
 * program that reads its time without the C library is not reached, so a fault reads the skewed clock back.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClockSkew } from '../vocabulary/host.js';
import { runProgram } from './command.js';
import { type BuildOptions, type BuiltPart, buildLibrary, libraryPart, preloadEnv } from './native-part.js';

export const clockShimPart = libraryPart({ what: 'clock shim', name: 'clock-shim' }, tryClockShim);

/** The compiled shim, or why there is none (see `buildPart`). */
export function buildClockShim(options: BuildOptions): Promise<BuiltPart> {
  return buildLibrary(clockShimPart, options);
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

/** What each field counts for in the check (see `sum_of` in the shim). */
const MULTIPLIERS = [0x9e3779b97f4a7c15n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n] as const;

/**
 * What the shim's file must hold for this skew, 32 bytes: offset_ns, rate_ppb, base_mono_ns, and the check by which a
 * reader knows that they are of one write, each an int64 of the machine's byte order. The drift starts at
 * `monotonicNowNs` (raw CLOCK_MONOTONIC), so that the clock does not jump by it. Write it over the old content, at
 * position 0, with one call; never truncate the file, which would end its readers.
 */
export function encodeSkew(skew: ClockSkew, monotonicNowNs: number): Buffer {
  const fields = [
    BigInt(Math.round(skew.offsetMs * 1e6)),
    BigInt(Math.round(skew.ratePpm * 1e3)),
    BigInt(Math.round(monotonicNowNs)),
  ];
  const check = fields.reduce((sum, field, i) => sum + field * MULTIPLIERS[i]!, 0n);
  return Buffer.from(new BigInt64Array([...fields, BigInt.asIntN(64, check)]).buffer);
}

/** The environment of a process whose clock follows `clockFile`, which must exist before the process starts. */
export function clockEnv(shimPath: string, clockFile: string): Record<string, string> {
  return { ...preloadEnv(shimPath), LOCK_TORTURE_CLOCK: clockFile };
}
