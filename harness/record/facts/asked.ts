/** What a command asks of a key before it writes, or is answered: by its name and its words. */

/** They tell what a key holds, or whether it holds something. */
export const READS_OWNER = new Set(
  'GET GETEX GETRANGE SUBSTR MGET HGET HMGET HGETALL HKEYS HVALS HEXISTS HSETNX SISMEMBER SMISMEMBER SMEMBERS ZSCORE ZRANK ZRANGE LINDEX LRANGE LPOS'.split(
    ' ',
  ),
);

/** Whether it stores only where the key, or the field that it names, is as it says. */
export function isConditional(name: string, argv: readonly string[]): boolean {
  if (name === 'SET') return argv.slice(3).some((word) => /^(NX|XX|IF(EQ|NE|DEQ|DNE))$/i.test(word));
  return name === 'SETNX' || name === 'HSETNX' || name === 'MSETNX';
}

/** They ask for the fields or members that they name. */
const ASKS_PARTS = new Set(
  'HEXISTS HGET HMGET HSTRLEN SISMEMBER SMISMEMBER ZSCORE ZMSCORE ZRANK ZREVRANK LPOS'.split(' '),
);

/** Which parts a command asks for that asks something; undefined: for the key as a whole. */
export function partsAskedBy(name: string, argv: readonly string[]): readonly string[] | undefined {
  if (ASKS_PARTS.has(name)) return argv.slice(2);
  if (name === 'HSETNX') return argv.slice(2, 3);
  return name === 'SET' && !argv.slice(3).some((word) => /^NX$/i.test(word)) ? [] : undefined;
}

/** They store, or remove, and are answered nothing of what others have stored there, or only when that is gone. */
const BLIND: ReadonlySet<string> = new Set(
  'SETEX PSETEX MSET HSET HMSET HDEL SADD SREM ZADD ZREM LREM DEL UNLINK'.split(' '),
);

/** Whether it stores something, and is answered what was there. */
export function isToldBefore(name: string, argv: readonly string[]): boolean {
  return name === 'GETSET' || (name === 'SET' && argv.slice(3).some((word) => /^GET$/i.test(word)));
}

/** Whether it does to the key what it is to do whatever others have stored there, and its answer does not show what that was. */
export function isBlind(name: string, argv: readonly string[]): boolean {
  if (name === 'SET') return !isConditional(name, argv) && !isToldBefore(name, argv);
  return BLIND.has(name);
}
