import { describe, expect, test } from 'vitest';
import { findingsOf, type Original } from '../../../../cli/judge/reproduction.js';
import { summarise } from '../../../../cli/judge/series-summary.js';
import { rowLine, summaryMarkdown, summaryText } from '../../../../cli/judge/summary-text.js';
import { results, row } from './series-rows.js';

const LOST = 'exclusion failover-lost-write';
const violated = results(['stale client-paused', LOST, LOST, 'exclusion unexplained']);

describe('a line for each run', () => {
  test('gravest class first, each with its causes', () => {
    expect(rowLine(row(2, violated), 5)).toBe(
      'run 2 of 5, seed 41: VIOLATED: not safe on sentinel, exclusion × 3 (failover-lost-write, unexplained), stale × 1 (client-paused)',
    );
  });

  test("the lock's mistakes before what others did, whatever their classes", () => {
    const mixed = results(['exclusion evicted deployment', 'exclusion unexplained', 'liveness key-never-expires lock']);
    expect(rowLine(row(1, mixed), 5)).toBe(
      'run 1 of 5, seed 40: VIOLATED: not safe on sentinel, liveness × 1 (key-never-expires), exclusion × 2 (unexplained, evicted)',
    );
  });

  test('nothing found, no end in sight, cut short, could not run', () => {
    expect(rowLine(row(1, results([])), undefined)).toBe('run 1, seed 40: HELD in 64 strikes');
    expect(rowLine(row(1, results([], 'unknown'), { cutShort: true }), 2)).toBe(
      'run 1 of 2, seed 40: CANNOT TELL (cut short)',
    );
    expect(rowLine(row(1), 2)).toBe('run 1 of 2, seed 40: could not run');
  });
});

describe('the table', () => {
  const summary = summarise([row(1, results([])), row(2, violated), row(3)], { ended: 'could-not-run', planned: 4 });

  test('for a terminal', () => {
    expect(summaryText(summary, '/runs/series/summary.md').split('\n')).toEqual([
      '',
      'seed  verdict                         found                     causes                                           exit  run',
      '40    HELD in 64 strikes                                                                                         0     run-1',
      '41    VIOLATED: not safe on sentinel  exclusion × 3, stale × 1  failover-lost-write, unexplained, client-paused  1     run-2',
      '42    could not run                                                                                              3     run-3',
      '',
      '1 of 3 runs violated, 1 held, 1 could not run. Ended because one could not be set up (4 were to be made).',
      'Exit status 1: a property was violated.',
      '',
      'First violated, seed 41: VIOLATED: not safe on sentinel (a failover lost 3 grants). It violated.',
      'Report: /runs/run-2/report.html',
      'Reproduce: npm run torture -- --seed 41',
      'Summary: /runs/series/summary.md',
    ]);
  });

  test('as Markdown, each run linked to its report, nothing that breaks the table', () => {
    const odd = { ...row(1, results([])), inShort: 'a|b' };
    const text = summaryMarkdown(summarise([odd, row(2, violated)], { ended: 'complete', planned: 2 }), 'nightly');
    expect(text).toContain('# nightly\n');
    expect(text).toContain('| 40 | a\\|b |  |  | 0 | [run-1](../run-1/report.html) |');
    expect(text).toContain('| 41 | VIOLATED: not safe on sentinel | exclusion × 3, stale × 1 |');
  });

  test('what a run says cannot act on the terminal', () => {
    const odd = row(1, { ...results([LOST]), headline: 'red \u001b[31m' });
    const told = summaryText(summarise([odd, odd], { ended: 'complete', planned: 2 }));
    expect(told).toContain('red \u241b[31m');
  });
});

