import { describe, expect, test } from 'vitest';
import { exitStatusOf, runToShow, summarise } from '../../../../cli/judge/series-summary.js';
import { results, row } from './series-rows.js';

const LOST = 'exclusion failover-lost-write';
const violated = results([LOST, LOST, 'stale client-paused']);
const held = results([]);
const unknown = results([], 'unknown');

describe('the exit status of a series', () => {
  test.each([
    ['all held', [held, held], 0],
    ['unknown outranks held', [held, unknown, held], 2],
    ['violated outranks unknown', [unknown, violated, held], 1],
  ] as const)('%s', (_, runs, status) => {
    const rows = runs.map((one, n) => row(n + 1, one));
    expect(exitStatusOf(rows, 'complete')).toBe(status);
  });

  test('a run that could not be set up outranks everything but a violation', () => {
    expect(exitStatusOf([row(1, held), row(2, unknown)], 'could-not-run')).toBe(3);
    expect(exitStatusOf([row(1, unknown), row(2)], 'could-not-run')).toBe(3);
    expect(exitStatusOf([row(1, violated), row(2)], 'could-not-run')).toBe(1);
  });

  test('no run at all is no pass', () => expect(exitStatusOf([], 'interrupted')).toBe(3));

  test('a violation that does not fail its run does not fail the series', () => {
    expect(exitStatusOf([row(1, { ...results([LOST]), verdict: 'held', exitStatus: 0 })], 'complete')).toBe(0);
  });
});

describe('the summary of a series', () => {
  const rows = [row(1, held), row(2, violated), row(3, unknown, { cutShort: true }), row(4, results([LOST])), row(5)];

  test('counts runs by verdict and findings by class and cause', () => {
    expect(summarise(rows, { ended: 'could-not-run', planned: 9 })).toMatchObject({
      planned: 9,
      exitStatus: 1,
      counts: { violated: 2, held: 1, unknown: 1, 'could-not-run': 1 },
      findings: [
        { class: 'exclusion', cause: 'failover-lost-write', runs: 2, times: 3 },
        { class: 'stale', cause: 'client-paused', runs: 1, times: 1 },
      ],
    });
  });

  test('is about replays only where there is an original', () => {
    expect(summarise(rows, { ended: 'complete', planned: undefined })).not.toHaveProperty('reproduction');
    expect(rows[0]).not.toHaveProperty('reproduced');
  });

  test('the run to look at is the first violated, else the last', () => {
    expect(runToShow(rows)?.n).toBe(2);
    expect(runToShow([row(1, held), row(2, unknown)])?.n).toBe(2);
    expect(runToShow([])).toBeUndefined();
  });
});
