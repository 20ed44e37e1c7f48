/** Numbers, times and violations in words, the same in every report. Plain text: escaping is the reports' own matter. */
import type { Hold, Results, Violation, ViolationClass } from '../harness/vocabulary/verdict.js';

const NS_PER_S = 1e9;

/** A moment of the run, as seconds since its epoch: the figure in `history.jsonl`, divided by 10⁹. */
export function moment(ns: number, decimals = 3): string {
  return Number.isFinite(ns) ? `${(ns / NS_PER_S).toFixed(decimals)} s` : 'an unknown time';
}

/** A moment to the microsecond, for hover texts. */
export function exactMoment(ns: number): string {
  return moment(ns, 6);
}

/** A length of time in the unit in which it reads best. */
export function duration(ns: number): string {
  if (!Number.isFinite(ns)) return 'an unknown time';
  const ms = ns / 1e6;
  const size = Math.abs(ms);
  if (size >= 59_999.5) return `${Math.trunc(Math.round(ms / 1e3) / 60)} min ${Math.abs(Math.round(ms / 1e3) % 60)} s`;
  if (size >= 999.5) return `${trimmed(ms / 1e3, 3)} s`;
  if (size >= 0.9995) return `${trimmed(ms, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2)} ms`;
  return `${trimmed(ms * 1e3, 0)} µs`;
}

export function durationOfMs(ms: number): string {
  return duration(ms * 1e6);
}

function trimmed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return decimals === 0 ? text : text.replace(/\.?0+$/, '');
}

/** The machine's wall clock at a moment, as servers print it in their logs. */
export function wallTime(epochWallMs: number, ns: number): string | undefined {
  const date = new Date(epochWallMs + ns / 1e6);
  return Number.isNaN(date.getTime()) ? undefined : `${date.toISOString().slice(11, 23)} UTC`;
}

/** 1234567 → 1,234,567; fractions keep at most three places. */
export function count(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const [whole = '', fraction] = trimmed(value, Number.isInteger(value) ? 0 : 3).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export const CLASS_NAMES: Record<ViolationClass, string> = {
  exclusion: 'exclusion broken',
  stale: 'stale holder',
  harm: 'harm done',
  liveness: 'liveness lost',
};

export function className(violation: { class: ViolationClass }): string {
  return CLASS_NAMES[violation.class] ?? String(violation.class);
}

/** All violations that a run or a checker counted, of some classes; of many only the first are at hand. */
export function countFound(
  { found, violations }: { found?: Results['found']; violations: readonly Violation[] },
  classes = Object.keys(CLASS_NAMES) as readonly ViolationClass[],
): number {
  return classes.reduce((sum, one) => {
    const atHand = violations.filter((violation) => violation.class === one).length;
    return sum + Math.max(found?.[one] ?? 0, atHand);
  }, 0);
}

/** Which of the violations are at hand, where not all are: "the first 200 of 14,201 (exclusion broken)". */
export function shownOfFound({ found, violations }: Results): string | undefined {
  const words = (Object.keys(CLASS_NAMES) as ViolationClass[]).flatMap((one) => {
    const atHand = violations.filter((violation) => violation.class === one).length;
    const all = found[one] ?? 0;
    return all > atHand ? [`the first ${count(atHand)} of ${count(all)} (${CLASS_NAMES[one]})`] : [];
  });
  return words.length === 0 ? undefined : words.join(', ');
}

export const EXIT_MEANING: Record<number, string> = {
  0: 'nothing that fails the run was found',
  1: 'a property was violated',
  2: 'the run cannot tell',
};

/** A hold by the name that history gives it. */
export function holdName(hold: Hold): string {
  return `${hold.client} (hold #${hold.id})`;
}

/** The holds of a violation whose lease had run out before the overlap began. */
export function staleHolds(violation: Violation): Hold[] {
  return violation.holds.filter((hold) => hold.leaseEndNs <= violation.fromNs);
}

/** What, when and who, in one sentence. */
export function whatHappened(violation: Violation): string {
  const span = `${moment(violation.fromNs)} – ${moment(violation.untilNs)}`;
  const long = duration(violation.untilNs - violation.fromNs);
  const [first, second] = violation.holds;
  if (violation.kind !== 'overlap' || first === undefined || second === undefined) {
    const who = violation.holds.map(holdName).join(' and ');
    return `${violation.kind} on ${violation.key}${who === '' ? '' : `: ${who}`}, ${span} (${long})`;
  }
  const stale = staleHolds(violation)[0];
  if (violation.class === 'exclusion' || stale === undefined) {
    const leases = violation.class === 'exclusion' ? ', both leases running' : '';
    return `${holdName(first)} and ${holdName(second)} both held ${violation.key} for ${long}${leases}, ${span}`;
  }
  const other = stale === first ? second : first;
  const late = duration(violation.untilNs - stale.leaseEndNs);
  return (
    `${holdName(stale)} still acted as holder of ${violation.key} up to ${late} after its lease had ended, ` +
    `while ${holdName(other)} held it, ${span} (${long})`
  );
}
