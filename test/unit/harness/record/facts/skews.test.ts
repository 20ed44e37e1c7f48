/** How far off a clock was is what the look says that was answered soonest, of those at the same error. */
import { expect, it } from 'vitest';
import { clockMovesOf } from '../../../../../harness/record/facts/clock-moves.js';
import { effectsOf } from '../../../../../harness/record/facts/effects.js';
import { bestSkews } from '../../../../../harness/record/facts/skews.js';
import { ns, Story } from '../../../checkers/build.js';

const looks = (...all: [atS: number, skewMs: number][]) => all.map(([atS, skewMs]) => ({ atNs: ns(atS), skewMs }));

/** By a clock that jumps 2 s ahead at 2 s and is set right at 5 s. */
function best(all: ReturnType<typeof looks>, offsetMs = 2_000) {
  const story = new Story()
    .fault(2, 0, 'clock', 'strike', { effects: [{ kind: 'clock-jumped', who: ['r1'], offsetMs }] })
    .fault(5, 0, 'clock', 'heal');
  return bestSkews(all, clockMovesOf(effectsOf(story.input().history), 'r1'));
}

it('takes the greatest error of a clock that is ahead, until it is set right', () => {
  const all = looks([1, 0], [2.5, 1_786], [3, 1_995], [4, 1_829], [6, 0], [7, 0]);
  expect(best(all)).toEqual([0, 1_995, 1_995, 1_995, 0, 0]);
});

it('takes the least of one that is behind', () => {
  expect(best(looks([1, 0], [3, -1_700], [4, -1_990]), -2_000)).toEqual([0, -1_990, -1_990]);
});

it('learns nothing of a look that may have been asked before the clock was moved', () => {
  expect(best(looks([1, 0], [2.1, 2_400], [3, 1_990], [5.1, 1_990], [6, 3]))).toEqual([0, 2_400, 1_990, 1_990, 3]);
});

it('leaves alone what differs too much to be the same error', () => {
  expect(best(looks([3, 1_000], [4, 1_990]))).toEqual([1_000, 1_990]);
});

it('takes each look as it is where the clock drifts', () => {
  const story = new Story().fault(2, 0, 'drift', 'strike', {
    effects: [{ kind: 'clock-drifts', who: ['r1'], ratePpm: 10_000, gainedMs: 10 }],
  });
  const moves = clockMovesOf(effectsOf(story.input().history), 'r1');
  expect(bestSkews(looks([3, 10], [4, 20], [5, 30]), moves)).toEqual([10, 20, 30]);
});
