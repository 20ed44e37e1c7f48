/** The tables of libraries say what was measured, and each cell that is not safe leads to the command that shows it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { librariesPage } from '../../../../cli/docs/libraries-tables.js';
import type { MeasuredCell } from '../../../../cli/docs/measured.js';

const ROOT = join(import.meta.dirname, '../../../..');
const scratch = mkdtempSync(join(tmpdir(), 'libraries-tables-'));
afterAll(() => rmSync(scratch, { recursive: true }));

it('docs/published-libraries.md is what was measured; if not, run: npm run docs', () => {
  const page = join(ROOT, 'docs/published-libraries.md');
  expect(librariesPage(page)).toBe(readFileSync(page, 'utf8'));
});

it.each(['published-libraries.md', 'which-lock.md'])(
  'every link of a cell of docs/%s leads to a place of its own',
  (name) => {
    const page = readFileSync(join(ROOT, 'docs', name), 'utf8');
    const places = [...page.matchAll(/<a id="([^"]+)"/g)].map(([, place]) => place);
    expect(new Set(places).size).toBe(places.length);
    // Those of the text lead to headings.
    const lines = page.split('\n').filter((line) => line.startsWith('| '));
    const links = lines.flatMap((line) => [...line.matchAll(/\]\(#([^)]+)\)/g)].map(([, place]) => place!));
    expect(links.filter((place) => !places.includes(place))).toEqual([]);
  },
);

const cell = {
  lock: 'spring/shedlock',
  fault: 'client-paused',
  topology: 'single',
  headline: 'Exclusion broken: once | twice',
  reason: 'a plain DEL',
  day: '2026-11-25',
  server: 'Redis 7.0.15',
  reproduce: 'npx lock-torture --lock spring/shedlock --seed 3',
} as const;
const measured: MeasuredCell[] = [
  { ...cell, came: 'exclusion' },
  { ...cell, lock: 'redisson/rlock', fault: 'nothing', came: 'safe', day: '2026-11-20' },
  { ...cell, lock: 'redisson/rlock', fault: 'holder-cut-off', came: 'open' },
  { ...cell, lock: 'redisson/rlock@3.16.4', fault: 'nothing', came: 'safe' },
  { ...cell, lock: 'third-party/redlock-5', topology: 'redlock', fault: 'node-hangs', came: 'safe', strikes: 60 },
  { ...cell, lock: 'third-party/redlock-5-using', topology: 'redlock', fault: 'holder-cut-off', came: 'stale' },
];

const path = join(scratch, 'page.md');
const MARKERS = ['libraries of npm', 'libraries of other languages', 'how each is repeated'];
writeFileSync(path, MARKERS.map((name) => `<!-- ${name} -->\nold\n<!-- end of ${name} -->\n`).join(''));
const page = librariesPage(path, measured);

it('a table for a language, with versions, where and when each was run, and a word for what was not', () => {
  expect(page).toContain(`<!-- libraries of other languages -->

| Java | nothing | client paused | holder cut off | run on |
| --- | --- | --- | --- | --- |
| \`redisson/rlock\` 4.7.0 | safe (weak) | not run yet | [not explained yet](#redisson-rlock-holder-cut-off) | Redis 7.0.15, 2026-11-20 to 2026-11-25 |
| \`redisson/rlock\` 3.16.4 | safe (weak) | not run yet | never renews by itself | Redis 7.0.15, 2026-11-25 |
| \`spring/shedlock\` 7.10.1 | not run yet | [**exclusion**](#spring-shedlock-client-paused) | never renews by itself | Redis 7.0.15, 2026-11-25 |

<!-- end of libraries of other languages -->
`);
  expect(page).not.toMatch(/^old$/m);
});

it('a table of npm’s packages: calls of one package in one row, by name where it is not the first', () => {
  const [, row] = /\n(\| `redlock` 5.+)\n/.exec(page)!;
  expect(row).toMatch(
    /^\| `redlock` 5\.[^|]+ \| \[stale holder\]\(#third-party-redlock-5-using-holder-cut-off-redlock\) \(`using`\) \| safe \(60 strikes, ≤ 4\.9 %\) \| Redis 7\.0\.15, 2026-11-25 \|$/,
  );
  expect(page).toMatch(/\n\| `redlock` 4.+ \| never renews by itself \| not run yet \| not run \|\n/);
});

it('the list has the place that a cell leads to, and the command', () => {
  const [, list] = page.split('<!-- how each is repeated -->');
  expect(list).toContain('<a id="spring-shedlock-client-paused"></a>');
  expect(list).toContain('once \\| twice');
  expect(list).toContain('`npx lock-torture --lock spring/shedlock --seed 3`');
  expect(list).not.toContain('3.16.4');
});
