import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BatchOptions, BatchRun } from '../../../cli/batches/batch.js';
import {
  begun,
  decideCell,
  judgeCell,
  lacksStrikes,
  serviceOfCell,
  strikesOf,
} from '../../../cli/batches/matrix-cells.js';
import { type MatrixFlags, matrixCommand, runCells, variantsAmong } from '../../../cli/batches/matrix-command.js';
import { cellsOfFolder } from '../../../cli/batches/matrix-file.js';
import { matrixSheet, matrixSummary } from '../../../cli/batches/matrix-sheet.js';
import { mergeBatches } from '../../../cli/batches/merge-batches.js';
import type { RedisBinary } from '../../../harness/vocabulary/topology.js';
import type { Results } from '../../../harness/vocabulary/verdict.js';
import { externalLocks } from '../../../lock-impl/external/index.js';
import { builtinLock } from '../../../lock-impl/index.js';
import {
  type Cell,
  cells,
  comparedPlaces,
  externalCells,
  nameOf,
  ownCells,
  serviceCells,
} from '../../../matrix/index.js';
import { PlanError } from '../../../nemesis/index.js';
import { scenarios } from '../../../scenarios/index.js';

const PROJECT = join(import.meta.dirname, '../../..');

describe('the cells', () => {
  test('have names of their own and a reason each', () => {
    expect(new Set(cells.map(nameOf)).size).toBe(cells.length);
    for (const { reason } of cells) expect(reason.length).toBeGreaterThan(10);
  });

  test('are of locks that need no other toolchain, unless libraries of other languages are asked for', () => {
    expect(ownCells.filter(({ lock }) => !builtinLock(lock))).toEqual([]);
    // A mistake of one call is shown by a play, and a latch is no lock.
    const played = new Set(Object.values(scenarios).map(({ lock }) => lock));
    const missing = Object.keys(externalLocks).filter(
      (name) => name !== 'redisson/latch' && !played.has(name) && !externalCells.some(({ lock }) => lock === name),
    );
    expect(missing).toEqual([]);
  });

  test('of services: every fault with every lock that is compared, on Redis and on others', () => {
    const faults = [...new Set(serviceCells.map(({ fault }) => fault))];
    expect(faults).toHaveLength(8);
    const expected = faults.flatMap((fault) => comparedPlaces.map((place) => ({ fault, ...place })));
    expect(serviceCells.map(nameOf)).toEqual(expected.map((cell) => nameOf(cell as Cell)));
    expect(serviceCells.every((cell) => cells.includes(cell))).toBe(true);
    expect(new Set(serviceCells.map(serviceOfCell))).toEqual(
      new Set(['redis', 'etcd', 'zookeeper', 'postgres', 'mariadb', 'mysql', 'mongodb']),
    );
  });

  const asked = (cell: Cell, by: Cell['by'] = cell.by) => {
    const redis: RedisBinary = {
      path: '/p/valkey-server',
      env: {},
      version: '9.1.2',
      origin: 'downloaded',
      asked: 'valkey@9',
    };
    const machine: BatchOptions['machine'] = { runtime: 'netns', redis, unavailable: {} };
    return decideCell({ machine, naming: ['--server', 'valkey@9'] }, PROJECT, 20_000)({ cell: { ...cell, by } }, 1);
  };
  const named = (some: readonly Cell[]) => some.map((cell) => [nameOf(cell), cell] as const);

  test.each(named(cells.filter((cell) => cell.expect === 'refused')))(
    '%s cannot be asked, for its fault alone',
    (_, cell) => {
      expect(() => asked(cell)).toThrow(PlanError);
      expect(asked(cell, { flags: ['--nemesis', 'none'] }).request).toMatchObject({ lock: cell.lock });
    },
  );

  test.each(named(cells.filter((cell) => cell.expect !== 'refused')))('%s can be run', (_, cell) => {
    const { request, plan } = asked(cell);
    expect(request).toMatchObject({ lock: cell.lock, topology: cell.topology });
    expect(request.reproduce).toContain(' --server valkey@9');
    if ('scenario' in cell.by) {
      expect(request.scenario).toBe(cell.by.scenario);
      expect(request.reproduce).toContain(`scenario ${cell.by.scenario}`);
    } else if (cell.by.flags.join(' ').includes('--nemesis none')) expect(plan.steps).toEqual([]);
    else expect(plan.steps.length).toBeGreaterThan(0);
  });
});

