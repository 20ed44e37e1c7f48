/**
 * What a server stores under one key, as far as it is known. A state stands for all contents that the key may have: a value
 * that is not known is undefined, an expiry lies between two bounds, and what may be there or not says so. Two states join to
 * the least one that covers both, which is how a command is read that may have run into an error or not.
 *
 * Promises: what a state says is true of the server, whatever was not seen. It may say less than could be concluded.
 *
 * Abstract interpretation over a finite domain: P. Cousot and R. Cousot, POPL 1977.
 */
import { either, type Truth } from './truth.js';

/** One command that a server ran, as far as a reading wants to know of it; a line of the record. */
export interface Origin {
  /** Line of observations.jsonl, from 0. */
  readonly line: number;
  /** When the harness read it, ns since the epoch. */
  readonly atNs: number;
  /** The server's own clock, milliseconds since 1970. */
  readonly serverWallMs: number;
  /** In capitals. */
  readonly name: string;
  /** It gave the time of day until when something is to be kept, by the clock of whoever reckoned that. */
  readonly untilTimeOfDay?: boolean;
  /** The lock client process that sent it, or that sent the script; absent: the replication link, or somebody unknown. */
  readonly client?: string;
  /** `address:port` of who sent it, or who sent the script. */
  readonly source: string;
  /** The script that called it (EVAL, EVALSHA, FCALL), where one did that is known. */
  readonly script?: Origin;
}

/** Bounds of a time by the server's clock, milliseconds since 1970, both included. Infinity: never. */
export interface Times {
  readonly fromMs: number;
  readonly untilMs: number;
}

export const NEVER: Times = { fromMs: Number.POSITIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };
export const ANY_TIME: Times = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };

/** A field of a hash or a member of a set; one that is not named is not there, or nothing is known of it (`complete`). */
export interface Part {
  /** `no` is said only where not all parts are known. */
  readonly there: Truth;
  /** Of a field its value, of a sorted set's member its score, of a set's member an empty text; undefined: not known. */
  readonly value: string | undefined;
  /** Of a field; by default it never expires. */
  readonly expires: Times;
  /** What stored it, where one command did. */
  readonly by: Origin | undefined;
}

export type NamedParts = ReadonlyMap<string, Part>;
export type PartsType = 'hash' | 'set' | 'zset';

export interface Item {
  readonly value: string;
  readonly by: Origin | undefined;
}

export interface HeldString {
  readonly type: 'string';
  /** Undefined: not known. */
  readonly value: string | undefined;
  readonly by: Origin | undefined;
}

export interface HeldParts {
  readonly type: PartsType;
  readonly parts: NamedParts;
  /** Whether nothing is there but what `parts` names. */
  readonly complete: boolean;
}

export interface HeldList {
  readonly type: 'list';
  /** Undefined: not known. */
  readonly items: readonly Item[] | undefined;
}

export type Held = HeldString | HeldParts | HeldList;

export type HeldOf<T extends Held['type']> = T extends 'string' ? HeldString : T extends 'list' ? HeldList : HeldParts;

export interface StoredState {
  readonly exists: Truth;
  /** What it holds if it exists; undefined: anything. */
  readonly held: Held | undefined;
  /** When it expires if it exists. */
  readonly expires: Times;
}

export const ABSENT: StoredState = { exists: 'no', held: undefined, expires: NEVER };
export const UNKNOWN: StoredState = { exists: 'unknown', held: undefined, expires: ANY_TIME };

/** More than these are not followed one by one: a lock's record has as many as there are clients. */
export const MOST_PARTS = 256;

export function present(held: Held, expires: Times = NEVER): StoredState {
  return { exists: 'yes', held, expires };
}

export function part(value: string | undefined, by: Origin | undefined, expires: Times = NEVER): Part {
  return { there: 'yes', value, expires, by };
}

/** A hash, set or sorted set with these parts, which are the caller's no more; an empty one does not exist. */
export function withParts(
  state: StoredState,
  type: PartsType,
  parts: Map<string, Part>,
  complete: boolean,
): StoredState {
  let exists: Truth = complete ? 'no' : 'unknown';
  for (const [name, { there }] of parts) {
    if (there === 'yes') exists = 'yes';
    else if (there === 'unknown' && exists === 'no') exists = 'unknown';
    else if (there === 'no' && complete) parts.delete(name);
  }
  if (exists === 'no') return ABSENT;
  if (parts.size > MOST_PARTS) return { ...state, exists, held: { type, parts: new Map(), complete: false } };
  return { ...state, exists, held: { type, parts, complete } };
}

