/** Moments, lengths of time and counts in words: the same in a checker's sentence, a report and the terminal. Pure. */
import type { ServiceName } from '../../vocabulary/topology.js';
import { TITLES } from '../schemas/other-services.js';

const NS_PER_S = 1e9;

/** A moment of the run, as seconds since its epoch: `7.412 s`, the figure in `history.jsonl` divided by 10⁹. */
export function moment(ns: number): string {
  return Number.isFinite(ns) ? `${(ns / NS_PER_S).toFixed(3)} s` : 'an unknown time';
}

/**
 * A moment beside others, nanoseconds: to the millisecond, or where all of them lie within 100 ms to the microsecond, within
 * 100 µs to the nanosecond. Of operations that take microseconds `0.000 s` would say nothing. The unit changes, so that no number has
 * more than three digits after its point.
 */
export function momentBeside(ns: number, others: readonly number[]): string {
  const known = others.filter(Number.isFinite);
  const withinNs = known.reduce((a, b) => Math.max(a, b), -Infinity) - known.reduce((a, b) => Math.min(a, b), Infinity);
  if (withinNs >= 1e8 || known.length === 0) return moment(ns);
  return withinNs >= 1e5 ? exactMoment(ns) : Number.isFinite(ns) ? `${count(ns / 1e3)} µs` : moment(ns);
}

/** A moment to the microsecond: `7,412.093 ms`. */
export function exactMoment(ns: number): string {
  return Number.isFinite(ns) ? `${count(ns / 1e6)} ms` : moment(ns);
}

/** A length of time, given in nanoseconds, in the unit in which it reads best: `12 ns`, `380 µs`, `712 ms`, `1.675 s`, `2 min 5 s`. */
export function duration(ns: number): string {
  if (!Number.isFinite(ns)) return 'an unknown time';
  const ms = ns / 1e6;
  const size = Math.abs(ms);
  if (size >= 59_999.5) return `${Math.trunc(Math.round(ms / 1e3) / 60)} min ${Math.abs(Math.round(ms / 1e3) % 60)} s`;
  if (size >= 999.5) return `${trimmed(ms / 1e3, 3)} s`;
  if (size >= 0.9995) return `${trimmed(ms, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2)} ms`;
  if (size >= 0.0009995 || size === 0) return `${trimmed(ms * 1e3, 0)} µs`;
  return `${trimmed(ms * 1e6, 0)} ns`;
}

/** `lease until 7.001 s`, or that the hold has none. */
export function leaseUntil(leaseEndNs: number): string {
  return leaseEndNs === Number.POSITIVE_INFINITY ? 'no lease' : `lease until ${moment(leaseEndNs)}`;
}

/** As `duration`, of milliseconds. */
export function durationOfMs(ms: number): string {
  return duration(ms * 1e6);
}

/** The machine's wall clock at a moment, as servers print it in their logs: `09:27:01.413 UTC`. */
export function wallTime(epochWallMs: number, ns: number): string | undefined {
  const date = new Date(epochWallMs + ns / 1e6);
  return Number.isNaN(date.getTime()) ? undefined : `${date.toISOString().slice(11, 23)} UTC`;
}

/** 1234567 → `1,234,567`; fractions keep at most three places. */
export function count(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const [whole = '', fraction] = trimmed(value, Number.isInteger(value) ? 0 : 3).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** `1 hold`, `1,024 holds`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function trimmed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return decimals === 0 ? text : text.replace(/\.?0+$/, '');
}

/** What people call a service; of Valkey its version tells. */
export function serviceInWords(service: ServiceName = 'redis'): string {
  return service === 'redis' ? 'Redis' : TITLES[service];
}