test('a lock in a version or a form that the matrix does not have has the cells of the lock', () => {
  const [other] = ['redisson/rlock@3.20.0:lock'];
  const variants = variantsAmong(`set-nx-px,redisson/rlock@3.16.4,${other}`);
  const of = cells.filter(({ lock }) => lock === 'redisson/rlock');
  expect(variants).toEqual(of.map((one) => ({ ...one, lock: other })));
  expect(cells.filter(({ lock }) => lock === 'redisson/rlock@3.16.4')).toHaveLength(of.length);
  expect(variantsAmong('set-nx-px')).toEqual([]);
  expect(variantsAmong(undefined)).toEqual([]);
  expect(() => variantsAmong('redisson/rlock:lok')).toThrow('no form "lok"');
});

test('a lock that is mistyped is told by the nearest name, also of those that stand for many', async () => {
  const asked = (locks: string) =>
    matrixCommand({ timeLimit: 20_000, locks } as MatrixFlags, { cwd: PROJECT, keep: () => Promise.reject() });
  await expect(asked('publishd')).rejects.toThrow('the matrix has no lock "publishd"; did you mean published?');
  await expect(asked('set-nx-pxx')).rejects.toThrow('did you mean set-nx-px?');
});

const cell: Cell = {
  fault: 'some',
  lock: 'l',
  topology: 'single',
  expect: 'exclusion',
  by: { flags: [] },
  reason: 'because it is',
};

function judged(expect: Cell['expect'], results: Partial<Results> | undefined) {
  const row = begun({ ...cell, expect });
  judgeCell(row, {
    seed: 1,
    results: results && { found: {}, headline: 'h', violations: [], stats: {}, checkers: [], ...results },
  } as unknown as BatchRun);
  return row;
}

const came = (...of: Parameters<typeof judged>) => judged(...of).shown;

describe('the outcome of a cell', () => {
  test.each([
    ['exclusion', { verdict: 'violated', found: { exclusion: 1, stale: 3 } }, 'as-expected'],
    ['exclusion', { verdict: 'held' }, 'lacks-power'],
    ['exclusion', { verdict: 'unknown' }, 'lacks-power'],
    ['exclusion', { verdict: 'violated', found: { stale: 1 } }, 'otherwise'],
    ['stale', { verdict: 'violated', found: { stale: 1 } }, 'as-expected'],
    ['stale', { verdict: 'violated', found: { stale: 1, exclusion: 1 } }, 'otherwise'],
    ['harm', { verdict: 'violated', found: { harm: 1, exclusion: 1 } }, 'as-expected'],
    ['harm', { verdict: 'violated', found: { exclusion: 1 } }, 'lacks-power'],
    ['harm', { verdict: 'violated', found: { stale: 1 } }, 'otherwise'],
    ['liveness', { verdict: 'violated', found: { liveness: 1 } }, 'as-expected'],
    ['safe', { verdict: 'held' }, 'as-expected'],
    ['safe', { verdict: 'violated', found: { stale: 1 } }, 'otherwise'],
    ['safe', { verdict: 'unknown' }, 'cannot-tell'],
    ['exclusion', { verdict: 'unknown' }, 'lacks-power'],
    ['safe', undefined, 'could-not-run'],
  ] as const)('must be %s, and was %j: %s', (expected, results, shown) => {
    expect(came(expected, results as Partial<Results> | undefined)).toBe(shown);
  });
});

describe('what a service cannot be asked', () => {
  const refused = (expect: Cell['expect'], run: Partial<BatchRun>) => {
    const row = begun({ ...cell, expect });
    judgeCell(row, { seed: 1, ...run });
    return row;
  };
  const error = 'amnesia is not possible here: it is for Redis';

  test('must be refused, and is told with the reason', () => {
    expect(refused('refused', { error, isRefused: true })).toMatchObject({
      came: 'refused',
      shown: 'as-expected',
      why: error,
    });
  });

  test('is no other trouble, no run, and no excuse for a cell that is to be run', () => {
    expect(refused('refused', { error: 'no such server' }).shown).toBe('could-not-run');
    expect(refused('safe', { error, isRefused: true }).shown).toBe('could-not-run');
    const results = (verdict: string) =>
      ({ verdict, found: {}, headline: 'h', violations: [], stats: {}, checkers: [] }) as unknown as Results;
    expect(refused('refused', { results: results('held') })).toMatchObject({ came: 'safe', shown: 'otherwise' });
    expect(refused('refused', { results: results('unknown') }).shown).toBe('cannot-tell');
  });
});

