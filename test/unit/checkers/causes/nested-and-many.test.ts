/** Which hold's cause is told of a nested one, and which node's of several. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { KEY, Story } from '../build.js';
import { causeNames, FIRST_TAKE, grantedByR1, overwrites, SECOND_TAKE, twoGrants } from './two-grants.js';

const violations = (story: Story) => mutualExclusion.check(story.input()).violations;

describe('a nested hold', () => {
  const nesting = () => new Story().up('c1').up('c2').promised({ kind: 'reentrant', depth: 2 }).grant('c1', 1);
  const watched = (story: Story) => story.watch(0, 'r1').sample(0.5, 'r1').take(FIRST_TAKE, 'r1', 'c1');

  it('has its own cause, where there is one', () => {
    const story = watched(nesting().grant('c1', 2.5).grant('c2', 3).release('c1', 4).release('c1', 4).release('c2', 4));
    story.command(2, 'r1', 'c3', ['DEL', KEY]).take(2.499, 'r1', 'c1', 'inner-of-c1');
    expect(causeNames(overwrites(story)).sort()).toEqual(['overwritten', 'released-by-other']);
  });

  it('shares it with the outer one, whose value it stored anew', () => {
    const story = watched(nesting().grant('c1', 2.5).grant('c2', 3).release('c1', 4).release('c1', 4).release('c2', 4));
    story.command(2, 'r1', 'c3', ['DEL', KEY]).take(2.499, 'r1', 'c1');
    expect(causeNames(overwrites(story))).toEqual(['overwritten', 'overwritten']);
  });

  it('has its own chain, where no other has a cause either', () => {
    const story = nesting().grant('c2', 3).grant('c2', 3.5).release('c2', 4).release('c2', 4).release('c1', 4);
    const chains = violations(story).map(({ cause }) => [cause.name, cause.chain.map(({ atNs }) => atNs / 1e9)]);
    expect(chains).toEqual([
      ['unexplained', [1, 3]],
      ['unexplained', [1, 3.5]],
    ]);
  });
});

it('a permit that another one gave back is explained as a lock is', () => {
  const story = grantedByR1().promised({ kind: 'semaphore', permits: 1 }).command(2, 'r1', 'c3', ['DEL', KEY]);
  expect(causeNames(story.take(SECOND_TAKE, 'r1', 'c2'))).toEqual(['released-by-other']);
});

describe('of several permits that were held when one too many was granted', () => {
  const member = (story: Story, at: number, client: string) =>
    story
      .command(at, 'r1', client, ['EVAL', 'script', '1', KEY, `value-of-${client}`])
      .command(at, 'r1', 'lua', ['zcard', KEY])
      .command(at, 'r1', 'lua', ['zadd', KEY, '9999', `value-of-${client}`]);
  /** c1's permit is there from 1 s on, c2's and c3's from 2.6 and 3 s on; c2 gives its own back first. */
  const told = (meanwhile: (story: Story) => Story) => {
    const story = new Story().promised({ kind: 'semaphore', permits: 2 }).up('c1').up('c2').up('c3');
    story.grant('c1', 1).grant('c2', 2.6).grant('c3', 3).release('c2', 4).release('c1', 5).release('c3', 5);
    member(story.watch(0, 'r1').sample(0.5, 'r1'), FIRST_TAKE, 'c1');
    return causeNames(member(member(meanwhile(story), 2.599, 'c2'), 2.999, 'c3'));
  };
  const restarted = (story: Story) =>
    story.watch(2, 'r1', false).watch(2.3, 'r1').sample(2.5, 'r1', { runId: 'run-2' });

  it('any that was lost is the reason, also where another one is given back first', () => {
    expect(told(restarted)).toEqual(['node-forgot']);
    expect(told((story) => story)).toEqual(['unexplained']);
  });
});

describe('of several nodes that granted both', () => {
  /** c1 is granted by r1 to r4. */
  const granted = () => {
    const story = twoGrants().independent();
    for (const node of ['r1', 'r2', 'r3', 'r4', 'r5']) story.watch(0, node).sample(0.5, node);
    for (const node of ['r1', 'r2', 'r3', 'r4'])
      story.take(FIRST_TAKE, node, 'c1').sample(1.2, node, { owner: 'value-of-c1' });
    return story;
  };
  const forgot = (story: Story, node: string) =>
    story.watch(2, node, false).watch(2.3, node).sample(2.5, node, { runId: 'run-2' });
  const takes = (story: Story, ...nodes: string[]) => {
    for (const node of nodes) story.take(SECOND_TAKE, node, 'c2');
    return story;
  };

  it('each must have a reason', () => {
    const story = () => takes(forgot(granted(), 'r3'), 'r3', 'r4', 'r5');
    expect(causeNames(story().evicted(1.5, 'r4'))).toEqual(['node-forgot']);
    expect(causeNames(story().command(1.5, 'r4', 'c1', ['DEL', KEY]))).toEqual(['unexplained']);
  });

  it('those name it without which the second had no majority: r1, which refused it, is none of them', () => {
    const story = forgot(granted(), 'r2').evicted(1.5, 'r3').evicted(1.5, 'r4');
    expect(causeNames(takes(story, 'r1', 'r2', 'r3', 'r4', 'r5'))).toEqual(['evicted']);
  });

  it('what is the same of all is told once', () => {
    const story = granted().evicted(1.5, 'r3').evicted(1.5, 'r4');
    const [violation] = violations(takes(story, 'r3', 'r4', 'r5'));
    const texts = violation!.cause.chain.map(({ text }) => text);
    expect(texts).toContain("until 5.998 s c1's lease would have run");
    expect(texts).toEqual([...new Set(texts)]);
  });
});
