/** Random commands on a few keys, understood and not, right and wrong, alone, in transactions, scripts and functions. */
import fc from 'fast-check';

export type Argv = string[];

/** Sent one after the other; what the server stores is compared after the last. */
export type Step = Argv[];

const key = fc.constantFrom('k1', 'k2', 'k3');
const field = fc.constantFrom('f', 'g', 'h');
const value = fc.constantFrom('a', 'b', 'c', '5', '-3', '07', '', '9223372036854775807', '1.5', 'ü');
const number = fc.constantFrom('1', '-1', '2', '0', '10', '9223372036854775807', '-9223372036854775808', 'x', '1.5');
const score = fc.constantFrom('1', '2', '2', '-1.5', '0', 'inf', '-inf', 'x', '1e2');
const index = fc.constantFrom('0', '1', '-1', '-2', '5', 'x');
const count = fc.constantFrom('0', '1', '2', '-1', '5');
const db = fc.constantFrom('0', '1');
const side = fc.constantFrom('LEFT', 'RIGHT');
const option = fc.constantFrom('NX', 'XX', 'GT', 'LT', 'nx', 'KEEPTTL', 'GET', 'CH', 'INCR');
const expireOptions = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Argv>([]) },
  fc.subarray(['NX', 'XX', 'GT', 'LT'], { maxLength: 2 }),
);

/** Far ahead, over, and so near that it passes while the sequence runs. */
const pastS = '1500000000';
const aheadS = fc.constantFrom('4000000000', '4000000001');
const ttlS = fc.constantFrom('1000', '1001', '2000', '0', '-1', 'x', '9223372036854775807');
const ttlMs = fc.constantFrom('1000000', '1000001', '2000000', '1', '2', '5', '0', '-1', 'x');
const atS = fc.oneof(aheadS, fc.constant(pastS), fc.constant('-1'));
const atMs = atS.map((seconds) => `${seconds}000`);
const time = fc.oneof(
  fc.tuple(fc.constant('EX'), ttlS),
  fc.tuple(fc.constant('PX'), ttlMs),
  fc.tuple(fc.constant('EXAT'), atS),
  fc.tuple(fc.constant('PXAT'), atMs),
);

const some = <T>(arbitrary: fc.Arbitrary<T>, most = 3) => fc.array(arbitrary, { minLength: 1, maxLength: most });
const optional = (arbitrary: fc.Arbitrary<readonly string[]>) =>
  fc.oneof(fc.constant<readonly string[]>([]), arbitrary);
const pairs = (left: fc.Arbitrary<string>, right: fc.Arbitrary<string>, most = 3) =>
  some(fc.tuple(left, right), most).map((all) => all.flat());
const cmd = (...parts: (string | fc.Arbitrary<string | readonly string[]>)[]) =>
  fc.tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part))).map((all) => all.flat());
const fields = (each: fc.Arbitrary<readonly string[]>) =>
  some(each, 2).map((all) => ['FIELDS', `${all.length}`, ...all.flat()]);

const conditions = fc.tuple(fc.constantFrom('IFEQ', 'IFNE', 'IFDEQ', 'IFDNE'), value);
const setOptions = fc
  .tuple(
    fc.constantFrom([], [], ['NX'], ['XX']),
    fc.constantFrom([], [], [], ['GET']),
    fc.oneof(fc.constant<Argv>([]), time, fc.constant(['KEEPTTL'])),
  )
  .map((all) => all.flat());

