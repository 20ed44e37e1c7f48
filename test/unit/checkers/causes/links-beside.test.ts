/** What a chain says beside its cause, and of which role a server took itself for: each with a story that lacks only that. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { Story } from '../build.js';
import { causeNames, FIRST_TAKE, grantedByR1, overwrites, SECOND_TAKE, twoGrants } from './two-grants.js';

const causeOf = (story: Story) => mutualExclusion.check(story.input()).violations[0]!.cause;
const texts = (story: Story) => causeOf(story).chain.map(({ text }) => text);

describe('what filled the memory', () => {
  const full = (from: number, until: number) =>
    texts(
      grantedByR1()
        .fault(from, 0, 'memory', 'strike', { did: 'filled r1', effects: [{ kind: 'short-of-memory', who: ['r1'] }] })
        .fault(until, 0, 'memory', 'heal', { targets: ['r1'] })
        .evicted(2, 'r1')
        .take(SECOND_TAKE, 'r1', 'c2'),
    );

  it('is told where it was in force', () => {
    expect(full(1.5, 2.5)).toContain('filled r1');
    expect(full(0.6, 0.8)).not.toContain('filled r1');
    expect(full(2.2, 2.5)).not.toContain('filled r1');
  });
});

describe('what cut two servers from each other', () => {
  const cut = (from: number, until: number) =>
    texts(
      grantedByR1()
        .watch(0, 'r2')
        .sample(0.4, 'r2', { role: 'replica' })
        .sample(1.1, 'r1', { owner: 'value-of-c1' })
        .fault(from, 0, 'cut', 'strike', { did: 'cut them', effects: [{ kind: 'cut', pairs: [['r1', 'r2']] }] })
        .fault(until, 0, 'cut', 'heal', { targets: ['r1'] })
        .sample(2, 'r2', { role: 'replica' })
        .sample(2.5, 'r2')
        .take(SECOND_TAKE, 'r2', 'c2'),
    );
  const told = 'r1 could not reach r2 (cut: cut them)';

  it('is told where it was in force when the first one was granted', () => {
    expect(cut(0.8, 1.5)).toContain(told);
    expect(cut(0.6, 0.8)).not.toContain(told);
    expect(cut(1.5, 1.8)).not.toContain(told);
  });

  it('is told with what the new primary had instead', () => {
    const looked = (fields: Parameters<Story['sample']>[2]) =>
      texts(
        overwrites(
          grantedByR1()
            .watch(0, 'r2')
            .sample(0.4, 'r2', { role: 'replica' })
            .sample(1.1, 'r1', { owner: 'value-of-c1' })
            .sample(2, 'r2', { role: 'replica' })
            .sample(2.5, 'r2', fields),
          'r2',
        ),
      );
    expect(looked({})).toContain('r2, as primary, had no lock:0');
    expect(looked({ owner: 'of-c9' })).toContain('r2, as primary, had another owner for lock:0');
  });
});

describe('a split brain', () => {
  const split = (believed: Parameters<Story['sample']>[2]) => {
    const story = twoGrants().watch(0, 'r1').watch(0, 'r2').sample(0.2, 'r1').sample(0.5, 'r2', { role: 'replica' });
    story.looks(0.4, 2.5, 'r1').sample(0.8, 'r2').take(FIRST_TAKE, 'r2', 'c1').sample(2.9, 'r1', believed);
    return causeNames(story.take(SECOND_TAKE, 'r1', 'c2'));
  };

  it('is one of a server that took itself for primary when it was looked at last', () => {
    expect(split({})).toEqual(['split-brain']);
    expect(split({ role: 'replica' })).not.toContain('split-brain');
  });
});

describe('a stale holder', () => {
  const stale = (features: string[] = []) =>
    new Story().up('c1', features).up('c2').grant('c1', 1).grant('c2', 6.1).release('c2', 9);
  it('that died is not said not to have been told', () => {
    expect(causeOf(stale(['renews']).down('c1', 8)).name).not.toBe('not-told');
  });
});
