/** docs/checking.md says of every class, kind of finding and cause what it promises and what it excludes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { blameByCause, CAUSES } from '../../../checkers/causes/descriptions.js';
import { checkers } from '../../../checkers/index.js';
import { CLASSES } from '../../../harness/record/schemas/violation-class.js';
import type { Violation } from '../../../harness/vocabulary/verdict.js';
import { ROOT } from '../../support/torture.js';
import { Story } from '../checkers/build.js';

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

/** What the page says of a cause's blame: its cell of the table. */
function blameTold(cause: string): string | undefined {
  const rows = section('Whose mistake', 'What a plain run does').split('\n');
  const cells = rows.map((line) => line.split(' | ')).filter(([names]) => names!.startsWith('| `'));
  return cells.find(([names]) => names!.includes(`\`${cause}\``))?.[1];
}

const WORDS = { lock: 'the lock', deployment: 'the deployment', lease: 'the lease', unexplained: 'unexplained' };

it.each(CAUSES)('whom the cause %s blames', (name) => {
  const violation = { cause: { name, sentence: '', chain: [] }, holds: [] } as unknown as Violation;
  const told = blameTold(name);
  const word = WORDS[blameByCause(violation, new Story().up('c1').input()).on];
  // Where it depends on the finding, the page says on what.
  if (told?.includes('; ') || told?.includes(' where ')) expect(told).toContain(word);
  else expect(told).toBe(word);
});
