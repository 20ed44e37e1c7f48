/** The page of causes: what is committed is what the code makes, and each cause has a heading to which reports lead. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CAUSES } from '../../../../checkers/causes/descriptions.js';
import { causesPage } from '../../../../cli/docs/causes-page.js';

it('is as the code makes it, with each cause by its name', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/causes.md'), 'utf8');
  expect(page).toBe(causesPage());
  expect([...page.matchAll(/^## (.*)$/gm)].map(([, name]) => name)).toEqual([...CAUSES].sort());
});
