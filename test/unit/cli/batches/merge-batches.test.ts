/** Parts of a series, of scenarios and of a self-test: merged they are what one machine would have said, in whatever order. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mergeBatches, partsIn, partsKind } from '../../../../cli/batches/merge-batches.js';
import { type ScenarioRow, scenariosSummary } from '../../../../cli/batches/scenario-command.js';
import type { SelftestRow } from '../../../../cli/batches/selftest-jobs.js';
import { selftestSummary } from '../../../../cli/batches/selftest-text.js';
import { ofShard } from '../../../../cli/common/values.js';
import { seriesRowOf, summarise } from '../../../../cli/judge/series-summary.js';
import { scenarios } from '../../../../scenarios/index.js';

const PARTS = 4;

const scenarioRows = Object.values(scenarios).map(
  ({ name, claim, truth }): ScenarioRow => ({
    scenario: name,
    claim,
    truth,
    went: 'as-written',
    why: 'w',
    run: `run-${name}`,
  }),
);
const selftestRows = Array.from(
  { length: 10 },
  (_, n): SelftestRow => ({
    lock: `lock-${n}`,
    canary: n < 5,
    shown: n < 5 ? 'caught' : 'not-accused',
    why: 'w',
    story: 's',
    seed: n,
    run: `r${n}`,
  }),
);
const seriesRows = Array.from({ length: 10 }, (_, n) =>
  seriesRowOf({ n: n + 1, seed: 7 + n, runId: `r${n}`, folder: `/runs/r${n}`, cutShort: false, reproduce: 'again' }, {
    verdict: 'held',
    exitStatus: 0,
    headline: 'It held.',
    found: {},
    stats: {},
    violations: [],
  } as never),
);

/** What each kind of batch leaves in its folder. */
const KINDS = {
  scenarios: (rows: ScenarioRow[], planned: number) => ['scenarios.json', scenariosSummary(rows, planned, 9)] as const,
  selftest: (rows: SelftestRow[], planned: number) => ['selftest.json', selftestSummary(rows, planned, 9)] as const,
  series: (rows: typeof seriesRows, planned: number) =>
    ['summary.json', summarise(rows, { ended: 'complete', planned })] as const,
};
const ROWS = { scenarios: scenarioRows, selftest: selftestRows, series: seriesRows };

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'lock-torture-merge-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** A folder as the machine with this part leaves it. */
function part(kind: keyof typeof KINDS, index: number, of: number, change: (rows: unknown[]) => unknown[] = (r) => r) {
  const mine = ofShard<unknown>(ROWS[kind], { index, of });
  const [file, summary] = (KINDS[kind] as (rows: unknown[], planned: number) => readonly [string, object])(
    change([...mine]),
    mine.length,
  );
  const folder = join(base, `machine-${index}-of-${of}`, `${kind}-part`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), JSON.stringify({ ...summary, ...(of > 1 && { shard: { index, of } }) }));
  return folder;
}

function merged(folders: readonly string[], name: string) {
  const target = join(base, name);
  mkdirSync(target);
  const { report, ...told } = mergeBatches(folders, target);
  const text = readFileSync(join(target, report), 'utf8');
  return { ...told, text: text.replaceAll(/\.\.\/machine-\d-of-\d\//g, '') };
}

describe.each(Object.keys(KINDS) as (keyof typeof KINDS)[])('%s', (kind) => {
  const all = (of: number) => Array.from({ length: of }, (_, n) => part(kind, n + 1, of));

  it('four parts are what the whole is, in any order, and one of them twice', () => {
    const parts = all(PARTS);
    const whole = merged(all(1), 'whole');
    expect(whole.exitStatus).toBe(0);
    expect(merged(parts, 'a')).toEqual(whole);
    expect(merged([parts[2]!, parts[3]!, parts[0]!, parts[0]!, parts[1]!], 'b')).toEqual(whole);
  });

  it('leads to each run where its machine left it', () => {
    const target = join(base, 'out');
    mkdirSync(target);
    const { report } = mergeBatches(all(PARTS), target);
    const text = readFileSync(join(target, report), 'utf8');
    const run = kind === 'scenarios' ? scenarioRows[1]!.run : 'r1';
    expect(text).toContain(`../machine-2-of-4/${run}/report.html`);
  });

  it('cannot tell where a part is missing, or a row of one', () => {
    expect(merged(all(PARTS).slice(1), 'a').exitStatus).toBe(2);
    const [, ...others] = all(PARTS);
    expect(merged([part(kind, 1, PARTS, (rows) => rows.slice(1)), ...others], 'b').exitStatus).toBe(2);
  });

  it('refuses parts of another division, of something else, and what is damaged, in one line', () => {
    expect(() => merged([part(kind, 1, 4), part(kind, 2, 3)], 'a')).toThrow(/is one of 3 parts, and others are of 4$/);
    const other = part(kind === 'series' ? 'selftest' : 'series', 2, 4);
    expect(() => merged([part(kind, 1, 4), other], 'b')).toThrow(/are not parts of the same: one of them has no \S+$/);
    const damaged = part(kind, 3, 4, (rows) => [{ ...(rows[0] as object), seed: 'x', scenario: 1 }]);
    expect(() => merged([damaged], 'c')).toThrow(/: (rows|runs)\[0\]\.\w+: expected [^\n]*$/);
  });

  it('is found in the folder that a machine was told to write to', () => {
    const folder = part(kind, 1, 4);
    expect(partsIn(join(folder, '..'), (one) => partsKind(one) !== undefined)).toEqual([folder]);
  });
});
