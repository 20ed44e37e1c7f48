/**
 * Matchers about results, in the form that vitest's and jest's `expect.extend` take. "Cannot tell" is neither: then a
 * matcher fails, and so does its `.not`.
 */
import { CAUSES } from '../../checkers/causes/descriptions.js';
import { firstWords, verdictLines } from '../../harness/record/facts/verdict-words.js';
import { insteadOf } from '../../harness/record/schemas/names.js';
import { CLASSES } from '../../harness/record/schemas/violation-class.js';
import type { CauseName, ViolationClass } from '../../harness/vocabulary/verdict.js';
import type { TortureResult } from './torture.js';

export interface LockMatchers<R = unknown> {
  /** Nothing was found that fails the run, and the run was strong enough to say so. */
  toHold(): R;
  /**
   * Whatever was found is the deployment's or the lease's doing, or known and allowed (`knownOk`); none of it the lock's own mistake,
   * and no checker leaves open whether there is one.
   */
  toHaveNoLockMistakes(): R;
  /** Something was found: any, or of this cause and class. */
  toBreak(expected?: Breakage): R;
}

export interface Breakage {
  cause?: CauseName;
  class?: ViolationClass;
}

type Violation = TortureResult['violations'][number];
type Answer = 'yes' | 'no' | 'cannot tell';

export const matchers = {
  toHold(this: { isNot?: boolean }, received: unknown) {
    const result = resultOf(received, 'toHold');
    const answer = ({ held: 'yes', violated: 'no', unknown: 'cannot tell' } as const)[result.verdict];
    return outcome(this, answer, result, 'the lock to hold', result.violations[0]);
  },

  toHaveNoLockMistakes(this: { isNot?: boolean }, received: unknown) {
    const result = resultOf(received, 'toHaveNoLockMistakes');
    const violations = result.violations.filter(({ known }) => known !== 'allowed');
    const mistake = violations.find(({ blame }) => blame?.on === 'lock');
    const open = violations.find(({ blame }) => (blame?.on ?? 'unexplained') === 'unexplained');
    const answer = ({ none: 'yes', found: 'no', unknown: 'cannot tell' } as const)[result.ownMistakes];
    return outcome(this, answer, result, "no mistake of the lock's own", mistake ?? open);
  },

  toBreak(this: { isNot?: boolean }, received: unknown, expected: Breakage = {}) {
    const result = resultOf(received, 'toBreak');
    mustBeBreakage(expected);
    const found = result.violations.find(
      (one) => (expected.cause ?? one.cause) === one.cause && (expected.class ?? one.class) === one.class,
    );
    const answer = found ? 'yes' : result.verdict === 'unknown' ? 'cannot tell' : 'no';
    const what = [expected.class, expected.cause].filter((word) => word !== undefined).join(', ');
    return outcome(this, answer, result, `the lock to break${what && ` [${what}]`}`, found ?? result.violations[0]);
  },
};

function outcome(
  { isNot = false }: { isNot?: boolean },
  answer: Answer,
  result: TortureResult,
  expected: string,
  shown: Violation | undefined,
): { pass: boolean; message: () => string } {
  return {
    // Fails both ways where it cannot be told.
    pass: answer === 'cannot tell' ? isNot : answer === 'yes',
    message: () =>
      [`expected ${isNot ? 'not ' : ''}${expected}${answer === 'cannot tell' ? ', and that cannot be told' : ''}`]
        .concat('', storyOf(result, shown))
        .join('\n'),
  };
}

/** What a run came to, in lines for people: the verdict, its worst violation with proof and cause, the report, how to repeat it. */
export function story(result: TortureResult): string {
  return storyOf(result, result.violations[0]).join('\n');
}

/** The verdict, one violation, and what to do next. */
function storyOf(result: TortureResult, violation: Violation | undefined): string[] {
  const of =
    violation && ({ lock: "the lock's mistake", deployment: "the deployment's", lease: "the lease's" } as const);
  const on = violation?.blame?.on;
  const { words, strength, ...rest } = result;
  const judged = { ...rest, ...(words && { words }), ...(strength !== null && { strength }) };
  return [
    firstWords(judged),
    ...verdictLines(judged).map(([name, line]) => `${name}: ${line}`),
    ...(judged.words?.stronger === undefined ? [] : [`For a stronger one: ${judged.words.stronger}`]),
    result.headline,
    ...result.reasons.map((reason) => `Note: ${reason}`),
    ...(violation
      ? [
          '',
          `${violation.class}, ${on && on !== 'unexplained' ? of![on] : 'unexplained'}: ${violation.what}`,
          `  Proof: ${violation.proof}`,
          `  Why:   ${violation.why} [${violation.cause}]`,
          ...(violation.blame && on !== 'unexplained' ? [`  Whose: ${violation.blame.theory}`] : []),
        ]
      : []),
    '',
    ...(result.report === null ? [] : [`Report: ${result.report}`]),
    `Repeat: ${result.reproduce}`,
  ];
}

/** A word that no violation has would make `.not.toBreak` pass for ever. */
function mustBeBreakage(expected: unknown): void {
  const known: Record<string, readonly string[]> = { cause: CAUSES, class: CLASSES };
  const wrong = (what: string) => new TypeError(`toBreak(${JSON.stringify(expected)}): ${what}`);
  if (typeof expected !== 'object' || expected === null) throw wrong('expected { cause, class }, or nothing');
  for (const [key, name] of Object.entries(expected)) {
    if (!Object.hasOwn(known, key)) throw wrong(`"${key}" is neither cause nor class`);
    if (name !== undefined && !known[key]!.includes(name))
      throw wrong(`${JSON.stringify(name)} is no ${key}; ${insteadOf(String(name), known[key]!)}`);
  }
}

function resultOf(received: unknown, matcher: string): TortureResult {
  const result = received as Partial<TortureResult> | null | undefined;
  if (typeof result === 'object' && result?.verdict !== undefined && Array.isArray(result.violations))
    return result as TortureResult;
  const hint = received instanceof Promise ? ' (a promise: await it)' : '';
  throw new TypeError(`${matcher}() is for what torture(), scenario() and check() resolve with${hint}`);
}
