/** Each link of `loss-ignored`, taken away in turn. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { Story } from '../build.js';
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
});
