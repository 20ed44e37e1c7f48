/** Commands on strings. */
import { equals, integer, isTimeOption, type TimeOption, timeToKeep, wholeText, within64Bits } from './arguments.js';
import {
  type CommandReading,
  change,
  counts,
  type Execution,
  existsAs,
  makeUnknown,
  type Typed,
  typed,
  upper,
} from './execution.js';
import { ABSENT, NEVER, type Origin, present, type StoredState, type Times } from './state.js';
import { and, not, type Truth } from './truth.js';

export const strings: Record<string, CommandReading> = {
  SET: set,
  SETNX: (x) => {
    const [key = '', value = ''] = x.args;
    const { exists } = x.get(key);
    // Refused or not, it is there afterwards.
    change(x, key, not(exists), () => stored(value, x.by), { ...x.get(key), exists: 'yes' }, true);
  },
  SETEX: (x) => setFor(x, 'EX'),
  PSETEX: (x) => setFor(x, 'PX'),
  GETSET: (x) => {
    const [key = '', value = ''] = x.args;
    const { fits, otherwise } = typed(x.get(key), 'string');
    change(x, key, fits, () => stored(value, x.by), otherwise);
  },
  GETDEL: (x) => {
    const [key = ''] = x.args;
    const { fits, otherwise } = typed(x.get(key), 'string');
    change(x, key, fits, () => ABSENT, otherwise);
  },
  GETEX: getex,
  MSET: (x) => {
    if (x.args.length % 2 === 0) for (const [key, value] of pairs(x.args)) x.set(key, stored(value, x.by), 'yes');
  },
  MSETNX: (x) => {
    const all = pairs(x.args);
    if (x.args.length % 2 !== 0) return;
    const applies = and(...all.map(([key]) => not(x.get(key).exists)));
    for (const [key, value] of all) change(x, key, applies, () => stored(value, x.by));
  },
  APPEND: (x) =>
    edit(x, 'yes', (before) => {
      const more = wholeText(x.args[1] ?? '');
      return more === undefined ? undefined : `${before}${more}`;
    }),
  SETRANGE: (x) => {
    const offset = integer(x.args[1]);
    if (offset === undefined || offset < 0n) return;
    // An empty piece changes nothing, and makes no key.
    if (x.args[2] === '') return;
    // Beyond the longest string that a server takes it is an error.
    edit(
      x,
      offset < 1n << 20n ? 'yes' : 'unknown',
      (before) => overwritten(before, Number(offset), wholeText(x.args[2] ?? '')),
      true,
    );
  },
  INCR: (x) => count(x, 1n),
  DECR: (x) => count(x, -1n),
  INCRBY: (x) => count(x, integer(x.args[1])),
  DECRBY: (x) => {
    const by = integer(x.args[1]);
    count(x, by === undefined ? undefined : within64Bits(-by));
  },
  INCRBYFLOAT: (x) => {
    // What is written is a sum in more digits than are reckoned with here.
    edit(x, 'unknown', () => undefined, true);
  },
  SETBIT: (x) => edit(x, 'unknown', () => undefined, true),
  DELEX: (x) => {
    const [key = '', condition, match = ''] = x.args;
    if (x.args.length === 1) return x.set(key, ABSENT, x.get(key).exists);
    if (x.args.length !== 3) return;
    const string = typed(x.get(key), 'string');
    const applies = matches(upper(condition), match, string);
    if (applies) change(x, key, and(string.fits, string.state.exists, applies), () => ABSENT);
  },
  DELIFEQ: (x) => {
    const [key = '', match = ''] = x.args;
    const string = typed(x.get(key), 'string');
    change(x, key, and(existsAs(string), matches('IFEQ', match, string)!), () => ABSENT);
  },
};

function stored(value: string, by: Origin, expires: Times = NEVER): StoredState {
  return present({ type: 'string', value: wholeText(value), by }, expires);
}

interface SetWords {
  only?: 'NX' | 'XX';
  match?: readonly [condition: string, value: string];
  get?: true;
  time?: readonly [TimeOption, amount: string | undefined];
  keepTtl?: true;
}

/** Undefined: a syntax error, or options that are not known here. */
function setOptions(words: readonly string[]): SetWords | undefined {
  const options: SetWords = {};
  for (let at = 0; at < words.length; at++) {
    const word = upper(words[at]);
    const conditional = options.only !== undefined || options.match !== undefined;
    const timed = options.time !== undefined || options.keepTtl !== undefined;
    if ((word === 'NX' || word === 'XX') && !conditional) options.only = word;
    else if (CONDITIONS.includes(word) && !conditional && at + 1 < words.length) options.match = [word, words[++at]!];
    else if (word === 'GET') options.get = true;
    else if (word === 'KEEPTTL' && !timed) options.keepTtl = true;
    else if (isTimeOption(word) && !timed && at + 1 < words.length) options.time = [word, words[++at]];
    else return undefined;
  }
  return options;
}

const CONDITIONS = ['IFEQ', 'IFNE', 'IFDEQ', 'IFDNE'];

