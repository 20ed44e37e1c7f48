/** What is published of a matrix: what came as it must, what nobody has explained yet, and nothing that was not shown. */
import { expect, test } from 'vitest';
import type { CellRow } from '../../../../cli/batches/matrix-cells.js';
import { keptCells } from '../../../../cli/docs/keep-cells.js';
import { type Cell, nameOf } from '../../../../matrix/index.js';

const cell = (fault: string, expect: Cell['expect']): Cell => ({
  ...{ fault, lock: 'pg-row', topology: 'postgres', expect, by: { flags: [] }, reason: `because of ${fault}` },
});
const [A, B, C, D, E] = [
  cell('a', 'safe'),
  cell('b', 'refused'),
  cell('c', 'safe'),
  cell('d', 'exclusion'),
  cell('e', 'exclusion'),
] as const;
const CELLS = [A, B, C, D, E];

function row({ expect, ...of }: Cell, more: Partial<CellRow> = {}): CellRow {
  return {
    ...{
      cell: nameOf({ expect, ...of }),
      fault: of.fault,
      lock: of.lock,
      topology: of.topology,
      reason: of.reason,
      expect,
    },
    ...{ came: expect, shown: 'as-expected', why: 'it says', day: '2026-11-26', tortured: 'PostgreSQL 15.14' },
    runs: [{ run: 'r1', seed: 1, reproduce: 'again' }],
    ...more,
  };
}

const kept = (before: Parameters<typeof keptCells>[0], ...rows: CellRow[]) => keptCells(before, rows, CELLS);

test('what came as it must and what was refused, with where and when, in the order of the matrix', () => {
  const { tortured: _, ...refused } = row(B, { runs: [{ seed: 1 }], why: 'it is for Redis' });
  expect(kept([], refused, row(A, { strikes: 7 }))).toEqual([
    {
      ...{ lock: 'pg-row', fault: 'a', topology: 'postgres', came: 'safe', strikes: 7, headline: 'it says' },
      ...{ reason: 'because of a', day: '2026-11-26', server: 'PostgreSQL 15.14', reproduce: 'again' },
    },
    {
      ...{ lock: 'pg-row', fault: 'b', topology: 'postgres', came: 'refused', headline: 'it is for Redis' },
      ...{ reason: 'because of b', day: '2026-11-26' },
    },
  ]);
});

test('what showed nothing is not kept, and takes nothing back', () => {
  const { came: _, ...unknown } = row(C, { shown: 'cannot-tell' });
  expect(kept([], unknown, row(D, { shown: 'lacks-power', came: 'safe' }))).toEqual([]);
  const before = kept([], row(C), row(D));
  expect(kept(before, unknown, row(D, { shown: 'lacks-power', came: 'safe' }))).toEqual(before);
});

test('what came otherwise, or led by a finding of which the run does not say why, is open until it is run again', () => {
  const why = 'Exclusion broken: once (first at 33.953 s on lock:2, unexplained); also 2 more (the deployment’s).';
  const open = kept(kept([], row(A)), row(A, { shown: 'otherwise', came: 'stale' }), row(E, { why }));
  expect(open.map(({ fault, came }) => [fault, came])).toEqual([
    ['a', 'open'],
    ['e', 'open'],
  ]);
  expect(kept(open).map(({ came }) => came)).toEqual(['open', 'open']);
  const explained = kept(open, row(A), row(E));
  expect(explained.map(({ came }) => came)).toEqual(['safe', 'exclusion']);
  expect(kept(explained, row(E, { why }))).toEqual(explained);
});

test('what could not be tried here says so, unless it was tried before', () => {
  const { came: _, tortured: __, ...not } = row(A, { shown: 'not-tried', why: 'no mongod', runs: [] });
  const told = kept([], not);
  expect(told).toEqual([expect.objectContaining({ fault: 'a', came: 'not-tried', headline: 'no mongod' })]);
  expect(kept(told, row(A))).toEqual([expect.objectContaining({ came: 'safe' })]);
  expect(kept(kept([], row(A)), not)).toEqual(kept([], row(A)));
});

test('virtual time adds its strikes to a cell that real time found safe, and decides no other', () => {
  const { strikes: _, ...virtual } = row(A, { virtualTime: true, virtualStrikes: 80, day: '2026-11-27' });
  expect(kept([], virtual)).toEqual([]);
  const both = kept(kept([], row(A, { strikes: 3 })), virtual);
  expect(both).toEqual([expect.objectContaining({ strikes: 3, virtualStrikes: 80, day: '2026-11-27' })]);
  expect(kept(both, row(A, { strikes: 4 }))).toEqual([expect.objectContaining({ strikes: 4, virtualStrikes: 80 })]);
  const before = kept([], row(D));
  expect(kept(before, row(D, { virtualTime: true, why: 'another' }))).toEqual(before);
  expect(kept(both, row(A, { virtualTime: true, shown: 'otherwise', came: 'stale' }))).toEqual(both);
});

test('what the matrix expects otherwise by now goes, and what it never had is not taken', () => {
  const before = kept([], row(A), row(D));
  const changed = [{ ...A, expect: 'stale' as const }, D];
  expect(keptCells(before, [], changed).map(({ fault }) => fault)).toEqual(['d']);
  expect(kept([], row({ ...A, expect: 'stale' }), row(cell('other', 'safe')))).toEqual([]);
});
