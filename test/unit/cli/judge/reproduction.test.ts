import { describe, expect, test } from 'vitest';
import { findingsOf, isReproduced, type Original, reproduction } from '../../../../cli/judge/reproduction.js';
import { results, row } from './series-rows.js';

const LOST = 'exclusion failover-lost-write';
const FORGOT = 'exclusion node-forgot';
const PAUSED = 'stale client-paused';

function original(violations: string[], options: Partial<Original> = {}): Original {
  const { verdict, violations: told } = results(violations);
  return { runId: 'original', verdict, findings: findingsOf(told), failOn: ['exclusion', 'stale'], ...options };
}

const replay = (violations: string[]) => row(1, results(violations));

describe('what counts as found again', () => {
  test('the same class for the same cause, however often', () => {
    expect(isReproduced(original([LOST, LOST]), replay([LOST]))).toBe(true);
    expect(isReproduced(original([LOST]), replay([FORGOT]))).toBe(false);
    expect(isReproduced(original([LOST]), replay([]))).toBe(false);
  });

  test('one of several causes is enough', () => {
    expect(isReproduced(original([LOST, FORGOT]), replay([FORGOT]))).toBe(true);
  });

  test('the gravest class: a stale holder says nothing about a broken exclusion that was mended', () => {
    expect(isReproduced(original([PAUSED, LOST]), replay([PAUSED]))).toBe(false);
    expect(isReproduced(original([PAUSED, LOST]), replay([LOST]))).toBe(true);
  });

  test('what failed the original, not what it allowed, unless there is nothing else', () => {
    expect(isReproduced(original([PAUSED, LOST], { failOn: ['stale'] }), replay([LOST]))).toBe(false);
    expect(isReproduced(original([LOST], { failOn: [], verdict: 'held' }), replay([LOST]))).toBe(true);
  });

  test('the verdict, if the original found nothing', () => {
    expect(isReproduced(original([]), replay([]))).toBe(true);
    expect(isReproduced(original([]), replay([LOST]))).toBe(false);
    expect(isReproduced(original([], { verdict: 'unknown' }), replay([]))).toBe(false);
    expect(isReproduced(original([], { verdict: 'unknown' }), row(1, results([], 'unknown')))).toBe(true);
  });
});

describe('k of n', () => {
  test('for each class and cause, the new ones last', () => {
    const of = original([LOST, LOST, PAUSED]);
    const told = reproduction(of, [replay([LOST, FORGOT, FORGOT]), replay([PAUSED]), replay([LOST])]);
    expect(told).toMatchObject({ by: 'findings', k: 2, n: 3, notCounted: 0 });
    expect(told.findings).toEqual([
      { class: 'exclusion', cause: 'failover-lost-write', blame: 'unexplained', original: 2, replays: 2, counts: true },
      { class: 'stale', cause: 'client-paused', blame: 'unexplained', original: 1, replays: 1, counts: false },
      { class: 'exclusion', cause: 'node-forgot', blame: 'unexplained', original: 0, replays: 1, counts: false },
    ]);
  });

  test('a replay that could not run, or was cut short before it found anything, is not among n', () => {
    const none = row(2, results([]), { cutShort: true });
    const told = reproduction(original([LOST]), [replay([LOST]), none, row(3)]);
    expect(told).toMatchObject({ k: 1, n: 1, notCounted: 2 });
  });

  test('one that was cut short after it had found it is', () => {
    const found = row(1, results([LOST]), { cutShort: true });
    expect(reproduction(original([LOST]), [found])).toMatchObject({ k: 1, n: 1, notCounted: 0 });
  });

  test('a run that was cut short confirms no verdict', () => {
    const held = row(1, results([]), { cutShort: true });
    expect(reproduction(original([]), [held, replay([])])).toMatchObject({ by: 'verdict', k: 1, n: 1, notCounted: 1 });
  });
});
