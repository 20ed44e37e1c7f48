/** Scenarios in virtual time: each comes out as it does on real servers, or says which of its parts is not there. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { locks } from '../../../lock-impl/index.js';
import { scenarios } from '../../../scenarios/index.js';
import { notInVirtualTime } from '../../support/scenarios.js';
import { freshFolder, torture } from '../../support/torture.js';

interface Row {
  scenario: string;
  went: string;
  why: string;
  run?: string;
  digest?: string;
  folder?: string;
}

async function played(asked: readonly string[]): Promise<{ rows: Row[]; status: number | null; told: string }> {
  const { status, output, errors } = await torture([...asked, '--runtime', 'sim', '--json'], { command: 'scenario' });
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  const rows = lines.map((line) => JSON.parse(line) as Row & { type: string }).filter(({ type }) => type === 'run');
  const told = rows
    .filter(({ went }) => went !== 'as-written')
    .map(({ scenario, went, why }) => `${scenario} ${went}: ${why}`);
  return { rows, status, told: [...told, errors].join('\n') };
}

/** One of each topology, and some that stop a process, a disk or a clock. */
const AGAIN = [
  'pause-between-get-and-del',
  'redlock-node-evicts',
  'handover-keeps-the-lock',
  'sentinel-loses-the-lock',
  'moved-slot-keeps-the-lock',
  'power-cut-loses-the-last-second',
  'server-clock-jumps',
];

test('all of them as on real servers, and the same again by the same seed', { timeout: 600_000 }, async () => {
  const out = freshFolder();
  const { rows, status, told } = await played(['--all', '--seed', '1', '--out', out]);
  expect(rows.map(({ scenario }) => scenario).sort(), told).toEqual(Object.keys(scenarios).sort());
  for (const { scenario, went, why } of rows) {
    const play = scenarios[scenario]!;
    const needsServer = play.serverNeeds ?? locks[play.lock]?.serverNeeds;
    // One that is not here, and cannot be fetched, is not virtual time's want.
    if (needsServer && went === 'not-tried') continue;
    const lacks = notInVirtualTime(play);
    const written = lacks === undefined ? ['as-written', why] : ['not-played-in-virtual-time', lacks];
    expect([scenario, went, why], told).toEqual([scenario, ...written]);
  }
  expect(status, told).toBe(0);

  const again = await played([...AGAIN].reverse().concat('--seed', '1', '--out', out, '--jobs', '1'));
  const digests = (from: readonly Row[]) =>
    AGAIN.map((name) => [name, from.find(({ scenario }) => scenario === name)?.digest]);
  expect(digests(again.rows)).toEqual(digests(rows));
  expect(new Set(again.rows.map(({ digest }) => digest)).size).toBe(AGAIN.length);
  expect(readdirSync(out).filter((name) => name.startsWith('.'))).toEqual([]);

  // A run's folder like any other, with every message; its command is that of the same course of events.
  const { folder = '', scenario } = rows.find((row) => row.scenario === AGAIN[0])!;
  const files = ['history.jsonl', 'plan.json', 'play.json', 'report.html', 'messages.jsonl', 'results.json'];
  expect(files.filter((name) => !existsSync(join(folder, name)))).toEqual([]);
  const { reproduce } = JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')) as { reproduce: string };
  expect(reproduce).toBe(`npm run torture -- scenario ${scenario} --runtime sim --seed 1`);
  const replayed = await torture([folder], { command: 'replay' });
  expect(replayed.errors).toContain(`is a play, which is the same each time; play it again: ${reproduce}`);
  expect(replayed.status).toBe(3);
});

test('what is not there is told by its name, and is not passed: exit status 2', { timeout: 120_000 }, async () => {
  const out = freshFolder();
  const path = join(freshFolder(), 'lock.ts');
  writeFileSync(
    path,
    `import { lookup } from 'node:dns';
     import { defineLock } from 'lock-torture';
     const acquire = () => new Promise((done) => lookup('localhost', () => done(null)));
     export default defineLock({ name: 'asks-for-names', async connect() { return { acquire }; } });`,
  );
  const { rows, status, told } = await played(['only-one-holds', '--lock', path, '--out', out]);
  expect(rows, told).toMatchObject([{ went: 'not-played-in-virtual-time', why: 'needs dns.lookup' }]);
  expect(status).toBe(2);
  const runs = readdirSync(out).filter((name) => !name.includes('-scenarios-') && !name.startsWith('index'));
  expect(runs).toEqual([]);
});
