/** docs/protocol.md: its tables are what lines are read by, and its examples fit. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { protocolPage } from '../../../cli/docs/protocol-page.js';
import { conform } from '../../../harness/record/schemas/conform.js';
import {
  noticeSchema,
  requestSchema,
  responseSchema,
  startingSchema,
  topologySchema,
} from '../../../harness/record/schemas/protocol.js';

const PAGE = resolve(import.meta.dirname, '../../../docs/protocol.md');

describe('docs/protocol.md', () => {
  const page = readFileSync(PAGE, 'utf8');
  const lines = (begin: RegExp) =>
    page
      .split('\n')
      .filter((line) => begin.test(line))
      .map((line) => JSON.parse(line.replace(/^[→←] /, '')));

  it('is what the code reads; if not, run: npm run docs', () => {
    expect(page).toBe(protocolPage(PAGE));
  });

  it.each([
    ['requests', /^→ /, requestSchema, 5],
    ['answers', /^← /, responseSchema, 5],
    ['topologies', /^\{"kind":/, topologySchema, 5],
    ['notices', /^\{"type":"(?!starting)/, noticeSchema, 3],
    ['slow starters', /^\{"type":"starting/, startingSchema, 1],
  ] as const)('shows %s that are such', (_, begin, schema, least) => {
    const shown = lines(begin);
    expect(shown.length).toBeGreaterThanOrEqual(least);
    for (const line of shown) expect(conform(schema, line)).toEqual({ value: line });
  });
});
