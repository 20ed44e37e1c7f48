/** What servers had stored proves that no server granted a hold: what counts for it, what does not, and up to when. */
import { describe, expect, it } from 'vitest';
import { ownersIn } from '../../../../checkers/causes/never-stored.js';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { neverGrantedHolds } from '../../../../checkers/exclusion/never-granted.js';
import type { StoredState } from '../../../../harness/record/facts/commands/state.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { EPOCH_WALL_MS, KEY, Story } from '../build.js';
import { beside, found, held, run, SECOND_OF_C2 } from '../exclusion/never-granted-runs.js';

const MS = 0.001;
const QUEUE = `${KEY}:queue`;
/** Of a look that tells of the server's role only: the key ran out while it was asked for. */
const OF_ITS_ROLE = { owner: 'of-somebody', pttlMs: -2 };
const FIVE = ['r1', 'r2', 'r3', 'r4', 'r5'];

/** One server of which nothing is stored at first; c2 claims at 4.5 s what these grants do or do not show. */
function shownBy(grants: (story: Story) => void): Story {
  const story = new Story().up('c1').up('c2').up('c3').watch(0, 'r1').sample(0.5, 'r1').sample(7, 'r1');
  grants(story);
  return story.grant('c2', 4.5).release('c2', 6);
}

const notJudged = (story: Story) => neverGrantedHolds.check(story.input()).notJudged;

describe('how the lock stores its grants is not shown', () => {
  it('by grants that have no kind of key in common', () => {
    const inTurn = (others: string) =>
      shownBy((story) => {
        // Samples do not look for these keys, so the first of each only shows that it is there from then on.
        for (const [n, client] of ['c1', 'c2', 'c1', 'c2', 'c1'].entries())
          held(story, client, 0.7 + n * 0.6, { key: `${n % 2 ? others : 'fast'}:${KEY}` });
      });
    expect(found(inTurn('fast'))).toEqual(SECOND_OF_C2);
    expect(found(inTurn('slow'))).toEqual([]);
  });

  it('and it does show where each was stored by its own client, and nothing is left to say', () => {
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(7, 'r1');
    for (const [n, client] of ['c1', 'c2', 'c1'].entries()) held(story, client, 1 + n);
    expect(notJudged(story)).toBeUndefined();
  });

  it('where no command of any client was observed', () => {
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').grant('c1', 1).release('c1', 2);
    expect(notJudged(story)).toBe('no command of any client was observed');
  });

  it('by a hold that rests on what its client had stored before', () => {
    const third = (storedAt: number) =>
      shownBy((story) => {
        held(story, 'c1', 1);
        held(story, 'c2', 2);
        story.grant('c1', 3).take(storedAt, 'r1', 'c1').release('c1', 3.5).unlock(3.501, 'r1', 'c1');
      });
    expect(found(third(3 - MS))).toEqual(SECOND_OF_C2);
    expect(found(third(2.9))).toEqual([]);
    // Server's stamps are good to some milliseconds: so shortly before the attempt left it may be of the attempt.
    expect(found(third(3 - 4 * MS))).toEqual(SECOND_OF_C2);
    expect(found(third(3 - 8 * MS))).toEqual([]);
  });

  it('by what was gone again before the answer, or was never stored', () => {
    const places = (story: Story, client: string, at: number, isGone: boolean) => {
      const place = [QUEUE, `${client}@${at}`];
      story.grant(client, at).command(at - 1.5 * MS, 'r1', client, ['SADD', ...place]);
      story.command(isGone ? at - MS : at + 0.4, 'r1', client, ['SREM', ...place]).release(client, at + 0.4);
    };
    const queue = (isGone: boolean) =>
      shownBy((story) => {
        story.command(0.8, 'r1', 'c1', ['DEL', QUEUE]);
        places(story, 'c1', 1, isGone);
        places(story, 'c2', 2, isGone);
        places(story, 'c1', 3, isGone);
      });
    expect(found(queue(false))).toEqual(SECOND_OF_C2);
    expect(found(queue(true))).toEqual([]);
  });

  it('by what ran after the answer, and is by what was read after it', () => {
    const late = (s: number, stampedMs = 0) =>
      shownBy((story) => {
        for (const [n, client] of ['c1', 'c2', 'c1'].entries()) {
          const at = 0.6 + n * 1.3;
          story.grant(client, at).take(at + s, 'r1', client, `${client}@${at}`, stampedMs);
          story.release(client, at + 1.1).unlock(at + 1.2, 'r1', client, `${client}@${at}`);
        }
      });
    expect(found(late(0.9, -901))).toEqual(SECOND_OF_C2);
    // By as much the clock that servers are stamped by may have parted from the run's.
    expect(found(late(0.012))).toEqual(SECOND_OF_C2);
    expect(found(late(0.015))).toEqual([]);
  });

  it('by what other clients stored', () => {
    expect(found(held(run(), 'c3', 5))).toEqual(SECOND_OF_C2);
  });

  it("by the client's own next grant, seconds later", () => {
    expect(found(held(run(), 'c2', 6.2))).toEqual(SECOND_OF_C2);
  });
});

