/** docs/adapters.md shows code that is there, and has every rule of `conform`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RULES } from '../../../checkers/adapter/finding.js';
import { ROOT } from '../../support/torture.js';

const page = readFileSync(join(ROOT, 'docs/adapters.md'), 'utf8');

it('shows code as it stands in the files that it names', () => {
  const shown = [...page.matchAll(/^```\w+ from (\S+)\n(.*?)^```$/gms)];
  expect(shown.length).toBeGreaterThan(1);
  for (const [, file, code] of shown) expect(readFileSync(join(ROOT, file!), 'utf8')).toContain(code);
});

it.each(RULES)('has the rule %s', (rule) => expect(page).toContain(`\n| \`${rule}\` | `));