describe('a safe cell', () => {
  const held = (strikes: number, virtualTime?: string) =>
    ({
      ...{ verdict: 'held', found: {}, headline: 'h', violations: [], stats: { strikes }, checkers: [] },
      ...(virtualTime && { virtualTime }),
    }) as unknown as Results;
  const rowOf = (...runs: Results[]) => {
    const row = begun({ ...cell, expect: 'safe' });
    for (const results of runs) judgeCell(row, { seed: 1, results });
    return row;
  };
  const texts = (...runs: Results[]) => JSON.stringify(matrixSheet(matrixSummary([rowOf(...runs)], 1), 'id'));

  test('is called weak below 59 strikes, over its runs; those in virtual time make up for none of these', () => {
    expect(texts(held(9))).toContain('"safe (weak: 9 strikes, ≤ 28 %)"');
    expect(texts(held(0))).toContain('"safe (weak)"');
    expect(texts(held(30), held(28))).toContain('"safe (weak: 58 strikes, ≤ 5.0 %)"');
    expect(texts(held(30), held(29))).toContain('"safe (59 strikes, ≤ 5.0 %)"');
    expect(texts(held(30), held(58, 'virtual'))).toContain(
      '"safe (weak: 30 strikes, ≤ 9.5 %; 58 strikes in virtual time, ≤ 5.0 %)"',
    );
    expect(texts(held(30), held(59, 'virtual'))).toContain(
      '"safe, in virtual time (30 strikes, ≤ 9.5 %; 59 strikes in virtual time, ≤ 5.0 %)"',
    );
  });

  test('is run again for more strikes, as long as a run adds some and it stays safe', () => {
    const again = (least: number, ...runs: (Results | undefined)[]) => {
      const row = begun({ ...cell, expect: 'safe' });
      let before = 0;
      for (const results of runs) {
        before = strikesOf(row);
        judgeCell(row, { seed: 1, ...(results && { results }) });
      }
      return lacksStrikes(row, least, before);
    };
    expect(again(59, held(9))).toBe(true);
    expect(again(59, held(30), held(29))).toBe(false);
    expect(again(59, held(0))).toBe(false);
    expect(again(59, held(9), held(0))).toBe(false);
    expect(again(59, held(9, 'virtual'))).toBe(true);
    expect(again(59, held(9), undefined)).toBe(false);
    expect(again(59, held(9), { ...held(9), verdict: 'violated', found: { stale: 1 } } as Results)).toBe(false);
  });

  test('is told with the strikes that it has when the user asks to stop', async () => {
    const [one, other] = ownCells.filter(({ fault, lock }) => fault === 'client-crash' && lock === 'set-nx-px');
    const open = [one!, { ...one!, topology: 'sentinel' }, other ?? { ...one!, topology: 'replica' }].map((of) => ({
      ...{ cell: of, lock: of.lock, service: serviceOfCell(of), row: begun(of) },
    }));
    const stop = { asked: false } as BatchOptions['stop'] & { asked: boolean };
    const redis: RedisBinary = {
      path: '/p/redis-server',
      env: {},
      version: '7.0.15',
      origin: 'PATH',
      asked: 'redis',
    } as never;
    let runs = 0;
    const make = async () => {
      // In the second round of the second, which is cut short by that.
      stop.asked = ++runs === 5;
      return { results: held(5), reproduce: 'again' };
    };
    const options = {
      base: '',
      jobs: 1,
      machine: { runtime: 'netns', redis, unavailable: {} },
      naming: [],
      stop,
      make,
    };
    const ended: string[] = [];
    const asked = { seeds: 1, timeLimit: 20_000, minStrikes: 59, say: () => {} };
    await runCells(open, options as unknown as BatchOptions, asked, (row) => {
      ended.push(`${row.topology} ${row.strikes}`);
    });
    expect(ended).toEqual(['single 10', 'sentinel 5', `${open[2]!.cell.topology} 5`]);
  });

  test('stays what it was where a further run proves nothing, or could not be made', () => {
    const unknown = { ...held(0), verdict: 'unknown' } as Results;
    expect(rowOf(held(9), unknown)).toMatchObject({ came: 'safe', shown: 'as-expected', strikes: 9, why: 'h' });
    const row = rowOf(held(9));
    judgeCell(row, { seed: 2, error: 'no memory' });
    expect(row).toMatchObject({ came: 'safe', shown: 'as-expected', strikes: 9, why: 'h' });
    expect(row.runs).toHaveLength(2);
    expect(rowOf(unknown).shown).toBe('cannot-tell');
    expect(rowOf(held(9), { ...held(9), verdict: 'violated', found: { stale: 1 } } as Results).shown).toBe('otherwise');
  });

  test('shows what its last run cost, where that was measured', () => {
    const cost = (perSecond: number, forEachGrant?: number) => {
      const grants = { name: 'turnover', of: 'g', values: { clients: 4, perSecond, least: 3, median: 5, greatest: 9 } };
      const commands = { name: 'turnover', of: 'c', values: { commands: 12, forEachGrant } };
      return { ...held(9), checkers: [{ measurements: [grants, ...(forEachGrant ? [commands] : [])] }, {}] } as Results;
    };
    expect(rowOf(cost(1), cost(20.25, 3.5)).cost).toEqual({
      ...{ grantsPerSecond: 20.25, least: 3, greatest: 9, commandsPerGrant: 3.5 },
    });
    expect(texts(cost(1), cost(20.25, 3.5))).toContain('"20.3","3, 9","3.5"');
    expect(texts(cost(20.25))).toContain('"20.3","3, 9",""');
    expect(texts(held(9))).toContain('"","",""');
  });

  test('has its strikes in the data, and none once it is found to be not safe', () => {
    expect(rowOf(held(30), held(29), held(3, 'virtual'))).toMatchObject({ strikes: 59, virtualStrikes: 3 });
    const stale = { ...held(4), verdict: 'violated', found: { stale: 1 } } as Results;
    expect(rowOf(held(30), stale)).not.toHaveProperty('strikes');
  });
});