describe('a claim is not refuted', () => {
  it('where the client changed what was there in its attempt, or may have', () => {
    const prolonged = (at: number, by = 'c2') =>
      found(
        beside(run())
          .command(at, 'r1', by, ['PEXPIRE', KEY, '5000'])
          .sample(at + 0.0001, 'r1', { owner: 'c1@4' }),
      );
    expect(prolonged(4.499)).toEqual([]);
    expect(prolonged(4.499, 'c3')).toEqual(SECOND_OF_C2);
    // In an earlier attempt, but for what a stamp may be off.
    expect(prolonged(4.49)).toEqual(SECOND_OF_C2);
    expect(prolonged(4.496)).toEqual([]);
    // After the answer, but for what a stamp may be off.
    expect(prolonged(4.512)).toEqual([]);
    expect(prolonged(4.515)).toEqual(SECOND_OF_C2);
  });

  it('where a line of before, when the clock was ahead for a moment, makes what it changed look as if that ran later', () => {
    // All three are read 100 ms late, in the order in which they ran.
    const prolonged = (firstBy: string, secondBy: string) => {
      const story = beside(run()).command(4.6, 'r1', firstBy, ['PEXPIRE', KEY, '5000'], -50);
      story.command(4.6, 'r1', secondBy, ['PEXPIRE', KEY, '5000'], -101);
      return found(story.sample(4.61, 'r1', { owner: 'c1@4' }));
    };
    expect(prolonged('c3', 'c3')).toEqual(SECOND_OF_C2);
    expect(prolonged('c3', 'c2')).toEqual([]);
    expect(prolonged('c2', 'c2')).toEqual([]);
    expect(prolonged('c2', 'c3')).toEqual(SECOND_OF_C2);
  });

  it('not by what it changed a second later and more, by a clock that was put back by then', () => {
    const jump: FaultEffect = { kind: 'clock-jumped', who: ['r1'], offsetMs: -3_000 };
    const story = beside(run()).command(5.8, 'r1', 'c2', ['PEXPIRE', KEY, '5000']).sample(6, 'r1', { owner: 'c1@4' });
    story.fault(6.1, 0, 'clock', 'strike', { effects: [jump] }).sample(6.15, 'r1', { owner: 'c1@4', skewMs: -3_000 });
    expect(found(story.command(6.2, 'r1', 'c2', ['PEXPIRE', KEY, '5000'], -3_000))).toEqual(SECOND_OF_C2);
  });

  it('by what began to be unknown just after the answer', () => {
    const unknown = (at: number) => found(run().command(at, 'r1', 'c3', ['SOMETHING', KEY, 'x']));
    expect(unknown(4.505)).toEqual([]);
    expect(unknown(4.508)).toEqual(SECOND_OF_C2);
  });

  it('by a key that was touched first after the answer, unless not all was seen from the start', () => {
    const touched = (story: Story) => found(story.command(4.9, 'r1', 'c3', ['DEL', `${KEY}:mark`]));
    expect(touched(run())).toEqual(SECOND_OF_C2);
    // A look says what was there of the resource itself, and not of other keys that are named after it.
    const unseen = () => run().watch(1.6, 'r1', false).watch(1.7, 'r1');
    expect(found(unseen())).toEqual(SECOND_OF_C2);
    expect(touched(unseen())).toEqual([]);
  });

  it('where it was not known what was there until just before the attempt left, by what stamps may be off', () => {
    const until = (at: number) =>
      found(run().command(4.2, 'r1', 'c3', ['SOMETHING', KEY, 'x']).command(at, 'r1', 'c3', ['DEL', KEY]));
    expect(until(4.4965)).toEqual([]);
    expect(until(4.49)).toEqual(SECOND_OF_C2);
  });

  it('where a server was not looked at before', () => {
    const beside = () => run().looks(3, 4.6, 'r1', OF_ITS_ROLE).watch(0.2, 'r2').sample(7, 'r2');
    expect(found(beside())).toEqual([]);
    expect(found(beside().sample(4.4, 'r2'))).toEqual(SECOND_OF_C2);
  });

  it('where a server may have been made a replica and primary again unseen', () => {
    const beside = (looked: boolean) => {
      const story = run().watch(0.2, 'r2').looks(3, 4.6, 'r2', OF_ITS_ROLE).sample(7, 'r2');
      return found(looked ? story.looks(3, 4.6, 'r1', OF_ITS_ROLE) : story);
    };
    expect(beside(false)).toEqual([]);
    expect(beside(true)).toEqual(SECOND_OF_C2);
  });

  it('not for want of looks between its answer and what was stored just after that', () => {
    const later = (lookedAt: number) => {
      const story = run()
        .watch(0.2, 'r2')
        .looks(3, 4.6, 'r2', OF_ITS_ROLE)
        .sample(7, 'r2')
        .looks(3, 3.9, 'r1', OF_ITS_ROLE);
      story.sample(lookedAt, 'r1').sample(4.6, 'r1', OF_ITS_ROLE);
      story.grant('c3', 4.504, { grantSent: 4.499 }).take(4.502, 'r1', 'c3', 'c3@4.5').release('c3', 5);
      return found(story.unlock(5.001, 'r1', 'c3', 'c3@4.5'));
    };
    expect(later(4.001)).toEqual(SECOND_OF_C2);
    expect(later(3.999)).toEqual([]);
  });

  it('where a server that was promoted may have loaded it before with all that its primary had', () => {
    const OWNER = `${KEY}:owner`;
    const REPLICA = { role: 'replica', ...OF_ITS_ROLE } as const;
    const loaded = (linkUp: boolean) => {
      const story = new Story().replicated().up('c1').up('c2').up('c3').watch(0, 'r1').watch(0, 'r2');
      story.looks(0.2, 5.5, 'r1', OF_ITS_ROLE).looks(5.6, 9, 'r1', REPLICA).sample(9.5, 'r1', REPLICA);
      story.looks(0.2, 2, 'r2', { ...REPLICA, linkUp: true }).looks(2, 5, 'r2', { ...REPLICA, linkUp });
      story
        .looks(5, 5.5, 'r2', { ...REPLICA, linkUp: true })
        .looks(5.5, 9, 'r2', OF_ITS_ROLE)
        .sample(9.5, 'r2');
      // Samples do not look for this key.
      story.command(0.5, 'r1', 'c1', ['DEL', OWNER]);
      for (const [n, client] of ['c1', 'c2', 'c1'].entries()) held(story, client, 2.1 + n * 0.6, { key: OWNER });
      story.refused('c2', 4.5, 4.6, 'info').command(4.55, 'r1', 'c2', ['SET', OWNER, 'kept', 'PX', '50000', 'NX']);
      return found(story.command(6.999, 'r2', 'c2', ['GET', OWNER]).grant('c2', 7).release('c2', 8));
    };
    expect(loaded(false)).toEqual([]);
    // What its primary sent lagged behind, and was lost.
    expect(loaded(true)).toEqual(['c2 at 7']);
  });

  it('where its own earlier key, or that of its predecessor in the same place, was there; others are', () => {
    const kept = (client: string, story = new Story()) =>
      run(['r1'], story)
        .grant(client, 4.5)
        .take(4.2, 'r1', 'c2', 'kept')
        .sample(4.3, 'r1', { owner: 'kept' })
        .unlock(6.5, 'r1', 'c2', 'kept')
        .grant('c3', 7.5)
        .release('c3', 7.6)
        .sample(9, 'r1');
    const up = { host: 'c2', address: '10.77.0.9', lock: 'any', features: [] };
    const again = new Story().event(0.1, { type: 'client-up', client: 'c2.2', slot: 'c2', ...up });
    expect(found(kept('c2'))).toEqual(['c3 at 7.5']);
    expect(found(kept('c2.2', again))).toEqual(['c3 at 7.5']);
  });

  it('beside a key that may name others', () => {
    const waiting = (...argv: string[]) =>
      run()
        .refused('c3', 4, 6.9)
        .command(4.2, 'r1', 'c3', [...argv, 'place of c3']);
    const known = (story: Story) => story.command(0.6, 'r1', 'c3', ['DEL', QUEUE]);
    for (const argv of [
      ['SADD', QUEUE],
      ['RPUSH', QUEUE],
    ]) {
      expect(found(waiting(...argv)), argv[0]).toEqual([]);
      expect(found(known(waiting(...argv))), argv[0]).toEqual(SECOND_OF_C2);
    }
    const hash = run().refused('c3', 4, 6.9).command(4.2, 'r1', 'c3', ['HSET', QUEUE, 'place of c3', '1']);
    expect(found(hash)).toEqual([]);
    expect(found(known(hash))).toEqual(SECOND_OF_C2);
    // What its client had there and took back is gone.
    const back = known(waiting('SADD', QUEUE)).command(3.6, 'r1', 'c2', ['SADD', QUEUE, 'place of c2']);
    expect(found(back)).toEqual([]);
    expect(found(back.command(3.7, 'r1', 'c2', ['SREM', QUEUE, 'place of c2']))).toEqual(SECOND_OF_C2);
  });

  it('beside a key that was ever more than a count, or that the client counted up itself', () => {
    const FENCE = `${KEY}:fence`;
    const counted = (...more: [at: number, by: string, argv: string[]][]) => {
      const story = run();
      for (const at of [0.999, 1.999, 2.999]) story.command(at, 'r1', 'c1', ['INCR', FENCE]);
      for (const [at, by, argv] of more) story.command(at, 'r1', by, argv);
      return found(story);
    };
    expect(counted()).toEqual(SECOND_OF_C2);
    for (const argv of [
      ['PEXPIRE', FENCE, '90000'],
      ['INCRBY', FENCE, '2'],
      ['DEL', FENCE],
      ['UNLINK', FENCE],
    ])
      expect(counted([3.2, 'c3', argv]), argv[0]).toEqual(SECOND_OF_C2);
    // A lock may make sure each time that there is a count: where there is one that does nothing.
    expect(counted([0.6, 'c3', ['DEL', FENCE]], [3.2, 'c3', ['SETNX', FENCE, '0']])).toEqual(SECOND_OF_C2);
    expect(counted([0.6, 'c3', ['DEL', FENCE]], [0.7, 'c3', ['SETNX', FENCE, '0']])).toEqual([]);
    for (const argv of [
      ['SET', FENCE, '7'],
      ['APPEND', FENCE, '7'],
      ['SOMETHING', FENCE],
    ])
      expect(counted([3.2, 'c3', argv]), argv[0]).toEqual([]);
    expect(counted([4.499, 'c3', ['INCR', FENCE]])).toEqual(SECOND_OF_C2);
    expect(counted([4.499, 'c2', ['INCR', FENCE]])).toEqual([]);
    // What was only ever removed, or given a time, need not be a number.
    expect(found(run().command(3, 'r1', 'c3', ['PEXPIRE', FENCE, '90000']))).toEqual([]);
  });

  it('where a resource has more keys than are followed', () => {
    const keys = (count: number) => {
      const story = run();
      for (let n = 1; n < count; n++) story.command(0.6, 'r1', 'c3', ['DEL', `${KEY}:try-${n}`]);
      return story;
    };
    expect(found(keys(32))).toEqual(SECOND_OF_C2);
    expect(found(keys(33))).toEqual([]);
  });
});