/** By the command that the server must know. */
const commands: Record<string, fc.Arbitrary<Argv>> = {
  SET: cmd('SET', key, value, setOptions),
  SETNX: cmd('SETNX', key, value),
  SETEX: cmd('SETEX', key, ttlS, value),
  PSETEX: cmd('PSETEX', key, ttlMs, value),
  GETSET: cmd('GETSET', key, value),
  GETDEL: cmd('GETDEL', key),
  GETEX: cmd('GETEX', key, optional(fc.oneof(time, fc.constant(['PERSIST'])))),
  MSET: cmd('MSET', pairs(key, value)),
  MSETNX: cmd('MSETNX', pairs(key, value)),
  APPEND: cmd('APPEND', key, value),
  SETRANGE: cmd('SETRANGE', key, count, value),
  INCR: cmd('INCR', key),
  DECR: cmd('DECR', key),
  INCRBY: cmd('INCRBY', key, number),
  DECRBY: cmd('DECRBY', key, number),
  HSET: cmd('HSET', key, pairs(field, value)),
  HMSET: cmd('HMSET', key, pairs(field, value)),
  HSETNX: cmd('HSETNX', key, field, value),
  HDEL: cmd('HDEL', key, some(field)),
  HINCRBY: cmd('HINCRBY', key, field, number),
  SADD: cmd('SADD', key, some(field)),
  SREM: cmd('SREM', key, some(field)),
  SMOVE: cmd('SMOVE', key, key, field),
  ZADD: cmd('ZADD', key, optional(some(option)), pairs(score, field)),
  ZINCRBY: cmd('ZINCRBY', key, score, field),
  ZREM: cmd('ZREM', key, some(field)),
  ZREMRANGEBYSCORE: cmd(
    'ZREMRANGEBYSCORE',
    key,
    fc.constantFrom('-inf', '1', '(1'),
    fc.constantFrom('+inf', '2', '(2'),
  ),
  ZPOPMIN: cmd('ZPOPMIN', key, optional(cmd(count))),
  ZPOPMAX: cmd('ZPOPMAX', key, optional(cmd(count))),
  LPUSH: cmd('LPUSH', key, some(value)),
  RPUSH: cmd('RPUSH', key, some(value)),
  LPUSHX: cmd('LPUSHX', key, some(value)),
  RPUSHX: cmd('RPUSHX', key, some(value)),
  LPOP: cmd('LPOP', key, optional(cmd(count))),
  RPOP: cmd('RPOP', key, optional(cmd(count))),
  LREM: cmd('LREM', key, count, value),
  LTRIM: cmd('LTRIM', key, index, index),
  LSET: cmd('LSET', key, index, value),
  LINSERT: cmd('LINSERT', key, fc.constantFrom('BEFORE', 'after', 'x'), value, value),
  LMOVE: cmd('LMOVE', key, key, side, side),
  RPOPLPUSH: cmd('RPOPLPUSH', key, key),
  DEL: cmd('DEL', some(key)),
  UNLINK: cmd('UNLINK', some(key)),
  EXPIRE: cmd('EXPIRE', key, ttlS, expireOptions),
  PEXPIRE: cmd('PEXPIRE', key, ttlMs, expireOptions),
  EXPIREAT: cmd('EXPIREAT', key, atS, expireOptions),
  PEXPIREAT: cmd('PEXPIREAT', key, atMs, expireOptions),
  PERSIST: cmd('PERSIST', key),
  RENAME: cmd('RENAME', key, key),
  RENAMENX: cmd('RENAMENX', key, key),
  COPY: cmd('COPY', key, key, optional(cmd('DB', db)), optional(fc.constant(['REPLACE']))),
  MOVE: cmd('MOVE', key, db),
  // Of newer servers.
  DELEX: cmd('DELEX', key, optional(conditions)),
  DELIFEQ: cmd('DELIFEQ', key, value),
  HGETDEL: cmd('HGETDEL', key, fields(field.map((name) => [name]))),
  HEXPIRE: cmd('HEXPIRE', key, ttlS, expireOptions, fields(field.map((name) => [name]))),
  HPEXPIRE: cmd('HPEXPIRE', key, ttlMs, expireOptions, fields(field.map((name) => [name]))),
  HEXPIREAT: cmd('HEXPIREAT', key, atS, expireOptions, fields(field.map((name) => [name]))),
  HPEXPIREAT: cmd('HPEXPIREAT', key, atMs, expireOptions, fields(field.map((name) => [name]))),
  HPERSIST: cmd('HPERSIST', key, fields(field.map((name) => [name]))),
  HGETEX: cmd('HGETEX', key, optional(fc.oneof(time, fc.constant(['PERSIST']))), fields(field.map((name) => [name]))),
  HSETEX: cmd(
    'HSETEX',
    key,
    optional(cmd(fc.constantFrom('FNX', 'FXX'))),
    fc.oneof(fc.constant<Argv>([]), time, fc.constant(['KEEPTTL'])),
    fields(fc.tuple(field, value)),
  ),
};

