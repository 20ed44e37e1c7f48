/** Commands on hashes, of whose fields each may have a time to live (Redis 7.4, Valkey 9). */
import {
  type ExpireOption,
  expireApplies,
  expireOptions,
  integer,
  isOver,
  isTimeOption,
  isWhole,
  type TimeOption,
  timeOf,
  timeToKeep,
  wholeText,
} from './arguments.js';
import { type CommandReading, change, type Execution, makeUnknown, typed, upper } from './execution.js';
import {
  GONE_PART,
  join,
  joinPart,
  type NamedParts,
  NEVER,
  type Part,
  part,
  partOf,
  type StoredState,
  type Times,
  withParts,
} from './state.js';
import { added, pairs } from './strings.js';
import { and, either, not, type Truth, truth } from './truth.js';

export const hashes: Record<string, CommandReading> = {
  HSET: hset,
  HMSET: hset,
  HSETNX: (x) => {
    const [, field = '', value = ''] = x.args;
    editFields(x, [field], (before) =>
      put(not(before.there), part(wholeText(value), x.by), { ...before, there: 'yes' }),
    );
  },
  HDEL: (x) => editFields(x, x.args.slice(1), remove, { makes: false }),
  HINCRBY: (x) => {
    const [, field = '', amount] = x.args;
    const by = integer(amount);
    if (by === undefined) return;
    editFields(x, [field], (before) => {
      const { sum, applies } = summed(before, by);
      // Who counts down takes nothing: it gives back a part of what another command stored, if that is there.
      const giver = before.there === 'yes' ? before.by : undefined;
      const taker = by < 0n && before.there !== 'no' ? giver : x.by;
      // The field keeps its time to live. An error means that it is there.
      return put(applies, { ...part(sum, taker), expires: keptOf(before) }, { ...before, there: 'yes' });
    });
  },
  HINCRBYFLOAT: (x) => {
    const [, field = ''] = x.args;
    // What is written is a sum in more digits than are reckoned with here.
    editFields(x, [field], (before) => put('unknown', { ...part(undefined, x.by), expires: keptOf(before) }, before));
  },
  HGETDEL: (x) => {
    const fields = fieldsAt(x.args, 1);
    if (fields) editFields(x, fields, remove, { makes: false });
  },
  HEXPIRE: (x) => hexpire(x, 'EX'),
  HPEXPIRE: (x) => hexpire(x, 'PX'),
  HEXPIREAT: (x) => hexpire(x, 'EXAT'),
  HPEXPIREAT: (x) => hexpire(x, 'PXAT'),
  HPERSIST: (x) => {
    const fields = fieldsAt(x.args, 1);
    if (fields) editFields(x, fields, (before) => keep(before, NEVER), { makes: false });
  },
  HGETEX: hgetex,
  HSETEX: hsetex,
};

/** What becomes of a field, and whether the command applied to it. */
interface Edited {
  part: Part;
  applies: Truth;
  /** If it applied. */
  wanted?: Part;
}

function put(applies: Truth, to: Part, otherwise: Part): Edited {
  if (applies === 'unknown') return { part: joinPart(to, otherwise), applies, wanted: to };
  return { part: applies === 'yes' ? to : otherwise, applies, wanted: to };
}

/** What counting a field comes to: one that is not there counts from 0. */
function summed({ there, value }: Part, by: bigint): { sum: string | undefined; applies: Truth } {
  const before = [...(there === 'yes' ? [] : ['0']), ...(there === 'no' ? [] : [value])];
  const sums = before.map((one) => (one === undefined ? undefined : added(one, by)));
  const errs = before.map((one, n) => (one === undefined ? 'unknown' : truth(sums[n] === undefined)));
  return {
    sum: sums.every((sum) => sum === sums[0]) ? sums[0] : undefined,
    applies: not(errs.reduce(either)),
  };
}

function remove(before: Part): Edited {
  return { part: GONE_PART, applies: before.there };
}

/** With another time to live, if it is there. */
function keep(before: Part, expires: Times, over?: Truth): Edited {
  return { part: before.there === 'no' ? GONE_PART : lasting(before, expires, over), applies: before.there };
}

/** A time that is over removes at once. */
function lasting(before: Part, expires: Times, over: Truth = 'no'): Part {
  if (over === 'yes') return GONE_PART;
  return over === 'no'
    ? { ...before, expires }
    : { ...before, expires, there: before.there === 'no' ? 'no' : 'unknown' };
}

function keptOf({ there, expires }: Part): Times {
  if (there === 'no') return NEVER;
  return there === 'yes' ? expires : { fromMs: expires.fromMs, untilMs: NEVER.untilMs };
}

/** Edits fields one by one; `makes`: a key that does not exist is made. */
function editFields(
  x: Execution,
  fields: readonly string[],
  edit: (before: Part, field: string) => Edited,
  { makes = true, applies = 'yes' as Truth } = {},
): void {
  const [key = ''] = x.args;
  if (!fields.every(isWhole)) {
    makeUnknown(x, key);
    return;
  }
  const { state, held, fits, otherwise } = typed(x.get(key), 'hash');
  if (!makes && state.exists === 'no') {
    change(x, key, fits === 'yes' ? 'no' : fits, () => state, otherwise);
    return;
  }
  const parts = likely(state.exists, held?.parts);
  const complete = held?.complete ?? true;
  const wanted = new Map(parts);
  const results = fields.map((field) => {
    const edited = edit(partOf({ parts, complete }, field), field);
    parts.set(field, edited.part);
    wanted.set(field, edited.wanted ?? edited.part);
    return edited.applies;
  });
  const base = { ...state, expires: makes ? keptKey(state) : state.expires };
  const to = withParts(base, 'hash', parts, complete);
  const able = and(fits, applies);
  const applied = able === 'yes' ? anyOf(results) : able;
  const left = applies === 'yes' ? otherwise : x.get(key);
  x.set(key, able === 'yes' ? to : able === 'no' ? x.get(key) : join(to, left), applied, {
    ...(applied !== 'yes' && { wanted: withParts(base, 'hash', wanted, complete) }),
  });
}

