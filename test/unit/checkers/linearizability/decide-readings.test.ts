/** The verdict under each reading: literal histories that flip between them, then how keys come together. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  decideReadings,
  type ReadingOptions,
  type ReadingVerdict,
} from '../../../../checkers/linearizability/decide-readings.js';
import type { History } from '../../../../harness/vocabulary/history.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { Story } from '../build.js';

const MUTEX: LockModel = { kind: 'mutex' };
const OPTIONS: ReadingOptions = { witnesses: 10, search: { configurations: 10_000, steps: 100_000 } };

interface Told {
  client: string;
  key?: string;
  op: 'acquire' | 'release';
  /** When it began and ended, in seconds; no end: it was never answered. */
  at: [from: number, until?: number];
  /** Given: it failed. */
  reason?: string;
  leaseMs?: number;
}

/** Operations in the order of their calls; a release ends its client's latest hold of the key. */
function recorded(...operations: Told[]): History {
  const held = new Map<string, number>();
  const story = new Story(false);
  operations.forEach(({ client, key = 'lock', op, at: [from, until], reason, leaseMs }, id) => {
    const about = { client, id, op, key, ...(op === 'release' && { hold: held.get(client + key) }) };
    if (op === 'acquire' && reason === undefined) held.set(client + key, id);
    story.event(from, { type: 'invoke', ...about, ...(leaseMs !== undefined && { leaseMs }) });
    const type = reason === undefined ? 'ok' : 'fail';
    if (until !== undefined) story.event(until, { type, ...about, ...(reason !== undefined && { reason }) });
  });
  return story.history();
}

const acquire = (client: string, at: Told['at'], more: Partial<Told> = {}): Told => ({
  client,
  op: 'acquire',
  at,
  ...more,
});
const release = (client: string, at: Told['at'], more: Partial<Told> = {}): Told => ({
  client,
  op: 'release',
  at,
  ...more,
});

function verdicts(history: History, model = MUTEX): string[] {
  return decideReadings(history, model, OPTIONS).map(({ reading, verdict }) => `${reading}: ${verdict}`);
}

describe('a history', () => {
  it('of one hold after the other is valid under every reading', () => {
    const history = recorded(
      acquire('c1', [1, 2]),
      release('c1', [3, 4]),
      acquire('c2', [3.5, 5]),
      release('c2', [6, 7]),
    );
    expect(verdicts(history)).toEqual(['strict: valid', 'failed-release-ends: valid']);
  });

  it('of two simultaneous holders is invalid under every reading', () => {
    const history = recorded(
      acquire('c1', [1, 2]),
      acquire('c2', [3, 4]),
      release('c1', [5, 6]),
      release('c2', [7, 8]),
    );
    expect(verdicts(history)).toEqual(['strict: invalid', 'failed-release-ends: invalid']);
    const [strict] = decideReadings(history, MUTEX, OPTIONS);
    expect(strict).toMatchObject({ title: 'strict', accuses: true, procedure: 'cores', found: 1, counted: 1 });
    expect(strict!.byKind).toEqual({ overlap: 1 });
    expect(strict!.witnesses[0]).toMatchObject({ kind: 'overlap', key: 'lock', fromNs: 4e9, untilNs: 5e9 });
  });

  it('flips where a release failed before the next grant', () => {
    const history = recorded(
      acquire('c1', [1, 2]),
      release('c1', [7, 7.1], { reason: 'not-held' }),
      acquire('c2', [8, 9]),
    );
    expect(verdicts(history)).toEqual(['strict: invalid', 'failed-release-ends: valid']);
  });

  it('does not flip where that release was never sent', () => {
    const history = recorded(
      acquire('c1', [1, 2]),
      release('c1', [7, 7.1], { reason: 'unreachable' }),
      acquire('c2', [8, 9]),
    );
    expect(verdicts(history)).toEqual(['strict: invalid', 'failed-release-ends: invalid']);
  });

  it('flips where a lease had run out, and not before', () => {
    const granted = (second: number) =>
      recorded(acquire('c1', [1, 2], { leaseMs: 5_000 }), acquire('c2', [second, second + 0.5], { leaseMs: 5_000 }));
    expect(verdicts(granted(7))).toEqual(['strict: invalid', 'failed-release-ends: invalid', 'lease: valid']);
    expect(verdicts(granted(4))).toEqual(['strict: invalid', 'failed-release-ends: invalid', 'lease: invalid']);
  });

  it('flips where a client was refused while none held, which is no accusation', () => {
    const history = recorded(acquire('c1', [1, 2]), release('c1', [3, 4]), acquire('c2', [5, 6], { reason: 'held' }));
    expect(verdicts(history)).toEqual(['strict: valid', 'tries-inform: invalid', 'failed-release-ends: valid']);
    expect(decideReadings(history, MUTEX, OPTIONS).map(({ accuses }) => accuses)).toEqual([true, false, true]);
  });

  it('is not asked about refusals for other reasons', () => {
    const history = recorded(acquire('c1', [1, 2]), acquire('c2', [5, 6], { reason: 'no-quorum' }));
    expect(verdicts(history)).toEqual(['strict: valid', 'failed-release-ends: valid']);
  });
});