describe('whose it is that was stored', () => {
  it('is known of what was gone at the answer, though its client was done', () => {
    const passed = run()
      .grant('c1', 4)
      .take(4 - MS, 'r1', 'c1', 'c1@4');
    passed.release('c1', 4.4975).unlock(4.4985, 'r1', 'c1', 'c1@4').sample(4.6, 'r1');
    expect(found(passed)).toEqual(SECOND_OF_C2);
  });

  it("is not a holder's under whose name another one, which was done, stored it anew for the next one", () => {
    const story = (by: string) =>
      run()
        .grant('c1', 4)
        .take(4 - MS, 'r1', 'c1', 'host-a')
        .sample(4.1, 'r1', { owner: 'host-a', pttlMs: 4_899 })
        .grant('c3', 4.2)
        .command(4.199, 'r1', 'c3', ['GET', KEY])
        .release('c3', 4.3)
        .command(4.301, 'r1', by, ['SET', KEY, 'host-a', 'PX', '5000', 'XX'])
        .release('c1', 6.4)
        .unlock(6.401, 'r1', 'c1', 'host-a');
    expect(found(story('c1'))).toContain('c2 at 4.5');
    expect(found(story('c3'))).not.toContain('c2 at 4.5');
  });

  it('is not of what its client had left to the next one, told it so, and a third one removed', () => {
    const left = (by: string, releasedAt: number) =>
      run()
        .grant('c1', 4)
        .take(4 - MS, 'r1', 'c1', 'c1@4')
        .sample(4.1, 'r1', { owner: 'c1@4', pttlMs: 4_899 })
        .release('c1', releasedAt)
        .command(4.499, 'r1', by, ['DEL', KEY]);
    expect(found(left('stranger', 4.4))).toEqual([]);
    expect(found(left('c1', 4.4))).toEqual(SECOND_OF_C2);
    expect(found(left('stranger', 4.4995))).toEqual(SECOND_OF_C2);
    // Who was refused before it was removed saw it there.
    expect(found(left('c1', 4.4).take(4.4985, 'r1', 'c2', 'c2@4.5'))).toEqual(SECOND_OF_C2);
    const next = left('stranger', 4.4)
      .grant('c3', 5)
      .take(5 - MS, 'r1', 'c3', 'c3@5')
      .release('c3', 6.1)
      .unlock(6.102, 'r1', 'c3', 'c3@5');
    expect(mutualExclusion.check(next.input()).violations.map(({ cause }) => cause.name)).toEqual(['unexplained']);
  });

  it('is not of what its client had left to the next one, though one that died in its place had held under the same name', () => {
    const left = (releasedAt: number) => {
      const story = run()
        .up('c3.2')
        .grant('c3', 3.6)
        .take(3.6 - MS, 'r1', 'c3', 'host-c', 0, 100)
        .down('c3', 3.65);
      story
        .take(4 - MS, 'r1', 'c3.2', 'host-c')
        .grant('c3.2', 4)
        .release('c3.2', releasedAt);
      return found(story.command(6.5, 'r1', 'c3.2', ['DEL', KEY]));
    };
    expect(left(4.4)).toEqual([]);
    expect(left(6.4)).toEqual(SECOND_OF_C2);
  });

  /** c1 is granted by r1 at 4 s, and r2 was its replica until 4.55 s: when it was promoted just the look after that shows. */
  const replicated = (value: string, story = new Story()) => {
    story.watch(0, 'r2').sample(0.5, 'r2', { role: 'replica' });
    for (const at of [7, 8]) story.sample(at, 'r2');
    looked(story);
    run(['r1'], story).grant('c1', 4).release('c1', 6.4);
    story.take(4 - MS, 'r1', 'c1', value).unlock(6.401, 'r1', 'c1', value);
    return copied(story, value, 4, 6.402);
  };
  const looked = (story: Story) =>
    story
      .looks(3, 4.6, 'r1', OF_ITS_ROLE)
      .looks(3, 4.5, 'r2', { role: 'replica', ...OF_ITS_ROLE })
      .sample(4.55, 'r2', OF_ITS_ROLE);
  const copied = (story: Story, value: string, from: number, until: number) =>
    story
      .command(from, 'r2', 'link', ['SET', KEY, value, 'PXAT', String(1_700_000_000_000 + from * 1e3 + 4_999)])
      .command(until, 'r2', 'link', ['DEL', KEY]);

  it('is not where several clients store the same and no line says which of them did', () => {
    const shared = (value: string, at: number) =>
      replicated('c1@4')
        .grant('c3', at)
        .take(at - MS, 'r1', 'c3', value)
        .release('c3', at + 0.1)
        .unlock(at + 0.101, 'r1', 'c3', value);
    for (const at of [3.7, 7.2]) {
      expect(found(shared('another', at)), `${at}`).toEqual(SECOND_OF_C2);
      expect(found(shared('c1@4', at)), `${at}`).toEqual([]);
    }
  });

  describe('where all store the same and the line says who did', () => {
    const SAME = 'locked';
    const storing = (story: Story, client: string, at: number, until: number) =>
      story
        .grant(client, at)
        .release(client, until)
        .command(at - MS, 'r1', client, ['SET', KEY, SAME, 'PX', '5000']);

    it('is known while that one holds', () => {
      const story = storing(storing(run(), 'c1', 3.7, 3.8), 'c3', 4, 6.4).unlock(6.401, 'r1', 'c3', SAME);
      expect(found(story)).toEqual(SECOND_OF_C2);
    });

    it('is not known once that client was done, even if another one holds under the same value, or it does so itself later', () => {
      const other = storing(storing(run(), 'c3', 3.9, 6.4), 'c1', 4, 4.4).unlock(6.401, 'r1', 'c3', SAME);
      expect(found(other)).toEqual([]);
      const later = storing(run(), 'c1', 4, 4.1).unlock(6.5, 'r1', 'c1', SAME);
      expect(found(storing(later, 'c1', 7.2, 7.4).unlock(7.401, 'r1', 'c1', SAME))).toEqual([]);
    });
  });

  it("is not known to be another's where it may be the client's own, come from the primary", () => {
    const own = (client: string) => {
      const story = run().watch(0, 'r2').sample(0.5, 'r2', { role: 'replica' });
      for (const at of [7, 8]) story.sample(at, 'r2');
      looked(story)
        .grant(client, 3.8)
        .take(3.8 - MS, 'r1', client, 'first')
        .release(client, 4.1)
        .unlock(4.101, 'r1', client, 'first');
      return found(copied(story, 'first', 3.8, 4.499));
    };
    expect(own('c1')).toEqual(SECOND_OF_C2);
    expect(own('c2')).toEqual([]);
  });

  it('is not known of what a promoted server got of a name that two clients have, after it had been lost', () => {
    const REPLICA = { role: 'replica', ...OF_ITS_ROLE } as const;
    /** c1 holds as `a` from 3.7 s on, which a stranger removes; a try of c2, which is not answered, may have stored it again. */
    const came = (stores: boolean, isWatched: boolean, lateMs = 0) => {
      const story = new Story().replicated().up('c1').up('c2').up('c3').watch(0, 'r1').watch(0, 'r2');
      story.looks(0.2, 4.3, 'r1', OF_ITS_ROLE).looks(4.4, 9, 'r1', REPLICA).sample(9.5, 'r1', { role: 'replica' });
      story.looks(0.2, 4.2, 'r2', REPLICA).looks(4.2, 9, 'r2', OF_ITS_ROLE).sample(9.5, 'r2');
      const copied = (value: string, from: number, until?: number) => {
        story.command(from, 'r2', 'link', ['SET', KEY, value, 'PXAT', String(EPOCH_WALL_MS + from * 1e3 + 4_999)]);
        if (until) story.command(until, 'r2', 'link', ['DEL', KEY]);
      };
      for (const [client, at, value] of [
        ['c1', 1, 'a'],
        ['c3', 2, 'b'],
        ['c1', 3, 'a'],
      ] as const) {
        held(story, client, at, { value });
        copied(value, at, at + 0.502);
      }
      story.grant('c1', 3.7).take(3.699, 'r1', 'c1', 'a').release('c1', 6.5).command(6.501, 'r2', 'c1', ['DEL', KEY]);
      if (!stores) copied('a', 3.7);
      else {
        copied('a', 3.7, 3.751);
        story.command(3.75, 'r1', 'stranger', ['DEL', KEY]).refused('c2', 3.85, 3.95, 'info');
        if (isWatched) story.take(3.9 + lateMs * MS, 'r1', 'c2', 'a', -lateMs);
        copied('a', 3.901);
      }
      if (!isWatched) story.watch(3.8, 'r1', false).watch(4, 'r1');
      return found(story.grant('c2', 5).command(4.999, 'r2', 'c2', ['GET', KEY]).release('c2', 6));
    };
    expect(came(false, true)).toEqual(['c2 at 5']);
    expect(came(false, false)).toEqual(['c2 at 5']);
    expect(came(true, false)).toEqual([]);
    expect(came(true, true)).toEqual([]);
    // What two servers print is read in any order.
    expect(came(true, true, 2)).toEqual([]);
  });

  it('does not matter of what a replica had, which turns its clients away: it may be behind', () => {
    const behind = (lookedUntil: number, role: 'replica' | 'primary' = 'replica', asked?: string) => {
      const story = run()
        .looks(3, 4.7, 'r1', OF_ITS_ROLE)
        .watch(0, 'r2')
        .sample(0.5, 'r2', { role: 'replica' })
        .looks(3, lookedUntil, 'r2', { role: 'replica', ...OF_ITS_ROLE })
        .sample(4.8, 'r2', { role, ...OF_ITS_ROLE })
        .sample(7, 'r2', { role });
      story
        .grant('c2', 3.8)
        .take(3.8 - MS, 'r1', 'c2', 'first')
        .release('c2', 4.1)
        .unlock(4.101, 'r1', 'c2', 'first');
      if (asked) story.command(4.499, 'r2', asked, ['GET', KEY]);
      return found(copied(story, 'first', 3.8, 5.5));
    };
    expect(behind(4.6)).toEqual(SECOND_OF_C2);
    // It looked there, and saw what it had released: the removal had not come.
    expect(behind(4.6, 'replica', 'c2')).toEqual([]);
    expect(behind(4.6, 'replica', 'c3')).toEqual(SECOND_OF_C2);
    expect(behind(4.2)).toEqual([]);
    expect(behind(4.4, 'primary')).toEqual([]);
  });

  describe('of what another client stored in an attempt that came to nothing', () => {
    const LEFT = 'left by c3';
    const left = (at = 4.005) => run().refused('c3', 4, 4.01).take(at, 'r1', 'c3', LEFT).unlock(6.9, 'r1', 'c3', LEFT);
    const names = (story: Story, by: string, at = 3.9) =>
      story.command(at, 'r1', by, ['EVALSHA', 'abc', '1', KEY, LEFT]).command(at, 'r1', 'lua', ['get', KEY]);

    it('is known where it was asking just then', () => {
      expect(found(left())).toEqual(SECOND_OF_C2);
      expect(found(left().refused('c3', 5, 5.01))).toEqual(SECOND_OF_C2);
      expect(found(left(4.012))).toEqual(SECOND_OF_C2);
      expect(found(left(4.018))).toEqual([]);
      expect(found(left(3.9))).toEqual([]);
    });

    it('is known of a request that was read late, or carried out when its client had given up, unless it began something else', () => {
      const late = (outcome: 'fail' | 'info', ranAt: number, readAt: number) =>
        run()
          .refused('c3', 4, 4.01, outcome)
          .take(readAt, 'r1', 'c3', LEFT, (ranAt - readAt) * 1_000);
      const removed = (story: Story) => story.unlock(6.9, 'r1', 'c3', LEFT);
      expect(found(removed(late('fail', 4.005, 4.4)))).toEqual(SECOND_OF_C2);
      expect(found(removed(late('fail', 4.3, 4.4)))).toEqual([]);
      expect(found(removed(late('info', 4.3, 4.4)))).toEqual(SECOND_OF_C2);
      const released = held(run(), 'c3', 3.6).take(4.2, 'r1', 'c3', LEFT);
      expect(found(removed(released))).toEqual([]);
      const askedAgain = late('info', 4.1, 4.4)
        .grant('c3', 4.2)
        .take(4.199, 'r1', 'c3', 'c3@4.2', 0)
        .release('c3', 4.3);
      expect(found(removed(askedAgain))).toEqual([]);
    });

    it('is not known beside another value that a third one was given: it may be, too', () => {
      const given = (story: Story) =>
        story
          .command(8.1, 'r1', 'c3', ['SET', KEY, 'given', 'PX', '5000'])
          .command(8.3, 'r1', 'c1', ['EVALSHA', 'abc', '1', KEY, 'given'])
          .command(8.3, 'r1', 'lua', ['get', KEY])
          .command(9.6, 'r1', 'c3', ['DEL', KEY]);
      expect(found(given(left()))).toEqual(SECOND_OF_C2);
      const claimed = (story: Story) => given(story).grant('c2', 8.5).release('c2', 8.6).sample(10, 'r1');
      expect(found(claimed(left()))).toEqual([]);
      // What c1 had stored for its own hold is c1's in any case.
      expect(found(claimed(beside(run())))).toEqual(SECOND_OF_C2);
    });

    it('is not known where another one was given such a value beside its own', () => {
      const claimed = (...given: string[]) => {
        const story = left().command(0.6, 'r1', 'c3', ['DEL', QUEUE]);
        for (const value of given) story.command(8.1, 'r1', 'c3', ['SADD', QUEUE, value]);
        story.command(8.2, 'r1', 'c2', ['SADD', QUEUE, 'place of c2']);
        return found(story.grant('c2', 8.5).release('c2', 8.6).sample(10, 'r1'));
      };
      expect(claimed()).toEqual(SECOND_OF_C2);
      expect(claimed('given')).toEqual([]);
    });

    it('is not where a third one ever named it', () => {
      expect(found(names(left(), 'c3'))).toEqual(SECOND_OF_C2);
      expect(found(names(left(), 'c2'))).toEqual([]);
      expect(found(names(left(), 'c1', 7.2))).toEqual([]);
    });

    it('is, by a script that was given it, and not where only somebody else named it', () => {
      const byScript = (...given: string[]) =>
        run()
          .refused('c3', 4, 4.01)
          .command(4.005, 'r1', 'c3', ['EVAL', 'script', '1', KEY, ...given])
          .command(4.005, 'r1', 'lua', ['set', KEY, LEFT, 'PX', '5000'])
          .command(6.9, 'r1', 'c3', ['DEL', KEY]);
      expect(found(byScript(LEFT))).toEqual(SECOND_OF_C2);
      expect(found(byScript())).toEqual([]);
      expect(found(names(byScript(), 'c1'))).toEqual([]);
    });

    it('is not where a script of a third one had made it of what that one sent: who polls may let in whoever is next', () => {
      const NEXT = `${KEY}:next`;
      const letIn = (by: string) =>
        run()
          .command(0.6, 'r1', 'c3', ['DEL', NEXT])
          .command(4.1, 'r1', by, ['EVALSHA', 'queue', '1', NEXT, 'c2', '7'])
          .command(4.1, 'r1', 'lua', ['set', NEXT, 'c2:7'])
          .refused('c3', 4.15, 4.3)
          .command(4.21, 'r1', 'c3', ['GETDEL', NEXT])
          .command(4.22, 'r1', 'c3', ['SET', KEY, 'c2:7', 'PX', '5000', 'NX'])
          .command(6.9, 'r1', 'c3', ['DEL', KEY]);
      expect(found(letIn('c3'))).toEqual(SECOND_OF_C2);
      expect(found(letIn('c2'))).toEqual([]);
    });

    it('is not where a third one had sent it as a part of something else: its entry in a queue, say', () => {
      const letIn = (by: string, entry: string) =>
        run()
          .command(0.6, 'r1', 'c3', ['DEL', QUEUE])
          .command(4.1, 'r1', by, ['RPUSH', QUEUE, entry])
          .refused('c3', 4.15, 4.3)
          .command(4.21, 'r1', 'c3', ['LPOP', QUEUE])
          .command(4.22, 'r1', 'c3', ['SET', KEY, 'c2:7', 'PX', '5000', 'NX'])
          .command(6.9, 'r1', 'c3', ['DEL', KEY]);
      expect(found(letIn('c3', '{"id":"c2:7"}'))).toEqual(SECOND_OF_C2);
      expect(found(letIn('c2', '{"id":"c2:77"}'))).toEqual(SECOND_OF_C2);
      expect(found(letIn('c2', '{"id":"c2:7"}'))).toEqual([]);
    });

    it('is not where the client may have named it unseen, since it was told to acquire', () => {
      const NEXT = `${KEY}:next`;
      /** c2 is told at 4.4 s, or before. */
      const letIn = (gapAt: number) =>
        run()
          .watch(gapAt, 'r1', false)
          .watch(gapAt + 0.03, 'r1')
          .command(gapAt + 0.04, 'r1', 'c3', ['DEL', KEY])
          .refused('c3', 6.55, 6.7)
          .command(6.61, 'r1', 'c3', ['GET', NEXT])
          .command(6.615, 'r1', 'c3', ['DEL', NEXT])
          .command(6.62, 'r1', 'c3', ['SET', KEY, 'next', 'PX', '5000', 'NX'])
          .grant('c2', 6.8, { sent: 6.5, began: 6.501, grantSent: 6.798 })
          .release('c2', 6.85)
          .command(6.9, 'r1', 'c3', ['DEL', KEY]);
      expect(found(letIn(6.2))).toContain('c2 at 6.8');
      expect(found(letIn(6.51))).not.toContain('c2 at 6.8');
    });

    it('is not where it was releasing, or the one that it left is not known', () => {
      const handed = run()
        .grant('c1', 4)
        .take(4 - MS, 'r1', 'c1', 'c1@4')
        .release('c1', 4.2)
        .unlock(4.2005, 'r1', 'c1', 'c1@4');
      handed.command(4.201, 'r1', 'c1', ['SET', KEY, LEFT, 'PX', '5000']);
      expect(found(handed.unlock(6.9, 'r1', 'c1', LEFT))).toEqual([]);
    });
  });

  it('is not known of what a stranger stored: the others are judged', () => {
    const story = run()
      .command(4.2, 'r1', 'stranger', ['SET', KEY, 'x', 'PX', '5000'])
      .sample(4.3, 'r1', { owner: 'x' });
    story.command(6.5, 'r1', 'stranger', ['DEL', KEY]).grant('c3', 7.5).release('c3', 7.6).sample(9, 'r1');
    expect(found(story)).toEqual(['c3 at 7.5']);
  });

  it('is not known of what only a look showed: the others are judged', () => {
    const story = run().watch(4.1, 'r1', false).watch(4.2, 'r1').sample(4.3, 'r1', { owner: 'x' });
    story.command(4.4, 'r1', 'c3', ['GET', KEY]).command(6.5, 'r1', 'c3', ['DEL', KEY]);
    expect(found(story.grant('c3', 7.5).release('c3', 7.6).sample(9, 'r1'))).toEqual(['c3 at 7.5']);
  });

  it("is not the holder's what it stored for the next one while it held", () => {
    const handed = (at: number, until: number) =>
      run()
        .command(3.9, 'r1', 'c2', ['EVALSHA', 'queue', '1', KEY, 'place of c2'])
        .command(3.9, 'r1', 'lua', ['get', KEY])
        .grant('c1', 4)
        .take(4 - MS, 'r1', 'c1', 'c1@4')
        .release('c1', until)
        .command(at, 'r1', 'c1', ['SET', KEY, 'place of c2', 'PX', '5000'])
        .unlock(6.9, 'r1', 'c1', 'place of c2')
        .grant('c3', 7.5)
        .release('c3', 7.6)
        .sample(9, 'r1');
    // c3 claims it when nothing at all is stored any more.
    expect(found(handed(4.3, 4.9))).toEqual(['c3 at 7.5']);
    expect(found(handed(4.002, 4.001))).toEqual(['c3 at 7.5']);
    expect(found(handed(4.007, 6.4))).toEqual(['c3 at 7.5']);
  });

  it("is the holder's what it stored for itself, though that was read when it had died", () => {
    const story = run().grant('c1', 4).take(4.1, 'r1', 'c1', 'c1@4', -101).down('c1', 4.05);
    expect(found(story.command(6.9, 'r1', 'c3', ['DEL', KEY]))).toEqual(SECOND_OF_C2);
  });
});

