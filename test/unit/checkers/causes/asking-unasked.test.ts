/** That a client said ASKING unasked is said where it is proven, and each link of that is taken away once. */
import { expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { EPOCH_WALL_MS, Story } from '../build.js';

interface Telling {
  /** The move of a slot, from when on, by when it was healed. */
  who?: [string, string];
  slot?: number;
  atOnce?: true;
  movedAt?: number;
  healedAt?: number;
  /** What becomes of c1's key at its owner. */
  between?: (story: Story) => Story;
  goneAt?: number;
  /** Nobody looks at its owner from then on. */
  lookedUntil?: number;
  role?: 'primary' | 'replica';
}

/** r1 grants it to c1 at 1 s, for 5 s; the slot is on its way to r2 from 2 s to 4 s; r2 grants it to c2 at 3 s. */
function cause({ who = ['r1', 'r2'], movedAt = 2, healedAt = 4, between = (s) => s, ...of }: Telling = {}) {
  const { goneAt = 5, lookedUntil = 5, role = 'primary', slot = 7_495, atOnce } = of;
  const story = new Story().up('c1').up('c2');
  for (const node of ['r1', 'r2']) story.watch(0.1, node);
  story.looks(0.5, 0.9, 'r1').looks(0.5, 5, 'r2').take(0.999, 'r1', 'c1');
  story
    .looks(1.1, Math.min(goneAt, lookedUntil), 'r1', { owner: 'value-of-c1', role })
    .looks(goneAt + 0.1, lookedUntil, 'r1', { role });
  story.grant('c1', 1).release('c1', 4.5);
  story.fault(movedAt, 0, 'move', 'strike', {
    did: `began to move slot ${slot} from r1 to r2`,
    effects: [{ kind: 'slot-moves', who, slot, ...(atOnce && { atOnce }), sinceNs: movedAt * 1e9 - 1e6 }],
  });
  between(story).fault(healedAt, 0, 'move', 'heal', { targets: who });
  story.grant('c2', 3).take(2.999, 'r2', 'c2').release('c2', 4.6);
  return mutualExclusion.check(story.input()).violations[0]?.cause;
}

it('is named where the owner had the key while the slot was on its way', () => {
  expect(cause()).toMatchObject({
    name: 'asking-unasked',
    sentence:
      "r2 was to import the slot of lock:0 from r1, which had c1's key and so sent nobody away for it: r2 takes commands on it only from a client that says ASKING, and granted it to c2.",
  });
});

it.each<[string, Telling]>([
  ['a move that came later', { movedAt: 3.2 }],
  ['a move that was over', { healedAt: 2.5 }],
  ['a move between others', { who: ['r1', 'r3'] }],
  ["a move of another key's slot", { slot: 7 }],
  ['a move from another', { who: ['r3', 'r2'] }],
  ['an owner that nobody looked at after the grant', { lookedUntil: 2.95 }],
  ['a move the other way', { who: ['r2', 'r1'] }],
  // c1's key came along, and was over by r2's clock.
  [
    'a move of all at once, where its owner was looked at for the last time before it had dropped what was gone',
    { atOnce: true, movedAt: 2.98, lookedUntil: 3.05 },
  ],
  ['a key that was gone', { goneAt: 2.5, between: (s) => s.command(2.55, 'r1', 'c1', ['DEL', 'lock:0']) }],
  ['an owner that was not watched', { between: (s) => s.watch(2.5, 'r1', false).watch(3.5, 'r1') }],
  ['an owner that was a replica', { role: 'replica' }],
  [
    'a key that had come to the target',
    {
      between: (s) =>
        s.command(2.5, 'r2', 'link', ['SET', 'lock:0', 'value-of-c1', 'PXAT', String(EPOCH_WALL_MS + 2_700)]),
    },
  ],
  [
    'a target where its holder had stored the key as well, and somebody removed that',
    { between: (s) => s.take(2.5, 'r2', 'c1').command(2.55, 'r2', 'c3', ['DEL', 'lock:0']) },
  ],
  ['a target that was a replica meanwhile', { between: (s) => s.sample(2.55, 'r2', { role: 'replica' }) }],
])('is not named for %s', (_, telling) => {
  expect(cause(telling)?.name).not.toBe('asking-unasked');
});
