/** Violations and results in words, the same in every report. Plain text: escaping is the reports' own matter. */
import { blamedOn, whose } from '../harness/record/facts/blame.js';
import { className, storyKey } from '../harness/record/facts/classes.js';
import { count, duration, moment } from '../harness/record/facts/words.js';
import { BLAMES } from '../harness/record/schemas/blame.js';
import { CLASSES } from '../harness/record/schemas/violation-class.js';
import type { Blame, Hold, Results, Violation, ViolationClass } from '../harness/vocabulary/verdict.js';

/** All violations that a run or a checker counted, of some classes; of many only the first are at hand. */
export function countFound(
  { found, violations }: { found?: Results['found']; violations: readonly Violation[] },
  classes: readonly ViolationClass[] = CLASSES,
): number {
  return classes.reduce((sum, one) => {
    const atHand = violations.filter((violation) => violation.class === one).length;
    return sum + Math.max(found?.[one] ?? 0, atHand);
  }, 0);
}

/** Which of the violations are at hand, where not all are: "the first 200 of 14,201 (exclusion broken)". */
export function shownOfFound({ found, violations }: Results): string | undefined {
  const words = CLASSES.flatMap((one) => {
    const atHand = violations.filter((violation) => violation.class === one).length;
    const all = found[one] ?? 0;
    return all > atHand ? [`the first ${count(atHand)} of ${count(all)} (${className(one)})`] : [];
  });
  return words.length === 0 ? undefined : words.join(', ');
}

/** Notes of one kind are one, the first of them, with how many there are. Of one kind are those that differ in numbers alone, those of names included. */
export function notesInShort(notes: readonly string[]): string[] {
  const kinds = new Map<string, string[]>();
  for (const note of notes) {
    const kind = note.replace(/\d+(?:[.,]\d+)*(?: (?:ns|µs|ms|s|min)\b)?/g, '0');
    const same = kinds.get(kind);
    if (same) same.push(note);
    else kinds.set(kind, [note]);
  }
  return [...kinds.values()].map((same) =>
    same.length === 1 ? same[0]! : `${same[0]!} (×${count(same.length)}, the first of them)`,
  );
}

/** What follows the name of a finding that was known before its run. */
export function knownWords({ known }: Violation): string {
  return known === undefined ? '' : ', known';
}

/**
 * Which violations a reader of a few is told, by their numbers in the order of reporting: the first of each class, kind, cause
 * and blame, for a reader of five should see five stories and not one of them five times; then the next of them.
 */
export function mostTelling(
  violations: readonly Violation[],
  most: number,
): { violation: Violation; number: number }[] {
  const numbered = violations.map((violation, at) => ({ violation, number: at + 1 }));
  const stories = new Set<string>();
  const isNew = ({ violation }: { violation: Violation }) => {
    const story = storyKey(violation);
    return !stories.has(story) && stories.add(story);
  };
  const first = numbered.filter(isNew);
  const rest = numbered.filter((one) => !first.includes(one));
  return [...first, ...rest].slice(0, most).sort((a, b) => a.number - b.number);
}

/** `the lock's mistake ×3, the lease's ×1`: of the violations at hand, in the order of telling. */
export function blameTally(violations: readonly Violation[]): string {
  return BLAMES.flatMap((on) => {
    const times = violations.filter((violation) => blamedOn(violation) === on).length;
    return times > 0 ? [`${whose(on)} ×${count(times)}`] : [];
  }).join(', ');
}

/** Where to read more of a blame, if that is an address of this form and nothing else. */
export function linkOf({ link }: Blame): string | undefined {
  return link !== undefined && /^https:\/\/[\w.\-/#~]+$/.test(link) ? link : undefined;
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
    const leases = violation.class === 'exclusion' && Number.isFinite(first.leaseEndNs) ? ', both leases running' : '';
    return `${holdName(first)} and ${holdName(second)} both held ${violation.key} for ${long}${leases}, ${span}`;
  }
  const other = stale === first ? second : first;
  const late = duration(violation.untilNs - stale.leaseEndNs);
  return (
    `${holdName(stale)} still acted as holder of ${violation.key} up to ${late} after its lease had ended, ` +
    `while ${holdName(other)} held it, ${span} (${long})`
  );
}
