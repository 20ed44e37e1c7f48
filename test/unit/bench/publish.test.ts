/** What is published of a matrix: what came as it must, with what was tortured. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { publishable } from '../../../bench/publish.js';
import type { Cell } from '../../../matrix/index.js';
import { nameOf } from '../../../matrix/index.js';

const scratch = mkdtempSync(join(tmpdir(), 'publish-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const cell = (fault: string, expect: Cell['expect']): Cell => ({
  ...{ fault, lock: 'pg-row', topology: 'postgres', expect, by: { flags: [] }, reason: `because of ${fault}` },
});
const CELLS = [
  cell('a', 'safe'),
  cell('b', 'refused'),
  cell('c', 'safe'),
  cell('d', 'exclusion'),
  cell('e', 'exclusion'),
];

function matrix(id: string, rows: object[]): string {
  const folder = join(scratch, `2026-11-26T06-00-00-${id}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'matrix.json'), JSON.stringify({ version: 2, rows }));
  return folder;
}

const row = (of: Cell, more: object) => ({
  ...{ cell: nameOf(of), fault: of.fault, lock: of.lock, topology: of.topology, expect: of.expect, came: of.expect },
  ...{ shown: 'as-expected', why: 'it says', reason: of.reason, runs: [{ run: 'r1', seed: 1, reproduce: 'again' }] },
  ...more,
});

test('what came as it must, what was refused, and no more; the run says what was tortured', () => {
  mkdirSync(join(scratch, 'r1'));
  const deployment = { i: 1, atNs: 5, type: 'deployment', topology: 'postgres', serverVersion: '15.14' };
  writeFileSync(join(scratch, 'r1/history.jsonl'), `{"i":0,"type":"run"}\n${JSON.stringify(deployment)}\n{"i":2`);
  const [a, b, c, d, e] = CELLS as [Cell, Cell, Cell, Cell, Cell];
  const folder = matrix('one', [
    row(d, { shown: 'lacks-power', came: 'safe' }),
    row(c, { shown: 'cannot-tell', came: undefined }),
    row(e, {
      why: 'Exclusion broken: once (first at 33.953 s on lock:2, unexplained); also 2 more (the deployment’s).',
    }),
    row(b, { runs: [{ seed: 1 }], why: 'it is for Redis' }),
    row(a, {}),
  ]);
  expect(publishable([folder], CELLS)).toEqual({
    day: '2026-11-26',
    servers: ['PostgreSQL 15.14'],
    cells: [
      expect.objectContaining({ fault: 'a', came: 'safe', reason: 'because of a', reproduce: 'again' }),
      {
        ...{ fault: 'b', lock: 'pg-row', topology: 'postgres' },
        came: 'refused',
        headline: 'it is for Redis',
        reason: b.reason,
      },
    ],
  });
});

test('what is expected otherwise by now is not published, and a matrix without its runs is refused', () => {
  const [a] = CELLS as [Cell];
  const other = matrix('two', [row({ ...a, expect: 'stale' }, { came: 'stale' })]);
  expect(publishable([other], CELLS).cells).toEqual([]);
  const alone = matrix('three', [row(a, { runs: [{ run: 'gone', seed: 1, reproduce: 'again' }] })]);
  expect(() => publishable([alone], CELLS)).toThrow(/gone.*is not there/);
});
