/** Commands that not every server has: a lock that cannot do without one says so before it is asked for anything. */
import type { Redis } from 'ioredis';
import { LockNotUsableError } from './not-usable-here.js';

/** Since when there is such a command, for people. */
export const SINCE = {
  WAITAOF: 'Redis 7.2 and Valkey 7.2',
  HPEXPIRE: 'Redis 7.4 and Valkey 9',
  DELIFEQ: 'Valkey 9',
  DELEX: 'Redis 8.4',
} as const;

export type LaterCommand = keyof typeof SINCE;

/**
 * Rejects, with which servers have them, where the server said that it has none of these commands. One that cannot be asked just
 * now is not missing anything.
 */
export async function needOneOf(redis: Redis, names: readonly LaterCommand[]): Promise<void> {
  const infos = await (redis.call('COMMAND', 'INFO', ...names) as Promise<unknown[]>).catch(() => undefined);
  if (!infos?.every((info) => info === null)) return;
  const told = names.map((name) => `${name} (${SINCE[name]})`).join(' or ');
  throw new LockNotUsableError(`this server has no ${told}: choose another one with --server`);
}
