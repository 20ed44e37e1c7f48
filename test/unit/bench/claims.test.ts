/** What counts as the lock's mistake told first in a plain run of a canary. */
import { expect, it } from 'vitest';
import { areas } from '../../../bench/claims.js';
import type { Results } from '../../../harness/vocabulary/verdict.js';

const HEADLINE =
  'Cannot tell: 47 times a client broke the protocol, first c1 at 3.534 s: the lease is said to run from the future.';

function untold(changed: Partial<Results>): Results {
  const stats = { answersLost: 47 };
  return {
    verdict: 'unknown',
    headline: HEADLINE,
    violations: [],
    checkers: [],
    stats,
    ...changed,
  } as unknown as Results;
}

it('counts what a client has to mend where its answers cannot be believed, if the headline says so', async () => {
  const [series] = await areas.plain!();
  const [found, first] = series!.claims;
  const said = (name: string, changed: Partial<Results> = {}) =>
    [found!, first!].map((claim) => claim.says(untold(changed), name));
  expect(said('wall-clock-stamps')).toEqual([true, true]);
  // Of another reason why it cannot be told nobody learns what to mend; and of another lock it is no mistake that was looked for.
  expect(said('wall-clock-stamps', { headline: 'Cannot tell: the run was cut short.' })).toEqual([true, false]);
  expect(said('wall-clock-stamps', { stats: { answersLost: 0 } })).toEqual([false, false]);
  expect(said('wall-clock-stamps', { verdict: 'held' })).toEqual([false, false]);
  expect(said('blind-del')).toEqual([false, false]);
});
