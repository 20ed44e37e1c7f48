/** What servers stored from the beginning: nothing, where a run started them. */
import { expect, it } from 'vitest';
import { wholeEvidenceOf } from '../../../../checkers/causes/whole-evidence.js';
import { KEY, Story } from '../build.js';

const taken = () => new Story().up('c1').watch(0.5, 'r1').grant('c1', 1).take(0.999, 'r1', 'c1');
const took = (story: Story) => wholeEvidenceOf(story.input())?.writes('r1', KEY)[0]?.took;

it('servers of a run had nothing at first; others, as of a history that was imported, may have had anything', () => {
  expect(took(taken().replicated())).toBe(true);
  expect(took(taken())).toBeUndefined();
  // A fault was recorded, and no deployment.
  expect(took(taken().fault(2, 0, 'pause', 'strike'))).toBeUndefined();
});

it('is made once for each run', () => {
  const input = taken().replicated().input();
  expect(wholeEvidenceOf(input)).toBe(wholeEvidenceOf(input));
});
