/** Commands on sets and sorted sets. */
import { integer, isWhole, score } from './arguments.js';
import { type CommandReading, change, type Execution, makeUnknown, typed, upper } from './execution.js';
import { anyOf, keptKey, likely } from './hashes.js';
import {
  GONE_PART,
  type HeldParts,
  joinPart,
  type Part,
  type PartsType,
  part,
  partOf,
  type StoredState,
  withParts,
} from './state.js';
import { and, either, not, type Truth, truth } from './truth.js';

export const sets: Record<string, CommandReading> = {
  SADD: (x) =>
    editMembers(x, 'set', x.args.slice(1), (before) => ({ part: part('', x.by), applies: not(before.there) })),
  SREM: (x) => editMembers(x, 'set', x.args.slice(1), remove, { makes: false }),
  SPOP: (x) => {
    const count = x.args.length === 1 ? 1n : integer(x.args[1]);
    if (x.args.length > 2 || count === undefined || count < 0n) return;
    removeSome(x, 'set', count);
  },
  SMOVE: (x) => {
    const [from = '', to = '', member = ''] = x.args;
    if (![from, to, member].every(isWhole)) return makeUnknown(x, from, to);
    const [source, target] = [typed(x.get(from), 'set'), typed(x.get(to), 'set')];
    const there = source.state.exists === 'no' ? 'no' : and(source.state.exists, partOf(source.held!, member).there);
    const applies = and(source.fits, there, target.fits);
    if (from === to || applies === 'no') return;
    if (applies === 'unknown') return makeUnknown(x, from, to);
    x.set(from, edited(source.state, 'set', source.held, [[member, GONE_PART]]), 'yes');
    x.set(to, edited(target.state, 'set', target.held, [[member, part('', x.by)]]), 'yes');
  },
  ZADD: zadd,
  ZINCRBY: (x) => {
    const [key = '', amount, member = ''] = x.args;
    zaddTo(x, key, { incr: true }, [[amount ?? '', member]]);
  },
  ZREM: (x) => editMembers(x, 'zset', x.args.slice(1), remove, { makes: false }),
  ZREMRANGEBYSCORE: (x) => {
    const [key = '', least, most] = x.args;
    const [from, to] = [bound(least), bound(most)];
    if (!from || !to) return makeUnknown(x, key);
    const within = ({ value }: Part): Truth => {
      const known = score(value);
      if (known === undefined) return 'unknown';
      return truth((from.open ? known > from.at : known >= from.at) && (to.open ? known < to.at : known <= to.at));
    };
    removeWhere(x, 'zset', within);
  },
  ZREMRANGEBYLEX: (x) => removeWhere(x, 'zset', () => 'unknown'),
  ZREMRANGEBYRANK: (x) => removeWhere(x, 'zset', () => 'unknown'),
  ZPOPMIN: (x) => popScored(x, 1),
  ZPOPMAX: (x) => popScored(x, -1),
};

interface Edited {
  part: Part;
  applies: Truth;
}

function remove(before: Part): Edited {
  return { part: GONE_PART, applies: before.there };
}

function edited(
  state: StoredState,
  type: PartsType,
  held: HeldParts | undefined,
  changes: Iterable<readonly [string, Part]>,
): StoredState {
  const parts = likely(state.exists, held?.parts);
  for (const [name, one] of changes) parts.set(name, one);
  return withParts(state, type, parts, held?.complete ?? true);
}

/** Edits members one by one; `makes`: a key that does not exist is made. */
function editMembers(
  x: Execution,
  type: PartsType,
  members: readonly string[],
  edit: (before: Part, member: string) => Edited,
  { makes = true } = {},
): void {
  const [key = ''] = x.args;
  if (!members.every(isWhole)) {
    makeUnknown(x, key);
    return;
  }
  const { state, held, fits, otherwise } = typed(x.get(key), type);
  if (!makes && state.exists === 'no') {
    change(x, key, fits === 'yes' ? 'no' : fits, () => state, otherwise);
    return;
  }
  const parts = likely(state.exists, held?.parts);
  const complete = held?.complete ?? true;
  const results = members.map((member) => {
    const to = edit(partOf({ parts, complete }, member), member);
    parts.set(member, to.part);
    return to.applies;
  });
  const to = () => withParts({ ...state, expires: makes ? keptKey(state) : state.expires }, type, parts, complete);
  if (fits === 'yes') x.set(key, to(), anyOf(results));
  else change(x, key, fits, to, otherwise);
}

/** Removes members of which something holds. */
function removeWhere(x: Execution, type: PartsType, gone: (one: Part, name: string) => Truth): void {
  const [key = ''] = x.args;
  const { state, held, fits } = typed(x.get(key), type);
  if (state.exists === 'no') return;
  const left = [...held!.parts].map(([name, one]): [string, Part] => {
    const goes = gone(one, name);
    if (goes === 'no') return [name, one];
    return [name, goes === 'yes' ? GONE_PART : joinPart(GONE_PART, one)];
  });
  const results = [...held!.parts].map(([name, one]) => and(one.there, gone(one, name)));
  const to = () => edited(state, type, held, left);
  if (fits === 'yes') x.set(key, to(), held!.complete ? anyOf(results) : either(anyOf(results), 'yes'));
  else change(x, key, fits, to);
}

