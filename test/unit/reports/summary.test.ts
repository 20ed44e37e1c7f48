import { describe, expect, it } from 'vitest';
import type { Results } from '../../../harness/vocabulary/verdict.js';
import { closingSummary, jsonSummary } from '../../../reports/summary.js';
import { whatHappened } from '../../../reports/words.js';
import { sampleInput } from './sample.js';

const { results, config } = sampleInput();
const failOn = config.failOn;
const ESC = String.fromCharCode(27);

describe('closing summary', () => {
  it('says the verdict, what was found by its causes, how to repeat it, and at last the verdict again with counts and report', () => {
    const lines = closingSummary({ results, failOn, reportPath: 'runs/latest/report.html' }).split('\n');
    expect(lines.slice(0, 8)).toEqual([
      'VIOLATED: not safe on sentinel (a failover lost 2 grants), and 1 holder outslept its lease; no other mistake of the lock found (exit status 1)',
      '  Lock:       no mistake of its own was found in only 9 holds that a fault struck, which is weak: up to 28 % of such may go wrong, at 95 % confidence.',
      '  Deployment: Redis lost 2 grants in a failover. No lock on sentinel is safe in every failover.',
      '  Leases:     1 holder outslept its own; fencing contains it.',
      '  For a stronger one: npm run torture -- --topology sentinel --seed 42 --times 20',
      '',
      'Exclusion was broken twice and one stale holder was found on set-nx-px over sentinel',
      'Note: The planned amnesia was refused: 2 of 3 nodes would have forgotten at once.',
    ]);
    const [a, b] = results.violations[0]!.holds;
    const start = lines.findIndex((line) => line.startsWith('1. '));
    expect(lines.slice(start, start + 7)).toEqual([
      "1. exclusion broken, the deployment's: failover lost the write ×2, longest 812 ms",
      `   Clearest: c2 (hold #${a!.id}) and c5 (hold #${b!.id}) both held lock:0 for 812 ms, both leases running, 10.388 s – 11.200 s`,
      '   Proof:    c2 certainly held (8.431 s, 11.200 s); c5 certainly held (10.388 s, 11.930 s); overlap ≥ 811.886 ms.',
      "   Why:      r2 was promoted without c2's lock, which only r1 had, and granted it to c5 [failover-lost-write]",
      '   Whose:    What deployment means. https://example.org/deployment',
      '',
      "2. stale holder, the lease's: the client was paused, for 1.04 s",
    ]);
    expect(lines.slice(-3)).toEqual([
      'Reproduce: npm run torture -- --topology sentinel --seed 42',
      'VIOLATED: not safe on sentinel. Found: exclusion broken ×2, stale holder ×1.',
      'Report: runs/latest/report.html',
    ]);
  });

  it('tells a cause once, by the longest, and at most five causes', () => {
    const [exclusion, , stale] = results.violations;
    const longer = { ...exclusion!, untilNs: exclusion!.untilNs + 1e9 };
    const many: Results = {
      ...results,
      violations: [exclusion!, ...Array.from({ length: 78 }, () => exclusion!), longer, stale!],
      found: { exclusion: 80, stale: 1 },
    };
    const told = closingSummary({ results: many, failOn: ['exclusion'] });
    expect(told.match(/^\d+\. .*/gm)).toEqual([
      "1. exclusion broken, the deployment's: failover lost the write ×80, longest 1.812 s",
      "2. stale holder, the lease's (allowed: does not fail this run): the client was paused, for 1.04 s",
    ]);
    expect(told).toMatch(/^ {3}Clearest: .* for 1\.812 s, both leases running/m);
    expect(told).toContain('Found: exclusion broken ×80, stale holder ×1 (does not fail this run).');
    const causes = Array.from({ length: 7 }, (_, n) => ({ ...stale!, kind: `kind-${n}` }));
    const seven = closingSummary({ results: { ...results, violations: causes, found: { stale: 7 } }, failOn });
    expect(seven.match(/^\d+\. stale holder \(kind \d\)/gm)).toHaveLength(5);
    expect(seven).toContain('\n2 more causes in the report.\n');
  });

  it('counts all where only the first are reported', () => {
    const many: Results = { ...results, found: { exclusion: 14_201, stale: 1 } };
    const told = closingSummary({ results: many, failOn });
    expect(told).toContain('All are counted; explained one by one are the first 2 of 14,201 (exclusion broken).');
    expect(told).toContain('Found: exclusion broken ×14,201, stale holder ×1.');
  });

  it('tells notes of one kind once', () => {
    const reasons = [
      ...Array.from({ length: 9 }, (_, n) => `c${n}.2 stood still for ${n} s: no more than 1,000.5 ms is told`),
      'c1 stood still for 900 ms: no more than 2 s is told',
      'the history is torn',
    ];
    const told = closingSummary({ results: { ...results, reasons }, failOn });
    expect(told.match(/^Note: .*/gm)).toEqual([
      'Note: c0.2 stood still for 0 s: no more than 1,000.5 ms is told (×10, the first of them)',
      'Note: the history is torn',
    ]);
  });

  it('breaks lines at words to the width of a terminal, and leaves commands and the report whole', () => {
    const text = { results, failOn, reportPath: '/home/you/runs/2026-11-30T15-48-38-sentinel-e74c/report.html' };
    const whole = closingSummary(text).split('\n');
    const lines = closingSummary({ ...text, columns: 60 }).split('\n');
    expect(whole.some((line) => line.length > 140)).toBe(true);
    const wide = lines.filter((line) => line.length > 60);
    expect(wide).toEqual(whole.filter((line) => line.length > 60 && /npm run|^Report: /.test(line)));
    expect(lines.join(' ').replace(/\s+/g, ' ')).toBe(whole.join(' ').replace(/\s+/g, ' '));
    expect(lines).toContain('  Lock:       no mistake of its own was found in only 9');
    expect(lines).toContain('              holds that a fault struck, which is weak: up');
  });

  it('shows an allowed finding as such', () => {
    const held: Results = {
      ...results,
      words: { ...results.words!, verdict: 'PASSED, WITH 1 STALE HOLDER ALLOWED BY --fail-on exclusion' },
      verdict: 'held',
      exitStatus: 0,
      violations: [results.violations[2]!],
      found: { stale: 1 },
    };
    const told = closingSummary({ results: held, failOn: ['exclusion'] });
    expect(told).toMatch(/^PASSED, WITH 1 STALE HOLDER ALLOWED BY --fail-on exclusion \(exit status 0\)\n/);
    // Amber, and not the green of one that held.
    expect(closingSummary({ results: held, failOn: ['exclusion'], colour: true })).toContain(`${ESC}[1;33mPASSED`);
    expect(told).toContain("1. stale holder, the lease's (allowed: does not fail this run): the client was paused");
    expect(told).toContain('\n   What:     c4');
  });

  it('says where it cannot tell whether a finding fails the run, and each theory once', () => {
    const [first, second, third] = results.violations.map((one) => ({
      ...one,
      blame: { on: 'unexplained' as const, theory: 'Not known.' },
    }));
    const told = closingSummary({ results: { ...results, violations: [first!, second!, third!] }, failOn: ['lock'] });
    expect(told).toContain('1. exclusion broken, unexplained (cannot tell whether it fails this run): failover');
    expect(told).not.toContain('Not known');
    const again = closingSummary({ results, failOn });
    expect(again.match(/Whose: +What deployment means/g)).toHaveLength(1);
    expect(again.match(/Whose: +What lease means/g)).toHaveLength(1);
  });

  it('colours only when asked to, and never lets a lock colour the terminal or add a line', () => {
    expect(closingSummary({ results, failOn })).not.toContain(ESC);
    expect(closingSummary({ results, failOn, colour: true })).toContain(`${ESC}[1;31mVIOLATED`);
    const evil = structuredClone(results);
    evil.violations[0]!.cause.sentence = `\n9. all is well${ESC}[2J`;
    evil.violations[0]!.proof = '\r\u009b31m';
    evil.reasons.push('\u0007\nHELD');
    evil.headline = 'a\nb';
    const told = closingSummary({ results: evil, failOn });
    expect(told.split('\n')).toHaveLength(closingSummary({ results, failOn }).split('\n').length + 1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(told).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });
});

it('of results of an earlier version, which have no words, as much as is known', () => {
  const { words: _, ...old } = results;
  expect(closingSummary({ results: old, failOn }).split('\n').slice(0, 2)).toEqual([
    'VIOLATED (exit status 1)',
    results.headline,
  ]);
  expect(jsonSummary(old, '/runs/1').words).toBeNull();
});

describe('json summary', () => {
  it('is one object that survives JSON, with every violation', () => {
    const summary = JSON.parse(JSON.stringify(jsonSummary(results, '/runs/1', 'r.html')));
    expect(summary).toMatchObject({
      verdict: 'violated',
      exitStatus: 1,
      words: results.words,
      runId: results.runId,
      report: 'r.html',
      reproduce: results.reproduce,
    });
    expect(summary.violations).toHaveLength(3);
    expect(summary.violations[2]).toMatchObject({
      class: 'stale',
      key: 'lock:2',
      clients: ['c4', 'c6'],
      cause: 'client-paused',
    });
    expect(summary.checkers).toEqual({ 'mutual-exclusion': 'invalid', vacuity: 'valid', liveness: 'valid' });
  });
});

it('a stale holder is described by whose lease had ended, and by how long', () => {
  const [, , stale] = results.violations;
  const [holder, other] = stale!.holds;
  expect(whatHappened(stale!)).toBe(
    `c4 (hold #${holder!.id}) still acted as holder of lock:2 up to 1.151 s after its lease had ended, while c6 (hold #${other!.id}) held it, 13.310 s – 14.350 s (1.04 s)`,
  );
});

it('broken exclusion under a lock without leases is described without any', () => {
  const [broken] = results.violations;
  const holds = broken!.holds.map((hold) => ({ ...hold, leaseEndNs: Number.POSITIVE_INFINITY }));
  expect(whatHappened(broken!)).toContain(' for 812 ms, both leases running, ');
  expect(whatHappened({ ...broken!, holds })).toContain(' for 812 ms, 10.388 s – ');
});
