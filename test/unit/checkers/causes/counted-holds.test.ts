/** By what a holder was counted is told only where all is known that its client may have done in that attempt. */
import { expect, it } from 'vitest';
import { countedBy } from '../../../../checkers/causes/counted-holds.js';
import { RelatedKeys } from '../../../../checkers/causes/own-stores.js';
import { wholeEvidenceOf } from '../../../../checkers/causes/whole-evidence.js';
import { holdsOf } from '../../../../harness/record/facts/holds.js';
import { KEY, Story } from '../build.js';

/** c1 asks at 0.9 s and is granted at 1 s; what it sends meanwhile. */
function counted(tell: (story: Story) => Story) {
  const story = new Story().promised({ kind: 'semaphore', permits: 2 }).up('c1').up('c2');
  story.deployed({ kind: 'primary' }).watch(0.1, 'r1').sample(0.5, 'r1').command(0.6, 'r1', 'c2', ['INCR', KEY]);
  const input = tell(story.grant('c1', 1, { sent: 0.9, grantSent: 0.9 }))
    .sample(2, 'r1')
    .input();
  const [hold] = holdsOf(input.history);
  return countedBy(hold!, wholeEvidenceOf(input)!, new RelatedKeys(input.history.operations.keys))?.list.length;
}

const raises = (s: Story, at = 0.95) => s.command(at, 'r1', 'c1', ['INCR', KEY]);

it('is the only change of the number, whatever set its time', () => {
  expect(counted(raises)).toBeDefined();
  expect(counted((s) => raises(s).command(0.96, 'r1', 'c1', ['PEXPIRE', KEY, '5000']))).toBeDefined();
});

it('is not told where another of its commands may have been it', () => {
  expect(counted((s) => raises(raises(s), 0.97))).toBeUndefined();
  const unknown = (s: Story) => raises(s).command(0.96, 'r1', 'c2', ['SOMETHING', KEY]);
  expect(counted(unknown)).toBeDefined();
  expect(counted((s) => unknown(s).command(0.97, 'r1', 'c1', ['DECR', KEY]))).toBeUndefined();
  // What is not seen of the attempt may have been it as well.
  expect(counted((s) => raises(s).watch(0.96, 'r1', false).watch(0.97, 'r1'))).toBeUndefined();
});