/** Removes so many members; which ones is unknown. */
function removeSome(x: Execution, type: PartsType, count: bigint): void {
  const [key = ''] = x.args;
  const { state, held } = typed(x.get(key), type);
  if (count === 0n || state.exists === 'no') return;
  const sure = [...held!.parts.values()].filter(({ there }) => there === 'yes').length;
  const all = held!.complete && count >= BigInt(held!.parts.size);
  removeWhere(x, type, () => (all ? 'yes' : 'unknown'));
  // So many are left that the key is still there.
  const now = x.get(key);
  if (state.exists === 'yes' && BigInt(sure) > count && now.held) x.set(key, { ...now, exists: 'yes' }, 'yes');
}

interface AddOptions {
  nx?: boolean;
  xx?: boolean;
  gt?: boolean;
  lt?: boolean;
  incr?: boolean;
}

function zadd(x: Execution): void {
  const [key = '', ...words] = x.args;
  const options: AddOptions = {};
  let at = 0;
  for (; at < words.length; at++) {
    const word = upper(words[at]).toLowerCase();
    if (word === 'nx' || word === 'xx' || word === 'gt' || word === 'lt' || word === 'incr') options[word] = true;
    else if (word !== 'ch') break;
  }
  const rest = words.slice(at);
  const { nx, xx, gt, lt, incr } = options;
  const clash = (nx && (xx || gt || lt)) || (gt && lt) || (incr && rest.length !== 2);
  if (clash || rest.length === 0 || rest.length % 2 !== 0) return;
  const added: [string, string][] = [];
  for (let n = 0; n < rest.length; n += 2) added.push([rest[n]!, rest[n + 1]!]);
  zaddTo(x, key, options, added);
}

function zaddTo(
  x: Execution,
  key: string,
  options: AddOptions,
  added: readonly [amount: string, member: string][],
): void {
  const amounts = added.map(([amount]) => score(amount));
  // An error, or a number in a notation that is not read here.
  if (amounts.includes(undefined)) {
    makeUnknown(x, key);
    return;
  }
  let next = 0;
  editMembers(
    x,
    'zset',
    added.map(([, member]) => member),
    (before) => scored(before, amounts[next++]!, options, x),
    {
      makes: !options.xx,
    },
  );
}

function scored(before: Part, amount: number, { nx, xx, gt, lt, incr }: AddOptions, { by }: Execution): Edited {
  const known = before.there === 'yes' ? score(before.value) : undefined;
  const old = incr && before.there === 'no' ? 0 : known;
  const to = incr ? (old === undefined ? undefined : old + amount) : amount;
  const compared = (than: (a: number, b: number) => boolean): Truth => {
    if (before.there === 'no') return 'yes';
    return known === undefined || to === undefined ? 'unknown' : truth(than(to, known));
  };
  const applies = and(
    nx ? not(before.there) : 'yes',
    xx ? before.there : 'yes',
    gt ? compared((a, b) => a > b) : 'yes',
    lt ? compared((a, b) => a < b) : 'yes',
    // inf - inf
    to === undefined ? (Number.isFinite(amount) ? 'yes' : 'unknown') : truth(!Number.isNaN(to)),
  );
  const put = part(to === undefined ? undefined : `${to}`.replace('Infinity', 'inf'), by);
  if (applies === 'yes') return { part: put, applies };
  return { part: applies === 'no' ? before : joinPart(put, before), applies };
}

function bound(text: string | undefined): { at: number; open: boolean } | undefined {
  const open = text?.startsWith('(') ?? false;
  const at = score(open ? text?.slice(1) : text);
  return at === undefined ? undefined : { at, open };
}

/** Takes the members of the lowest scores (or the highest); those of the same score in the order of their bytes. */
function popScored(x: Execution, direction: 1 | -1): void {
  const count = x.args.length === 1 ? 1n : integer(x.args[1]);
  if (x.args.length > 2 || count === undefined || count <= 0n) return;
  const { held } = typed(x.get(x.args[0] ?? ''), 'zset');
  const known =
    held?.complete && [...held.parts.values()].every(({ there, value }) => there === 'yes' && value !== undefined);
  if (!known) {
    removeSome(x, 'zset', count);
    return;
  }
  const order = [...held!.parts]
    .map(([name, { value }]) => ({ name, bytes: Buffer.from(name), at: score(value)! }))
    .sort((a, b) => direction * (a.at - b.at || Buffer.compare(a.bytes, b.bytes)));
  const popped = new Set(order.slice(0, Number(count)).map(({ name }) => name));
  removeWhere(x, 'zset', (_, name) => truth(popped.has(name)));
}
