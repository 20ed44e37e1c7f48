/** Of a long run only the commands around an overlap are looked at: it must be explained as if all had been. */
import { describe, expect, it } from 'vitest';
import { EvidenceWindows } from '../../../../checkers/causes/evidence-windows.js';
import { causeOf, explainerOf } from '../../../../checkers/causes/explain.js';
import { holdsOf } from '../../../../harness/record/facts/holds.js';
import { overlapsOf } from '../../../../harness/record/facts/overlaps.js';
import { KEY, Story } from '../build.js';

/** One after the other, `everyS` apart: a stranger's DEL, an overwriting SET, an eviction, a refusal that was taken for a yes. */
function longRun(episodes: number, everyS: number): Story {
  const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.05, 'r1');
  for (let n = 0; n < episodes; n++) {
    const at = n * everyS;
    story
      .sample(at + 0.5, 'r1')
      .grant('c1', at + 1)
      .take(at + 0.999, 'r1', 'c1');
    const why = n % 4;
    if (why === 0) story.command(at + 2, 'r1', 'c3', ['DEL', KEY]);
    if (why === 2) story.evicted(at + 2, 'r1');
    if (why === 1) story.command(at + 2.999, 'r1', 'c2', ['SET', KEY, 'value-of-c2', 'PX', '5000']);
    else story.take(at + 2.999, 'r1', 'c2');
    story
      .grant('c2', at + 3)
      .release('c1', at + 4)
      .release('c2', at + 4.2);
    story.command(at + 4.2, 'r1', 'c2', ['DEL', KEY]).sample(at + 4.3, 'r1');
  }
  return story;
}

function overlapsIn(story: Story) {
  const input = story.input();
  return { input, overlaps: overlapsOf([...holdsOf(input.history)], input.model) };
}

describe('windows', () => {
  it.each([5, 20, 90])('explain overlaps %i s apart as the whole run does', (everyS) => {
    const { input, overlaps } = overlapsIn(longRun(12, everyS));
    expect(overlaps).toHaveLength(12);
    const whole = overlaps.map(explainerOf(input));
    const windows = new EvidenceWindows(input, 0);
    expect(overlaps.map((overlap) => causeOf(overlap, windows.around(overlap), input))).toEqual(whole);
    const names = ['released-by-other', 'overwritten', 'evicted', 'never-granted'];
    expect(whole.map(({ name }) => name)).toEqual([...names, ...names, ...names]);
  });

  it('do so in any order', () => {
    const { input, overlaps } = overlapsIn(longRun(8, 60));
    const windows = new EvidenceWindows(input, 0);
    const backwards = overlaps.toReversed();
    const explained = backwards.map((overlap) => causeOf(overlap, windows.around(overlap), input));
    expect(explained).toEqual(backwards.map(explainerOf(input)));
  });

  it('hold what is near, are kept while they will do, and the whole of a short run is one', () => {
    const { input, overlaps } = overlapsIn(longRun(40, 5));
    const windows = new EvidenceWindows(input, 0);
    const evidences = overlaps.map((overlap) => windows.around(overlap));
    const writes = evidences.map((evidence) => evidence.writes('r1', KEY).length);
    expect(Math.max(...writes)).toBeLessThan(60);
    expect(new Set(evidences).size).toBeLessThanOrEqual(10);
    const whole = new EvidenceWindows(input);
    expect(new Set(overlaps.map((overlap) => whole.around(overlap))).size).toBe(1);
  });

  it('believe no sample from before: the key was taken since, by an unknown client', () => {
    // All seen: the sample says that no client had the key at 0.05 s, c9 took it at 1 s for a minute, and so c1 was refused.
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.05, 'r1');
    story.command(1, 'r1', 'c9', ['SET', KEY, 'value-of-c9', 'PX', '90000', 'NX']);
    const { input, overlaps } = overlapsIn(
      story
        .take(59.999, 'r1', 'c1')
        .grant('c1', 60)
        .take(61.999, 'r1', 'c2')
        .grant('c2', 62)
        .release('c1', 63)
        .release('c2', 63),
    );
    const took = (evidence = new EvidenceWindows(input, 0).around(overlaps[0]!)) =>
      evidence.writes('r1', KEY).map((write) => write.took);
    expect(took(new EvidenceWindows(input).around(overlaps[0]!))).toEqual([true, false, false]);
    expect(took()).toEqual([undefined, undefined]);
  });
});
