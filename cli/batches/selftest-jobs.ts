/** The runs of a self-test, and what each of them shows. */

import type { WithServerNeeds } from '../../harness/vocabulary/topology.js';
import type { Results, Violation } from '../../harness/vocabulary/verdict.js';
import type { Detection, Provocation, SoundRun, Trial, Untold } from '../../selftest/index.js';
import type { BatchRun } from './batch.js';

export interface Job extends WithServerNeeds {
  lock: string;
  argv: string[];
  /** What is to be found. */
  must?: Detection | Untold;
  /** What must have happened before it can be found. */
  needs?: Provocation;
  /** What must not be found; absent in a job that must find something. */
  mustNot?: Detection | 'anything';
  story: string;
}

export type TrialResult =
  /** A canary was caught; a sound lock was not accused. */
  | 'caught'
  | 'not-accused'
  /** A defect of this tool. */
  | 'missed'
  | 'accused'
  /** The run proves nothing. */
  | 'cannot-tell'
  /** Nor does one in which nothing happened that would have shown the mistake. */
  | 'not-provoked'
  | 'could-not-run'
  /** No server here has the commands that the lock needs. */
  | 'not-tried';

/** One run of a self-test, told. */
export interface SelftestRow {
  lock: string;
  /** Whether something was to be found. */
  canary: boolean;
  shown: TrialResult;
  /** By which checker and as what, or what there was instead. */
  why: string;
  /** Of a canary that was caught: from the beginning of the torture until it had happened, seconds. */
  afterSeconds?: number;
  story: string;
  run?: string;
  seed: number;
  reproduce?: string;
}

/** A twin that is let run for as long as its canary was would prove little where that was caught at once. */
const LEAST_QUICK_MS = 5_000;

export function jobsOf(trials: readonly Trial[], sounds: readonly SoundRun[], quick: boolean): Job[] {
  const limit = (ms: number) => ['--time-limit', `${ms}ms`];
  const ofTrials = trials.flatMap(({ canary, flags, limitMs, quickMs = limitMs, caught, needs, story }): Job[] => {
    const untold = 'counted' in caught;
    const common = untold ? flags : [...flags, '--fail-on', caught.class];
    const twinMs = quick ? Math.max(LEAST_QUICK_MS, quickMs) : limitMs;
    const stopEarly = untold || isFirstOfItsClass(caught) ? ['--stop-at-first'] : [];
    return [
      {
        lock: `broken/${canary}`,
        argv: ['--lock', `broken/${canary}`, ...common, ...limit(limitMs), ...stopEarly],
        must: caught,
        ...(needs && { needs }),
        story,
      },
      {
        lock: `broken/${canary}-mended`,
        argv: ['--lock', `broken/${canary}-mended`, ...common, ...limit(twinMs), ...stopEarly],
        mustNot: untold ? 'anything' : caught,
        story: `the twin of ${canary} has that mistake mended`,
      },
    ];
  });
  const ofSounds = sounds
    .filter((sound) => sound.quick || !quick)
    .map(
      ({ lock, flags, limitMs, story, serverNeeds }): Job => ({
        lock,
        argv: ['--lock', lock, ...flags, ...limit(quick ? Math.min(limitMs, 8_000) : limitMs)],
        mustNot: 'anything',
        story,
        ...(serverNeeds && { serverNeeds }),
      }),
    );
  return [...ofTrials, ...ofSounds];
}

/**
 * Whether no other checker's finding of the class may end the run before this one can be made: two who hold at once are found as
 * soon as that is recorded, and that no server had granted it to one of them only when nothing can come any more.
 */
function isFirstOfItsClass({ checker, class: name }: Detection): boolean {
  return checker === 'mutual-exclusion' || (name !== 'exclusion' && name !== 'stale');
}

/** What a run of `job` has shown. */
export function judgeJob(job: Job, run: BatchRun): SelftestRow {
  const { lock, story } = job;
  const row = {
    lock,
    canary: job.must !== undefined,
    story,
    seed: run.seed,
    ...(run.runId && { run: run.runId }),
    ...(run.reproduce && { reproduce: run.reproduce }),
  };
  const { results } = run;
  if (!results) return { ...row, shown: 'could-not-run', why: run.error ?? 'it could not run' };
  if (job.must && 'counted' in job.must)
    return { ...row, shown: isCaught(results, job.must) ? 'caught' : 'missed', why: results.headline };
  if (job.must) {
    const first = firstFound(results, job.must);
    if (!first) {
      // A run that could not be judged, on a busy machine say, has not let the mistake pass.
      const shown = results.verdict === 'unknown' ? 'cannot-tell' : 'missed';
      return { ...row, shown, why: `${nameOf(job.must)} was to be found; ${results.headline}` };
    }
    return { ...row, shown: 'caught', why: nameOf(job.must), afterSeconds: Number((first.untilNs / 1e9).toFixed(1)) };
  }
  const { mustNot } = job;
  const accusation = mustNot === 'anything' ? results.violations[0] : mustNot && firstFound(results, mustNot);
  if (accusation)
    return { ...row, shown: 'accused', why: `${accusation.class} (${accusation.kind}): ${accusation.proof}` };
  if (results.verdict === 'unknown') return { ...row, shown: 'cannot-tell', why: results.headline };
  return { ...row, shown: 'not-accused', why: results.headline };
}

/** What is said of a job for which there is no server here. */
export function notTried({ lock, story, must }: Job, why: string): SelftestRow {
  return { lock, canary: must !== undefined, shown: 'not-tried', why, story, seed: 0 };
}

/** Whether a run ended as its trial says that a canary is caught. */
export function isCaught(results: Results, must: Detection | Untold): boolean {
  if ('counted' in must) return results.verdict === must.verdict && (results.stats[must.counted] ?? 0) > 0;
  return firstFound(results, must) !== undefined;
}

function firstFound(results: Results, finding: Detection): Violation | undefined {
  return results.checkers
    .filter(({ checker }) => checker === finding.checker)
    .flatMap(({ violations }) => violations)
    .filter(
      (violation) =>
        violation.class === finding.class &&
        (finding.kind ?? violation.kind) === violation.kind &&
        (finding.cause ?? violation.cause.name) === violation.cause.name,
    )
    .sort((a, b) => a.fromNs - b.fromNs)[0];
}

function nameOf({ checker, class: name, kind, cause }: Detection): string {
  const details = [kind, cause].filter((detail) => detail !== undefined);
  return `${checker}: ${name}${details.length === 0 ? '' : ` (${details.join(', ')})`}`;
}

/**
 * 0: all was caught and nothing accused, of what was tried; 1: not so; 3: something could not run; 2: something proves nothing, or
 * is missing.
 */
export function statusOf(rows: readonly SelftestRow[], planned: number): 0 | 1 | 2 | 3 {
  const any = (...shown: TrialResult[]) => rows.some((row) => shown.includes(row.shown));
  if (any('missed', 'accused')) return 1;
  if (any('could-not-run')) return 3;
  return any('cannot-tell', 'not-provoked') || rows.length < planned ? 2 : 0;
}
