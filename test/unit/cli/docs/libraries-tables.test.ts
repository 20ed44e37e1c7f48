/** The tables of libraries say what was measured, and each cell that is not safe leads to the command that shows it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { librariesPage } from '../../../../cli/docs/libraries-tables.js';
import type { Measured } from '../../../../cli/docs/measured.js';

const ROOT = join(import.meta.dirname, '../../../..');
const scratch = mkdtempSync(join(tmpdir(), 'libraries-tables-'));
afterAll(() => rmSync(scratch, { recursive: true }));

it('docs/published-libraries.md is what was measured; if not, run: npm run docs', () => {
  const page = join(ROOT, 'docs/published-libraries.md');
  expect(librariesPage(page)).toBe(readFileSync(page, 'utf8'));
});

const cell = {
  lock: 'spring/shedlock',
  fault: 'client-paused',
  topology: 'single',
  headline: 'Exclusion broken: once | twice',
  reason: 'a plain DEL',
  reproduce: 'npx lock-torture --lock spring/shedlock --seed 3',
} as const;
const measured: Measured = {
  day: '2026-11-25',
  servers: ['Redis 7.0.15'],
  cells: [
    { ...cell, came: 'exclusion' },
    { ...cell, lock: 'redisson/rlock', fault: 'nothing', came: 'safe' },
    { ...cell, lock: 'redisson/rlock@3.16.4:lock-lease', fault: 'nothing', came: 'safe' },
  ],
};

const path = join(scratch, 'page.md');
const MARKERS = ['libraries of other languages', 'how each is repeated'];
writeFileSync(path, MARKERS.map((name) => `<!-- ${name} -->\nold\n<!-- end of ${name} -->\n`).join(''));
const page = librariesPage(path, measured);

it('a table for a language, with versions, and a dash where nothing is known', () => {
  expect(page).toContain(`<!-- libraries of other languages -->

| Java, 2026-11-25, Redis 7.0.15 | nothing | client paused |
| --- | --- | --- |
| \`redisson/rlock\` 4.7.0 | safe (weak) | – |
| \`redisson/rlock:lock-lease\` 3.16.4 | safe (weak) | – |
| \`spring/shedlock\` 7.10.1 | – | [**exclusion**](#spring-shedlock-client-paused) |

<!-- end of libraries of other languages -->
`);
  expect(page).not.toContain('old');
});

it('the list has the place that a cell leads to, and the command', () => {
  const [, list] = page.split('<!-- how each is repeated -->');
  expect(list).toContain('<a id="spring-shedlock-client-paused"></a>');
  expect(list).toContain('once \\| twice');
  expect(list).toContain('`npx lock-torture --lock spring/shedlock --seed 3`');
  expect(list).not.toContain('rlock');
});
