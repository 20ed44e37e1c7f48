/** What a server's program says of itself: it is started for a moment, without a port, and asked. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { RedisBinary } from '../vocabulary/topology.js';
import { temporaryFolder } from './private-folder.js';

const ANSWERS_WITHIN_MS = 10_000;

/** What the capability of that name is. */
export const SLOTS_AT_ONCE = 'CLUSTER|MIGRATESLOTS';

/** What locks, faults and plays go by that not every server has, as `COMMAND INFO` names it. */
export const LATER_COMMANDS = [SLOTS_AT_ONCE, 'DELEX', 'DELIFEQ', 'HPEXPIRE', 'WAITAOF'] as const;

export interface InspectedServer {
  kind: 'redis' | 'valkey';
  /** Those that were asked for. */
  commands: string[];
}

/** Of which kind it is, and which of these commands it has. Rejects if it does not start. */
export async function inspectServer(
  { loader = [], path, env }: RedisBinary,
  names: readonly string[],
): Promise<InspectedServer> {
  using scratch = temporaryFolder();
  const socket = join(scratch.path, 'socket');
  const [program, ...args] = [...loader, path, '--port', '0', '--unixsocket', socket, '--save', ''];
  const child = spawn(program!, args, { cwd: scratch.path, env: { ...process.env, ...env }, stdio: 'ignore' });
  const ended = once(child, 'exit').catch(() => {});
  const redis = new Redis({ path: socket, retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  try {
    const never = new Error(`${path} does not answer within ${ANSWERS_WITHIN_MS / 1_000} s`);
    const gone = ended.then(() => Promise.reject(new Error(`${path} does not start`)));
    const late = new Promise<never>((_, reject) => setTimeout(reject, ANSWERS_WITHIN_MS, never).unref());
    const asked = Promise.all([redis.info('server'), redis.call('COMMAND', 'INFO', ...names) as Promise<unknown[]>]);
    const [server, infos] = await Promise.race([asked, gone, late]);
    return {
      kind: /^valkey_version:/m.test(server) ? 'valkey' : 'redis',
      commands: names.filter((_, n) => infos[n] !== null),
    };
  } finally {
    redis.disconnect();
    child.kill('SIGKILL');
    await ended;
  }
}
