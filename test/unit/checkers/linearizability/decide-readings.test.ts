/** The verdict under each reading: literal histories that flip between them, then how keys come together. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  decideReadings,
  type ReadingOptions,
  type ReadingVerdict,
} from '../../../../checkers/linearizability/decide-readings.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import { Story } from '../build.js';

const MUTEX: LockModel = { kind: 'mutex' };
const OPTIONS: ReadingOptions = { witnesses: 10, search: { configurations: 10_000, steps: 100_000 } };

function verdicts(story: Story, model = MUTEX): string[] {
  return decideReadings(story.history(), model, OPTIONS).map(({ reading, verdict }) => `${reading}: ${verdict}`);
}

describe('a history', () => {
  it('of one hold after the other is valid under every reading', () => {
    const story = new Story().acquire('c1', [1, 2]).release('c1', [3, 4]).acquire('c2', [3.5, 5]).release('c2', [6, 7]);
    expect(verdicts(story)).toEqual(['strict: valid', 'failed-release-ends: valid']);
  });

  it('of two simultaneous holders is invalid under every reading', () => {
    const story = new Story().acquire('c1', [1, 2]).acquire('c2', [3, 4]).release('c1', [5, 6]).release('c2', [7, 8]);
    expect(verdicts(story)).toEqual(['strict: invalid', 'failed-release-ends: invalid']);
    const [strict] = decideReadings(story.history(), MUTEX, OPTIONS);
    expect(strict).toMatchObject({ title: 'strict', accuses: true, procedure: 'cores', found: 1, counted: 1 });
    expect(strict!.byKind).toEqual({ overlap: 1 });
    expect(strict!.witnesses[0]).toMatchObject({ kind: 'overlap', key: 'lock:0', fromNs: 4e9, untilNs: 5e9 });
  });

  it('flips where a release failed before the next grant', () => {
    const story = new Story()
      .acquire('c1', [1, 2])
      .release('c1', [7, 7.1], { reason: 'not-held' })
      .acquire('c2', [8, 9]);
    expect(verdicts(story)).toEqual(['strict: invalid', 'failed-release-ends: valid']);
  });

  it('does not flip where that release was never sent', () => {
    const story = new Story()
      .acquire('c1', [1, 2])
      .release('c1', [7, 7.1], { reason: 'unreachable' })
      .acquire('c2', [8, 9]);
    expect(verdicts(story)).toEqual(['strict: invalid', 'failed-release-ends: invalid']);
  });

  it('flips where a lease had run out, and not before', () => {
    const granted = (second: number) =>
      new Story().acquire('c1', [1, 2], { leaseMs: 5_000 }).acquire('c2', [second, second + 0.5], { leaseMs: 5_000 });
    expect(verdicts(granted(7))).toEqual(['strict: invalid', 'failed-release-ends: invalid', 'lease: valid']);
    expect(verdicts(granted(4))).toEqual(['strict: invalid', 'failed-release-ends: invalid', 'lease: invalid']);
  });

  it('has no reading by leases where its lock says that nothing ends a hold', () => {
    const story = new Story()
      .up('c1', [], 'none')
      .acquire('c1', [1, 2], { leaseMs: 5_000 })
      .acquire('c2', [7, 7.5], { leaseMs: 5_000 });
    expect(verdicts(story)).toEqual(['strict: invalid', 'failed-release-ends: invalid']);
  });

  it('flips where a client was refused while none held, which is no accusation', () => {
    const story = new Story().acquire('c1', [1, 2]).release('c1', [3, 4]).acquire('c2', [5, 6], { reason: 'held' });
    expect(verdicts(story)).toEqual(['strict: valid', 'tries-inform: invalid', 'failed-release-ends: valid']);
    expect(decideReadings(story.history(), MUTEX, OPTIONS).map(({ accuses }) => accuses)).toEqual([true, false, true]);
  });

  it('is not asked about refusals for other reasons', () => {
    const story = new Story().acquire('c1', [1, 2]).acquire('c2', [5, 6], { reason: 'no-quorum' });
    expect(verdicts(story)).toEqual(['strict: valid', 'failed-release-ends: valid']);
  });
});

describe('several keys', () => {
  /** A key on which two hold at once from `second` + 2 to `second` + 4. */
  const broken = (story: Story, key: string, second: number) =>
    story
      .acquire('c1', [second, second + 1], { key })
      .acquire('c2', [second, second + 2], { key })
      .release('c1', [second + 4, second + 5])
      .release('c2', [second + 6, second + 7]);
  const sound = (story: Story, key: string) => story.acquire('c3', [1, 2], { key }).release('c3', [3, 4]);

  it('one that cannot be explained is enough', () => {
    expect(verdicts(broken(sound(new Story(), 'a'), 'b', 0))[0]).toBe('strict: invalid');
    expect(verdicts(sound(sound(new Story(), 'a'), 'b'))[0]).toBe('strict: valid');
  });

  it('all findings are counted, and the earliest by completion are shown', () => {
    const story = new Story();
    for (const [key, second] of Object.entries({ a: 50, b: 10, c: 30 })) broken(story, key, second);
    const [strict] = decideReadings(story.history(), MUTEX, { ...OPTIONS, witnesses: 2 });
    expect(strict).toMatchObject({ found: 3, counted: 3, byKind: { overlap: 3 } });
    expect(strict!.witnesses.map(({ key }) => key)).toEqual(['b', 'c']);
  });

  /** Two permits, and a refusal that only a search can place. */
  const hard = () =>
    new Story()
      .acquire('c1', [0, 10], { key: 'hard' })
      .acquire('c2', [1, 10], { key: 'hard' })
      .acquire('c3', [2, 9], { key: 'hard', reason: 'held' })
      .release('c1', [11, 12]);
  const underTries = (story: Story): ReadingVerdict => {
    const options = { witnesses: 10, search: { configurations: 0, steps: 0 } };
    const all = decideReadings(story.history(), { kind: 'semaphore', permits: 2 }, options);
    return all.find(({ reading }) => reading === 'tries-inform')!;
  };

  it('an undecided one leaves the whole open, unless another is broken', () => {
    expect(underTries(sound(hard(), 'a')).verdict).toBe('unknown');
    const third = broken(hard(), 'b', 0).acquire('c3', [1, 3], { key: 'b' });
    expect(underTries(third).verdict).toBe('invalid');
  });

  it('name their procedures once, and their notes by key', () => {
    const { procedure, notes } = underTries(sound(sound(hard(), 'a'), 'b'));
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
      /** A client of one key is none of another's: its operations would not follow one another. */
      const told = (story: Story, n: number) => {
        let second = 0;
        for (const { client, wait, length, fails } of keys[n]!) {
          const [name, from] = [`c${client}.${n}`, second];
          second += wait;
          story
            .acquire(name, [from, from + 1], { key: `k${n}` })
            .release(name, [from + 1 + length, from + 2 + length], fails ? { reason: 'x' } : {});
        }
        return story;
      };
      const worst = (all: string[]) =>
        all.sort((a, b) => Number(b.endsWith('invalid')) - Number(a.endsWith('invalid')))[0];
      const each = keys.map((_, n) => verdicts(told(new Story(), n)));
      const together = verdicts(new Story().times(keys.length, told));
      expect(together).toEqual([0, 1].map((reading) => worst(each.map((one) => one[reading]!))));
    }),
  );
});