describe('what befell the run', () => {
  it('excuses while the harness stood still, and a second to both sides', () => {
    const stalled = (at: number) => found(run().disturbed(at, 'harness-stall', 300));
    expect(stalled(6.3)).toEqual([]);
    expect(stalled(6.7)).toEqual(SECOND_OF_C2);
    expect(stalled(3.3)).toEqual([]);
    expect(stalled(3.1)).toEqual(SECOND_OF_C2);
  });

  /** What c2 stored within its attempt is read 30 ms after that had been answered. */
  const storedInTime = (story: Story) =>
    found(run(['r1'], story).command(4.529, 'r1', 'c2', ['SET', KEY, 'c2@4.5', 'PX', '5000', 'NX'], -30));

  it("does not place what ran after a step of the machine's own clock later or earlier than it ran", () => {
    for (const ms of [20, 400, -20, -400]) {
      const stepped = () => new Story().disturbed(2.3, 'wall-clock-step', ms);
      expect(storedInTime(stepped()), `${ms}`).toEqual([]);
      expect(found(run(['r1'], stepped())), `${ms}`).toEqual(SECOND_OF_C2);
    }
  });

  it('leaves it open where servers stamp what was read before: the clocks do not stand as the record says', () => {
    expect(storedInTime(new Story())).toEqual([]);
    expect(storedInTime(new Story(true, EPOCH_WALL_MS - 20))).toEqual([]);
    expect(found(run(['r1'], new Story(true, EPOCH_WALL_MS - 2)))).toEqual(SECOND_OF_C2);
  });

  it('does not excuse by a fault on somebody else', () => {
    const stopped: FaultEffect = { kind: 'stopped', who: ['c3'] };
    const story = run().fault(4.3, 0, 'pause', 'strike', { effects: [stopped], beganNs: 4.25e9 });
    expect(found(story.fault(4.6, 0, 'pause', 'heal', { beganNs: 4.55e9 }))).toEqual(SECOND_OF_C2);
  });

  it('leaves it open where watching broke off within a second after the answer, unless a line was read of what ran after that', () => {
    const brokeOff = (story: Story) => found(story.watch(5.4, 'r1', false).watch(5.401, 'r1'));
    const looks = (at: number, skewMs = 0) => run().command(at, 'r1', 'c3', ['GET', KEY], skewMs);
    expect(brokeOff(run())).toEqual([]);
    // A server prints what it runs in order: all of the attempt came before this.
    expect(brokeOff(looks(5.3))).toEqual(SECOND_OF_C2);
    // It may have run before the answer.
    expect(brokeOff(looks(5.3, -900))).toEqual([]);
    expect(brokeOff(looks(4.505))).toEqual([]);
    // By a clock that was moved it does not say when it ran.
    expect(brokeOff(looks(5.2).sample(5.3, 'r1', { skewMs: 40 }))).toEqual([]);
  });

  it('leaves it open where a clock was moved within a second after the answer, unless a line was read before that', () => {
    const jump: FaultEffect = { kind: 'clock-jumped', who: ['r1'], offsetMs: 4_000 };
    const jumps = (story: Story) =>
      found(story.sample(5.1, 'r1').fault(5.2, 0, 'clock', 'strike', { effects: [jump] }));
    expect(jumps(run())).toEqual([]);
    expect(jumps(run().command(5, 'r1', 'c3', ['GET', KEY]))).toEqual(SECOND_OF_C2);
  });

  it('does not matter where a clock was moved when all was over, or by less than it can be read', () => {
    const jump: FaultEffect = { kind: 'clock-jumped', who: ['r1'], offsetMs: 2 };
    expect(found(run().fault(7.5, 0, 'clock', 'strike', { effects: [jump] }))).toEqual(SECOND_OF_C2);
    // One that stays as it is, and is off, says no better when a command ran.
    expect(found(run().fault(0.3, 0, 'clock', 'strike', { effects: [jump] }))).toEqual([]);
    const skewed = (skewMs: number) => found(run().sample(4.8, 'r1', { skewMs }));
    expect(skewed(2)).toEqual(SECOND_OF_C2);
    expect(skewed(5)).toEqual([]);
  });
});

