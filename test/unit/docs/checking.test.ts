/** docs/checking.md says of every class, kind of finding and cause what it promises and what it excludes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CAUSES } from '../../../checkers/causes/descriptions.js';
import { checkers } from '../../../checkers/index.js';
import { CLASSES } from '../../../harness/record/schemas/violation-class.js';
import { ROOT } from '../../support/torture.js';

const page = readFileSync(join(ROOT, 'docs/checking.md'), 'utf8');

function section(from: string, until: string): string {
  const [start, end] = [page.indexOf(`## ${from}`), page.indexOf(`## ${until}`)];
  expect(start, from).toBeGreaterThan(0);
  expect(end, until).toBeGreaterThan(start);
  return page.slice(start, end);
}

const judged = section('Two questions', 'Models');

it.each(CLASSES)('the class %s', (name) => expect(judged).toContain(`\n| ${name} | `));

const kinds = checkers.flatMap(({ properties }) => properties.flatMap((property) => Object.keys(property.kinds)));

it.each([...new Set(kinds)])('the kind %s', (kind) => expect(judged).toContain(`\`${kind}\``));

it.each(CAUSES)('the cause %s', (cause) => expect(section('Causes', 'Whose mistake')).toContain(`\`${cause}\``));
