/**
 * Mends a server's log (AOF) that it refuses to load: what follows the first thing in it that cannot be read is cut off.
 */
import type { Host } from '../vocabulary/host.js';
import type { RedisBinary } from '../vocabulary/topology.js';
import { lastWords } from './last-words.js';

/** The server's program is told what to be by its name. */
const PROGRAM = 'redis-check-aof';
/** From 7.0 on in several parts, of which a manifest names the last one last; before as one file. */
const LOGS = ['appendonlydir', 'appendonly.aof'];
/**
 * It asks whether it may. It is given the last part, for it can cut off no other: by the manifest it looks at all of them, and
 * that of Valkey 9.1 takes the first one, a snapshot, for damaged whatever it is.
 */
const SCRIPT = `parts=$1; log=$2; shift 2
last=$(sed -n 's/^file \\([^ ]*\\) .*/\\1/p' "$parts/appendonly.aof.manifest" 2>/dev/null | tail -n 1)
[ -z "$last" ] || log=$parts/$last
echo y | "$@" "$log"`;
const TIMEOUT_MS = 10_000;

/** Resolves with the program's own last words. The server must be dead. */
export async function mendLog(host: Host, { path, loader = [], env }: RedisBinary): Promise<string> {
  const named = loader.indexOf('--argv0');
  const argv = named < 0 ? [`./${PROGRAM}`] : [...loader.slice(0, named), '--argv0', PROGRAM, path];
  if (named < 0) {
    const linked = await host.exec(['ln', '-sf', path, PROGRAM]);
    if (linked.exitCode !== 0) throw new Error(`${host.name}: ${linked.stderr}`);
  }
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const whole = ['sh', '-c', SCRIPT, 'mend', ...LOGS, 'env', ...variables, ...argv, '--fix'];
  const { exitCode, stdout, stderr } = await host.exec(whole, { timeoutMs: TIMEOUT_MS });
  const said = lastWords(`${stdout}\n${stderr}`);
  if (exitCode !== 0) throw new Error(`${PROGRAM} --fix on ${host.name}: exit status ${exitCode}: ${said}`);
  return said;
}
