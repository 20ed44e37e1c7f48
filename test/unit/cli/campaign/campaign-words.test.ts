/** The first words of a campaign: what is new, and whose mistakes these are. */
import { expect, test } from 'vitest';
import { campaignWords } from '../../../../cli/campaign/campaign-words.js';

const found = (blame: string, more: { state?: 'known'; fails?: false } = {}) => ({
  state: 'new' as const,
  fails: true,
  fingerprint: `${blame}/exclusion/overlap/some-cause`,
  ...more,
});

test.each([
  [[found('deployment'), found('deployment')], 1, "2 new findings, both Redis'"],
  [[found('deployment')], 1, "1 new finding, Redis'"],
  [[found('deployment'), found('deployment'), found('lock')], 1, "3 new findings, 1 the lock's, 2 Redis'"],
  [[found('lock'), found('lock'), found('lock')], 1, "3 new findings, all the lock's"],
  [[found('unexplained'), found('lease')], 2, "CANNOT TELL: 2 new findings, 1 unexplained, 1 the lease's"],
  [[found('lease', { fails: false })], 0, "1 new finding, the lease's, allowed"],
  [[found('lock', { state: 'known' })], 1, 'no new finding; 1 known'],
  [[], 0, 'no new finding'],
  [[], 2, 'CANNOT TELL: no new finding'],
  [[], 3, 'CANNOT TELL: no new finding'],
])('%# %j with exit status %i', (findings, exitStatus, words) => {
  expect(campaignWords(findings, exitStatus)).toBe(words);
});
