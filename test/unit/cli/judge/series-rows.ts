/** Literal runs of a series, for tests. */

import type { Original } from '../../../../cli/judge/reproduction.js';
import { type SeriesRow, seriesRowOf } from '../../../../cli/judge/series-summary.js';
import type { BlameName, Results, Violation, ViolationClass } from '../../../../harness/vocabulary/verdict.js';

/** `exclusion failover-lost-write lock`: a violation of that class and cause, and whom it blames where that is said. */
function violation(text: string): Violation {
  const [name, cause, on] = text.split(' ');
  return {
    class: name as ViolationClass,
    kind: 'overlap',
    key: 'lock:0',
    fromNs: 1,
    untilNs: 2,
    holds: [],
    evidence: [],
    proof: '',
    cause: { name: cause!, sentence: '', chain: [] },
    ...(on !== undefined && { blame: { on: on as BlameName, theory: '' } }),
  };
}

const WORDS: Record<Results['verdict'], string> = {
  held: 'HELD in 64 strikes',
  violated: 'VIOLATED: not safe on sentinel (a failover lost 3 grants)',
  unknown: 'CANNOT TELL',
};

/** Results with these violations; without any they held, unless said otherwise. */
export function results(violations: readonly string[], verdict?: Results['verdict']): Results {
  const told = verdict ?? (violations.length > 0 ? 'violated' : 'held');
  const found: Results['found'] = {};
  for (const { class: name } of violations.map(violation)) found[name] = (found[name] ?? 0) + 1;
  return {
    version: 2,
    runId: 'a-run',
    verdict: told,
    exitStatus: told === 'violated' ? 1 : told === 'unknown' ? 2 : 0,
    words: { verdict: WORDS[told], lock: '', deployment: '', leases: '' },
    headline: `It ${told}.`,
    reasons: [],
    violations: violations.map(violation),
    checkers: [],
    found,
    stats: {},
    readings: [],
    reproduce: '',
  };
}

/** The nth run of a series that began with seed 40; without results it could not run. */
export function row(n: number, judged?: Results, options: { cutShort?: boolean; original?: Original } = {}): SeriesRow {
  const run = {
    n,
    seed: 39 + n,
    runId: `run-${n}`,
    folder: `/runs/run-${n}`,
    reproduce: `npm run torture -- --seed ${39 + n}`,
    cutShort: options.cutShort ?? false,
  };
  return seriesRowOf(run, judged, options.original);
}
