/** The page that compares services says what was measured: what survives, what could not be asked and why, what it costs. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { type Costs, costsTable, middle, ratios } from '../../../../cli/docs/costs.js';
import { cameText, type MeasuredCell } from '../../../../cli/docs/measured.js';
import { whichLockPage } from '../../../../cli/docs/which-lock-page.js';

const PAGE = join(import.meta.dirname, '../../../../docs/which-lock.md');
const scratch = mkdtempSync(join(tmpdir(), 'which-lock-'));
afterAll(() => rmSync(scratch, { recursive: true }));

it('is what was measured; if not, run: npm run docs', () => {
  expect(whichLockPage(PAGE)).toBe(readFileSync(PAGE, 'utf8'));
});

/** What the page says first of a row: which faults it survives, and which not. */
const SAID: [row: string, fault: string, came: 'safe' | 'exclusion' | 'stale holder'][] = [
  ['`set-nx-px`, Redis sentinel', 'leader or primary lost', 'exclusion'],
  ['`set-nx-px`, Redis single', 'node forgets', 'exclusion'],
  ['`set-nx-px`, Redis single', 'node’s clock ahead', 'exclusion'],
  ['`etcd-lease`, etcd quorum', 'leader or primary lost', 'safe'],
  ['`etcd-lock-api`, etcd quorum', 'leader or primary lost', 'safe'],
  ['`zk-lock`, ZooKeeper quorum', 'leader or primary lost', 'safe'],
  ['`etcd-lease`, etcd quorum', 'client paused', 'stale holder'],
  ['`pg-row`, PostgreSQL primary-replica-sync', 'leader or primary lost', 'safe'],
  ['`pg-row`, PostgreSQL primary-replica-sync', 'node’s clock ahead', 'exclusion'],
  ['`pg-advisory`, PostgreSQL primary-replica-sync', 'leader or primary lost', 'exclusion'],
  ['`redlock`, Redis redlock', 'node forgets', 'exclusion'],
  ['`redlock`, Redis redlock', 'node’s clock ahead', 'exclusion'],
];

it.each(SAID)('its first sentences say of %s, %s, what the table says: %s', (row, fault, came) => {
  const lines = readFileSync(PAGE, 'utf8').split('\n');
  const columns = lines.find((line) => line.includes('| client paused |'))!.split(' | ');
  const cells = lines.find((line) => line.startsWith(`| ${row} |`))!.split(' | ');
  expect(cells[columns.indexOf(fault)]).toContain(came);
});

const cell = {
  topology: 'postgres',
  reason: 'it was not told',
  headline: 'Exclusion broken: once | twice',
  day: '2026-11-26',
  server: 'PostgreSQL 15.1',
} as const;
const measured: MeasuredCell[] = [
  { ...cell, lock: 'pg-row', fault: 'leader-lost', came: 'exclusion', reproduce: 'npm run torture -- --seed 3' },
  { ...cell, lock: 'pg-row', fault: 'client-crash', came: 'safe', reproduce: 'npm run torture -- --seed 4' },
  { ...cell, lock: 'pg-row', fault: 'node-forgets', came: 'refused', headline: 'it is | for Redis' },
  {
    ...cell,
    lock: 'etcd-lease',
    topology: 'etcd',
    fault: 'node-forgets',
    came: 'refused',
    headline: 'it is | for Redis',
  },
  // Of another page.
  { ...cell, lock: 'redisson/rlock', topology: 'single', fault: 'node-forgets', came: 'exclusion' },
];

function page(costs?: Costs): string {
  const path = join(scratch, 'page.md');
  const names = ['what survives what', 'what it costs', 'why each is so', 'how each is repeated'];
  writeFileSync(path, names.map((name) => `<!-- ${name} -->\nold\n<!-- end of ${name} -->\n`).join('\n'));
  return whichLockPage(path, measured, costs);
}