describe('liveness', () => {
  const violations = [
    { class: 'stale', kind: 'stale-holder' },
    { class: 'liveness', kind: 'left-behind' },
    { class: 'liveness', kind: 'left-behind' },
  ] as Results['violations'];
  const left = judged('safe', { verdict: 'violated', found: { liveness: 2, stale: 1 }, violations });

  test('is told with what of it was found, in the data and in the table: not all of it is a deadlock', () => {
    expect(left).toMatchObject({ came: 'liveness', kinds: ['left-behind'], shown: 'otherwise' });
    const texts = (row: typeof left) => JSON.stringify(matrixSheet(matrixSummary([row], 1), 'id'));
    expect(texts(left)).toContain('"liveness: left behind (otherwise)"');
    expect(texts(judged('liveness', { verdict: 'violated', found: { liveness: 2 }, violations }))).toContain(
      '"liveness: left behind"',
    );
    expect(judged('safe', { verdict: 'held' })).not.toHaveProperty('kinds');
  });

  test('was called a deadlock, whatever it was, by older versions, whose files are read all the same', () => {
    const { kinds, ...row } = { ...left, expect: 'deadlock', came: 'deadlock', cell: nameOf(cells[0]!) };
    const folder = mkdtempSync(join(tmpdir(), 'lock-torture-matrix-'));
    try {
      const summary = matrixSummary([row as never], 1);
      writeFileSync(join(folder, 'matrix.json'), JSON.stringify(summary));
      expect(kinds).toEqual(['left-behind']);
      expect(cellsOfFolder(folder)).toMatchObject([{ expect: 'liveness', came: 'liveness' }]);
      const target = mkdtempSync(join(folder, 'merged-'));
      mergeBatches([folder], target);
      expect(JSON.parse(readFileSync(join(target, 'matrix.json'), 'utf8')).rows).toMatchObject([
        { expect: 'liveness', came: 'liveness' },
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
