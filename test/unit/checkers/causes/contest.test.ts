/** Who was granted first, which copy of a grant is that grant's, and who took it anew: each with a story in which it decides. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { neverGrantedHolds } from '../../../../checkers/exclusion/never-granted.js';
import { EPOCH_WALL_MS, KEY, Story } from '../build.js';
import { causeNames, FIRST_TAKE, grantedByR1, overwrites, SECOND_TAKE, twoGrants } from './two-grants.js';

const texts = (story: Story) => mutualExclusion.check(story.input()).violations[0]!.cause.chain.map(({ text }) => text);
const REPLICA = { role: 'replica' } as const;
const copyOf = (value: string) => ['SET', KEY, value, 'PXAT', String(EPOCH_WALL_MS + 5_999)];

it('of two nodes the one whose client had the answer first granted first, although it was read later', () => {
  const story = new Story().up('c1').up('c2').grant('c1', 2.5).grant('c2', 3).release('c1', 4).release('c2', 4);
  story.watch(0, 'r1').watch(0, 'r2').sample(0.5, 'r1').sample(0.5, 'r2', REPLICA);
  story.looks(2.4, 2.6, 'r1').looks(2.6, 2.8, 'r2', REPLICA).looks(2.8, 3.3, 'r2');
  // The harness was late to read it.
  story.take(3.1, 'r1', 'c1', 'value-of-c1', -601).take(SECOND_TAKE, 'r2', 'c2');
  expect(causeNames(story)).toEqual(['failover-lost-write']);
});

describe('of independent nodes', () => {
  /** c1 asked r1, r2, r3, and c2 r3, r4, r5: r3 granted both. */
  const redlock = (r3: (story: Story) => Story) => {
    const story = twoGrants().independent();
    for (const node of ['r1', 'r2', 'r4', 'r5']) story.watch(0, node).sample(0.5, node);
    for (const node of ['r1', 'r2']) story.take(FIRST_TAKE, node, 'c1');
    r3(story);
    for (const node of ['r3', 'r4', 'r5']) story.take(SECOND_TAKE, node, 'c2');
    return story;
  };
  it('one that refused the first of the two needs no explanation', () => {
    const held = (story: Story) => story.take(0.7, 'r4', 'c3').take(FIRST_TAKE, 'r4', 'c1').unlock(1.5, 'r4', 'c3');
    const granted = (story: Story) => story.watch(0, 'r3').sample(0.5, 'r3').take(FIRST_TAKE, 'r3', 'c1');
    expect(causeNames(redlock((story) => held(granted(story)).evicted(2, 'r3')))).toEqual(['evicted']);
  });

  it('one of which it is not known whether it granted the first explains nothing, though the owner was there', () => {
    // What an earlier attempt had left there ends when c1 asks. If just after, it was refused, and holds by two nodes of five.
    const endingIn = (ms: number) => (story: Story) =>
      story
        .watch(0, 'r3')
        .sample(0.5, 'r3', { owner: '{"value-of-c1":"1"}', pttlMs: -1 })
        .command(0.7, 'r3', 'c3', ['HPEXPIRE', KEY, String(ms), 'FIELDS', '1', 'value-of-c1'])
        .command(FIRST_TAKE, 'r3', 'c1', ['HSETNX', KEY, 'value-of-c1', '1'])
        .evicted(2, 'r3');
    expect(causeNames(redlock(endingIn(200)))).toEqual(['evicted']);
    expect(causeNames(redlock(endingIn(299)))).toEqual(['unexplained']);
  });

  it('one that has less of the owner’s time left than it was asked for had not granted it: it was there before', () => {
    const found = (pttlMs: number) => (story: Story) =>
      story
        .watch(0.9, 'r3')
        .take(FIRST_TAKE, 'r3', 'c1')
        .sample(1.2, 'r3', { owner: 'value-of-c1', pttlMs })
        .command(1.5, 'r3', 'c3', ['GET', KEY])
        .evicted(2, 'r3');
    expect(causeNames(redlock(found(4_799)))).toEqual(['evicted']);
    expect(causeNames(redlock(found(1_000)))).toEqual(['unexplained']);
  });
});

