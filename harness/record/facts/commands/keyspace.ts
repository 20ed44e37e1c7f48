/** Commands on keys of any type, and on whole databases. */
import {
  expireApplies,
  expireOptions,
  integer,
  isNever,
  isOver,
  isWhole,
  type TimeOption,
  timeOf,
} from './arguments.js';
import { type CommandReading, change, type Execution, makeUnknown, upper } from './execution.js';
import { ABSENT, join, NEVER } from './state.js';
import { and, not, type Truth } from './truth.js';

export const keyspace: Record<string, CommandReading> = {
  DEL: remove,
  UNLINK: remove,
  EXPIRE: (x) => expire(x, 'EX'),
  PEXPIRE: (x) => expire(x, 'PX'),
  EXPIREAT: (x) => expire(x, 'EXAT'),
  PEXPIREAT: (x) => expire(x, 'PXAT'),
  PERSIST: (x) => {
    const [key = ''] = x.args;
    const state = x.get(key);
    x.set(
      key,
      state.exists === 'no' ? state : { ...state, expires: NEVER },
      and(state.exists, not(isNever(state.expires))),
    );
  },
  RENAME: (x) => rename(x, false),
  RENAMENX: (x) => rename(x, true),
  COPY: (x) => {
    const [from = '', to = '', ...words] = x.args;
    const options = words.map(upper);
    const at = options.indexOf('DB');
    const db = at < 0 ? x.db : Number(integer(words[at + 1]) ?? Number.NaN);
    const known = options.every((word, n) => word === 'REPLACE' || word === 'DB' || (at >= 0 && n === at + 1));
    if (!known || !Number.isInteger(db)) return makeUnknown(x, to);
    transfer(x, { from, to, db, takes: false, replaces: options.includes('REPLACE') });
  },
  MOVE: (x) => {
    const [key = '', db] = x.args;
    const number = integer(db);
    if (number === undefined || Number(number) === x.db) return;
    transfer(x, { from: key, to: key, db: Number(number), takes: true, replaces: false });
  },
  RESTORE: restore,
  'RESTORE-ASKING': restore,
  MIGRATE: migrate,
  FLUSHDB: (x) => flush(x, x.db),
  FLUSHALL: (x) => flush(x),
  SWAPDB: (x) => {
    const [one, other] = x.args.map(integer);
    if (one === undefined || other === undefined) return;
    const there = and(isThere(x, Number(one)), isThere(x, Number(other)));
    if (there !== 'no') x.swap(Number(one), Number(other), there === 'yes');
  },
};

function remove(x: Execution): void {
  for (const key of x.args) x.set(key, ABSENT, x.get(key).exists);
}

function expire(x: Execution, unit: TimeOption): void {
  const [key = '', amount, ...words] = x.args;
  const options = expireOptions(words);
  const to = timeOf(unit, amount, x.now);
  if (!options || !to) return;
  const state = x.get(key);
  const applies = and(state.exists, expireApplies(options, state.expires, to));
  // In the past, or now: the key is deleted.
  const gone = isOver(unit, amount, to, x.now);
  const later = { ...state, expires: to };
  if (state.exists === 'unknown' && applies === 'unknown' && options.size === 0) {
    const there = gone === 'yes' ? ABSENT : gone === 'no' ? later : join(ABSENT, later);
    x.set(key, there.exists === 'no' ? there : { ...there, exists: 'unknown' }, 'unknown');
    return;
  }
  if (gone === 'yes' && applies === 'yes') x.set(key, ABSENT, 'yes', { wanted: later });
  else change(x, key, applies, () => (gone === 'yes' ? ABSENT : gone === 'no' ? later : join(ABSENT, later)));
}

function rename(x: Execution, onlyNew: boolean): void {
  const [from = '', to = ''] = x.args;
  transfer(x, { from, to, db: x.db, takes: true, replaces: !onlyNew });
}

/** Whether a server has that database: one that it has not is an error. */
function isThere({ databases, db }: Execution, number: number): Truth {
  if (number < 0) return 'no';
  return number === db || number < databases ? 'yes' : 'unknown';
}

interface Transfer {
  from: string;
  to: string;
  db: number;
  /** Whether it is gone from where it was. */
  takes: boolean;
  /** Whether it takes the place of what is there. */
  replaces: boolean;
}

/** Puts what is under one key under another, with its time to live. */
function transfer(x: Execution, { from, to, db, takes, replaces }: Transfer): void {
  if (![from, to].every(isWhole)) {
    makeUnknown(x, from, to);
    return;
  }
  if (from === to && db === x.db) return;
  const [source, target] = [x.get(from), x.get(to, db)];
  const applies = and(isThere(x, db), source.exists, replaces ? 'yes' : not(target.exists));
  if (applies === 'no') return;
  const moved = { ...source, exists: 'yes' as const };
  x.set(to, applies === 'yes' ? moved : join(moved, target), applies, { db });
  if (takes) x.set(from, applies === 'yes' ? ABSENT : join(ABSENT, source), applies);
}

/**
 * A key comes from another server, with its time to live. Of who stored it there no line here tells. `RESTORE` may be sent by
 * anybody, and be refused for what it carries; `RESTORE-ASKING` is what servers send each other.
 */
function restore(x: Execution): void {
  const [key = '', ttl, payload = '', ...words] = x.args;
  const options = words.map(upper);
  const [unit, never]: [TimeOption, boolean] = [options.includes('ABSTTL') ? 'PXAT' : 'PX', ttl === '0'];
  const expires = never ? NEVER : timeOf(unit, ttl, x.now);
  if (!expires) return;
  const value = stringIn(payload);
  const held = value === undefined ? undefined : ({ type: 'string', value, by: x.by } as const);
  const valid = x.by.name === 'RESTORE-ASKING' ? 'yes' : 'unknown';
  const applies = and(valid, options.includes('REPLACE') ? 'yes' : not(x.get(key).exists));
  change(x, key, applies, () => ({ exists: 'yes', held, expires }), x.get(key), !options.includes('REPLACE'));
}

/**
 * The string that a dump holds, where it is a short one that is stored as it is; undefined: something else, or not known. With a
 * backslash in it, it may be what stands for other bytes (`text-of-bytes.ts`).
 */
function stringIn(dump: string): string | undefined {
  const length = dump.charCodeAt(1);
  const value = dump.slice(2, 2 + length);
  return dump[0] === '\0' && length < 64 && value.length === length && /^[ -[\]-~]*$/.test(value) ? value : undefined;
}

/** Keys that go to another server, where that takes them: the line is there also where it did not. */
function migrate(x: Execution): void {
  const [, , key = '', , , ...words] = x.args;
  const options = words.map(upper);
  const at = options.indexOf('KEYS');
  if ((at < 0 ? options : options.slice(0, at)).includes('COPY')) return;
  for (const one of at < 0 ? [key] : words.slice(at + 1))
    change(x, one, and('unknown', x.get(one).exists), () => ABSENT);
}

/** Without `db` all of them. */
function flush(x: Execution, db?: number): void {
  const [option] = x.args;
  if (x.args.length > 1 || (option !== undefined && !['ASYNC', 'SYNC'].includes(upper(option)))) return;
  x.flush(db);
}
