/** The sweep over holds and the linearizability checker: alike on any run, and told where one of them is broken. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { historyOf } from '../../../../harness/record/history-table.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { cases, drawn } from '../../../support/drawn.js';
import { played, steps, up } from '../../harness/record/facts/any-run.js';
import { Story } from '../build.js';

const MODELS: LockModel[] = [
  { kind: 'semaphore', permits: 1 },
  { kind: 'semaphore', permits: 2 },
  { kind: 'reentrant', depth: 3 },
  { kind: 'read-write' },
];

test.each(MODELS)('of any run of a lock of kind %o both say the same', (model) => {
  const seen = { keys: 0, broken: 0, open: 0, byOther: 0 };
  fc.assert(
    fc.property(steps, fc.constantFrom('timed', 'none'), (all, lease) => {
      const events = [up(lease as 'timed'), ...played(all)].map((event, i) => ({ ...event, i }));
      const input = { ...new Story().input(), history: historyOf(events), model };
      const { second, verdict } = mutualExclusion.check(input);
      seen.keys += second!.agreed;
      seen.open += second!.open.length;
      if (verdict === 'invalid') seen.broken++;
      // What proves a grant and no hold, and leases that cannot all have fitted: the sweep over holds looks at neither.
      const isMore = (text: string) => text.includes('found none; by ') && !text.includes(' at once for at least ');
      expect(second!.disagreed.filter((text) => !isMore(text))).toEqual([]);
      seen.byOther += second!.disagreed.length;
    }),
    drawn(300),
  );
  // Agreeing about nothing would be cheap.
  expect(Math.min(seen.keys / 10, seen.broken)).toBeGreaterThan(cases(15));
});

// What these models promise beside exclusion is other checkers' business: the second procedure does not judge it.
test.each([
  [
    'tokens that fall',
    new Story()
      .promised({ kind: 'fenced' })
      .grant('c1', 1, { token: 2 })
      .release('c1', 2)
      .grant('c2', 3, { token: 1 })
      .release('c2', 4),
  ],
  [
    'more levels than were promised',
    new Story().promised({ kind: 'reentrant', depth: 1 }).grant('c1', 1).grant('c1', 2).release('c1', 3),
  ],
])('of %s both say that exclusion held', (_, story) => {
  const { second, verdict } = mutualExclusion.check(story.input());
  expect(second).toMatchObject({ agreed: 1, disagreed: [], open: [] });
  expect(verdict).toBe('valid');
});
