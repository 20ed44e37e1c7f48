/**
 * What a look at a server tells of a key, beside the commands. It is asked for and answered on another connection than
 * MONITOR's, so it is put in its place by the server's own clock, which it was read with; where a command concerned the key
 * within that time, the sample says nothing of it.
 */
import type { Change } from './changes.js';
import { stores } from './changes.js';
import {
  ABSENT,
  ANY_TIME,
  type Held,
  hull,
  NEVER,
  type Part,
  part,
  partOf,
  type StoredState,
  type Times,
  UNKNOWN,
} from './state.js';
import { pairs } from './strings.js';

export interface SampleLine {
  readonly line: number;
  readonly atNs: number;
  /** It was not looked at before this. */
  readonly ranFromNs: number;
  /** The server's own clock when it was looked at: not before, and not after. */
  readonly wall: Times;
  /** The same in fractions of a millisecond, where it was told so: which commands came before and after; absent: `wall`. */
  readonly between?: Times;
  /** Whether those bounds are the server's own words; else it may be that it was looked at a little before or after. */
  readonly exact: boolean;
  readonly role: 'primary' | 'replica' | 'unknown';
  readonly linkUp?: boolean;
  readonly runId: string;
  /** Nothing at all was stored in the first database. */
  readonly isEmpty?: boolean;
  /** Keys that were looked for. */
  readonly covers: readonly string[];
  /** What was found: a string as it is, a hash as JSON, anything else in words. */
  readonly keys: Readonly<Record<string, StoredSample>>;
}

export interface StoredSample {
  readonly owner: string;
  readonly pttlMs: number;
  /** Absent in older records: what looks like a hash was taken for one. */
  readonly type?: 'string' | 'hash' | 'other';
}

/**
 * The state of a key, with what the sample adds to it; undefined: nothing that was not known. `fieldsExpire`: fields of a
 * hash may have times to live, of which a sample does not tell.
 */
export function refined(
  state: StoredState,
  key: string,
  sample: SampleLine,
  fieldsExpire: boolean,
): StoredState | undefined {
  const shown = shownOf(key, sample, fieldsExpire);
  if (!shown) return undefined;
  const both = meet(state, shown);
  if (both === state) return undefined;
  // Commands or the sample are wrong, or something was not seen. If the sample is old, the next one says what commands say.
  return both ?? (sample.exact ? shown : UNKNOWN);
}

/** Whether the key cannot have been in this state when it was looked at. */
export function contradicts(state: StoredState, key: string, sample: SampleLine, fieldsExpire: boolean): boolean {
  const shown = shownOf(key, sample, fieldsExpire);
  return shown !== undefined && meet(state, shown) === undefined;
}

function shownOf(key: string, sample: SampleLine, fieldsExpire: boolean): StoredState | undefined {
  const stored = sample.keys[key];
  if (!stored) return ABSENT;
  // It expired while it was looked at.
  return stored.pttlMs < -1 ? undefined : shownBy(stored, sample, fieldsExpire ? ANY_TIME : NEVER);
}

/** The time left was perhaps read a good while before it was recorded. */
const READ_BEFORE_MS = 250;

function shownBy(stored: StoredSample, sample: SampleLine, fieldsLast: Times): StoredState {
  return { exists: 'yes', held: heldIn(stored, fieldsLast), expires: timesOf(stored, sample) };
}

/** When the time is over of what is shown. A server counts it from the millisecond that has begun. */
function timesOf({ pttlMs }: StoredSample, { wall, between = wall, exact }: SampleLine): Times {
  if (pttlMs < 0) return NEVER;
  return {
    fromMs: Math.floor(wall.fromMs) + pttlMs - (exact ? 0 : READ_BEFORE_MS),
    untilMs: (exact ? Math.floor(between.untilMs) : Math.ceil(wall.untilMs)) + pttlMs,
  };
}

/**
 * Whether a key that is shown was there at that time of the server's, whether it was looked at before or after. Example: a look
 * finds that c1's key has 37 ms left, and c2's take ran 38 ms later, before the look's answer was read: c1's may have been over.
 */
export function outlasts(stored: StoredSample, sample: SampleLine, wallMs: number): boolean {
  return timesOf(stored, sample).fromMs > wallMs;
}

function heldIn({ owner, type }: StoredSample, fieldsLast: Times): Held | undefined {
  if (type === 'string') return { type, value: owner, by: undefined };
  if (type === 'other') return undefined;
  const fields = fieldsIn(owner, fieldsLast);
  if (fields) return { type: 'hash', parts: fields, complete: true };
  // Older records call a set or a list so, in quotes, and tell the fields of a hash with their values in one list.
  return type === 'hash' || owner.startsWith('"(') ? undefined : { type: 'string', value: owner, by: undefined };
}

function fieldsIn(json: string, fieldsLast: Times): Map<string, Part> | undefined {
  if (!json.startsWith('{') && !json.startsWith('[')) return undefined;
  try {
    const told = JSON.parse(json) as Record<string, unknown> | unknown[];
    const fields = Array.isArray(told) ? pairs(told.map(String)) : Object.entries(told);
    if (!fields.every(([, value]) => typeof value === 'string')) return undefined;
    return new Map(fields.map(([name, value]) => [name, part(value as string, undefined, fieldsLast)]));
  } catch {
    return undefined; // a string that begins with a bracket
  }
}

