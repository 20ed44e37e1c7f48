/** Runs that docs/articles.md names go as their rows say. Its scenarios, canaries and cells are played by tests of their own. */
import { describe, expect, it } from 'vitest';
import { articleRows } from '../../support/articles.js';
import { skipWhere, withoutTool } from '../../support/needs.js';
import { torture } from '../../support/torture.js';

const BUILD_MS = 900_000;
const withoutJava = ['java', 'mvn'].flatMap((tool) => withoutTool(tool) ?? [])[0];
const runs = articleRows().flatMap(([claim, , shown]) => {
  const [, words] = /^`run (.+)`$/.exec(shown!) ?? [];
  return words === undefined ? [] : [{ claim: claim!, words: words.split(' ') }];
});

describe('what articles say', { tags: ['night'] }, () => {
  describe.each(runs)('$claim', ({ words }) => {
    const lacking = words.some((word) => word.startsWith('redisson/')) ? withoutJava : undefined;
    it('is as its row says', { timeout: BUILD_MS, ...skipWhere(lacking) }, async () => {
      const { status, output, errors } = await torture([...words, '--time-limit', '12s']);
      expect(status, output + errors).toBe(0);
    });
  });
});