/** What comes out of them is left to chance, or not reckoned. */
const vague: Record<string, fc.Arbitrary<Argv>> = {
  SPOP: cmd('SPOP', key, optional(cmd(count))),
  INCRBYFLOAT: cmd('INCRBYFLOAT', key, score),
  HINCRBYFLOAT: cmd('HINCRBYFLOAT', key, field, score),
  SETBIT: cmd('SETBIT', key, count, fc.constantFrom('0', '1')),
  ZREMRANGEBYRANK: cmd('ZREMRANGEBYRANK', key, index, index),
  SUNIONSTORE: cmd('SUNIONSTORE', key, some(key)),
  ZUNIONSTORE: cmd('ZUNIONSTORE', key, '1', key),
  SORT: cmd('SORT', key, 'ALPHA', 'STORE', key),
  BITOP: cmd('BITOP', 'NOT', key, key),
  PFADD: cmd('PFADD', key, value),
  PFCOUNT: cmd('PFCOUNT', key),
  XADD: cmd('XADD', key, '*', field, value),
  GEOADD: cmd('GEOADD', key, '1', '1', field),
  LMPOP: cmd('LMPOP', '1', key, side),
};

const reads: Record<string, fc.Arbitrary<Argv>> = {
  GET: cmd('GET', key),
  PTTL: cmd('PTTL', key),
  HEXISTS: cmd('HEXISTS', key, field),
  EXISTS: cmd('EXISTS', some(key)),
  PUBLISH: cmd('PUBLISH', key, value),
};

const wholeDbs = fc.oneof(
  cmd('FLUSHDB', optional(cmd(fc.constantFrom('SYNC', 'ASYNC', 'x')))),
  cmd('FLUSHALL'),
  cmd('SWAPDB', db, db),
);

/** With an argument too many or too few. */
const wrong = (argv: fc.Arbitrary<Argv>) =>
  fc.tuple(argv, fc.boolean(), value).map(([all, more, word]) => (more ? [...all, word] : all.slice(0, -1)));

export interface Known {
  /** In capitals. */
  commands: ReadonlySet<string>;
  /** Whether SET compares: IFEQ alone (Valkey), or with its kin (Redis). */
  compares: readonly string[];
  functions: boolean;
}

/** Commands that the server knows; `all`: also those of which the reading cannot say what comes out of them. */
export function steps(known: Known, { all }: { all: boolean }): fc.Arbitrary<Step> {
  const among = (table: Record<string, fc.Arbitrary<Argv>>) =>
    fc.oneof(...Object.keys(table).flatMap((name) => (known.commands.has(name) ? [table[name]!] : [])));
  const compared = known.compares.map((condition) => cmd('SET', key, value, condition, value, optional(time)));
  const plain = fc.oneof(
    { weight: 20, arbitrary: among(commands) },
    { weight: compared.length, arbitrary: compared.length > 0 ? fc.oneof(...compared) : among(reads) },
    { weight: 2, arbitrary: among(reads) },
    { weight: all ? 3 : 0, arbitrary: among(vague) },
    { weight: all ? 1 : 0, arbitrary: wrong(among(commands)) },
  );
  const inner = fc.array(plain, { minLength: 1, maxLength: 4 });
  const called = (how: string) => inner.map((argvs): Step => [['CALL', how, JSON.stringify(argvs)]]);
  const select = fc.tuple(db, plain).map(([number, argv]): Step => [['SELECT', number], argv, ['SELECT', '0']]);
  return fc.oneof(
    { weight: 14, arbitrary: plain.map((argv): Step => [argv]) },
    { weight: 1, arbitrary: wholeDbs.map((argv): Step => [argv]) },
    { weight: 1, arbitrary: fc.constant<Step>([['DEBUG', 'SLEEP', '0.004']]) },
    { weight: 1, arbitrary: select },
    { weight: 2, arbitrary: inner.map((argvs): Step => [['MULTI'], ...argvs, ['EXEC']]) },
    { weight: 1, arbitrary: inner.map((argvs): Step => [['MULTI'], ...argvs, ['DISCARD']]) },
    // Somebody else's write (its own, here) aborts it.
    {
      weight: 1,
      arbitrary: inner.map((argvs): Step => [['WATCH', 'k1'], ['SET', 'k1', 'w'], ['MULTI'], ...argvs, ['EXEC']]),
    },
    { weight: 2, arbitrary: called('call') },
    { weight: 2, arbitrary: called('pcall') },
    { weight: known.functions ? 1 : 0, arbitrary: called('function') },
  );
}