it('a grant that never came to the new primary is no other grant of the same value', () => {
  const story = twoGrants().watch(0, 'r1').watch(0, 'r2').sample(0.1, 'r1').sample(0.1, 'r2', REPLICA);
  story.take(0.2, 'r1', 'c1').unlock(0.3, 'r1', 'c1').take(FIRST_TAKE, 'r1', 'c1').sample(2, 'r2', REPLICA);
  expect(causeNames(story.sample(2.5, 'r2').take(SECOND_TAKE, 'r2', 'c2'))).toEqual(['failover-lost-write']);
});

/** r2 has c1's key from r1 by replication, loses it, and grants it to c2 as the new primary. */
describe('a key that came to the new primary', () => {
  interface Telling {
    before?: (story: Story) => Story;
    value?: string;
    onR1?: (story: Story) => Story;
    onR2?: (story: Story) => Story;
    owner?: string;
  }
  const c3Removes = (story: Story) => story.command(2, 'r1', 'c3', ['DEL', KEY]);
  const removed = (story: Story) => story.command(2.001, 'r2', 'link', ['DEL', KEY]);
  const through = ({ before = (s) => s, value = 'value-of-c1', onR1 = c3Removes, onR2 = removed }: Telling = {}) => {
    const story = twoGrants().watch(0, 'r1').watch(0, 'r2').sample(0.1, 'r1').sample(0.1, 'r2', REPLICA);
    before(story).looks(0.6, 0.9, 'r1').looks(0.6, 0.9, 'r2', REPLICA);
    story.take(FIRST_TAKE, 'r1', 'c1', value).command(1, 'r2', 'link', copyOf(value));
    story.looks(1.1, 1.9, 'r1', { owner: value }).looks(1.1, 1.9, 'r2', { ...REPLICA, owner: value });
    return onR2(onR1(story)).sample(2.5, 'r2').take(SECOND_TAKE, 'r2', 'c2');
  };

  it('was removed from the one before it, which told it to', () => {
    expect(causeNames(through())).toEqual(['released-by-other']);
  });

  it('is of this grant, although its client had stored that value before, and that had come, too', () => {
    const earlier = (story: Story) =>
      story
        .take(0.2, 'r1', 'c1', 'mine')
        .command(0.21, 'r2', 'link', copyOf('mine'))
        .unlock(0.3, 'r1', 'c1', 'mine')
        .command(0.31, 'r2', 'link', ['DEL', KEY]);
    expect(causeNames(through({ before: earlier, value: 'mine' }))).toEqual(['released-by-other']);
  });

  it('is of this grant, although the one before of that value had come, too, where the new primary lost it itself', () => {
    const earlier = (story: Story) => story.take(0.2, 'r1', 'c1', 'mine').unlock(0.3, 'r1', 'c1', 'mine');
    const copied = (story: Story) =>
      earlier(story).command(0.21, 'r2', 'link', copyOf('mine')).command(0.31, 'r2', 'link', ['DEL', KEY]);
    const onR2 = (story: Story) =>
      story.looks(2.05, 2.25, 'r2', { owner: 'mine' }).command(2.3, 'r2', 'c3', ['DEL', KEY]).looks(2.35, 2.95, 'r2');
    const told = (before: (story: Story) => Story) => through({ before, value: 'mine', onR1: (story) => story, onR2 });
    expect(causeNames(told(copied))).toEqual(['released-by-other']);
    // What came may be the one before.
    expect(causeNames(told(earlier))).toEqual(['unexplained']);
  });

  it('is of this grant, although its client had stored that value before, and removed it in the same script', () => {
    const tried = (story: Story) =>
      story
        .command(0.2, 'r1', 'c1', ['EVAL', 'try', '1', KEY, 'mine'])
        .command(0.2, 'r1', 'lua', ['set', KEY, 'mine'])
        .command(0.2, 'r1', 'lua', ['del', KEY]);
    expect(causeNames(through({ before: tried, value: 'mine' }))).toEqual(['released-by-other']);
  });

  it('was lost by what came after the grant, whoever had the key before', () => {
    const before = (story: Story) => story.take(0.2, 'r1', 'c3').unlock(0.3, 'r1', 'c3');
    expect(causeNames(through({ before }))).toEqual(['released-by-other']);
  });

  it('was not lost by what became of it on the other one later', () => {
    const later = (story: Story) => story.command(2.2, 'r1', 'c3', ['DEL', KEY]);
    expect(causeNames(through({ onR1: later }))).toEqual(['unexplained']);
  });

  describe('and that another one had there then', () => {
    const set = (at: number, client: string) => (story: Story) =>
      story.command(at, 'r1', client, ['SET', KEY, `value-of-${client}`, 'PX', '5000']);
    const came = (story: Story) =>
      story.command(2.001, 'r2', 'link', copyOf('value-of-c3')).command(2.7, 'r2', 'c3', ['DEL', KEY]);

    it('was overwritten by it on the one before', () => {
      expect(causeNames(through({ onR1: set(2, 'c3'), onR2: came }))).toEqual(['overwritten']);
    });

    it('was not for certain, if the new primary was not looked at meanwhile: it may have had what a third one had', () => {
      const story = (untilR2: number) => {
        const told = twoGrants().watch(0, 'r1').watch(0, 'r2').looks(0.1, 0.9, 'r1').looks(0.1, 0.9, 'r2', REPLICA);
        told.take(FIRST_TAKE, 'r1', 'c1').command(1, 'r2', 'link', copyOf('value-of-c1'));
        const owner = 'value-of-c1';
        told.looks(1.1, 1.9, 'r1', { owner }).looks(1.1, untilR2, 'r2', { ...REPLICA, owner });
        return came(set(2, 'c3')(told)).sample(2.5, 'r2').take(SECOND_TAKE, 'r2', 'c2');
      };
      expect(causeNames(story(1.9))).toEqual(['overwritten']);
      expect(causeNames(story(1.2))).toEqual(['unexplained']);
    });

    it('was not, if it took it there only later, or was a third one', () => {
      expect(causeNames(through({ onR1: set(2.2, 'c3'), onR2: came }))).toEqual(['unexplained']);
      expect(causeNames(through({ onR1: set(2, 'c4'), onR2: came }))).toEqual(['unexplained']);
    });

    it('was not, if what came was a removal, and the same one asked here, too', () => {
      expect(causeNames(through({ onR1: set(2, 'c2') }))).toEqual(['unexplained']);
    });
  });
});

