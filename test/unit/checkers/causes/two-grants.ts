/** Two clients that are granted the same lock, and what the tests of causes ask of such a story. */
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { KEY, Story } from '../build.js';

/** When the two takes ran on their nodes. */
export const FIRST_TAKE = 0.999;
export const SECOND_TAKE = 2.999;

/** c1 is granted at 1 s, c2 at 3 s, both until 4 s: broken. */
export function twoGrants(): Story {
  return new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 3).release('c1', 4).release('c2', 4);
}

/** The same on r1, which is watched from the beginning and granted c1. */
export function grantedByR1(): Story {
  return twoGrants().watch(0, 'r1').sample(0.5, 'r1').take(FIRST_TAKE, 'r1', 'c1');
}

/** The take of c2 by a SET that asks for nothing, after it had asked: what it was answered is not recorded. */
export function overwrites(story: Story, node = 'r1'): Story {
  return story
    .command(SECOND_TAKE - 0.0001, node, 'c2', ['GET', KEY])
    .command(SECOND_TAKE, node, 'c2', ['SET', KEY, 'value-of-c2', 'PX', '5000']);
}

/** The names of the causes of all overlaps, earliest first. */
export function causeNames(story: Story): string[] {
  return mutualExclusion.check(story.input()).violations.map(({ cause }) => cause.name);
}
