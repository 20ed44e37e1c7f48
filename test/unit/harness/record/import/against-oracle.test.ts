/**
 * Random histories whose processes go on after an unknown outcome, written to a file, imported and judged, against an oracle
 * that tries everything on the very events: no history may be accused that can be explained, and none excused that cannot.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { decideReadings, type ReadingName } from '../../../../../checkers/linearizability/decide-readings.js';
import { decidingKeys, parsedModel } from '../../../../../cli/judge/import-model.js';
import { importHistory } from '../../../../../harness/record/import/index.js';
import { cases, SEED } from '../../../../support/drawn.js';
import { isExplainable, type OracleModel, type OracleReading, type RecordedOp } from './owner-oracle.js';
import { recordedHistories } from './recorded-histories.js';

/** Of all models together; many more where random cases are. */
const HISTORIES = cases(1) === 1 ? 350 : 100_000;

/** Of a lease of 1 s certainly 997 ms run, which are so many steps of the grid. */
const LEASE_MS = 1_000;
const LEASE_STEPS = 4;
const STEP_NS = 997e6 / LEASE_STEPS;

const READINGS: Record<ReadingName, OracleReading> = {
  strict: { failedReleaseEnds: false, triesInform: false, lease: undefined },
  'tries-inform': { failedReleaseEnds: false, triesInform: true, lease: undefined },
  'failed-release-ends': { failedReleaseEnds: true, triesInform: false, lease: undefined },
  lease: { failedReleaseEnds: false, triesInform: false, lease: LEASE_STEPS },
};

const CASES: { model: OracleModel; as: string; owners?: true }[] = [
  { model: { kind: 'mutex' }, as: 'mutex' },
  { model: { kind: 'reentrant', depth: 2 }, as: 'reentrant:2' },
  { model: { kind: 'read-write' }, as: 'read-write' },
  { model: { kind: 'semaphore', permits: 2 }, as: 'semaphore:2' },
  { model: { kind: 'fenced' }, as: 'fenced' },
  { model: { kind: 'reentrant-fenced', depth: 2 }, as: 'reentrant-fenced:2' },
  { model: { kind: 'ownerless', permits: 1 }, as: 'ownerless' },
  { model: { kind: 'ownerless', permits: 2 }, as: 'ownerless:2' },
  { model: { kind: 'mutex' }, as: 'mutex', owners: true },
  { model: { kind: 'reentrant', depth: 2 }, as: 'reentrant:2', owners: true },
];

const folder = mkdtempSync(join(tmpdir(), 'import-oracle-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'history.jsonl');

describe(`imported histories are judged as by an oracle that tries everything (LOCK_TORTURE_TEST_SEED=${SEED})`, () => {
  test.each(CASES)('$as, owners: $owners', async ({ model, as, owners }) => {
    const seen = { valid: 0, invalid: 0 };
    await fc.assert(
      fc.asyncProperty(recordedHistories(model, 9), async (ops) => {
        for (const verdict of await compare(owners ? ops.map(owned) : ops, model, as, owners)) seen[verdict]++;
      }),
      { numRuns: Math.ceil(HISTORIES / CASES.length), seed: SEED },
    );
    const total = seen.valid + seen.invalid;
    expect(seen.valid / total).toBeGreaterThan(0.1);
    expect(seen.invalid / total).toBeGreaterThan(0.1);
  });
});

/** Of three processes the last two are one owner's. */
function owned(op: RecordedOp): RecordedOp {
  return { ...op, owner: op.process === 'p0' ? 'a' : 'b' };
}

/** The verdicts under all readings; throws where the oracle has another. */
async function compare(
  ops: readonly RecordedOp[],
  oracleModel: OracleModel,
  as: string,
  owners = false,
): Promise<('valid' | 'invalid')[]> {
  const model = parsedModel(as);
  writeFileSync(file, linesOf(ops));
  const { history } = await importHistory(file, { leaseMs: LEASE_MS, model, ...(owners ? { owner: 'owner' } : {}) });
  const search = { configurations: 1e6, steps: 1e7 };
  const readings = decideReadings(history, model, {
    witnesses: 3,
    search,
    decideKey: decidingKeys(model, { namesHolds: false, threads: owners }),
  });
  return readings.map(({ reading, verdict, witnesses, notes }) => {
    const expected = isExplainable(ops, oracleModel, READINGS[reading]) ? 'valid' : 'invalid';
    const bugs = notes.filter((note) => note.includes('bug'));
    if (verdict !== expected || bugs.length > 0)
      expect({ reading, verdict, bugs }).toEqual({ reading, verdict: expected, bugs: [] });
    if (expected === 'invalid' && witnesses.length === 0) expect.fail('no witness');
    return expected;
  });
}

/** Before all else, so that never all times are equal: then places would count instead. It tells nothing of the lock. */
const FIRST = { process: 'first', f: 'acquire' };

/** As JSON, an event a line, in the order of time. */
function linesOf(ops: readonly RecordedOp[]): string {
  const events = ops.flatMap(({ process, owner, op, mode, call, ret, outcome, error, token }, place) => {
    const common = { process, owner, f: op, mode };
    const answer = { ...common, type: outcome, error, token, time: (ret + 1) * STEP_NS };
    // That an outcome is not known may be recorded at any time before the process's next invoke.
    const until = Number.isFinite(ret) ? answer : { ...answer, time: (call + 1) * STEP_NS };
    return [
      { at: call, place: 2 * place, event: { ...common, type: 'invoke', time: (call + 1) * STEP_NS } },
      { at: Number.isFinite(ret) ? ret : call, place: 2 * place + 1, event: until },
    ];
  });
  events.sort((a, b) => a.at - b.at || a.place - b.place);
  const first = ['invoke', 'fail'].map((type) => ({ ...FIRST, type, time: 0 }));
  return [...first, ...events.map(({ event }) => event)].map((event) => JSON.stringify(event)).join('\n');
}