describe('what survives what', () => {
  const lineOf = (name: string) =>
    page()
      .split('\n')
      .find((line) => line.startsWith(`| \`${name}\``));

  test('has a cell for each fault in its order, a link from what is not safe, a word where nothing is known, and where and when it was run', () => {
    expect(lineOf('pg-row')).toBe(
      `| \`pg-row\`, PostgreSQL primary-replica |${' not run yet |'.repeat(2)} safe (weak) | [**exclusion**](#pg-row-leader-lost-postgres) | [not asked](#pg-row-node-forgets-postgres) |${' not run yet |'.repeat(3)} PostgreSQL 15.1, 2026-11-26 |`,
    );
    expect(lineOf('zk-lock')).toBe(`| \`zk-lock\`, ZooKeeper quorum |${' not run yet |'.repeat(8)} not run |`);
  });

  test('calls weak what is safe by fewer than 59 strikes, and by strikes that nobody has counted', () => {
    const safe = { ...cell, lock: 'pg-row', fault: 'client-crash', came: 'safe' } as const;
    expect(cameText(safe, '')).toBe('safe (weak)');
    expect(cameText({ ...safe, strikes: 58 }, '')).toBe('safe (weak: 58 strikes, ≤ 5.0 %)');
    expect(cameText({ ...safe, strikes: 59 }, '')).toBe('safe (59 strikes, ≤ 5.0 %)');
    expect(cameText({ ...safe, strikes: 58, virtualStrikes: 58 }, '')).toBe(
      'safe (weak: 58 strikes, ≤ 5.0 %; 58 strikes in virtual time, ≤ 5.0 %)',
    );
    expect(cameText({ ...safe, strikes: 1, virtualStrikes: 59 }, '')).toBe(
      'safe, in virtual time (1 strike, ≤ 95 %; 59 strikes in virtual time, ≤ 5.0 %)',
    );
  });

  test('each link leads to a place, which has the words of the refusal or the command', () => {
    const links = [...page().matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
    expect(links).toHaveLength(3);
    for (const anchor of links) expect(page()).toContain(`<a id="${anchor}"></a>`);
    expect(page()).toContain('once \\| twice\n\n  `npx lock-torture --seed 3`');
    expect(page()).not.toContain('--seed 4');
  });

  test('those that are refused alike stand in one line, with the reason', () => {
    expect(page()).toContain('`etcd-lease`, etcd quorum: not asked: it is \\| for Redis');
    expect(page().match(/not asked: it is/g)).toHaveLength(1);
  });
});

const one = (lock: string, topology: string, latencyMs: number, more: object = {}) => ({
  ...{ lock, topology, missing: {}, values: { latencyMs } },
  ...more,
});
const costs: Costs = {
  day: '2026-11-26',
  servers: ['Redis 7.0.15'],
  machine: '2 processors',
  rounds: [
    { load: 1.5, runs: [one('set-nx-px', 'single', 2), one('etcd-lease', 'etcd', 8)] },
    {
      load: 9,
      runs: [
        one('set-nx-px', 'single', 4),
        one('etcd-lease', 'etcd', 12, { missing: { withoutHolderMs: 'no node leads' } }),
      ],
    },
  ],
};

describe('what it costs', () => {
  test('ratios are of one round each: what made all of a round slow is not in them', () => {
    expect(ratios(costs, { lock: 'etcd-lease', topology: 'etcd' }, 'latencyMs')).toEqual([3, 4]);
    expect(ratios(costs, { lock: 'etcd-lease', topology: 'etcd' }, 'handOverMs')).toEqual([]);
  });

  test('the table has the middle and the spread, the load, and why something is missing', () => {
    const table = costsTable(costs, ({ lock }) => lock);
    expect(table).toContain('| set-nx-px | 3.00 ms (2.00 ms to 4.00 ms) | – | – |');
    expect(table).toContain('| etcd-lease | ×3.5 (3.0 to 4.0); 10 ms | – | no node leads |');
    expect(table).toContain('2026-11-26; Redis 7.0.15; 2 processors, load 1.5, 9.0 as the 2 rounds began.');
    expect(costsTable(undefined, ({ lock }) => lock)).toContain('Not measured yet');
  });

  test('the middle of an even number is between the two', () => {
    expect([middle([1, 2, 9]), middle([1, 2, 4, 9])]).toEqual([2, 3]);
  });
});