describe('several keys', () => {
  /** A key on which two hold at once from `second` + 2 to `second` + 4. */
  const broken = (key: string, second: number): Told[] => [
    acquire('c1', [second, second + 1], { key }),
    acquire('c2', [second, second + 2], { key }),
    release('c1', [second + 4, second + 5], { key }),
    release('c2', [second + 6, second + 7], { key }),
  ];
  const sound = (key: string): Told[] => [acquire('c3', [1, 2], { key }), release('c3', [3, 4], { key })];

  it('one that cannot be explained is enough', () => {
    expect(verdicts(recorded(...sound('a'), ...broken('b', 0)))[0]).toBe('strict: invalid');
    expect(verdicts(recorded(...sound('a'), ...sound('b')))[0]).toBe('strict: valid');
  });

  it('all findings are counted, and the earliest by completion are shown', () => {
    const history = recorded(...broken('a', 50), ...broken('b', 10), ...broken('c', 30));
    const [strict] = decideReadings(history, MUTEX, { ...OPTIONS, witnesses: 2 });
    expect(strict).toMatchObject({ found: 3, counted: 3, byKind: { overlap: 3 } });
    expect(strict!.witnesses.map(({ key }) => key)).toEqual(['b', 'c']);
  });

  /** Two permits, and a refusal that only a search can place. */
  const hard: Told[] = [
    acquire('c1', [0, 10], { key: 'hard' }),
    acquire('c2', [1, 10], { key: 'hard' }),
    acquire('c3', [2, 9], { key: 'hard', reason: 'held' }),
    release('c1', [11, 12], { key: 'hard' }),
  ];
  const underTries = (...operations: Told[]): ReadingVerdict => {
    const options = { witnesses: 10, search: { configurations: 0, steps: 0 } };
    const all = decideReadings(recorded(...operations), { kind: 'semaphore', permits: 2 }, options);
    return all.find(({ reading }) => reading === 'tries-inform')!;
  };

  it('an undecided one leaves the whole open, unless another is broken', () => {
    expect(underTries(...hard, ...sound('a')).verdict).toBe('unknown');
    const third = acquire('c3', [1, 3], { key: 'b' });
    expect(underTries(...hard, ...broken('b', 0), third).verdict).toBe('invalid');
  });

  it('name their procedures once, and their notes by key', () => {
    const { procedure, notes } = underTries(...hard, ...sound('a'), ...sound('b'));
    expect(new Set(procedure.split(', ')).size).toBe(procedure.split(', ').length);
    expect(procedure).toContain('search');
    expect(notes.length).toBeGreaterThan(0);
    expect(notes.every((note) => note.startsWith('hard: '))).toBe(true);
  });
});

test('keys are decided apart: all together are as bad as the worst', () => {
  const part = fc.record({ client: fc.nat(2), wait: fc.nat(3), length: fc.nat(3), fails: fc.boolean() });
  fc.assert(
    fc.property(fc.array(fc.array(part, { maxLength: 5 }), { minLength: 1, maxLength: 3 }), (keys) => {
      const told = keys.map((parts, n) => {
        let second = 0;
        return parts.flatMap(({ client, wait, length, fails }): Told[] => {
          const [from, more] = [second, { key: `k${n}` }];
          second += wait;
          return [
            acquire(`c${client}`, [from, from + 1], more),
            release(`c${client}`, [from + 1 + length, from + 2 + length], { ...more, ...(fails && { reason: 'x' }) }),
          ];
        });
      });
      // A client of one key is none of another's: its operations would not follow one another.
      const apart = told.map((operations, n) => operations.map((one) => ({ ...one, client: `${one.client}.${n}` })));
      const worst = (all: string[]) =>
        all.sort((a, b) => Number(b.endsWith('invalid')) - Number(a.endsWith('invalid')))[0];
      const each = apart.map((operations) => verdicts(recorded(...operations)));
      const together = verdicts(recorded(...apart.flat()));
      expect(together).toEqual([0, 1].map((reading) => worst(each.map((one) => one[reading]!))));
    }),
  );
});