describe('who took it anew', () => {
  const told = (story: Story) => texts(story.take(SECOND_TAKE, 'r1', 'c2'));

  it('was not its holder, which stored its own once more', () => {
    const again = grantedByR1().command(1.5, 'r1', 'c3', ['DEL', KEY]).take(2, 'r1', 'c1').unlock(2.5, 'r1', 'c1');
    expect(told(again).join()).not.toContain('let c1 have');
  });

  it('was its holder by another value', () => {
    const another = grantedByR1().command(1.5, 'r1', 'c3', ['DEL', KEY]);
    another.take(2, 'r1', 'c1', 'another').unlock(2.5, 'r1', 'c1', 'another');
    expect(told(another)).toContain('r1 let c1 have lock:0 (SET)');
  });

  it('was another one by the same value', () => {
    const another = grantedByR1().command(1.5, 'r1', 'c4', ['DEL', KEY]);
    another.take(2, 'r1', 'c3', 'value-of-c1').unlock(2.5, 'r1', 'c3', 'value-of-c1');
    expect(told(another)).toContain('r1 let c3 have lock:0 (SET)');
  });

  it('was nobody whose script removed it at once', () => {
    const emptied = grantedByR1()
      .command(2, 'r1', 'c3', ['EVAL', 'reset', '1', KEY])
      .command(2, 'r1', 'lua', ['set', KEY, 'none'])
      .command(2, 'r1', 'lua', ['del', KEY]);
    expect(causeNames(emptied.take(SECOND_TAKE, 'r1', 'c2'))).toEqual(['released-by-other']);
  });
});

