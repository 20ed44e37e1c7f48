/** The tables of libraries say what was measured, and each cell that is not safe leads to the command that shows it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { librariesPage, readmePage } from '../../../../cli/docs/libraries-tables.js';
import type { Measured } from '../../../../cli/docs/measured.js';

const ROOT = join(import.meta.dirname, '../../../..');
const scratch = mkdtempSync(join(tmpdir(), 'libraries-tables-'));
afterAll(() => rmSync(scratch, { recursive: true }));

it.each([
  ['README.md', readmePage],
  ['docs/published-libraries.md', librariesPage],
] as const)('%s is what was measured; if not, run: npm run docs', (name, page) => {
  expect(page(join(ROOT, name))).toBe(readFileSync(join(ROOT, name), 'utf8'));
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
  ],
};

it('a table for a language, with versions, and a dash where nothing is known', () => {
  const path = join(scratch, 'README.md');
  writeFileSync(
    path,
    'before\n<!-- libraries of other languages -->\nold\n<!-- end of libraries of other languages -->\n',
  );
  expect(readmePage(path, measured)).toBe(`before
<!-- libraries of other languages -->

| Java, 2026-11-25, Redis 7.0.15 | nothing | client paused |
| --- | --- | --- |
| \`redisson/rlock\` 4.7.0 | safe | – |
| \`spring/shedlock\` 7.10.1 | – | [**exclusion**](docs/published-libraries.md#spring-shedlock-client-paused) |

<!-- end of libraries of other languages -->
`);
});

it('the list has the place that a cell leads to, and the command', () => {
  const path = join(scratch, 'page.md');
  writeFileSync(path, '<!-- how each is repeated -->\n<!-- end of how each is repeated -->\n');
  const page = librariesPage(path, measured);
  expect(page).toContain('<a id="spring-shedlock-client-paused"></a>');
  expect(page).toContain('once \\| twice');
  expect(page).toContain('`npx lock-torture --lock spring/shedlock --seed 3`');
  expect(page).not.toContain('rlock');
});
