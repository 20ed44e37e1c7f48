/** What a hunt says of a finding, and of what the budget did not suffice for. */
import { expect, test } from 'vitest';
import { confirmationText } from '../../../../cli/hunt/confirm.js';
import type { NewFinding } from '../../../../cli/hunt/hunt.js';
import { findingText, type ToldFinding } from '../../../../cli/hunt/kept-finding.js';
import type { Discovery } from '../../../../cli/hunt/schedule.js';
import type { Shrunk } from '../../../../cli/hunt/shrink.js';

const FOUND: Discovery = {
  ...{ checker: 'exclusion', class: 'exclusion', kind: 'overlap', cause: 'released-by-other', blame: 'lock' },
  ...{ sentence: "c1 removed c2's lock.", proof: '' },
};

function text(shrunk: Partial<Shrunk>, same: Discovery[] = [], told: Partial<ToldFinding> = {}): string {
  const steps = [{ atMs: 100, fault: 'pause', target: 'holder' as const, forMs: 500 }];
  const whole = { seed: 1, steps, clients: 2, keys: 1, timeLimitMs: 3_500, executions: 0 };
  const finding: NewFinding = {
    ...{ found: FOUND, fingerprint: 'f', schedule: 9, faults: 5, same },
    shrunk: { ...whole, isMinimal: false, wasStopped: false, ...shrunk },
  };
  return findingText(finding, {
    ...{ after: 7.5, again: 'replayed 3 of 3', differs: [], reproduce: 'replay it', shrink: 'shrink it' },
    ...{ messages: '', wasStopped: false },
    ...told,
  });
}

test('what was shrunk to the end is the minimal schedule', () => {
  expect(text({ executions: 96, isMinimal: true })).toBe(
    [
      "the lock's mistake, after 9 schedules (7.5 s); shrunk from 5 faults to 1 in 96 executions; replayed 3 of 3",
      "  exclusion (overlap): c1 removed c2's lock.",
      '  minimal: 2 clients, 3.5 s, pause of holder from 0.100 to 0.600 s',
      'Reproduce: replay it',
    ].join('\n'),
  );
});

test('what the budget did not suffice for is said, with the command that does it', () => {
  const spent = text({ wasStopped: true }, [], { again: 'not replayed: the budget was spent' });
  expect(spent).toContain('; not shrunk, with 5 faults: the budget was spent; not replayed: the budget was spent\n');
  expect(spent).toContain('\n  schedule: 2 clients');
  expect(spent).toMatch(/\nReproduce: replay it\nShrink it: shrink it$/);
  expect(text({ executions: 7, wasStopped: true })).toContain(
    'shrunk from 5 faults to 1 in 7 executions, and not further: the budget was spent;',
  );
  expect(text({ executions: 7, wasStopped: true }, [], { wasStopped: true })).toContain('further: it was stopped;');
  const most = text({ executions: 300 });
  expect(most).toContain('in 300 executions, and not further;');
  expect(most).not.toContain('Shrink it');
});

test('other signs of the same mistake are named, each once', () => {
  const unproven: Discovery = { ...FOUND, blame: 'unexplained', cause: 'unexplained' };
  const stale: Discovery = { ...FOUND, class: 'stale' };
  expect(text({}, [stale, unproven, { ...unproven, checker: 'another' }])).toContain(
    '\n  the same mistake also shows as stale (overlap) and exclusion (overlap, without a proven cause)\n',
  );
});

test('runs on real servers that there was no time for are counted', () => {
  expect(confirmationText({ found: 1, played: 2, asked: 2 })).toBe('on real servers 1 of 2');
  expect(confirmationText({ found: 1, played: 2, asked: 5 })).toBe(
    'on real servers 1 of 2, and 3 not played: there was no time left',
  );
  expect(confirmationText({ found: 0, played: 0, asked: 5 })).toBe(
    'not played on real servers: there was no time left',
  );
});