export function withItems(state: StoredState, items: readonly Item[] | undefined): StoredState {
  if (items === undefined || items.length > MOST_PARTS) return { ...state, held: { type: 'list', items: undefined } };
  return items.length === 0 ? ABSENT : { ...state, exists: 'yes', held: { type: 'list', items } };
}

export function hull(one: Times, other: Times): Times {
  if (one === other) return one;
  return { fromMs: Math.min(one.fromMs, other.fromMs), untilMs: Math.max(one.untilMs, other.untilMs) };
}

export function join(one: StoredState, other: StoredState): StoredState {
  if (one === other) return one;
  const exists = either(one.exists, other.exists);
  if (one.exists === 'no') return { ...other, exists };
  if (other.exists === 'no') return { ...one, exists };
  return { exists, held: joinHeld(one.held, other.held), expires: hull(one.expires, other.expires) };
}

function joinHeld(one: Held | undefined, other: Held | undefined): Held | undefined {
  if (one === other) return one;
  if (!one || !other || one.type !== other.type) return undefined;
  if (one.type === 'string') {
    const { value, by } = other as HeldString;
    return { type: 'string', value: same(one.value, value), by: same(one.by, by) };
  }
  if (one.type === 'list') return { type: 'list', items: sameItems(one.items, (other as HeldList).items) };
  const { parts, complete } = other as HeldParts;
  const joined = new Map<string, Part>();
  for (const name of new Set([...one.parts.keys(), ...parts.keys()]))
    joined.set(name, joinPart(partOf(one, name), partOf({ parts, complete }, name)));
  return { type: one.type, parts: joined, complete: one.complete && complete };
}

export function partOf({ parts, complete }: { parts: NamedParts; complete: boolean }, name: string): Part {
  return parts.get(name) ?? (complete ? GONE_PART : ANY_PART);
}

export const GONE_PART: Part = { there: 'no', value: undefined, expires: NEVER, by: undefined };
export const ANY_PART: Part = { there: 'unknown', value: undefined, expires: ANY_TIME, by: undefined };

export function joinPart(one: Part, other: Part): Part {
  if (one === other) return one;
  const there = either(one.there, other.there);
  if (one.there === 'no') return { ...other, there };
  if (other.there === 'no') return { ...one, there };
  return {
    there,
    value: same(one.value, other.value),
    expires: hull(one.expires, other.expires),
    by: same(one.by, other.by),
  };
}

function same<T>(one: T | undefined, other: T | undefined): T | undefined {
  return one === other ? one : undefined;
}

function sameItems(one: readonly Item[] | undefined, other: readonly Item[] | undefined) {
  if (one === other) return one;
  if (!one || !other || one.length !== other.length) return undefined;
  return one.every(({ value }, at) => value === other[at]!.value) ? one : undefined;
}

// ----------------------------------------------------------------------------------------------------- time passes

/**
 * The state by then, where nothing but time has passed: the server removes what has expired as soon as it is asked for, if
 * not before. A key or a field expires once the clock shows more than its time.
 */
export function stateBy(state: StoredState, now: Times): StoredState {
  if (state.exists === 'no') return state;
  const gone = passed(state.expires, now);
  if (gone === 'yes') return ABSENT;
  const left = withoutExpiredFields(state, now);
  if (gone === 'no') return left;
  // Perhaps it is there still; if so, its time is not over.
  return { ...left, exists: 'unknown', expires: notBefore(left.expires, now.fromMs) };
}

/** Whether that time is over. */
export function passed(expires: Times, now: Times): Truth {
  if (now.untilMs <= expires.fromMs) return 'no';
  return now.fromMs > expires.untilMs ? 'yes' : 'unknown';
}

function notBefore({ fromMs, untilMs }: Times, ms: number): Times {
  return { fromMs: Math.max(fromMs, ms), untilMs };
}

function withoutExpiredFields(state: StoredState, now: Times): StoredState {
  const { held } = state;
  if (held?.type !== 'hash') return state;
  let parts: Map<string, Part> | undefined;
  for (const [name, one] of held.parts) {
    const gone = passed(one.expires, now);
    if (one.there === 'no' || gone === 'no') continue;
    if (gone === 'unknown' && one.there === 'unknown' && one.expires.fromMs >= now.fromMs) continue;
    parts ??= new Map(held.parts);
    if (gone === 'yes') parts.set(name, GONE_PART);
    else parts.set(name, { ...one, there: 'unknown', expires: notBefore(one.expires, now.fromMs) });
  }
  if (!parts) return state;
  const left = withParts(state, 'hash', parts, held.complete);
  // A hash whose last field has expired stands empty until the server looks.
  return left.exists === 'no' ? { ...state, exists: 'unknown', held: { ...held, parts: new Map() } } : left;
}
