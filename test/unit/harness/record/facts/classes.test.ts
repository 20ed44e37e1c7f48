import { describe, expect, it } from 'vitest';
import { className, countOfClass, inOrderOfTelling } from '../../../../../harness/record/facts/classes.js';
import { CLASSES } from '../../../../../harness/record/schemas/violation-class.js';
import type { BlameName, FailOn, Violation, ViolationClass } from '../../../../../harness/vocabulary/verdict.js';

const violation = (name: ViolationClass, atS: number, cause = 'unexplained', kind = 'overlap'): Violation => ({
  class: name,
  kind,
  key: 'lock:0',
  fromNs: atS * 1e9,
  untilNs: (atS + 1) * 1e9,
  holds: [],
  evidence: [],
  proof: '',
  cause: { name: cause, sentence: '', chain: [] },
});

const blamed = (one: Violation, on: BlameName): Violation => ({ ...one, blame: { on, theory: '' } });

const told = (violations: readonly Violation[], failOn: readonly FailOn[] = CLASSES) =>
  inOrderOfTelling(violations, failOn).map((one) => `${one.class} ${one.fromNs / 1e9} ${one.cause.name}`);

describe('the order of reporting', () => {
  it('is by gravity before time', () => {
    const violations = CLASSES.map((name, n) => violation(name, 10 - n)).reverse();
    expect(inOrderOfTelling(violations, CLASSES).map((one) => one.class)).toEqual([
      'exclusion',
      'harm',
      'stale',
      'liveness',
    ]);
  });

  it('has one of each cause before a second of any, and time within both', () => {
    expect(
      told([
        violation('exclusion', 3, 'node-forgot'),
        violation('exclusion', 1, 'failover-lost-write'),
        violation('exclusion', 2, 'failover-lost-write'),
        violation('stale', 0.5, 'client-paused'),
        violation('stale', 0.2, 'client-paused'),
      ]),
    ).toEqual([
      'exclusion 1 failover-lost-write',
      'exclusion 3 node-forgot',
      'stale 0.2 client-paused',
      'exclusion 2 failover-lost-write',
      'stale 0.5 client-paused',
    ]);
  });

  it('distinguishes kinds of one cause', () => {
    const violations = [
      violation('exclusion', 1),
      violation('exclusion', 2),
      violation('exclusion', 3, 'unexplained', 'revived'),
    ];
    expect(inOrderOfTelling(violations, CLASSES).map((one) => one.kind)).toEqual(['overlap', 'revived', 'overlap']);
  });

  it('is by blame before gravity and time, also of a second of the same', () => {
    const violations = [
      blamed(violation('exclusion', 1, 'evicted'), 'deployment'),
      blamed(violation('harm', 2, 'client-paused'), 'lease'),
      violation('harm', 3),
      blamed(violation('liveness', 4, 'went-on-trying'), 'lock'),
      blamed(violation('stale', 5, 'granted-late'), 'lock'),
      blamed(violation('liveness', 6, 'went-on-trying'), 'lock'),
    ];
    expect(told(violations)).toEqual([
      'stale 5 granted-late',
      'liveness 4 went-on-trying',
      'liveness 6 went-on-trying',
      'harm 3 unexplained',
      'exclusion 1 evicted',
      'harm 2 client-paused',
    ]);
  });

  it("puts what may be the lock's mistake between what is and what is not, where these fail the run", () => {
    const violations = [
      blamed(violation('stale', 1, 'client-paused'), 'lease'),
      violation('liveness', 2),
      blamed(violation('exclusion', 3, 'evicted'), 'deployment'),
      blamed(violation('liveness', 4, 'went-on-trying'), 'lock'),
    ];
    expect(told(violations, ['lock', 'stale'])).toEqual([
      'liveness 4 went-on-trying',
      'stale 1 client-paused',
      'liveness 2 unexplained',
      'exclusion 3 evicted',
    ]);
  });

  it('puts what is allowed last, however grave', () => {
    const violations = [violation('exclusion', 1), violation('liveness', 2), violation('liveness', 3)];
    expect(told(violations, ['liveness'])).toEqual([
      'liveness 2 unexplained',
      'liveness 3 unexplained',
      'exclusion 1 unexplained',
    ]);
  });
});

it('counts and names classes', () => {
  expect(countOfClass(1, 'stale')).toBe('1 stale holder');
  expect(countOfClass(1_200, 'liveness')).toBe('1,200 failures of liveness');
  expect(className('harm')).toBe('harm done');
  expect(className('of a later version')).toBe('of a later version');
});