/** What is true by both; the first one itself where the second adds nothing; undefined: they contradict each other. */
function meet(state: StoredState, shown: StoredState): StoredState | undefined {
  if (shown.exists === 'no') return state.exists === 'no' ? state : state.exists === 'yes' ? undefined : shown;
  if (state.exists === 'no') return undefined;
  const held = meetHeld(state.held, shown.held);
  if (held === undefined) return undefined;
  const expires = meetTimes(state.expires, shown.expires);
  if (state.exists === 'yes' && (held ?? undefined) === state.held && expires === state.expires) return state;
  return { exists: 'yes', held: held ?? undefined, expires };
}

/** Null: nothing is known. Undefined: a contradiction. */
function meetHeld(one: Held | undefined, shown: Held | undefined): Held | null | undefined {
  if (!shown) return one?.type === 'string' || one?.type === 'hash' ? undefined : (one ?? null);
  if (!one) return shown;
  if (one.type === 'string' && shown.type === 'string') {
    if (one.value === undefined) return { ...one, value: shown.value };
    return one.value === shown.value ? one : undefined;
  }
  if (one.type !== 'hash' || shown.type !== 'hash') return undefined;
  for (const [name, { there }] of one.parts) if (there === 'yes' && !shown.parts.has(name)) return undefined;
  let added = !one.complete || one.parts.size !== shown.parts.size;
  const parts = new Map<string, Part>();
  for (const [name, { value }] of shown.parts) {
    const known = partOf(one, name);
    if (known.there === 'no' || (known.value !== undefined && known.value !== value)) return undefined;
    added ||= known.there !== 'yes' || known.value === undefined;
    parts.set(name, { ...known, there: 'yes', value });
  }
  return added ? { type: 'hash', parts, complete: true } : one;
}

/** Bounds that are as near as these are not worth another change. */
const NEAR_MS = 10;

function meetTimes(one: Times, shown: Times): Times {
  const both = { fromMs: Math.max(one.fromMs, shown.fromMs), untilMs: Math.min(one.untilMs, shown.untilMs) };
  // Nothing is printed of a key's time to live that is not seen in a command: perhaps it was rounded.
  if (both.fromMs > both.untilMs) return hull(one, shown);
  return one.untilMs - one.fromMs <= NEAR_MS || one.fromMs === one.untilMs ? one : both;
}

/**
 * A write that was refused or not, depending on what was there before, of which nothing was known: what is there now may
 * tell. Say c2 stores its value unless there is one. Half a second later the value is c2's: it was stored. Or it is
 * another's, and c2's would still be there: it was refused.
 */
export function settle(changes: readonly Change[], key: string, { keys, wall }: SampleLine): void {
  const stored = keys[key];
  if (!stored) return;
  const open = openTakes(changes);
  const won = open.filter(({ change }) => stores(change.wanted!, stored.owner) === 'yes');
  const [winner] = won;
  // A client that stores what others have stored before cannot be distinguished from them.
  const alone =
    won.length === 1 &&
    !changes.some(({ after }) => stores(after, stored.owner) === 'yes') &&
    !hasLessLeft(stored, wall, winner!);
  for (const { change, lastsUntilMs } of open) {
    if (won.some((one) => one.change === change)) continue;
    const until = alone && change.line < winner!.change.line ? winner!.change.by!.serverWallMs : wall.untilMs;
    if (lastsUntilMs > until) change.applied = 'no';
  }
  if (!alone) return;
  winner!.change.applied = 'yes';
  const { held, expires: asked } = winner!.change.wanted!;
  const either = winner!.change.after.expires;
  // It has been there ever since, and for the time that it asked for where nothing set another: not for that of what was there.
  const known = (state: StoredState): StoredState => {
    const expires = state.expires === either ? asked : state.expires;
    return { exists: 'yes', held, expires: { ...expires, fromMs: Math.max(expires.fromMs, wall.fromMs) } };
  };
  for (const change of changes.slice(changes.indexOf(winner!.change))) {
    change.after = known(change.after);
    if (change !== winner!.change) change.before = known(change.before);
  }
}

/** Whether less time is left than if that take had stored it: it was there before, from an attempt that was not seen. */
function hasLessLeft({ pttlMs }: StoredSample, wall: Times, { lastsUntilMs }: OpenTake): boolean {
  return pttlMs >= 0 && Math.ceil(wall.untilMs) + pttlMs < lastsUntilMs - NEAR_MS;
}

interface OpenTake {
  change: Change;
  /** If it was stored it was there until then. */
  lastsUntilMs: number;
}

/** SET NX and SETNX since the value is not known, with nothing after them but more of them and other times to live. */
function openTakes(changes: readonly Change[]): OpenTake[] {
  const open: OpenTake[] = [];
  for (let at = changes.length - 1; at >= 0; at--) {
    const { how, by, wanted, applied, after, onlyNew } = changes[at]!;
    if (onlyNew && applied === 'no') continue; // it changed nothing
    if (applied !== 'unknown' || isKnown(after.held)) break;
    if (how === 'expired') continue; // perhaps
    if (onlyNew) open.push({ change: changes[at]!, lastsUntilMs: lasting(changes, at, wanted!.expires.fromMs) });
    else if (!by?.name.includes('EXPIRE')) break;
  }
  return open;
}

/** Of what may be the old value or the new one it is known only that it is a string. */
function isKnown(held: Held | undefined): boolean {
  return held !== undefined && !(held.type === 'string' && held.value === undefined);
}

/** Until when what a take stored was there, unless the clock ran over that meanwhile. */
function lasting(changes: readonly Change[], at: number, fromMs: number): number {
  let least = fromMs;
  for (const { by, after, clockMs } of changes.slice(at + 1)) {
    if (by?.name.includes('EXPIRE')) least = Math.min(least, after.expires.fromMs);
    if (clockMs !== undefined && clockMs >= least) return Number.NEGATIVE_INFINITY;
  }
  return least;
}
