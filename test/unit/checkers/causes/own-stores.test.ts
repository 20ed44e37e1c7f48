/** What a client stored itself for a grant: which of its commands count for it, and under which keys. */
import { expect, it } from 'vitest';
import { ownStoresOf, RelatedKeys } from '../../../../checkers/causes/own-stores.js';
import { Evidence } from '../../../../harness/record/facts/evidence.js';
import type { Hold } from '../../../../harness/vocabulary/verdict.js';
import { KEY, ns, Story } from '../build.js';

const LONGER = `${KEY}0`;

/** c1 is granted at 1 s, and holds until 4 s. */
function stored(told: (story: Story) => Story, resources = [KEY], key = KEY) {
  const story = new Story().refused('c3', 0.2, 0.3, 'fail', LONGER).grant('c1', 1).watch(0.1, 'r1').sample(0.5, 'r1');
  const hold = { client: 'c1', key, fromNs: ns(1), untilNs: ns(4), grantSentNs: ns(0.998) } as Hold;
  const evidence = new Evidence(told(story).input());
  return ownStoresOf(hold, evidence, new RelatedKeys(resources)).map(({ owner, inTime }) => [owner, inTime]);
}
const sets =
  (at: number, field: string, key = KEY) =>
  (story: Story) =>
    story.command(at, 'r1', 'c1', ['HSET', key, field, '1']);

it('is what ran before the answer, or within what stamps may be off after it, of which it is not known what for', () => {
  expect(stored(sets(0.999, 'a'))).toEqual([['a', true]]);
  expect(stored((story) => story.command(1.9, 'r1', 'c1', ['HSET', KEY, 'a', '1'], -901))).toEqual([['a', true]]);
  // What ran in a try before is read late.
  expect(stored((story) => story.command(1.9, 'r1', 'c1', ['HSET', KEY, 'a', '1'], -930))).toEqual([['a', false]]);
  expect(stored(sets(1.012, 'b'))).toEqual([['b', false]]);
  expect(stored(sets(1.015, 'b'))).toEqual([]);
});

it('is under a key that is named after the resource, and after none of a longer name', () => {
  // It was not there before: a plain SET says so itself, of a key that no sample looks for.
  const own = (story: Story) => story.command(0.999, 'r1', 'c1', ['SET', `${LONGER}:own`, 'a']);
  expect(stored(own, [LONGER, KEY])).toEqual([]);
  expect(stored(own, [KEY, LONGER])).toEqual([]);
  expect(stored(own, [LONGER, KEY], LONGER)).toEqual([['a', true]]);
});

it('is what a command certainly stored, and nothing had certainly removed by the answer', () => {
  const unseen = (story: Story) => story.watch(0.6, 'r1', false).watch(0.7, 'r1');
  const isNew = (story: Story) => story.command(0.999, 'r1', 'c1', ['HSETNX', KEY, 'a', '1']);
  expect(stored(isNew)).toEqual([['a', true]]);
  expect(stored((story) => isNew(unseen(story)))).toEqual([]);
  const removed = (at: number) => (story: Story) => sets(0.999, 'a')(story).command(at, 'r1', 'c3', ['DEL', KEY]);
  expect(stored(removed(0.9995))).toEqual([]);
  // By its stamp it ran before the answer; it may have run after it.
  expect(stored(removed(1.001))).toEqual([['a', true]]);
});