/** The parts of what may not exist may not be there. */
export function likely(exists: Truth, parts: NamedParts = new Map()): Map<string, Part> {
  const copy = new Map(parts);
  if (exists !== 'yes')
    for (const [name, one] of copy) if (one.there === 'yes') copy.set(name, { ...one, there: 'unknown' });
  return copy;
}

export function anyOf(results: readonly Truth[]): Truth {
  if (results.includes('yes')) return 'yes';
  return results.includes('unknown') ? 'unknown' : 'no';
}

/** When a key expires that was stored into: as before, or never where it was made. */
export function keptKey({ exists, expires }: StoredState): Times {
  if (exists === 'yes') return expires;
  return exists === 'no' ? NEVER : { fromMs: expires.fromMs, untilMs: NEVER.untilMs };
}

function hset(x: Execution): void {
  if (x.args.length < 3 || x.args.length % 2 === 0) return;
  const values = new Map(pairs(x.args.slice(1)));
  editFields(x, [...values.keys()], (_, field) => ({
    part: part(wholeText(values.get(field)!), x.by),
    applies: 'yes',
  }));
}

/** `FIELDS n field...` at the end of the arguments; undefined: an error. `each`: arguments a field. */
function fieldsAt(args: readonly string[], at: number, each = 1): string[] | undefined {
  const count = integer(args[at + 1]);
  const fields = args.slice(at + 2);
  if (upper(args[at]) !== 'FIELDS' || count === undefined || count <= 0n) return undefined;
  return BigInt(fields.length) === count * BigInt(each) ? fields : undefined;
}

function hexpire(x: Execution, unit: TimeOption): void {
  const [key = '', amount, ...rest] = x.args;
  const at = rest.findIndex((word) => upper(word) === 'FIELDS');
  const options = at < 0 ? undefined : expireOptions(rest.slice(0, at));
  const fields = at < 0 ? undefined : fieldsAt(rest, at);
  const to = timeOf(unit, amount, x.now);
  // Servers differ in what they take for an error here.
  if (!options || !fields || !to || integer(amount)! < 0n) {
    makeUnknown(x, key);
    return;
  }
  editFields(x, fields, (before) => expireField(before, options, to, isOver(unit, amount, to, x.now)), {
    makes: false,
  });
}

function expireField(before: Part, options: ReadonlySet<ExpireOption>, to: Times, over: Truth): Edited {
  const applies = and(before.there, expireApplies(options, before.expires, to));
  return put(applies, lasting(before, to, over), before);
}

function hgetex(x: Execution): void {
  const [key = '', option, amount] = x.args;
  const word = upper(option);
  if (word === 'FIELDS') return;
  if (word === 'PERSIST') {
    const fields = fieldsAt(x.args, 2);
    if (fields) editFields(x, fields, (before) => keep(before, NEVER), { makes: false });
    else makeUnknown(x, key);
    return;
  }
  const fields = fieldsAt(x.args, 3);
  const to = isTimeOption(word) ? timeToKeep(word, amount, x.now) : undefined;
  if (!fields || !to) {
    makeUnknown(x, key);
    return;
  }
  editFields(x, fields, (before) => keep(before, to, isOver(word as TimeOption, amount, to, x.now)), { makes: false });
}

function hsetex(x: Execution): void {
  const [key = '', ...rest] = x.args;
  const at = rest.findIndex((word) => upper(word) === 'FIELDS');
  const words = rest.slice(0, Math.max(at, 0)).map(upper);
  const fields = at < 0 ? undefined : fieldsAt(rest, at, 2);
  const only = words.find((word) => word === 'FNX' || word === 'FXX');
  const timed = words.filter((word) => word !== only);
  const [option, amount] = timed;
  const to = isTimeOption(option) && timed.length === 2 ? timeToKeep(option, amount, x.now) : undefined;
  const over = to && isTimeOption(option) ? isOver(option, amount, to, x.now) : 'no';
  const keepTtl = option === 'KEEPTTL' && timed.length === 1;
  if (!fields || (timed.length > 0 && !to && !keepTtl)) {
    makeUnknown(x, key);
    return;
  }
  const values = new Map(pairs(fields));
  const hash = typed(x.get(key), 'hash');
  const there = (field: string) =>
    hash.state.exists === 'no' ? 'no' : and(hash.state.exists, partOf(hash.held!, field).there);
  const condition = and(
    ...[...values.keys()].map((field) => (only === 'FNX' ? not(there(field)) : only === 'FXX' ? there(field) : 'yes')),
  );
  if (and(hash.fits, condition) === 'no') {
    x.set(key, x.get(key), 'no');
    return;
  }
  editFields(
    x,
    [...values.keys()],
    (before, field) => {
      const expires = to ?? (keepTtl ? keptOf(before) : NEVER);
      return { part: lasting(part(wholeText(values.get(field)!), x.by), expires, over), applies: 'yes' };
    },
    { applies: condition },
  );
}
