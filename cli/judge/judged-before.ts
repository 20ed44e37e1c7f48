/** How the verdict of a run differs from what an earlier judging of the same record came to, and why. Pure. */
import { bearingOf } from '../../harness/record/facts/blame.js';
import { className } from '../../harness/record/facts/classes.js';
import { plural } from '../../harness/record/facts/words.js';
import type { FailOn, Results, Violation } from '../../harness/vocabulary/verdict.js';

const MOST_TOLD = 5;

/** In one line; undefined where the verdict is the same. */
export function verdictChanged(before: Results, now: Results, failOn: readonly FailOn[]): string | undefined {
  if (before.verdict === now.verdict) return undefined;
  const fails = (violation: Violation) => bearingOf(violation, failOn) === 'fails';
  const [then, today] = [before.violations.filter(fails), now.violations.filter(fails)];
  // The same finding may weigh otherwise: whose mistake it is depends on what is proven of it.
  const [gone, came] = [without(then, now.violations), without(today, before.violations)];
  const still = without(without(now.violations, today), without(now.violations, then));
  const why = [
    ...findings('no longer found', gone),
    ...findings('found now', came),
    ...findings('still found, and no longer fails it', still),
    ...findings('found then, too, and fails it now', without(without(today, then), came)),
    ...reasons('cannot be told now', without(now.reasons, before.reasons), now.verdict === 'unknown'),
    ...reasons('could not be told then', without(before.reasons, now.reasons), before.verdict === 'unknown'),
  ];
  const told = why.length > 0 ? why.join('; ') : 'the same findings and reasons weigh otherwise';
  return `judged before, this run was ${before.verdict}; it is ${now.verdict} now: ${told}`;
}

function findings(how: string, violations: readonly Violation[]): string[] {
  const kinds = new Map<string, number>();
  for (const { class: name, kind, cause } of violations) {
    const what = `${className(name)} (${kind}, ${cause.name})`;
    kinds.set(what, (kinds.get(what) ?? 0) + 1);
  }
  if (kinds.size === 0) return [];
  const told = [...kinds].slice(0, MOST_TOLD).map(([what, times]) => `${what} ×${times}`);
  const more = kinds.size - told.length;
  return [`${how}: ${told.join(', ')}${more > 0 ? ` and ${plural(more, 'more kind')}` : ''}`];
}

function reasons(how: string, list: readonly string[], matters: boolean): string[] {
  const [first] = list;
  return matters && first !== undefined ? [`${how}: ${first}`] : [];
}

/** What of the first list is not in the second; violations are the same where all that was found is. */
function without<One extends string | Violation>(list: readonly One[], others: readonly One[]): One[] {
  const known = new Set(others.map(identity));
  return list.filter((one) => !known.has(identity(one)));
}

function identity(one: string | Violation): string {
  return typeof one === 'string' ? one : [one.class, one.kind, one.key, one.fromNs, one.evidence.join(' ')].join('|');
}
