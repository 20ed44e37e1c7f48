/** Stories of a lock that counts its fencing tokens in a key beside its own. */
import { expect } from 'vitest';
import { fencing } from '../../../../checkers/harm/fencing.js';
import type { Quorum } from '../../../../harness/vocabulary/topology.js';
import type { Cause } from '../../../../harness/vocabulary/verdict.js';
import { KEY, Story } from '../build.js';

export const COUNTER = `{${KEY}}:fence`;

export function count(story: Story, at: number, client: string): Story {
  return story.command(at, 'r1', client, ['INCR', COUNTER]);
}

/** Where c1 and c2 take such a lock. */
export function fencedStory(quorum: Quorum): Story {
  return new Story().promised({ kind: 'fenced' }).up('c1').up('c2').deployed(quorum);
}

/** Why the only token that is wrong did not rise. */
export function tokenCause(story: Story): Cause {
  const { violations } = fencing.check(story.input());
  expect(violations).toHaveLength(1);
  return violations[0]!.cause;
}