function set(x: Execution): void {
  const [key = '', value = '', ...words] = x.args;
  const options = setOptions(words);
  // Most likely an error; but another server may know more options.
  if (!options) {
    x.set(key, either(x, key, value), 'unknown');
    return;
  }
  const { only, match, get, time, keepTtl } = options;
  const to = time && timeToKeep(...time, x.now);
  if (time && !to) {
    x.set(key, x.get(key), 'no');
    return;
  }
  const before = x.get(key);
  const string = typed(before, 'string');
  const applies = and(
    only === undefined ? 'yes' : only === 'XX' ? before.exists : not(before.exists),
    match ? matches(...match, string)! : 'yes',
    // With these the old value is read, which must be a string.
    get || match ? string.fits : 'yes',
  );
  change(
    x,
    key,
    applies,
    () => stored(value, x.by, to ?? (keepTtl ? kept(before) : NEVER)),
    refusedBy(options, before),
    only === 'NX',
  );
}

/** What was there if it was refused. */
function refusedBy({ only, get }: SetWords, before: StoredState): StoredState {
  if (get || only === undefined) return before;
  return only === 'NX' ? { ...before, exists: 'yes' } : ABSENT;
}

/** What a command stored whose options are not understood: this value, or nothing. */
function either({ get, by, now }: Execution, key: string, value: string): StoredState {
  const before = get(key);
  const expires = { fromMs: Math.min(now.fromMs, before.expires.fromMs), untilMs: Number.POSITIVE_INFINITY };
  if (before.exists === 'no') return { exists: 'unknown', held: stored(value, by).held, expires };
  return { exists: 'unknown', held: undefined, expires };
}

/** KEEPTTL: a key that is made has no time to live. */
function kept({ exists, expires }: StoredState): Times {
  if (exists === 'yes') return expires;
  return exists === 'no' ? NEVER : { fromMs: expires.fromMs, untilMs: Number.POSITIVE_INFINITY };
}

/** Whether a string meets the condition; undefined: that is no condition. */
function matches(condition: string, match: string, { state, held }: Typed<'string'>): Truth | undefined {
  const { exists } = state;
  const same = held ? equals(held.value, match) : 'no';
  if (condition === 'IFEQ') return and(exists, exists === 'no' ? 'no' : same);
  if (condition === 'IFNE') return exists === 'no' ? 'yes' : exists === 'yes' || same === 'no' ? not(same) : 'unknown';
  // Digests are not reckoned here.
  if (condition === 'IFDEQ') return exists === 'no' ? 'no' : 'unknown';
  if (condition === 'IFDNE') return exists === 'no' ? 'yes' : 'unknown';
  return undefined;
}

function setFor(x: Execution, option: TimeOption): void {
  const [key = '', amount, value = ''] = x.args;
  const to = timeToKeep(option, amount, x.now);
  if (to) x.set(key, stored(value, x.by, to), 'yes');
}

function getex(x: Execution): void {
  const [key = '', option, amount] = x.args;
  const word = upper(option);
  if (option === undefined || counts(x.args, 2, 3) === 'no') return;
  const string = typed(x.get(key), 'string');
  const applies = existsAs(string);
  if (word === 'PERSIST' && x.args.length === 2)
    change(x, key, applies, () => ({ ...string.state, exists: 'yes', expires: NEVER }));
  else if (isTimeOption(word)) {
    const to = timeToKeep(word, amount, x.now);
    if (to) change(x, key, applies, () => ({ ...string.state, exists: 'yes', expires: to }));
  } else makeUnknown(x, key);
}

/**
 * Changes a string in place: it keeps its time to live. `edited` undefined: what comes out is not known. An error that the
 * arguments do not bring about by themselves (`applies`) means that the key is there.
 */
function edit(x: Execution, applies: Truth, edited: (before: string) => string | undefined, byItself = false): void {
  const [key = ''] = x.args;
  const { fits, state, held, otherwise } = typed(x.get(key), 'string');
  const to = (): StoredState => {
    const before = state.exists === 'no' ? '' : state.exists === 'yes' ? held?.value : undefined;
    const value = before === undefined ? undefined : edited(before);
    return {
      exists: 'yes',
      // Who counts or appends does not take it.
      held: { type: 'string', value, by: held?.by },
      expires: kept(state),
    };
  };
  change(x, key, and(fits, applies), to, byItself ? x.get(key) : { ...otherwise, exists: 'yes' });
}

function overwritten(before: string, offset: number, piece: string | undefined): string | undefined {
  // Redis counts bytes.
  if (piece === undefined || /[^\0-\x7f]/.test(before + piece)) return undefined;
  return before.slice(0, offset).padEnd(offset, '\0') + piece + before.slice(offset + piece.length);
}

/** `by` undefined: an error. */
function count(x: Execution, by: bigint | undefined): void {
  const [key = ''] = x.args;
  if (by === undefined) {
    x.set(key, x.get(key), 'no');
    return;
  }
  const { state, held } = typed(x.get(key), 'string');
  const known = state.exists === 'no' ? '0' : state.exists === 'yes' ? held?.value : undefined;
  const sum = known === undefined ? undefined : added(known, by);
  edit(x, known === undefined ? 'unknown' : sum === undefined ? 'no' : 'yes', () => sum);
}

/** Undefined: an error. */
export function added(value: string, by: bigint): string | undefined {
  const before = integer(value);
  return before === undefined ? undefined : within64Bits(before + by)?.toString();
}

export function pairs(args: readonly string[]): [string, string][] {
  const all: [string, string][] = [];
  for (let at = 0; at + 1 < args.length; at += 2) all.push([args[at]!, args[at + 1]!]);
  return all;
}
