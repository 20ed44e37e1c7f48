/**
 * Did a counter that the lock protects lose an update? Each hold reads it, adds one and writes the sum back.
 *
 * Accused, each acknowledged write at most once, in this order:
 * - *overwritten*: another acknowledged write has a later version, but its client had last seen an earlier one: what it wrote
 *   does not contain the update (by the resource's own order: `resource.ts`);
 * - *vanished*: a read which began after the write was acknowledged found a lower value. Every value is one more than the
 *   value before, so a lower one does not contain the update, no matter what overwrote it;
 * - *missing*, once for each key: a read found fewer increments than had been acknowledged before it began. Which of them
 *   are missing is not known; told only where it proves more of them than were found one by one.
 *
 * A write of unknown outcome never accuses and is never lost: it counts as one that may or may not have been taken. Where one
 * that had not seen the last update may have been taken after everything else, it is unknown whether that update stands.
 *
 * Nothing can be concluded either about a key whose writes are not all increments of what the same hold had seen, or whose
 * resource contradicts its own order; nor, for the last two rules and for clients whose overlap need not be the lock's doing, where the
 * machine or the harness was disturbed. Excludes semaphores and writes that were refused.
 */

import { Earliest } from '../../harness/record/facts/earliest.js';
import { accessesOf } from '../../harness/record/facts/resource.js';
import { plural } from '../../harness/record/facts/words.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings } from '../../harness/vocabulary/verdict.js';
import { explainerOf } from '../causes/explain.js';
import { Doubts } from '../worth/doubts.js';
import { Counters, DISTURBED, type LostUpdate, type MissingUpdates } from './counters.js';

/** Updates that are reported with evidence and proof; all are counted. */
const MOST_REPORTED = 200;
/** Updates that are in doubt and told one by one. */
const MOST_DOUBTS_TOLD = 10;

function findLostUpdates(input: CheckInput): CheckerFindings {
  const { history, model } = input;
  if (model.kind === 'semaphore') return nothingJudged('holders of a semaphore may rightly write side by side');
  const { operations: ops } = history;
  const counters = new Counters(history);
  const doubts = new Doubts(input);
  const lost = new Earliest<LostUpdate>(MOST_REPORTED, (a, b) => ops.completionLine[a.by]! - ops.completionLine[b.by]!);
  const missing: MissingUpdates[] = [];
  const open: string[] = [];
  const doubted: string[] = [];
  const stats = { updates: 0, lostUpdates: 0, lostUpdatesAtLeast: 0, lostUpdatesInDoubt: 0 };
  for (const accesses of accessesOf(history)) {
    const why = counters.whyNot(accesses);
    if (why !== undefined) {
      open.push(why);
      continue;
    }
    const found = counters.judge(accesses);
    stats.updates += found.updates;
    stats.lostUpdatesAtLeast += Math.max(found.lost.length, found.missing?.missing ?? 0);
    if (found.open !== undefined) open.push(found.open);
    for (const one of found.lost) {
      const doubt = doubts.any ? counters.doubtAbout(one, doubts) : undefined;
      if (doubt === undefined) lost.add(one);
      else if (stats.lostUpdatesInDoubt++ < MOST_DOUBTS_TOLD)
        doubted.push(`an update was lost, which need not be the lock's doing: ${counters.proof(one)} But ${doubt}`);
    }
    if (!found.missing || found.missing.missing <= found.lost.length) continue;
    if (doubts.any) doubted.push(`${counters.proofOfMissing(found.missing)} But ${DISTURBED}`);
    else missing.push(found.missing);
  }
  if (stats.updates === 0 && open.length === 0)
    return nothingJudged('no write to a protected counter was acknowledged');

  const explain = explainerOf(input);
  const violations = [
    ...lost.list().map((one) => counters.violation(one, explain)),
    ...missing.map((one) => counters.violationOfMissing(one)),
  ];
  const harm = lost.count + missing.length;
  const notes = [...open, ...doubted];
  return {
    verdict: harm > 0 ? 'invalid' : notes.length > 0 ? 'unknown' : 'valid',
    notes,
    violations,
    ...(harm > violations.length && { found: { harm } }),
    ...(notes.length > 0 && { open: ['harm' as const] }),
    stats: { ...stats, lostUpdates: lost.count },
  };
}

export const lostUpdates: Checker = {
  name: 'lost-updates',
  summary: 'no acknowledged update of a counter that the lock protects was lost',
  properties: [
    {
      class: 'harm',
      holds: 'No acknowledged update of what the lock protects was lost',
      broken: 'An acknowledged update of what the lock protects was lost',
      kinds: {
        'lost-update': {
          headline: (count) => `Harm done: ${plural(count, 'acknowledged update')} of the protected counter lost`,
          accusedIf: 'an acknowledged increment is not contained in what a later write wrote or a later read found',
        },
        'missing-updates': {
          headline: (count) => `Harm done: ${plural(count, 'time')} the protected counter misses acknowledged updates`,
          accusedIf:
            'a read found fewer increments than had been acknowledged before it began, more of them than were found one by one',
        },
      },
    },
  ],
  judges: { models: 'all', plays: false, habit: 'counts' },
  check: findLostUpdates,
};

function nothingJudged(why: string): CheckerFindings {
  return { verdict: 'unknown', notes: [why], violations: [], stats: {} };
}