test('runs that all held are worth something together, and what is allowed is no holding', () => {
  const stats = { holds: 900, strikes: 8, struckHolds: 30 };
  const held = row(1, { ...results([]), stats });
  const told = (rows: (typeof held)[]) => summaryText(summarise(rows, { ended: 'complete', planned: rows.length }));
  expect(told([held, held])).toContain(
    '2 held.\nTogether: 0 of 16 strikes violated; at most 17 % at 95 % (60 holds struck).',
  );
  const passed = row(2, { ...results([LOST], 'held'), stats });
  expect(told([held, passed])).toContain('0 of 2 runs violated, 1 held, 1 passed with what is allowed.\nExit status 0');
  expect(told([held, row(2, violated)])).not.toContain('Together');
  const virtual = row(2, { ...results([]), stats, virtualTime: 'Played in virtual time, as asked' });
  expect(told([held, virtual, virtual])).toContain(
    [
      'Together: 0 of 8 strikes violated; at most 31 % at 95 % (30 holds struck), in real time.',
      'Together: 0 of 16 strikes violated; at most 17 % at 95 % (60 holds struck), in virtual time.',
    ].join('\n'),
  );
  const calm = row(1, { ...results([]), stats: { holds: 900, strikes: 0, struckHolds: 0 } });
  expect(told([calm, calm])).toContain(
    'Together: 0 of 1,800 holds violated; at most 0.17 % at 95 %, without any fault',
  );
  // Nobody has counted the strikes of an earlier version.
  const earlier = row(1, { ...results([]), stats: { holds: 900, struckHolds: 30 } });
  expect(told([held, earlier])).not.toContain('Together');
});

describe('how a series ended', () => {
  const rows = [row(1, results([])), row(2, results([], 'unknown'), { cutShort: true })];

  test('by the user', () => {
    expect(summaryText(summarise(rows, { ended: 'interrupted', planned: 5 }))).toContain(
      '0 of 2 runs violated, 1 held, 1 cannot tell. Ended by the user before all 5 were made; the last was cut short.\nExit status 2',
    );
    expect(summaryText(summarise(rows, { ended: 'interrupted', planned: undefined }))).toContain(
      'Ended by the user; the last was cut short.',
    );
  });

  test('with what was looked for', () => {
    const found = [row(1, results([])), row(2, violated)];
    expect(summaryText(summarise(found, { ended: 'found', planned: 9 }))).toContain('9 were to be made at most');
  });
});

describe('replays', () => {
  const judged = results([LOST, LOST, 'stale client-paused']);
  const original: Original = {
    runId: 'original',
    verdict: 'violated',
    findings: findingsOf(judged.violations),
    failOn: ['exclusion', 'stale'],
  };
  const replays = [
    row(1, results(['stale client-paused']), { original }),
    row(2, results([LOST, 'exclusion node-forgot']), { original }),
  ];

  test('k of n, for each class and cause, and in the table', () => {
    const told = summaryText(summarise(replays, { ended: 'complete', planned: 2, original }));
    expect(told).toContain(
      [
        '1 of 2 replays of original found exclusion broken again for the same cause.',
        '  exclusion broken [failover-lost-write]: 2 in the original, in 1 of 2 replays',
        '  stale holder [client-paused]: 1 in the original, in 1 of 2 replays; does not count',
        '  exclusion broken [node-forgot]: not in the original, in 1 of 2 replays',
      ].join('\n'),
    );
    expect(told).toMatch(/exit {2}reproduced {2}run\n.* 1 {5}no .*\n.* 1 {5}yes /);
    expect(rowLine(replays[0]!, 2)).toMatch(/, not reproduced$/);
    expect(rowLine(replays[1]!, 2)).toMatch(/, reproduced$/);
  });

  test('one replay says only whether it found it again: the rest its run has said', () => {
    const told = summaryText(summarise([replays[1]!], { ended: 'complete', planned: 1, original }));
    expect(told).toContain('1 of 1 replay of original found exclusion broken again');
    expect(told).not.toContain('Exit status');
    expect(told).not.toContain('seed  verdict');
  });

  test('of an original that found nothing: the verdict', () => {
    const held: Original = { runId: 'original', verdict: 'held', findings: [], failOn: ['exclusion'] };
    const cut = row(3, results([]), { original: held, cutShort: true });
    const told = summaryText(
      summarise([row(1, results([LOST]), { original: held }), row(2, results([]), { original: held }), cut], {
        ended: 'interrupted',
        planned: 4,
        original: held,
      }),
    );
    expect(told).toContain(
      '1 of 2 replays of original came to its verdict, held (1 more not counted: cut short, or could not run).',
    );
    expect(told).toContain('exclusion broken [failover-lost-write]: not in the original, in 1 of 2 replays');
  });
});
