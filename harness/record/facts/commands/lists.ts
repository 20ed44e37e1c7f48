/** Commands on lists; one that waits for a list takes from it unseen, whenever something comes. */
import { integer, isWhole } from './arguments.js';
import {
  type CommandReading,
  change,
  type Execution,
  existsAs,
  makeUnknown,
  type Typed,
  typed,
  upper,
} from './execution.js';
import { keptKey } from './hashes.js';
import { type Item, type StoredState, withItems } from './state.js';
import { and, type Truth, truth } from './truth.js';

type End = 'LEFT' | 'RIGHT';

export const lists: Record<string, CommandReading> = {
  LPUSH: (x) => push(x, 'LEFT'),
  RPUSH: (x) => push(x, 'RIGHT'),
  LPUSHX: (x) => push(x, 'LEFT', { makes: false }),
  RPUSHX: (x) => push(x, 'RIGHT', { makes: false }),
  LPOP: (x) => pop(x, 'LEFT'),
  RPOP: (x) => pop(x, 'RIGHT'),
  LREM: (x) => {
    const [, amount, value = ''] = x.args;
    const count = integer(amount);
    if (count === undefined) return;
    edit(x, (items) => (isWhole(value) ? without(items, value, Number(count)) : undefined));
  },
  LTRIM: (x) => {
    const [, from, to] = x.args;
    const [first, last] = [integer(from), integer(to)];
    if (first === undefined || last === undefined) return;
    edit(x, (items) => {
      const start = Math.max(0, fromEnd(Number(first), items.length));
      return items.slice(start, Math.max(start, fromEnd(Number(last), items.length) + 1));
    });
  },
  LSET: (x) => {
    const [, index, value = ''] = x.args;
    const number = integer(index);
    if (number === undefined) return;
    edit(x, (items) => {
      const at = fromEnd(Number(number), items.length);
      return at < 0 || at >= items.length ? items : items.with(at, { value, by: x.by });
    });
  },
  LINSERT: (x) => {
    const [key = '', where, pivot = '', value = ''] = x.args;
    const side = upper(where);
    if (side !== 'BEFORE' && side !== 'AFTER') return;
    if (!isWhole(pivot) || !isWhole(value)) return makeUnknown(x, key);
    edit(x, (items) => {
      const at = items.findIndex((item) => item.value === pivot);
      return at < 0 ? items : items.toSpliced(side === 'BEFORE' ? at : at + 1, 0, { value, by: x.by });
    });
  },
  RPOPLPUSH: (x) => move(x, x.args[0] ?? '', x.args[1] ?? '', 'RIGHT', 'LEFT'),
  LMOVE: (x) => {
    const [from = '', to = '', out, into] = x.args;
    const ends = [upper(out), upper(into)];
    if (ends.every((end): end is End => end === 'LEFT' || end === 'RIGHT')) move(x, from, to, ends[0]!, ends[1]!);
  },
};

function push(x: Execution, end: End, { makes = true } = {}): void {
  const [key = '', ...values] = x.args;
  const list = typed(x.get(key), 'list');
  const { state, held, fits, otherwise } = list;
  const to = (): StoredState => {
    const items = state.exists === 'unknown' ? undefined : (held?.items ?? (state.exists === 'no' ? [] : undefined));
    const pushed = values.map((value): Item => ({ value, by: x.by }));
    const all = end === 'LEFT' ? [...pushed.reverse(), ...(items ?? [])] : [...(items ?? []), ...pushed];
    const whole = items !== undefined && values.every(isWhole);
    return withItems(
      { ...state, exists: 'yes', expires: makes ? keptKey(state) : state.expires },
      whole ? all : undefined,
    );
  };
  change(x, key, makes ? fits : existsAs(list), to, makes ? otherwise : x.get(key));
}

function pop(x: Execution, end: End): void {
  const count = x.args.length === 1 ? 1n : integer(x.args[1]);
  if (x.args.length > 2 || count === undefined || count < 0n) return;
  edit(x, (items) => {
    const left = Math.max(0, items.length - Number(count));
    return end === 'LEFT' ? items.slice(items.length - left) : items.slice(0, left);
  });
}

/** Edits a list that exists. */
function edit(x: Execution, to: (items: readonly Item[]) => readonly Item[] | undefined): void {
  const [key = ''] = x.args;
  const list = typed(x.get(key), 'list');
  const { state, held, fits } = list;
  if (state.exists === 'no') return;
  const items = held?.items && to(held.items);
  const applies: Truth = items ? truth(items !== held.items) : 'unknown';
  const result = items ? withItems(state, items) : { ...withItems(state, undefined), exists: 'unknown' as const };
  if (fits === 'yes')
    x.set(key, result.exists === 'no' ? result : { ...result, exists: and(state.exists, result.exists) }, applies);
  else change(x, key, fits, () => result);
}

function without(items: readonly Item[], value: string, count: number): readonly Item[] {
  const found = items.flatMap((item, at) => (item.value === value ? [at] : []));
  const gone = new Set(count === 0 ? found : count > 0 ? found.slice(0, count) : found.slice(count));
  return gone.size === 0 ? items : items.filter((_, at) => !gone.has(at));
}

function fromEnd(index: number, length: number): number {
  return index < 0 ? length + index : index;
}

function move(x: Execution, from: string, to: string, out: End, into: End): void {
  const [source, target]: Typed<'list'>[] = [typed(x.get(from), 'list'), typed(x.get(to), 'list')];
  const applies = and(source!.fits, source!.state.exists, target!.fits);
  const items = source!.held?.items;
  if (applies === 'no') return;
  if (applies === 'unknown' || !items || source!.state.exists !== 'yes') {
    makeUnknown(x, from, to);
    return;
  }
  const moved = (out === 'LEFT' ? items[0] : items.at(-1))!;
  const rest = out === 'LEFT' ? items.slice(1) : items.slice(0, -1);
  x.set(from, withItems(source!.state, rest), 'yes');
  const { state, held } = from === to ? typed(x.get(to), 'list') : target!;
  // The same list keeps its time to live, though it is empty in between.
  const base = from === to ? source!.state : { ...state, expires: keptKey(state) };
  const others = from === to ? rest : state.exists === 'no' ? [] : state.exists === 'yes' ? held?.items : undefined;
  const item: Item = { value: moved.value, by: x.by };
  x.set(
    to,
    withItems({ ...base, exists: 'yes' }, others && (into === 'LEFT' ? [item, ...others] : [...others, item])),
    'yes',
  );
}
