/** An overlap that the second procedure does not confirm accuses nobody, is counted nowhere, and leaves the run open. */
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { isImpossibleOverlap } from '../../../../checkers/exclusion/second-opinion.js';
import { Story } from '../build.js';

// Modules are loaded anew with the false one, and are not left to the files that come after.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
vi.mock('../../../../checkers/exclusion/second-opinion.js');

/** Of these clients as the later holder an overlap is confirmed. */
const confirmed = new Set<string>();
beforeEach(() => {
  confirmed.clear();
  vi.mocked(isImpossibleOverlap).mockImplementation(({ second }) => confirmed.has(second.client));
});

/** c2 and c3 each overlap with c1, and not with each other. */
const judged = () =>
  mutualExclusion.check(
    new Story()
      .grant('c1', 1)
      .grant('c2', 2)
      .release('c2', 2.5)
      .grant('c3', 3)
      .release('c3', 3.5)
      .release('c1', 4)
      .input(),
  );
const unconfirmed = (client: string) =>
  expect.stringMatching(
    new RegExp(`^an overlap that a second procedure did not confirm.*; ${client} certainly held it`),
  );

it('none confirmed: nothing found, and the run is open', () => {
  const result = judged();
  expect(result).toMatchObject({ verdict: 'unknown', violations: [], stats: { exclusion: 0, stale: 0 } });
  expect(result.open).toContain('exclusion');
  expect(result.notes).toEqual(expect.arrayContaining([unconfirmed('c2'), unconfirmed('c3')]));
});

it('one of two confirmed: that one alone is found, and the other is told', () => {
  confirmed.add('c3');
  const result = judged();
  expect(result).toMatchObject({ verdict: 'invalid', violations: [{ class: 'exclusion' }], stats: { exclusion: 1 } });
  expect(result.found).toBeUndefined();
  expect(result.open).toContain('exclusion');
  expect(result.notes).toContainEqual(unconfirmed('c2'));
  expect(result.notes).not.toContainEqual(unconfirmed('c3'));
});

it('all confirmed: all are found, and nothing is open', () => {
  for (const client of ['c2', 'c3']) confirmed.add(client);
  expect(judged()).toMatchObject({ verdict: 'invalid', stats: { exclusion: 2 }, open: [] });
});
