/** What is known of Redis' commands, by name: how to read those that write, and which do not write. */
import { type CommandReading, type Execution, makeUnknown } from './execution.js';
import { hashes } from './hashes.js';
import { keyspace } from './keyspace.js';
import { lists } from './lists.js';
import { sets } from './sets.js';
import { strings } from './strings.js';

const BLOCKING = ['BLPOP', 'BRPOP', 'BLMOVE', 'BRPOPLPUSH', 'BLMPOP', 'BZPOPMIN', 'BZPOPMAX', 'BZMPOP'];

export const readings: Readonly<Record<string, CommandReading>> = {
  ...strings,
  ...hashes,
  ...sets,
  ...lists,
  ...keyspace,
  ...Object.fromEntries(BLOCKING.map((name) => [name, waits])),
};

/** It may take something now, or when something comes, of which no line tells. */
function waits(x: Execution): void {
  makeUnknown(x, ...x.args);
  for (const key of x.args) x.wait(key);
}

/** Scripts write by the commands that they call, which have lines of their own. */
const SCRIPTS = ['EVAL', 'EVALSHA', 'EVAL_RO', 'EVALSHA_RO', 'FCALL', 'FCALL_RO', 'FUNCTION', 'SCRIPT'];

/** Without PFCOUNT, which writes what it has counted into the key. */
const READS = [
  ...[
    'EXISTS',
    'TYPE',
    'TTL',
    'PTTL',
    'EXPIRETIME',
    'PEXPIRETIME',
    'TOUCH',
    'OBJECT',
    'DUMP',
    'KEYS',
    'SCAN',
    'RANDOMKEY',
  ],
  ...['DBSIZE', 'SORT_RO', 'MEMORY'],
  ...['GET', 'MGET', 'STRLEN', 'GETRANGE', 'SUBSTR', 'GETBIT', 'BITCOUNT', 'BITPOS', 'BITFIELD_RO', 'LCS', 'DIGEST'],
  ...['HGET', 'HMGET', 'HGETALL', 'HKEYS', 'HVALS', 'HLEN', 'HEXISTS', 'HSTRLEN', 'HSCAN', 'HRANDFIELD'],
  ...['HTTL', 'HPTTL', 'HEXPIRETIME', 'HPEXPIRETIME'],
  ...[
    'SISMEMBER',
    'SMISMEMBER',
    'SMEMBERS',
    'SCARD',
    'SRANDMEMBER',
    'SSCAN',
    'SDIFF',
    'SINTER',
    'SINTERCARD',
    'SUNION',
  ],
  ...['ZSCORE', 'ZMSCORE', 'ZCARD', 'ZCOUNT', 'ZLEXCOUNT', 'ZRANGE', 'ZREVRANGE', 'ZRANGEBYSCORE', 'ZREVRANGEBYSCORE'],
  ...[
    'ZRANGEBYLEX',
    'ZREVRANGEBYLEX',
    'ZRANK',
    'ZREVRANK',
    'ZSCAN',
    'ZRANDMEMBER',
    'ZDIFF',
    'ZINTER',
    'ZINTERCARD',
    'ZUNION',
  ],
  ...['LRANGE', 'LINDEX', 'LLEN', 'LPOS'],
  ...['GEODIST', 'GEOHASH', 'GEOPOS', 'GEOSEARCH', 'GEORADIUS_RO', 'GEORADIUSBYMEMBER_RO'],
  ...['XLEN', 'XRANGE', 'XREVRANGE', 'XREAD', 'XINFO', 'XPENDING'],
  ...[
    'PUBLISH',
    'SPUBLISH',
    'SUBSCRIBE',
    'SSUBSCRIBE',
    'PSUBSCRIBE',
    'UNSUBSCRIBE',
    'SUNSUBSCRIBE',
    'PUNSUBSCRIBE',
    'PUBSUB',
  ],
  // What is queued in a transaction has its lines when it runs, and none if it never does.
  ...['MULTI', 'EXEC', 'DISCARD', 'WATCH', 'UNWATCH'],
  ...[
    'SELECT',
    'PING',
    'ECHO',
    'TIME',
    'INFO',
    'ROLE',
    'WAIT',
    'WAITAOF',
    'CLIENT',
    'HELLO',
    'AUTH',
    'COMMAND',
    'ASKING',
  ],
  ...['READONLY', 'READWRITE', 'CLUSTER', 'CONFIG', 'LOLWUT', 'QUIT', 'RESET', 'REPLCONF'],
];

export const writesNothing: ReadonlySet<string> = new Set([...SCRIPTS, ...READS]);

export function isScript(name: string): boolean {
  return name.startsWith('EVAL') || name.startsWith('FCALL');
}

/** What a request is like: its command, and of a script which. What it names and stores may differ from one to the next. */
export function requestKind([command = '', script]: readonly string[]): string {
  const name = command.toUpperCase();
  return isScript(name) ? `${name} ${script}`.toUpperCase() : name;
}
