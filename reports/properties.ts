/** What a run says of each property that was judged, a line each: of those that passed, those that failed, and those left open. */
import { bearingOf } from '../harness/record/facts/blame.js';
import { className } from '../harness/record/facts/classes.js';
import { lengthOf } from '../harness/record/facts/clearest.js';
import { count, duration, moment } from '../harness/record/facts/words.js';
import { CLASSES } from '../harness/record/schemas/violation-class.js';
import type {
  CheckerResult,
  FailOn,
  PropertyWords,
  Results,
  Violation,
  ViolationClass,
} from '../harness/vocabulary/verdict.js';
import { blameTally, countFound } from './words.js';

export interface PropertyLine {
  /** What is true of the run, or what is asked where that cannot be determined. */
  words: string;
  state: 'broken' | 'unknown' | 'allowed' | 'weak' | 'held' | 'none found' | 'not judged';
  /** `✗ exclusion broken: 3`, `? cannot tell`, `~ weakly`, `✓ held`, `– none found`. */
  verdict: string;
  /** What was found, or why it cannot be determined. Empty: nothing more to say. */
  told: string;
}

/**
 * What fails the run comes first, then what is left open; the gravest class first in each. A checker that only measures has no
 * line. In a run that cannot tell nothing is called held: that a run of three holds broke nothing says nothing about the lock.
 */
export function propertyLines(
  { checkers, verdict }: Pick<Results, 'checkers' | 'verdict'>,
  failOn: readonly FailOn[],
): PropertyLine[] {
  const lines = checkers.flatMap((result) =>
    propertiesOf(result).map((property) => ({
      ...lineOf(result, property, failOn),
      gravity: property.class === undefined ? CLASSES.length : CLASSES.indexOf(property.class),
    })),
  );
  const proves = verdict !== 'unknown' && !checkers.some(leavesTheRunOpen);
  return STATES.flatMap((state) =>
    lines.filter((line) => line.state === state).sort((a, b) => a.gravity - b.gravity),
  ).map(({ gravity, ...line }) =>
    line.state === 'held' && gravity < CLASSES.length && !proves
      ? { ...line, state: 'none found', verdict: '– none found' }
      : line,
  );
}

const STATES: readonly PropertyLine['state'][] = [
  'broken',
  'unknown',
  'allowed',
  'weak',
  'held',
  'none found',
  'not judged',
];

/** Whether the run is worth a verdict at all. */
function leavesTheRunOpen({ verdict, properties = [] }: CheckerResult): boolean {
  return verdict === 'unknown' && properties.some((property) => property.class === undefined);
}

/** Results of an earlier version do not say what their checkers decide: what was found does, and the checker's name. */
function propertiesOf({ checker, properties, violations, found }: CheckerResult): readonly PropertyWords[] {
  if (properties !== undefined) return properties;
  const classes = CLASSES.filter((one) => countFound({ violations, ...(found && { found }) }, [one]) > 0);
  return classes.length > 0
    ? classes.map((one) => ({ class: one, holds: checker, broken: checker }))
    : [{ holds: checker, broken: checker }];
}

function lineOf(result: CheckerResult, property: PropertyWords, failOn: readonly FailOn[]): PropertyLine {
  const { class: name, holds, broken } = property;
  const { verdict, open = [], notes, notJudged, weak } = result;
  const found = name === undefined ? 0 : countFound(result, [name]);
  if (name !== undefined && found > 0) {
    const violations = result.violations.filter((one) => one.class === name);
    const sign = `✗ ${className(name)}: ${count(found)}`;
    const state = stateOf(name, violations, found, failOn);
    return { words: broken, state, verdict: sign, told: foundWords(violations, found) };
  }
  const unknown = name !== undefined && open.length > 0 ? open.includes(name) : verdict === 'unknown';
  if (unknown)
    return {
      words: name === undefined ? broken : holds,
      state: 'unknown',
      verdict: '? cannot tell',
      told: notes.join('; '),
    };
  if (notJudged !== undefined) return { words: holds, state: 'not judged', verdict: '– not judged', told: notJudged };
  if (weak !== undefined) return { words: holds, state: 'weak', verdict: '~ weakly', told: capital(`${weak}.`) };
  return { words: holds, state: 'held', verdict: name === undefined ? '✓ yes' : '✓ held', told: '' };
}

function capital(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}`;
}

/** What findings of a class that was found do to the run. */
function stateOf(
  name: ViolationClass,
  violations: readonly Violation[],
  found: number,
  failOn: readonly FailOn[],
): PropertyLine['state'] {
  const bearings = violations.map((violation) => bearingOf(violation, failOn));
  const isAllowed = violations.some(({ known }) => known === 'allowed');
  if ((failOn.includes(name) && !isAllowed) || bearings.includes('fails')) return 'broken';
  // Of what is only counted it is not said whether it, too, was known.
  return bearings.includes('open') || (isAllowed && found > violations.length) ? 'unknown' : 'allowed';
}

/** The first, the longest, whose mistakes they are, and the causes with how often each. */
function foundWords(violations: readonly Violation[], found: number): string {
  const [first] = violations;
  if (first === undefined) return '';
  const longest = violations.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a));
  const causes = new Map<string, number>();
  for (const { cause } of violations) causes.set(cause.name, (causes.get(cause.name) ?? 0) + 1);
  const named = [...causes].sort(([, a], [, b]) => b - a).map(([name, times]) => `${name} ×${count(times)}`);
  const ofThem = found > violations.length ? ` (of the first ${count(violations.length)})` : '';
  const long = lengthOf(longest) > 0 ? `; longest ${duration(lengthOf(longest))}` : '';
  return `First at ${moment(first.fromNs)} on ${first.key}${long}. Cause: ${named.join(', ')}; ${blameTally(violations)}${ofThem}.`;
}
