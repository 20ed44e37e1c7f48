/** A checker is its file and one line in the map: one added to a copy of the map is found wherever checkers are listed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkers, judge, judgesAtAnyTime, judgesOf } from '../../../checkers/index.js';
import { listOfCheckers } from '../../../cli/docs/about-commands.js';
import { checkersPage } from '../../../cli/docs/checkers-page.js';
import { holdsOf } from '../../../harness/record/facts/holds.js';
import { resultsSchema } from '../../../harness/record/schemas/results.js';
import type { Checker } from '../../../harness/vocabulary/run.js';
import type { Violation } from '../../../harness/vocabulary/verdict.js';
import { htmlReport, junitXml, markdownSummary } from '../../../reports/index.js';
import { sampleInput } from '../reports/sample.js';
import { turns } from './build.js';

const YAWN: Violation = {
  class: 'liveness',
  kind: 'yawned',
  key: 'lock:0',
  fromNs: 3e9,
  untilNs: 4e9,
  holds: [],
  evidence: [1],
  proof: 'c1 yawned at 3.000 s.',
  cause: { name: 'unexplained', sentence: 'It is not known why.', chain: [] },
};

const dummy = (violations: Violation[]): Checker => ({
  name: 'wakefulness',
  summary: 'no client yawned while it held',
  properties: [
    {
      class: 'liveness',
      holds: 'No holder yawned',
      broken: 'A holder yawned',
      kinds: {
        yawned: { headline: (count) => `Tired: ${count} holders yawned`, accusedIf: 'a holder opened its mouth' },
      },
    },
  ],
  judges: { models: ['mutex'], plays: false },
  check: () => ({
    verdict: violations.length > 0 ? 'invalid' : 'valid',
    notes: [],
    violations,
    stats: { yawns: violations.length },
  }),
});

const reportOf = (violations: Violation[]) => {
  const judges = judgesOf({ model: { kind: 'mutex' }, played: false }, [...checkers, dummy(violations)]);
  const input = turns(12).whole(30).input();
  const results = judge(input, judges);
  return { results, report: { ...sampleInput(), ...input, holds: holdsOf(input.history), results } };
};

describe('a checker that is added to the map', () => {
  it('is found in results, headline and every report when it accuses', () => {
    const { results, report } = reportOf([YAWN, { ...YAWN, fromNs: 5e9, untilNs: 6e9 }]);
    expect(results).toMatchObject({ verdict: 'violated', exitStatus: 1, found: { liveness: 2 }, stats: { yawns: 2 } });
    expect(results.headline).toMatch(/^Tired: 2 holders yawned \(first at 3\.000 s on lock:0, unexplained\)\.$/);
    expect(results.checkers.at(-1)).toMatchObject({
      checker: 'wakefulness',
      properties: [{ class: 'liveness', holds: 'No holder yawned', broken: 'A holder yawned' }],
    });
    expect(resultsSchema.safeParse(JSON.parse(JSON.stringify(results))).error).toBeUndefined();
    expect(htmlReport(report)).toMatch(/<td>A holder yawned<\/td><td[^>]*><span class="state bad">✗ liveness lost: 2</);
    expect(markdownSummary(report)).toContain('| A holder yawned | ✗ liveness lost: 2 |');
    expect(junitXml(results)).toMatch(/name="wakefulness"><failure/);
  });

  it('is found in every report when it passes', () => {
    const { results, report } = reportOf([]);
    expect(results.verdict).toBe('held');
    expect(htmlReport(report)).toMatch(/<td>No holder yawned<\/td><td[^>]*><span class="state good">✓ held</);
    expect(markdownSummary(report)).toContain('| No holder yawned | ✓ held |');
    expect(junitXml(results)).toContain('name="wakefulness"></testcase>');
  });

  it('is found in `list` and in the docs', () => {
    const all = [...checkers, dummy([])];
    expect(listOfCheckers(all)).toContainEqual(['wakefulness', 'no client yawned while it held']);
    const page = checkersPage(all);
    expect(page).toContain('| `wakefulness` | no client yawned while it held | workloads of mutex |');
    expect(page).toContain('| `yawned` | liveness | `wakefulness` | a holder opened its mouth |');
  });

  it('judges the runs that it declares, and those that name it', () => {
    const all = [...checkers, dummy([])];
    const judges = (run: Parameters<typeof judgesOf>[0]) =>
      judgesOf(run, all).some(({ name }) => name === 'wakefulness');
    expect(judges({ model: { kind: 'mutex' }, played: false })).toBe(true);
    expect(judges({ model: { kind: 'fair' }, played: false })).toBe(false);
    expect(judges({ model: { kind: 'mutex' }, played: true })).toBe(false);
    const choosy: Checker = { ...dummy([]), judges: { ...dummy([]).judges, habit: 'counts' } };
    expect(judgesOf({ model: { kind: 'mutex' }, played: false, habit: 'counts' }, [choosy])).toEqual([choosy]);
    expect(judgesOf({ model: { kind: 'mutex' }, played: false, habit: 'writes' }, [choosy])).toEqual([]);
    expect(judgesOf({ model: { kind: 'mutex' }, played: false }, [choosy])).toEqual([]);
    expect(judgesOf({ model: { kind: 'mutex' }, played: true, habit: 'counts' }, [choosy])).toEqual([]);
    expect(judgesAtAnyTime(dummy([]))).toBe(true);
  });
});

describe('every checker', () => {
  it('has a name of its own, and says of each class only once what it decides', () => {
    expect(new Set(checkers.map(({ name }) => name)).size).toBe(checkers.length);
    for (const { properties } of checkers) {
      const classes = properties.map((property) => property.class);
      expect(new Set(classes).size).toBe(classes.length);
    }
  });

  it.each(checkers.flatMap(({ name, properties }) => properties.map((property) => [name, property] as const)))(
    '%s has sentences for every way it can come out',
    (_, { holds, broken, kinds }) => {
      for (const sentence of [holds, broken]) expect(sentence).toMatch(/^[A-Z].*[^.]$/);
      expect(holds).not.toBe(broken);
      for (const { headline, accusedIf } of Object.values(kinds)) {
        expect(headline(1, YAWN)).toMatch(/^[A-Z][^:]+: .*\b1 /);
        expect(headline(1, YAWN)).not.toBe(headline(2, YAWN).replace('2', '1'));
        expect(accusedIf).toMatch(/^[a-z].*[^.]$/);
      }
    },
  );

  it('declares each kind of finding that its file makes', () => {
    const folder = join(import.meta.dirname, '../../../checkers');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const made = files.flatMap((file) =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(/class: [^\n]+,\n\s+kind: ([^\n]+),/g)].flatMap(
        ([, kind]) => [...kind!.matchAll(/'([a-z-]+)'/g)].map(([, name]) => name!),
      ),
    );
    const declared = checkers.flatMap(({ properties }) => properties.flatMap(({ kinds }) => Object.keys(kinds)));
    expect(made.length).toBeGreaterThan(5);
    expect(declared).toEqual(expect.arrayContaining(made));
  });
});
