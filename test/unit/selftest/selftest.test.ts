/** What a self-test is made of, and that it can fail. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SERVICE_CANARIES } from '../../../bench/claims-services.js';
import { checkers } from '../../../checkers/index.js';
import type { BatchRun } from '../../../cli/batches/batch.js';
import {
  type Job,
  jobsOf,
  judgeJob,
  notTried,
  type SelftestRow,
  statusOf,
} from '../../../cli/batches/selftest-jobs.js';
import { headline, selftestSheet, selftestSummary, troublesOf } from '../../../cli/batches/selftest-text.js';
import { askRun } from '../../../cli/run/ask-run.js';
import { decideRun } from '../../../cli/run/decide-run.js';
import { parseRunFlags } from '../../../cli/run/flags.js';
import type { Results, Violation } from '../../../harness/vocabulary/verdict.js';
import { locks } from '../../../lock-impl/index.js';
import { sounds, trials } from '../../../selftest/index.js';

const PROJECT = join(import.meta.dirname, '../../..');

describe('the trials', () => {
  test('every canary has one, and every trial a canary with a twin', () => {
    const canaries = Object.keys(locks).filter((name) => locks[name]!.canary && !name.endsWith('-mended'));
    const tried = trials.map(({ canary }) => `broken/${canary}`);
    for (const name of tried) expect(locks[`${name}-mended`]).toBeDefined();
    // Canaries of other services need more than the self-test asks of a machine: `npm run bench -- accept services` tries them.
    const elsewhere = Object.entries(SERVICE_CANARIES);
    for (const [, { twin }] of elsewhere) expect(locks[twin]).toBeDefined();
    expect([...tried, ...elsewhere.map(([name]) => name)].toSorted()).toEqual(canaries.toSorted());
  });

  test('the checker that is named exists', () => {
    const names = checkers.map(({ name }) => name);
    for (const { caught } of trials) if ('checker' in caught) expect(names).toContain(caught.checker);
  });

  test.each([true, false])('every run can be made (quick: %s)', (quick) => {
    for (const { argv } of jobsOf(trials, sounds, quick)) {
      const { flags, given } = parseRunFlags(argv);
      if (flags.plan !== undefined) expect(existsSync(join(PROJECT, flags.plan)), flags.plan).toBe(true);
      const asked = askRun(flags, { argv, cwd: PROJECT, given });
      const { request, plan, warnings } = decideRun(asked, {}, 1);
      expect(request.lock).toBe(flags.lock);
      if (request.nemesis.length === 0) expect(plan.steps).toEqual([]);
      else expect(plan.steps.length, `${argv.join(' ')}: ${warnings}`).toBeGreaterThan(0);
    }
  });
});

const violation: Violation = {
  class: 'exclusion',
  kind: 'overlap',
  key: 'lock:0',
  fromNs: 1e9,
  untilNs: 2.5e9,
  holds: [],
  evidence: [],
  proof: 'two held.',
  cause: { name: 'unexplained', sentence: '', chain: [] },
};

function ended(checker: string, violations: Violation[], verdict: Results['verdict'] = 'held'): BatchRun {
  const results = { verdict, headline: 'The lock held.', violations, checkers: [{ checker, violations }] };
  return { seed: 7, runId: 'some', reproduce: 'npm run …', results: results as unknown as Results };
}

const overlap = { checker: 'mutual-exclusion', class: 'exclusion' } as const;
const canary: Job = { lock: 'broken/some', argv: [], must: overlap, story: '' };
const twin: Job = { lock: 'broken/some-mended', argv: [], mustNot: overlap, story: '' };
const sound: Job = { lock: 'some', argv: [], mustNot: 'anything', story: '' };

describe('the outcome of a run', () => {
  test('a canary is caught by the checker that is named for it, and by no other', () => {
    const caught = judgeJob(canary, ended('mutual-exclusion', [violation], 'violated'));
    expect(caught).toMatchObject({ shown: 'caught', afterSeconds: 2.5, why: 'mutual-exclusion: exclusion' });
    expect(judgeJob(canary, ended('ownership', [violation], 'violated')).shown).toBe('missed');
    expect(judgeJob(canary, ended('mutual-exclusion', [{ ...violation, class: 'stale' }])).shown).toBe('missed');
    expect(judgeJob(canary, ended('mutual-exclusion', [])).shown).toBe('missed');
  });

  test('a kind or a cause that is named must be the one', () => {
    const job = { ...canary, must: { ...overlap, kind: 'revived' } };
    expect(judgeJob(job, ended('mutual-exclusion', [violation])).shown).toBe('missed');
    expect(judgeJob(job, ended('mutual-exclusion', [{ ...violation, kind: 'revived' }])).shown).toBe('caught');
    const late = { ...canary, must: { ...overlap, cause: 'granted-late' } };
    expect(judgeJob(late, ended('mutual-exclusion', [violation])).shown).toBe('missed');
  });

  test('a canary whose run ends undecided is caught only for the reason that is named', () => {
    const job: Job = { ...canary, must: { verdict: 'unknown', counted: 'answersLost' } };
    const run = (verdict: Results['verdict'], stats: Results['stats']) => {
      const { results, ...rest } = ended('mutual-exclusion', [], verdict);
      return judgeJob(job, { ...rest, results: { ...results!, stats } }).shown;
    };
    expect(run('unknown', { answersLost: 3 })).toBe('caught');
    expect(run('unknown', { answersLost: 0 })).toBe('missed');
    expect(run('unknown', {})).toBe('missed');
    expect(run('held', { answersLost: 3 })).toBe('missed');
  });

  test("a twin may be found guilty of anything but its canary's mistake, a sound lock of nothing", () => {
    const stale = ended('mutual-exclusion', [{ ...violation, class: 'stale' }]);
    expect(judgeJob(twin, stale).shown).toBe('not-accused');
    expect(judgeJob(twin, ended('mutual-exclusion', [violation])).shown).toBe('accused');
    expect(judgeJob(sound, stale).shown).toBe('accused');
    expect(judgeJob(sound, ended('mutual-exclusion', [])).shown).toBe('not-accused');
  });

  test('a run that proves nothing, or none at all, is neither', () => {
    expect(judgeJob(twin, ended('mutual-exclusion', [], 'unknown')).shown).toBe('cannot-tell');
    expect(judgeJob(canary, ended('mutual-exclusion', [], 'unknown')).shown).toBe('cannot-tell');
    expect(judgeJob(canary, ended('mutual-exclusion', [violation], 'unknown')).shown).toBe('caught');
    expect(judgeJob(sound, { seed: 1, error: 'no' })).toMatchObject({ shown: 'could-not-run', why: 'no' });
  });

  test('the exit status is 0 only if all was caught and nothing accused', () => {
    const rows = (...shown: SelftestRow['shown'][]) => shown.map((one) => ({ shown: one }) as SelftestRow);
    expect(statusOf(rows('caught', 'not-accused'), 2)).toBe(0);
    expect(statusOf(rows('caught', 'missed', 'could-not-run'), 3)).toBe(1);
    expect(statusOf(rows('accused'), 1)).toBe(1);
    expect(statusOf(rows('caught', 'could-not-run'), 2)).toBe(3);
    expect(statusOf(rows('caught', 'cannot-tell'), 2)).toBe(2);
    expect(statusOf(rows('caught', 'not-provoked'), 2)).toBe(2);
    expect(statusOf(rows('missed', 'not-provoked'), 2)).toBe(1);
    expect(statusOf(rows('caught'), 2)).toBe(2);
    expect(statusOf(rows('caught', 'not-tried'), 2)).toBe(0);
  });

  test('a run ends at its first finding, unless that may be another checker’s than the one that is named', () => {
    const ends = (name: string) => {
      const [job, twinJob] = jobsOf(trials, sounds, true).filter(({ lock }) => lock.startsWith(`broken/${name}`));
      expect(twinJob!.argv.includes('--stop-at-first')).toBe(job!.argv.includes('--stop-at-first'));
      return job!.argv.includes('--stop-at-first');
    };
    expect(['blind-del', 'watchdog-dies', 'janitor', 'wall-clock-stamps', 'fence-per-client'].map(ends)).not.toContain(
      false,
    );
    expect(['refusal-ignored', 'renewal-unchecked', 'silent-unlock'].map(ends)).not.toContain(true);
  });

  test('what was not provoked is counted apart, and told', () => {
    const [missed] = [judgeJob(canary, ended('mutual-exclusion', []))];
    const rows: SelftestRow[] = [missed, { ...missed, shown: 'not-provoked' }];
    expect(headline(rows, 2)).toBe('0 of 2 canaries caught, 0 of 0 sound runs accused, 1 not provoked');
    expect(troublesOf(rows).join()).toContain('not provoked: broken/some');
  });

  test('a trial that needs luck says what must have happened, to the canary alone', () => {
    const lucky = trials.filter(({ needs }) => needs !== undefined).map(({ canary: name }) => `broken/${name}`);
    const needing = jobsOf(trials, sounds, true).filter(({ needs }) => needs !== undefined);
    expect(lucky.length).toBeGreaterThan(0);
    expect(needing.map(({ lock }) => lock)).toEqual(lucky);
  });

  test('what no server here has commands for is counted apart, and never as passed', () => {
    const serverNeeds = { oneOf: ['DELEX'], server: 'redis@8.4' };
    const rows = [
      judgeJob(canary, ended('mutual-exclusion', [violation], 'violated')),
      notTried({ ...canary, serverNeeds }, 'it needs DELEX'),
      notTried({ ...twin, serverNeeds }, 'it needs DELEX'),
    ];
    expect(rows.map(({ shown }) => shown)).toEqual(['caught', 'not-tried', 'not-tried']);
    expect(headline(rows, 3)).toBe(
      '1 of 1 canaries caught, 0 of 0 sound runs accused, 2 not tried, for want of a server',
    );
    expect(troublesOf(rows)).toEqual([]);
    const { tables } = selftestSheet(selftestSummary(rows, 3, 1), 'some');
    expect(tables.map((table) => table.rows.length)).toEqual([2, 1]);
    expect(tables[0]!.rows[1]).toContainEqual({ text: 'not tried' });
  });
});
