/**
 * What a server has synced as something that is known: compiles `native/durable-shim.c` (see there for what it records and
 * what not) on first use. The shim is only a preloaded library: whether a program loads it is tried with that program.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisBinary } from '../vocabulary/topology.js';
import { runProgram } from './command.js';
import { type BuildOptions, type BuiltPart, buildLibrary, libraryPart, preloadEnv } from './native-part.js';

export const durableShimPart = libraryPart({ what: 'durable shim', name: 'durable-shim' }, tryDurableShim);

/** The compiled shim, or why there is none (see `buildPart`). */
export function buildDurableShim(options: BuildOptions): Promise<BuiltPart> {
  return buildLibrary(durableShimPart, options);
}

/** Syncs most of a file and looks what was recorded; resolves with what is wrong, or undefined. */
export async function tryDurableShim(shimPath: string, scratchFolder: string): Promise<string | undefined> {
  const SYNCED_BYTES = 4242;
  const script = `
    const fs = require('fs'); const fd = fs.openSync('file', 'w');
    fs.writeSync(fd, 'x'.repeat(${SYNCED_BYTES})); fs.fsyncSync(fd); fs.writeSync(fd, 'x');`;
  const { stderr } = await recorded([process.execPath, '-e', script], {}, shimPath, scratchFolder);
  const table = tableIn(scratchFolder);
  rmSync(join(scratchFolder, RECORD), { recursive: true, force: true });
  if (table.includes(BigInt(SYNCED_BYTES))) return undefined;
  const [said] = stderr.trim().split('\n');
  return `the durable shim ${shimPath} has no effect: what a process synced was not recorded${said ? ` (${said})` : ''}`;
}

/** Why what this server syncs cannot be recorded, with the remedy; undefined if it can. */
export async function preloadTrouble(
  { loader = [], path, env }: RedisBinary,
  shimPath: string,
  scratchFolder: string,
): Promise<string | undefined> {
  await recorded([...loader, path, '--version'], env, shimPath, scratchFolder);
  const [, pid = 0n] = tableIn(scratchFolder);
  if (pid !== 0n) return undefined;
  return `${path} loads no library before its own (it is statically linked, or setuid), so what it syncs cannot be recorded: give another server with --server`;
}

const RECORD = 'durable';

function recorded(argv: readonly string[], env: Record<string, string>, shimPath: string, folder: string) {
  const record = { LOCK_TORTURE_DURABLE: join(folder, RECORD), LOCK_TORTURE_DISK: folder };
  const variables = Object.entries({ ...env, ...preloadEnv(shimPath), ...record });
  // Set last: what leads the command in would load it, too.
  return runProgram(['env', ...variables.map(([name, value]) => `${name}=${value}`), ...argv], { cwd: folder });
}

/** Its fields, the process's number second; empty where there is none. */
function tableIn(folder: string): BigUint64Array {
  try {
    const bytes = readFileSync(join(folder, RECORD, 'table'));
    return new BigUint64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  } catch {
    return new BigUint64Array();
  }
}