describe('of independent nodes', () => {
  const granting = (story: Story) => story.take(4.499, 'r1', 'c2', 'c2@4.5').take(4.499, 'r2', 'c2', 'c2@4.5');

  it('one of which nothing was ever observed may have granted', () => {
    expect(found(granting(run(FIVE.slice(0, 4), new Story().independent())))).toEqual([]);
    expect(found(granting(run(FIVE, new Story().independent())), 'minority-granted')).toEqual(SECOND_OF_C2);
  });

  it('one that keeps several databases may have granted', () => {
    const story = granting(run(FIVE, new Story().independent()));
    expect(found(story.command(4.1, 'r5', 'c3', ['COPY', KEY, 'copy', 'DB', '0']), 'minority-granted')).toEqual(
      SECOND_OF_C2,
    );
    expect(found(story.command(4.2, 'r5', 'c3', ['COPY', KEY, KEY, 'DB', '1']))).toEqual([]);
  });
});

describe('an overlap is explained by it where fewer grants show how the lock stores', () => {
  const takes = ['SET', KEY, 'x', 'PX', '5000', 'NX'];
  const script = (story: Story, at: number, client: string, finds: boolean) => {
    story.command(at, 'r1', client, ['EVALSHA', 'take', '1', KEY, `value-of-${client}`]);
    story.command(at, 'r1', 'lua', ['exists', KEY]);
    return finds ? story : story.command(at, 'r1', 'lua', ['set', KEY, `value-of-${client}`, 'PX', '5000']);
  };
  /** c1 is granted at 1 s, and c2, which is refused, says at 2 s that it holds: no third one shows how. */
  const two = (asks: (story: Story) => Story, nodes = ['r1']) => {
    const story = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 2).release('c2', 3).release('c1', 3.5);
    for (const node of nodes) story.watch(0, node).sample(0.5, node).sample(6, node);
    return causesOf(asks(story));
  };
  const causesOf = (story: Story) => mutualExclusion.check(story.input()).violations.map(({ cause }) => cause.name);

  it('by a request of the same kind as the one by which another was stored', () => {
    expect(two((story) => script(script(story, 0.999, 'c1', false), 1.999, 'c2', true))).toEqual(['never-granted']);
    // By another one it may have been granted.
    const mixed = (story: Story) => story.take(0.999, 'r1', 'c1').command(1.999, 'r1', 'c2', ['GET', KEY]);
    expect(two((story) => script(mixed(story), 1.9995, 'c2', true))).toEqual(['unexplained']);
    expect(two((story) => story.take(0.999, 'r1', 'c1'))).toEqual(['unexplained']);
  });

  it('not where the lock was seen to hand on what it stores', () => {
    const third = (handed: boolean) => {
      const story = new Story().up('c1').up('c2').up('c3').watch(0, 'r1').sample(0.5, 'r1').sample(12, 'r1');
      story.grant('c1', 1).grant('c2', 2).release('c2', 3).release('c1', 3.5);
      script(script(story, 0.999, 'c1', false), 1.999, 'c2', true).unlock(3.501, 'r1', 'c1');
      if (handed) story.command(3.502, 'r1', 'c1', ['SET', KEY, 'value-of-c3', 'PX', '50000']);
      return causesOf(script(story.grant('c3', 5).release('c3', 6), 4.999, 'c3', true));
    };
    expect(third(false)).toEqual(['never-granted']);
    expect(third(true)).toEqual(['unexplained']);
  });

  it('not by a kind of request that was seen to store something else', () => {
    const story = (asks: string[]) => {
      const told = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(6, 'r1');
      told.grant('c1', 1).grant('c2', 2).release('c2', 3).release('c1', 3.5);
      told.command(0.6, 'r1', 'c1', ['DEL', QUEUE]).take(0.999, 'r1', 'c1');
      told.command(0.9995, 'r1', 'c1', ['EVALSHA', 'mark', '1', QUEUE, 'c1']);
      told.command(0.9995, 'r1', 'lua', ['sadd', QUEUE, 'c1']);
      return causesOf(told.command(1.999, 'r1', 'c2', asks));
    };
    expect(story(['SET', KEY, 'value-of-c2', 'PX', '5000', 'NX'])).toEqual(['never-granted']);
    expect(story(['EVALSHA', 'take', '1', KEY, 'c2'])).toEqual(['unexplained']);
  });

  it('is not what a checker accuses by', () => {
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(6, 'r1');
    story.grant('c1', 1).grant('c2', 2).release('c2', 3).release('c1', 3.5);
    script(script(story, 0.999, 'c1', false), 1.999, 'c2', true);
    expect(found(story)).toEqual([]);
    expect(causesOf(story)).toEqual(['never-granted']);
  });

  it('of independent nodes by what a majority refused', () => {
    const three = ['r1', 'r2', 'r3'];
    const refused = (story: Story, by: readonly string[]) => {
      story.deployed({ kind: 'majority', nodes: three, majority: 2 });
      for (const node of three) story.command(0.999, node, 'c1', takes.with(2, 'value-of-c1'));
      for (const node of by) story.command(1.999, node, 'c2', takes.with(2, 'value-of-c2'));
      return story;
    };
    expect(two((story) => refused(story, three), three)).toEqual(['never-granted']);
  });
});