describe('a write that finds the holder’s key', () => {
  it('is known to have found it where its node was no replica meanwhile', () => {
    const story = (role: 'primary' | 'replica') =>
      overwrites(
        grantedByR1().watch(0, 'r2').looks(0.6, 1.5, 'r1').looks(1.6, 1.8, 'r1', { role }).looks(1.9, 3, 'r1'),
      );
    expect(causeNames(story('replica'))).toEqual(['unexplained']);
  });

  it('has the same owner where both are the only one in a hash', () => {
    const story = twoGrants().watch(0, 'r1').sample(0.5, 'r1');
    for (const [at, client] of [
      [FIRST_TAKE, 'c1'],
      [SECOND_TAKE, 'c2'],
    ] as const)
      story
        .command(at, 'r1', client, ['EVAL', 'take', '1', KEY, 'same'])
        .command(at, 'r1', 'lua', ['hexists', KEY, 'same'])
        .command(at, 'r1', 'lua', ['hset', KEY, 'same', '1'])
        .command(at, 'r1', 'lua', ['pexpire', KEY, '5000']);
    expect(causeNames(story)).toEqual(['shared-owner']);
  });
});

describe('of independent nodes that replicate', () => {
  const NODES = ['r1', 'r2', 'r3'];
  const quorum = () => ({ nodes: NODES, majority: 2, servers: NODES.map((node) => [node, `${node}b`]) });
  /** c1 is granted by r1 and r2; r2b takes the place of r2, and grants c2 with r3. `lost`: r2b never had the write. */
  const failedOver = (lost: boolean) => {
    const story = twoGrants().deployed({ kind: 'majority', ...quorum() });
    for (const node of NODES)
      story.watch(0, node).sample(0.5, node).watch(0, `${node}b`).sample(0.5, `${node}b`, REPLICA);
    for (const node of ['r1', 'r2']) story.take(FIRST_TAKE, node, 'c1');
    if (!lost) story.command(FIRST_TAKE + 0.001, 'r2b', 'link', copyOf('value-of-c1'));
    story.looks(FIRST_TAKE + 0.1, 2, 'r2b', lost ? REPLICA : { ...REPLICA, owner: 'value-of-c1', pttlMs: 3_000 });
    story.looks(2.1, SECOND_TAKE - 0.05, 'r2b', lost ? {} : { owner: 'value-of-c1', pttlMs: 2_000 });
    for (const node of ['r2b', 'r3']) story.take(SECOND_TAKE, node, 'c2');
    return story;
  };

  it('a vote that a failover lost is explained as where there is one such node', () => {
    const { violations } = mutualExclusion.check(failedOver(true).input());
    expect(violations.map(({ cause }) => cause.name)).toEqual(['failover-lost-write']);
    expect(violations[0]!.cause.sentence).toContain('r2b replaced r2 as primary without');
  });

  it('is not explained by it where the replica had the write; nor by too few votes, of which other servers may have given one', () => {
    expect(causeNames(failedOver(false))).toEqual(['unexplained']);
  });

  it('is not told to have been granted by nobody', () => {
    expect(neverGrantedHolds.check(failedOver(true).input())).toMatchObject({
      verdict: 'valid',
      notJudged: expect.stringContaining('nodes that replicate'),
    });
  });
});
