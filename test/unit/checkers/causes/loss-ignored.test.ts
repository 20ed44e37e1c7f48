/** Each link of `loss-ignored`, taken away in turn. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { KEY, Story } from '../build.js';
import { causeNames } from './two-grants.js';

const REFUSED = { reason: 'not-owner' };

/** c1's lease of 5 s is over at 6 s, it is told so, and works until 9 s; c2 is granted the key at 7 s. */
function story(told: (story: Story) => Story): Story {
  const begun = new Story()
    .up('c1')
    .up('c2')
    .up('c3')
    .grant('c3', 0.1)
    .release('c3', 0.5)
    .grant('c1', 1)
    .extend('c1', 1.2);
  return told(begun).grant('c2', 7).release('c1', 9).release('c2', 10);
}

describe('loss-ignored', () => {
  it('is said of a client that was refused before the next one held, and worked on', () => {
    const [found] = mutualExclusion.check(story((one) => one.extend('c1', 6.5, 5000, REFUSED)).input()).violations;
    expect(found!.cause).toMatchObject({
      name: 'loss-ignored',
      sentence: expect.stringMatching(
        /^c1 was told at 6\.503 s that it is not the owner of .* any more, and acted as /,
      ),
    });
    expect(found!.cause.chain.map(({ text }) => text)).toEqual([
      expect.stringContaining('c1 was granted'),
      expect.stringContaining('lease of 5000 ms ended'),
      'its lock refused to extend it (not-owner)',
      'until then c1 acted as the holder',
    ]);
  });

  it('is said by the first refusal, whatever else failed after it', () => {
    const told = story((one) => one.extend('c1', 6.5, 5000, REFUSED).extend('c1', 6.7, 5000, { type: 'info' }));
    expect(causeNames(told)).toEqual(['loss-ignored']);
  });

  it.each<[string, (story: Story) => Story]>([
    ['it was not refused', (one) => one],
    ['it was told only beside the next one', (one) => one.extend('c1', 6.5, 5000, { ...REFUSED, read: 7.5 })],
    ['the extension failed for another reason', (one) => one.extend('c1', 6.5, 5000, { reason: 'unreachable' })],
    ['the extension was not answered', (one) => one.extend('c1', 6.5, 5000, { type: 'never' })],
    ['what came of the extension is not known', (one) => one.extend('c1', 6.5, 5000, { type: 'info', ...REFUSED })],
    ['it was another client', (one) => one.extend('c3', 6.5, 5000, REFUSED)],
    [
      'another hold of its was refused',
      (one) =>
        one
          .grant('c1', 2, { key: 'k2' })
          .extend('c1', 6.5, 5000, REFUSED)
          .extend('c1', 6.6, 5000, { type: 'info', hold: 1 }),
    ],
    ['its lock had renewed it after that', (one) => one.extend('c1', 1.4, 5000, REFUSED).renewed('c1', 1.6)],
    [
      'an extension that was asked for before was confirmed after that',
      (one) => one.extend('c1', 1.4, 5000, { read: 1.7 }).extend('c1', 1.5, 5000, { ...REFUSED, read: 1.6 }),
    ],
    ['it was extended after that', (one) => one.extend('c1', 6.3, 5000, REFUSED).extend('c1', 6.5)],
  ])('is not said where %s', (_, told) => {
    expect(causeNames(story(told)).filter((name) => name === 'loss-ignored')).toEqual([]);
  });

  describe('is said of a client that had been told before its lease was over, and', () => {
    const told = (features: string[] = []) =>
      new Story().up('c1', features).up('c2').grant('c1', 1).extend('c1', 2, 5000, REFUSED).grant('c2', 6.1);
    const endedLate = (story: Story) => causeNames(story.release('c1', 9, { sent: 8.9 }).release('c2', 10));

    it('was stopped over that end only after that', () => {
      const stopped = told().fault(3, 0, 'pause', 'strike', { effects: [{ kind: 'stopped', who: ['c1'] }] });
      expect(endedLate(stopped.fault(7, 0, 'pause', 'heal', { targets: ['c1'] }))).toEqual(['loss-ignored']);
    });

    it('was cut off only after that', () => {
      const cut = told(['renews']).sample(0.5, 'r1').sample(5.9, 'r1');
      cut.fault(2.5, 0, 'partition', 'strike', { effects: [{ kind: 'cut', pairs: [['c1', 'r1']] }] });
      expect(endedLate(cut)).toEqual(['loss-ignored']);
    });

    it('was told nothing by a lock that renews by itself', () => {
      expect(endedLate(told(['renews']).grant('c1', 6.3, { key: 'k2' }).grant('c1', 6.8, { key: 'k3' }))).toEqual([
        'loss-ignored',
      ]);
    });
  });

  it('is said of one that was told when its lease had ended: its lock, which renews by itself, had not been silent', () => {
    const asked = (at: number) => {
      const begun = new Story().up('c1', ['renews']).up('c2').grant('c1', 1).extend('c1', at, 5000, REFUSED);
      begun.grant('c2', 7).grant('c1', 6.1, { key: 'k2' }).grant('c1', 6.4, { key: 'k3' });
      const release = { type: 'invoke', client: 'c1', id: 5, op: 'release', key: KEY, hold: 1 } as const;
      return causeNames(begun.event(9, release).release('c2', 10));
    };
    expect(asked(6.05)).toEqual(['loss-ignored']);
    // It had been silent until then.
    expect(asked(6.5)).toEqual(['not-told']);
  });
});
