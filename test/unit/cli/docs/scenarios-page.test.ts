/** The page is what the scenarios say: one that was changed without `npm run docs` is found here. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scenariosPage } from '../../../../cli/docs/scenarios-page.js';
import { scenarios } from '../../../../scenarios/index.js';

it('is what the scenarios say; if not, run: npm run docs', () => {
  expect(readFileSync(join(import.meta.dirname, '../../../../docs/scenarios.md'), 'utf8')).toBe(scenariosPage());
});

it('has a row for each', () => {
  const page = scenariosPage();
  for (const { name } of Object.values(scenarios)) expect(page).toContain(`| [${name}](../scenarios/${name}.ts) |`);
});
