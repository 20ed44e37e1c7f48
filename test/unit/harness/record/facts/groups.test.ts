import { describe, expect, it } from 'vitest';
import { inOrderOfTelling } from '../../../../../harness/record/facts/classes.js';
import { clearestOf } from '../../../../../harness/record/facts/clearest.js';
import { groupInWords, groupsOf } from '../../../../../harness/record/facts/groups.js';
import { CLASSES } from '../../../../../harness/record/schemas/violation-class.js';
import type { BlameName, Hold, Violation } from '../../../../../harness/vocabulary/verdict.js';

const LINK = { atNs: 0, text: 'r1 was killed', history: 1 };

const violation = (fromS: number, longS: number, changes: Partial<Violation> = {}): Violation => ({
  class: 'exclusion',
  kind: 'overlap',
  key: 'lock:0',
  fromNs: fromS * 1e9,
  untilNs: (fromS + longS) * 1e9,
  holds: [],
  evidence: [],
  proof: '',
  cause: { name: 'failover-lost-write', phrase: 'failover lost the write', sentence: '', chain: [LINK] },
  ...changes,
});
const because = (name: string, on: BlameName, phrase?: string): Partial<Violation> => ({
  cause: { name, ...(phrase && { phrase }), sentence: '', chain: name === 'unexplained' ? [] : [LINK] },
  blame: { on, theory: '' },
});
const hold = (endedBy: Hold['endedBy']): Hold => ({
  client: 'c1',
  key: 'lock:0',
  id: 1,
  fromNs: 0,
  untilNs: 1,
  endedBy,
  leaseEndNs: 1,
  grantSentNs: 0,
  leaseMs: 1,
  evidence: [],
});
const startsOf = (violations: readonly Violation[]) => violations.map(({ fromNs }) => fromNs / 1e9);

describe('the clearest of several', () => {
  it('is the longest, and of equally long ones the earliest', () => {
    expect(clearestOf([violation(1, 0.1), violation(3, 2), violation(2, 2), violation(4, 1)])?.fromNs).toBe(2e9);
    expect(clearestOf([])).toBeUndefined();
  });

  it('has known bounds, holds that the end of the run does not cut off, and evidence for its cause, before it is long', () => {
    const endless = violation(1, Number.POSITIVE_INFINITY);
    const cutOff = violation(2, 9, { holds: [hold('release'), hold('history-end')] });
    const withoutEvidence = violation(3, 5, because('unexplained', 'unexplained'));
    const certain = violation(4, 0.1, { holds: [hold('release'), hold('client-down')] });
    expect(clearestOf([endless, cutOff, withoutEvidence, certain])).toBe(certain);
    expect(clearestOf([endless, cutOff, withoutEvidence])).toBe(withoutEvidence);
    expect(clearestOf([endless, cutOff])).toBe(cutOff);
    expect(clearestOf([violation(5, Number.NaN), endless])).toBe(endless);
  });

  it('is reported first, where the earliest of its cause would stand', () => {
    const early = [violation(1, 0.1), violation(2, 0.5), violation(5, 3)];
    const other = violation(3, 1, because('node-forgot', 'deployment'));
    const blamed = early.map((one) => ({ ...one, blame: { on: 'deployment', theory: '' } as const }));
    expect(startsOf(inOrderOfTelling([...blamed, other], CLASSES))).toEqual([5, 3, 1, 2]);
  });
});

describe('groups of violations', () => {
  it('are one for each class, kind, cause and blame, in the order of reporting', () => {
    const violations = inOrderOfTelling(
      [
        ...Array.from({ length: 80 }, (_, n) =>
          violation(n, n === 41 ? 1.1 : 0.2, because('failover-lost-write', 'deployment', 'failover lost the write')),
        ),
        violation(90, 3, { class: 'stale', ...because('client-paused', 'lease', 'the client was paused') }),
        violation(95, 0.01, because('overwritten', 'lock', 'it was overwritten')),
        violation(96, 0.01, { class: 'stale', ...because('overwritten', 'lock', 'it was overwritten') }),
        violation(97, 0, { class: 'harm', kind: 'lost-update', ...because('unexplained', 'unexplained') }),
        violation(98, 0, { class: 'liveness', kind: 'fifo-inversion', ...because('unexplained', 'lock') }),
      ],
      CLASSES,
    );
    const groups = groupsOf(violations);
    expect(groups.map((group) => `${group.what}: ${groupInWords(group)}`)).toEqual([
      'exclusion broken: it was overwritten, for 10 ms',
      'stale holder: it was overwritten, for 10 ms',
      'liveness lost (fifo inversion): the step of the lock that did it is not shown',
      'harm done (lost update): cause not proven',
      'exclusion broken: failover lost the write ×80, longest 1.1 s',
      'stale holder: the client was paused, for 3 s',
    ]);
    const failover = groups[4]!;
    expect(failover.clearest.violation.fromNs).toBe(41e9);
    expect(violations[failover.clearest.number - 1]).toBe(failover.clearest.violation);
    expect(failover.members.every(({ number, violation }) => violations[number - 1] === violation)).toBe(true);
    expect(groups.flatMap(({ members }) => members.map(({ number }) => number)).sort((a, b) => a - b)).toEqual(
      violations.map((_, at) => at + 1),
    );
    expect(groupsOf([])).toEqual([]);
  });

  it('of an earlier version are told by the name of their cause', () => {
    const old = violation(1, 0, because('failover-lost-write', 'deployment'));
    expect(groupsOf([old]).map(groupInWords)).toEqual(['failover lost write']);
  });

  it('count as long only what has known bounds', () => {
    const [group] = groupsOf([violation(1, Number.POSITIVE_INFINITY), violation(2, 0.25)]);
    expect(groupInWords(group!)).toBe('failover lost the write ×2, longest 250 ms');
  });
});