describe('an overlap is explained by it', () => {
  const causes = (story: Story) =>
    mutualExclusion.check(story.input()).violations.map(({ cause }) => `${cause.name}: ${cause.sentence}`);

  it('by what was stored meanwhile, each once', () => {
    const links = (story: Story) => {
      const [violation] = neverGrantedHolds.check(story.input()).violations;
      return violation!.cause.chain.map(({ text }) => text).filter((text) => text.includes('stored'));
    };
    const again = beside(run()).command(4.499, 'r1', 'c3', ['PEXPIRE', KEY, '5000']);
    expect(links(again)).toEqual([`r1 stored c1's own under ${KEY}`]);
    const passed = run()
      .grant('c1', 4)
      .take(4 - MS, 'r1', 'c1', 'c1@4')
      .release('c1', 4.4975)
      .unlock(4.498, 'r1', 'c1', 'c1@4');
    expect(links(held(passed, 'c3', 4.5002))).toEqual([
      `r1 stored c1's own under ${KEY}`,
      `r1 stored c3's own under ${KEY}`,
    ]);
  });

  it('whichever of the two had not been granted', () => {
    const second = beside(run()).take(4.499, 'r1', 'c2', 'c2@4.5');
    expect(causes(second)).toEqual([
      expect.stringMatching(/^never-granted: c2 said .* all that the servers had stored meanwhile was c1's/),
    ]);
    const first = run()
      .grant('c1', 5)
      .take(5 - MS, 'r1', 'c1', 'c1@5')
      .release('c1', 6.4)
      .unlock(6.401, 'r1', 'c1', 'c1@5');
    expect(causes(first)).toEqual([expect.stringMatching(/^never-granted: c2 said .* had stored anything/)]);
  });
});

it('the owners of a key are known where all of it is', () => {
  const owners = (held: unknown, exists = 'yes') =>
    ownersIn({ exists, held } as StoredState)?.map(({ owner }) => owner);
  expect(owners(undefined, 'no')).toEqual([]);
  expect(owners(undefined)).toBeUndefined();
  expect(owners({ type: 'string', value: 'a' })).toEqual(['a']);
  expect(owners({ type: 'string' })).toBeUndefined();
  expect(owners({ type: 'list' })).toBeUndefined();
  const parts = new Map([
    ['a', { there: 'yes' }],
    ['b', { there: 'no' }],
  ]);
  expect(owners({ type: 'hash', complete: true, parts })).toEqual(['a']);
  expect(owners({ type: 'hash', complete: false, parts })).toBeUndefined();
});

it('a server that was dead is no proof that nothing else had granted it, where one answers for the key', () => {
  const killed: FaultEffect = { kind: 'killed', who: ['r1'] };
  const dead = run().fault(4.2, 0, 'kill', 'strike', { targets: ['r1'], effects: [killed] });
  expect(found(dead.watch(4.2, 'r1', false))).toEqual([]);
});
