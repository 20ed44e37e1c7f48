/** The page is what the checkers say: one that was changed without `npm run docs` is found here. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkersPage } from '../../../../cli/docs/checkers-page.js';

it('is what the checkers say; if not, run: npm run docs', () => {
  expect(readFileSync(join(import.meta.dirname, '../../../../docs/checkers.md'), 'utf8')).toBe(checkersPage());
});
