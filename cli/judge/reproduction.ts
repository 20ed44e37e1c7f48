/**
 * Did replays find again what the original had found? On real servers a replay is best effort, so the answer is k of n,
 * for each class of findings with its cause. Pure: from findings to numbers; how they were found is not its business.
 */
import { bearingOf, blamedOn } from '../../harness/record/facts/blame.js';
import { BLAMES } from '../../harness/record/schemas/blame.js';
import { CLASSES } from '../../harness/record/schemas/violation-class.js';
import type { BlameName, FailOn, Results, Violation, ViolationClass } from '../../harness/vocabulary/verdict.js';

/** Violations of one class with one cause, and whom they blame. */
export interface ViolationGroup {
  class: ViolationClass;
  cause: string;
  blame: BlameName;
  times: number;
}

/** What an original came to, and which classes of findings fail it. */
export interface Original {
  runId: string;
  verdict: Results['verdict'];
  findings: readonly ViolationGroup[];
  failOn: readonly FailOn[];
}

/** What one replay came to. */
export interface Replayed {
  verdict: Results['verdict'] | 'could-not-run';
  findings: readonly ViolationGroup[];
  /** The user ended it early. */
  cutShort: boolean;
}

export interface Reproduction {
  /** The original's id. */
  of: string;
  originalVerdict: Results['verdict'];
  /** What counts: findings of the first and gravest class for the same cause, or (it found nothing) the same verdict. */
  by: 'findings' | 'verdict';
  /** `k` of `n` replays. */
  k: number;
  n: number;
  /** Replays that could not run, or were cut short before they found it: they tell nothing, and are not among `n`. */
  notCounted: number;
  /** Every class and cause, the original's first. */
  findings: ReproducedFinding[];
}

export interface ReproducedFinding {
  class: ViolationClass;
  cause: string;
  blame: BlameName;
  /** How often in the original; 0: only replays found it. */
  original: number;
  /** How many replays found it. */
  replays: number;
  /** Whether finding it again is what counts. */
  counts: boolean;
}

/** Violations counted by class and cause, in the order in which they first occurred. */
export function findingsOf(violations: readonly Violation[]): ViolationGroup[] {
  const byKey = new Map<string, ViolationGroup>();
  for (const violation of violations) {
    const finding = {
      class: violation.class,
      cause: violation.cause.name,
      blame: blamedOn(violation),
      times: 0,
    };
    const known = byKey.get(keyOf(finding)) ?? finding;
    known.times++;
    byKey.set(keyOf(known), known);
  }
  return [...byKey.values()];
}

/**
 * Whether a replay found again what the original is known for: something of its gravest class, for the same cause. If the
 * original found nothing: whether it came to the same verdict.
 */
export function isReproduced(original: Original, replay: Replayed): boolean {
  if (original.findings.length === 0) return replay.verdict === original.verdict;
  return wanted(original).some((finding) => replay.findings.some((found) => keyOf(found) === keyOf(finding)));
}

/** k of n, and the same for each class and cause. */
export function reproduction(original: Original, replays: readonly Replayed[]): Reproduction {
  const counted = replays.filter((replay) => tells(original, replay));
  const keys = new Map(
    [...original.findings, ...counted.flatMap(({ findings }) => findings)].map((f) => [keyOf(f), f]),
  );
  return {
    of: original.runId,
    originalVerdict: original.verdict,
    by: original.findings.length > 0 ? 'findings' : 'verdict',
    k: counted.filter((replay) => isReproduced(original, replay)).length,
    n: counted.length,
    notCounted: replays.length - counted.length,
    findings: [...keys].map(([key, finding]) => ({
      class: finding.class,
      cause: finding.cause,
      blame: finding.blame,
      original: original.findings.find((one) => keyOf(one) === key)?.times ?? 0,
      replays: counted.filter(({ findings }) => findings.some((one) => keyOf(one) === key)).length,
      counts: wanted(original).some((one) => keyOf(one) === key),
    })),
  };
}

/**
 * What is told first of the original: of what failed it the lock's own mistakes before others, and of these the gravest class.
 * What was allowed counts only where nothing else was found.
 */
function wanted({ findings, failOn }: Original): readonly ViolationGroup[] {
  const failing = findings.filter(
    (one) => bearingOf({ class: one.class, blame: { on: one.blame } }, failOn) === 'fails',
  );
  const serious = failing.length > 0 ? failing : findings;
  const blamed = BLAMES.find((name) => serious.some(({ blame }) => blame === name));
  const first = serious.filter(({ blame }) => blame === blamed);
  const gravest = CLASSES.find((name) => first.some((finding) => finding.class === name));
  return first.filter((finding) => finding.class === gravest);
}

/** A replay that was cut short says something only by what it did find. */
function tells(original: Original, replay: Replayed): boolean {
  if (replay.verdict === 'could-not-run') return false;
  return !replay.cutShort || (original.findings.length > 0 && isReproduced(original, replay));
}

function keyOf(finding: Pick<ViolationGroup, 'class' | 'cause' | 'blame'>): string {
  return `${finding.class} ${finding.cause} ${finding.blame}`;
}
