/** Runs that the oracle found to be explained falsely, each told in its fewest lines. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultRecord } from '../../../../harness/vocabulary/history.js';
import { KEY, Story } from '../build.js';

/** c1 is granted by r1 at 1 s, c2 at 3 s, both until 4 s. */
function broken(): Story {
  const story = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 3).release('c1', 4).release('c2', 4);
  return story.watch(0, 'r1').sample(0.5, 'r1');
}

/** Of a look that tells of the server's role only: the key ran out while it was asked for. */
const OF_ITS_ROLE = { owner: 'of-somebody', pttlMs: -2 };

function names(story: Story): string[] {
  return mutualExclusion.check(story.input()).violations.map(({ cause }) => cause.name);
}

const overwrites = (story: Story) =>
  story.command(2.9989, 'r1', 'c2', ['GET', KEY]).command(2.999, 'r1', 'c2', ['SET', KEY, 'value-of-c2', 'PX', '5000']);

it('a key that was removed by emptying the whole database was not overwritten', () => {
  expect(names(overwrites(broken().take(0.999, 'r1', 'c1')))).toEqual(['overwritten']);
  const flushed = broken().take(0.999, 'r1', 'c1').command(2, 'r1', 'stranger', ['FLUSHALL']).sample(2.1, 'r1');
  expect(names(overwrites(flushed))).toEqual(['released-by-other']);
});

it('a key that may have gone unseen was not certainly overwritten', () => {
  const story = broken().take(0.999, 'r1', 'c1').watch(1.5, 'r1', false).watch(1.6, 'r1');
  expect(names(overwrites(story))).toEqual(['unexplained']);
});

it('a key whose time was over before the restart was not forgotten by it', () => {
  const restarted = (ttlMs: number) =>
    broken()
      .take(0.999, 'r1', 'c1', 'value-of-c1', 0, ttlMs)
      .watch(2, 'r1', false)
      .watch(2.3, 'r1')
      .sample(2.4, 'r1', { runId: 'run-2' })
      .take(2.999, 'r1', 'c2');
  expect(names(restarted(5_000))).toEqual(['node-forgot']);
  expect(names(restarted(500))).toEqual(['unexplained']);
});

it('a key that its own client was seen to remove while it held it may have gone by that, before the new process was watched', () => {
  const restarted = (removedAt: number) => {
    const story = new Story().up('c1').up('c2').grant('c1', 0.6).release('c1', 0.8).grant('c1', 1.5).grant('c2', 3);
    story.release('c1', 4).release('c2', 4).watch(0, 'r1').sample(0.5, 'r1').take(0.599, 'r1', 'c1', 'value-of-before');
    story.command(removedAt, 'r1', 'c1', ['EVALSHA', 'renew', '1', KEY, 'value-of-before', '0']);
    for (const argv of [
      ['get', KEY],
      ['pexpire', KEY, '0'],
    ])
      story.command(removedAt + 0.0001, 'r1', 'lua', argv);
    story.take(1.499, 'r1', 'c1').watch(2, 'r1', false).watch(2.3, 'r1').sample(2.4, 'r1', { runId: 'run-2' });
    return names(story.take(2.999, 'r1', 'c2'));
  };
  expect(restarted(0.81)).toEqual(['node-forgot']);
  expect(restarted(0.7)).toEqual(['unexplained']);
});

it('a connection that broke while the server ran on is no restart before the next grant', () => {
  const story = broken().take(0.999, 'r1', 'c1').watch(1.5, 'r1', false).watch(1.6, 'r1').sample(1.7, 'r1');
  const after = overwrites(story).sample(3.1, 'r1', { runId: 'run-2', owner: 'value-of-c2' });
  expect(names(after)).toEqual(['unexplained']);
});

it('a jump of the clock after the key had expired is not why it had', () => {
  const story = broken().take(0.999, 'r1', 'c1', 'value-of-c1', 0, 500).sample(1.8, 'r1');
  story.sample(2.5, 'r1', { skewMs: 3_000 }).take(2.999, 'r1', 'c2', 'value-of-c2', 3_000);
  expect(names(story)).toEqual(['lease-too-short']);
});

it('a clock that had jumped before the grant did not end its lease', () => {
  const story = broken()
    .take(0.999, 'r1', 'c1', 'value-of-c1', 4_500)
    .sample(1.2, 'r1', { skewMs: 4_500, owner: 'value-of-c1' });
  story.sample(2.2, 'r1', { skewMs: 4_500, owner: 'value-of-c1' });
  expect(names(story.command(2.999, 'r1', 'c2', ['SET', KEY, 'value-of-c2', 'PX', '5000'], 4_500))).toEqual([
    'overwritten',
  ]);
});

it('a request that ran after the answer did not lead to it', () => {
  const story = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 3).release('c2', 3.05).release('c1', 4);
  story.watch(0, 'r1').sample(0.5, 'r1').take(0.999, 'r1', 'c1');
  story
    .command(2.999, 'r1', 'c2', ['EVALSHA', 'take', '1', KEY, 'value-of-c2'])
    .command(2.999, 'r1', 'lua', ['exists', KEY]);
  story.command(3.1, 'r1', 'c3', ['DEL', KEY]).take(3.12, 'r1', 'c2', 'second-value');
  expect(names(story)).not.toContain('released-by-other');
});

it('a value that a third client stored anew where it was gone is a grant of its own', () => {
  const story = new Story().up('c1').up('c2').up('c3').grant('c1', 1).grant('c3', 3).release('c1', 4).release('c3', 4);
  story.watch(0, 'r1').sample(0.5, 'r1').take(0.999, 'r1', 'c1', 'same', 0, 500).take(1.6, 'r1', 'c2', 'same');
  expect(names(story.unlock(2.5, 'r1', 'c2', 'same').take(2.999, 'r1', 'c3', 'same'))).toEqual(['lease-too-short']);
});

it('a client that writes to a server has it for its primary, where expired keys are gone', () => {
  const story = broken()
    .sample(0.5, 'r2', { role: 'replica' })
    .watch(0, 'r2')
    .take(0.999, 'r1', 'c1', 'value-of-c1', 0, 500);
  story.command(1, 'r2', 'link', ['SET', KEY, 'value-of-c1', 'PXAT', '1700000001499']);
  story.looks(0.6, 3, 'r2', { role: 'replica', ...OF_ITS_ROLE });
  expect(names(story.take(2.999, 'r2', 'c2'))).toEqual(['lease-too-short']);
});

it('a clock that was set right again did not certainly end a lease before a write that asks nothing', () => {
  const jumped = () => broken().take(0.999, 'r1', 'c1').sample(1.5, 'r1', { skewMs: 6_000 });
  const taken = (story: Story) => names(story.sample(3.2, 'r1', { owner: 'value-of-c2' }));
  expect(taken(jumped().take(2.999, 'r1', 'c2'))).toEqual(['clock-jumped']);
  expect(taken(overwrites(jumped()))).toEqual(['unexplained']);
});

it('a clock that jumped when its drift had ended the lease is not why it had', () => {
  const drifting: Partial<FaultRecord> = {
    effects: [{ kind: 'clock-drifts', who: ['r1'], ratePpm: 9_000_000, gainedMs: 100 }],
  };
  const jumps: Partial<FaultRecord> = { effects: [{ kind: 'clock-jumped', who: ['r1'], offsetMs: 60_000 }] };
  const jumped = () => broken().take(0.999, 'r1', 'c1').fault(2.5, 1, 'jump', 'strike', jumps);
  expect(names(jumped().take(2.999, 'r1', 'c2', 'value-of-c2', 60_000))).toEqual(['clock-jumped']);
  const drifted = jumped().fault(1.1, 0, 'drift', 'strike', drifting);
  expect(names(drifted.take(2.999, 'r1', 'c2', 'value-of-c2', 77_000))).toEqual(['clock-ran-fast']);
});

it('a clock that drifts in two ways at once may gain by the last of them only', () => {
  const drifts = (story: Story, at: number, step: number, ratePpm: number) =>
    story.fault(at, step, 'drift', 'strike', {
      effects: [{ kind: 'clock-drifts', who: ['r1'], ratePpm, gainedMs: 0 }],
    });
  const taken = (story: Story) => names(story.take(2.999, 'r1', 'c2', 'value-of-c2', 3_200));
  const one = () => drifts(broken().take(0.999, 'r1', 'c1'), 1.1, 0, 1_800_000);
  expect(taken(one())).toEqual(['clock-ran-fast']);
  expect(taken(drifts(one(), 1.2, 1, 900_000))).toEqual(['unexplained']);
});

it('a clock that was set right may have gained by that, where it had jumped back before', () => {
  const names3s = (healed: number) => {
    const effects = [{ kind: 'clock-drifts' as const, who: ['r1'], ratePpm: 1_620_000, gainedMs: 0 }];
    const story = broken().fault(0.998, 0, 'drift', 'strike', { effects }).take(0.999, 'r1', 'c1');
    return names(story.fault(healed, 0, 'drift', 'heal', {}).take(2.999, 'r1', 'c2', 'value-of-c2', 3_120));
  };
  expect(names3s(3.5)).toEqual(['clock-ran-fast']);
  expect(names3s(2.9)).toEqual(['unexplained']);
});

/** r2 replicates from r1 and is primary from 2.5 s on, when it grants c2 the lock. */
function failedOver(): Story {
  const story = broken().watch(0, 'r2').sample(0.5, 'r2', { role: 'replica' }).take(0.999, 'r1', 'c1');
  return story.sample(1.5, 'r2', { role: 'replica' }).sample(2.5, 'r2').take(2.999, 'r2', 'c2');
}

it("what came over the link and is read when its server has been promoted is nobody's removal", () => {
  const stored = { owner: 'value-of-c1' };
  const until = (ms: number, value = 'value-of-c1') => ['SET', KEY, value, 'PXAT', String(1_700_000_000_000 + ms)];
  const followed = broken().watch(0, 'r2').sample(0.5, 'r2', { role: 'replica' }).take(0.999, 'r1', 'c1');
  followed
    .sample(0.9, 'r2', { role: 'replica' })
    .command(1, 'r2', 'link', until(5_999))
    .looks(1.1, 2.4, 'r2', { role: 'replica', ...stored });
  followed.sample(2.5, 'r2', stored).command(2.6, 'r2', 'link', until(1_000, 'value-of-c3'), -300);
  followed.sample(3.2, 'r2', { owner: 'value-of-c2' });
  expect(names(followed.take(2.999, 'r2', 'c2'))).toEqual(['unexplained']);
});

it('a write whose time was over when it came to a replica had come there', () => {
  const over = ['SET', KEY, 'value-of-c1', 'PXAT', '1700000000500'];
  const late = (aheadMs: number) => {
    const story = broken().watch(0, 'r2').sample(0.5, 'r2', { role: 'replica' }).take(0.999, 'r1', 'c1');
    story.sample(1.5, 'r2', { role: 'replica' }).sample(2.5, 'r2').command(2.6, 'r2', 'link', over, aheadMs);
    return names(story.take(2.999, 'r2', 'c2').sample(3.2, 'r2', { owner: 'value-of-c2' }));
  };
  expect(late(-1_200)).toEqual(['unexplained']);
  // That was no replica's any more.
  expect(late(0)).toEqual(['failover-lost-write']);
});

it('what two asked for within a millisecond of each other is not told apart by the time that it ends', () => {
  const link = (endsMs: number) => ['SET', KEY, 'same', 'PXAT', String(1_700_000_000_000 + endsMs)];
  const copied = (add: (story: Story) => Story) => {
    const story = broken().watch(0, 'r2').sample(0.5, 'r2', { role: 'replica' });
    story.take(0.999, 'r1', 'c1', 'same', 0, 500).command(1, 'r2', 'link', link(1_499));
    return names(
      add(story)
        .looks(0.6, 3, 'r2', { role: 'replica', ...OF_ITS_ROLE })
        .take(2.999, 'r2', 'c2'),
    );
  };
  const again = (story: Story, client: string) =>
    story
      .command(1.001, 'r1', client, ['PEXPIRE', KEY, '499'])
      .command(1.001, 'r2', 'link', ['PEXPIREAT', KEY, '1700000001500']);
  expect(copied((story) => again(story, 'c1'))).toEqual(['lease-too-short']);
  expect(copied((story) => again(story, 'c3'))).toEqual(['unexplained']);
});

it('a primary that had forgotten the lock before its replica took over is not a failover that lost it', () => {
  expect(names(failedOver())).toEqual(['failover-lost-write']);
  const restarted = failedOver().watch(1.1, 'r1', false).watch(1.2, 'r1').sample(1.2, 'r1', { runId: 'run-2' });
  expect(names(restarted)).not.toContain('failover-lost-write');
});

it('a primary whose grant was read when it was a replica had not replaced another one before it', () => {
  const story = (readAt: number) =>
    broken()
      .watch(0, 'r2')
      .sample(0.5, 'r2', { runId: 'run-2' })
      .command(readAt, 'r1', 'c1', ['SET', KEY, 'value-of-c1', 'PX', '5000', 'NX'], (0.999 - readAt) * 1_000)
      .sample(1.2, 'r1', { role: 'replica' })
      .sample(1.3, 'r2', { runId: 'run-2' })
      .take(2.999, 'r2', 'c2');
  expect(names(story(0.999))).toEqual(names(story(1.4)));
  expect(names(story(1.4))).not.toContain('split-brain');
});

it('a value that came to a replica is not the grant of a client that stored the same', () => {
  const story = (before: boolean) => {
    const told = broken().watch(0, 'r2').sample(0.5, 'r2', { role: 'replica' });
    if (before) told.take(0.7, 'r1', 'c3', 'same', 0, 100);
    told.take(0.999, 'r1', 'c1', 'same').command(1.001, 'r2', 'link', ['SET', KEY, 'same', 'PXAT', '1700000005999']);
    return told
      .sample(0.9, 'r2', { role: 'replica' })
      .looks(1.1, 2, 'r2', { role: 'replica', owner: 'same' })
      .sample(2, 'r2', { owner: 'same' })
      .command(2.2, 'r2', 'c2', ['DEL', KEY])
      .sample(2.3, 'r2')
      .take(2.999, 'r2', 'c2');
  };
  expect(names(story(false))).toEqual(['released-by-other']);
  expect(names(story(true))).toEqual(['unexplained']);
});

const SAME = 'the-owner';

/** r2 replicates from r1, and takes over at 2.5 s. */
function replicated(): Story {
  const story = broken()
    .watch(0, 'r2')
    .looks(0.5, 2.5, 'r2', { role: 'replica', ...OF_ITS_ROLE })
    .sample(2.5, 'r2');
  return story.looks(1.05, 2.5, 'r1', OF_ITS_ROLE);
}

const link = (story: Story, at: number, ...argv: string[]) => story.command(at, 'r2', 'link', argv);

it('the same value that another stored anew is not what the holder had', () => {
  const story = (anew: boolean) => {
    const told = replicated().up('c3').take(0.999, 'r1', 'c1', SAME, 0, 500);
    link(told, 1, 'SET', KEY, SAME, 'PXAT', '1700000001499');
    if (anew) {
      link(told.take(1.6, 'r1', 'c3', SAME), 1.601, 'DEL', KEY);
      link(told, 1.602, 'SET', KEY, SAME, 'PXAT', '1700000006600');
    }
    return told;
  };
  const release = (told: Story) => link(told.unlock(2, 'r1', 'c3', SAME), 2.001, 'DEL', KEY).take(2.999, 'r2', 'c2');
  expect(names(release(story(true)))).toEqual(['lease-too-short']);
  const ran = story(true).command(2.998, 'r2', 'c2', ['EVALSHA', 'take', '1', KEY, SAME]);
  ran.command(2.998, 'r2', 'lua', ['get', KEY]).command(2.998, 'r2', 'lua', ['set', KEY, SAME, 'PX', '5000']);
  expect(names(ran)).not.toContain('shared-owner');
});

it('how a replica lost a key is how its primary did', () => {
  // c3 had taken it on r1. If r1's clock is behind, the key was over by r2's when it came there: that took nothing.
  const story = (skewMs: number) => {
    const told = replicated().up('c3').sample(0.6, 'r1', { skewMs }).take(0.999, 'r1', 'c1', 'value-of-c1', skewMs);
    link(told, 1, 'SET', KEY, 'value-of-c1', 'PXAT', String(1_700_000_005_999 + skewMs));
    told.command(1.5, 'r1', 'c3', ['SET', KEY, 'value-of-c3', 'PX', '900'], skewMs);
    return link(told, 1.501, 'SET', KEY, 'value-of-c3', 'PXAT', String(1_700_000_002_400 + skewMs));
  };
  expect(names(story(0).take(2.999, 'r2', 'c2'))).toEqual(['overwritten']);
  expect(names(story(-8_000).take(2.999, 'r2', 'c2'))).not.toContain('clock-jumped');
});

it('a key that a write without a condition found over to the millisecond had not certainly run out', () => {
  const story = (ttlMs: number) => overwrites(broken().take(0.999, 'r1', 'c1', 'value-of-c1', 0, ttlMs));
  expect(names(story(1_900))).toEqual(['lease-too-short']);
  expect(names(story(1_999))).toEqual(['unexplained']);
});

it('a clock that had jumped and was right again may have ended a short time early', () => {
  const jumps: Partial<FaultRecord> = { effects: [{ kind: 'clock-jumped', who: ['r1'], offsetMs: 3_000 }] };
  const story = (ttlMs: number) =>
    broken()
      .take(0.999, 'r1', 'c1', 'value-of-c1', 0, ttlMs)
      .fault(1.2, 0, 'jump', 'strike', jumps)
      .fault(1.5, 0, 'jump', 'heal')
      .sample(2, 'r1')
      .take(2.999, 'r1', 'c2');
  expect(names(story(1_900))).toEqual(['lease-too-short']);
  expect(names(story(2_000))).not.toContain('lease-too-short');
});

it('a look that was recorded after an eviction may have been taken before it', () => {
  const story = broken()
    .take(0.999, 'r1', 'c1')
    .evicted(2, 'r1')
    .sample(2.001, 'r1', { owner: 'value-of-c1', wallMs: [1_700_000_001_998, 1_700_000_002_000] })
    .take(2.999, 'r1', 'c2')
    .sample(4.5, 'r1');
  expect(names(story)).toEqual(['evicted']);
});

it('a grant that was read after a restart and ran before it did not follow from that', () => {
  const story = (skewMs: number) =>
    broken()
      .take(0.999, 'r1', 'c1')
      .sample(1.2, 'r1', { owner: 'value-of-c1' })
      .sample(3.0005, 'r1', { runId: 'run-2' })
      .watch(3.001, 'r1', false)
      .watch(3.001, 'r1')
      .take(3.002, 'r1', 'c2', 'value-of-c2', skewMs);
  expect(names(story(-4))).not.toContain('node-forgot');
});

it('a server that came back from a restart and was a replica after it had lost the write before', () => {
  const story = (runId: string) => {
    const told = broken().watch(0, 'r2').sample(0.5, 'r2', { role: 'replica' }).take(0.999, 'r1', 'c1');
    for (let at = 1.05; at < 1.6; at += 0.1) told.sample(at, 'r1', { owner: 'value-of-c1' });
    told.sample(1.6, 'r1', { role: 'replica', runId }).sample(2.5, 'r1', { runId }).sample(1.5, 'r2');
    return told.sample(2.4, 'r2', { role: 'replica' }).take(2.999, 'r1', 'c2');
  };
  expect(names(story('run-1'))).toEqual(['failover-lost-write']);
  expect(names(story('run-2'))).not.toContain('failover-lost-write');
});

it('a primary that may have been replaced and primary again unseen had not certainly been it before the other', () => {
  const story = (looked: boolean) => {
    const told = new Story().up('c1').up('c2').grant('c1', 1.5).grant('c2', 3).release('c1', 4).release('c2', 4);
    told.watch(0, 'r1').watch(0, 'r2').sample(0.5, 'r1').sample(0.5, 'r2', { role: 'replica' });
    if (looked) for (let at = 0.45; at < 1.5; at += 0.1) told.sample(at, 'r1');
    return told.take(1.499, 'r1', 'c1').sample(2, 'r2').take(2.999, 'r2', 'c2');
  };
  expect(names(story(true))).toEqual(['failover-lost-write']);
  expect(names(story(false))).toEqual(['unexplained']);
});

it('a server that may have taken over the data of another one unseen had not certainly what it had stored', () => {
  const story = (looked: boolean) => {
    const told = broken()
      .watch(0, 'r2')
      .sample(0.5, 'r2', { role: 'replica' })
      .take(0.999, 'r1', 'c1')
      .sample(1.4, 'r2');
    if (looked) for (let at = 1.05; at < 2; at += 0.1) told.sample(at, 'r1', { owner: 'value-of-c1' });
    return told.command(2, 'r1', 'c2', ['DEL', KEY]).take(2.999, 'r1', 'c2');
  };
  expect(names(story(true))).toEqual(['released-by-other']);
  expect(names(story(false))).toEqual(['unexplained']);
});

it('a server that was hardly looked at may have been made a replica and primary again, whatever others were seen to be', () => {
  const story = (looked: boolean) => {
    const told = broken().watch(0, 'r2').sample(0.5, 'r2', { role: 'replica' }).take(0.999, 'r1', 'c1');
    if (looked) told.looks(1.1, 2, 'r1', { owner: 'value-of-c1' });
    told.command(2, 'r1', 'c2', ['DEL', KEY]).sample(2.4, 'r1').sample(2.4, 'r2', { role: 'replica' });
    return told.take(2.999, 'r1', 'c2');
  };
  expect(names(story(true))).toEqual(['released-by-other']);
  expect(names(story(false))).toEqual(['unexplained']);
});

/** r2 has taken over from r1 and grants c1; r1 is made its replica at 1.7 s, takes over at 2.5 s and grants c2. */
function turnedBack(lose: (story: Story) => Story): string[] {
  const story = new Story().up('c1').up('c2').up('c3').grant('c1', 1).grant('c2', 3).release('c1', 4).release('c2', 4);
  for (const node of ['r1', 'r2']) story.watch(0, node);
  story.looks(0.2, 0.7, 'r2', { role: 'replica' }).looks(0.75, 0.95, 'r2').looks(0.2, 1.7, 'r1');
  lose(story.take(0.999, 'r2', 'c1')).looks(1.75, 2.5, 'r1', { role: 'replica', linkUp: true, ...OF_ITS_ROLE });
  return names(story.looks(1.05, 1.5, 'r2', { owner: 'value-of-c1' }).sample(2.5, 'r1').take(2.999, 'r1', 'c2'));
}

it('what a node lacks that loaded all that another one had may have been lost there', () => {
  const lost = 'failover-lost-write';
  expect(turnedBack((story) => story)).toEqual([lost]);
  const overwritten = ['SET', KEY, 'value-of-c3', 'PX', '500'];
  expect(turnedBack((story) => story.command(1.5, 'r2', 'c3', overwritten))).not.toContain(lost);
  expect(turnedBack((story) => story.command(1.5, 'r2', 'stranger', ['DEL', KEY]))).not.toContain(lost);
  expect(turnedBack((story) => story.evicted(1.5, 'r2'))).not.toContain(lost);
  expect(turnedBack((story) => story.watch(1.5, 'r2', false).watch(1.55, 'r2').sample(1.6, 'r2'))).not.toContain(lost);
  expect(turnedBack((story) => story.watch(2.1, 'r2', false))).toEqual([lost]);
  const jumped: Partial<FaultRecord> = { effects: [{ kind: 'clock-jumped', who: ['r2'], offsetMs: 6_000 }] };
  expect(turnedBack((story) => story.fault(1.5, 0, 'clock', 'strike', jumped))).not.toContain(lost);
  expect(turnedBack((story) => story.sample(1.55, 'r2', { skewMs: 6_000 }))).not.toContain(lost);
  // Refused, and of after it had taken over.
  expect(turnedBack((story) => story.take(1.5, 'r2', 'c3'))).toEqual([lost]);
  expect(turnedBack((story) => story.command(2.7, 'r2', 'c3', ['DEL', KEY]))).toEqual([lost]);
});

it('a key that was gone as soon as its time was over had run out, if nothing moved the clock', () => {
  // r1's clock is 100 ms ahead, so that its stamps do not say when the line of the first grant, read 4 ms late, ran.
  const story = (add: (story: Story) => Story = (told) => told) => {
    const told = broken().sample(0.6, 'r1', { skewMs: 100 }).take(1.003, 'r1', 'c1', 'value-of-c1', 96, 1_995);
    return names(add(told).take(2.999, 'r1', 'c2', 'value-of-c2', 100));
  };
  const look = (at: number, skewMs: number) => (told: Story) => told.sample(at, 'r1', { ...OF_ITS_ROLE, skewMs });
  expect(story()).toEqual(['lease-too-short']);
  expect(story(look(2, 100))).toEqual(['lease-too-short']);
  expect(story((told) => look(2, 100)(look(1.5, 180)(told)))).toEqual(['unexplained']);
  const effects: FaultRecord['effects'] = [{ kind: 'clock-drifts', who: ['r1'], ratePpm: 10_000, gainedMs: 1 }];
  expect(story((told) => told.fault(1.5, 0, 'drift', 'strike', { effects }))).toEqual(['unexplained']);
});

it('a key that had run out by a drifting clock before its server was killed was not forgotten by it', () => {
  const drifting: Partial<FaultRecord> = {
    effects: [{ kind: 'clock-drifts', who: ['r1'], ratePpm: 2_000_000, gainedMs: 1 }],
  };
  const restarted = (strike: number) =>
    names(
      broken()
        .take(0.999, 'r1', 'c1')
        .fault(strike, 0, 'drift', 'strike', drifting)
        .fault(2.9, 0, 'drift', 'heal')
        .watch(2.8, 'r1', false)
        .watch(2.91, 'r1')
        .sample(2.95, 'r1', { runId: 'run-2' })
        .take(2.999, 'r1', 'c2'),
    );
  expect(restarted(2.5)).toEqual(['node-forgot']);
  expect(restarted(1.1)).not.toContain('node-forgot');
});

it('a lock that anybody removes may have been removed before or after a restart unseen', () => {
  const story = (by: 'plain' | 'compared') => {
    const told = broken().take(0.6, 'r1', 'c2', 'value-of-c2');
    if (by === 'plain') told.command(0.7, 'r1', 'c2', ['DEL', KEY]);
    else told.unlock(0.7, 'r1', 'c2');
    told.take(0.999, 'r1', 'c1').fault(2, 0, 'kill', 'strike', {
      effects: [
        { kind: 'killed', who: ['r1'] },
        { kind: 'forgot', who: ['r1'] },
      ],
    });
    return told.watch(2, 'r1', false).watch(2.3, 'r1').sample(2.4, 'r1', { runId: 'run-2' }).take(2.999, 'r1', 'c2');
  };
  expect(names(story('compared'))).toEqual(['node-forgot']);
  expect(names(story('plain'))).toEqual(['unexplained']);
});

it('a field that several clients store beside their own names no owner', () => {
  const story = broken();
  for (const [at, client] of [
    [0.999, 'c1'],
    [2.999, 'c2'],
  ] as const) {
    story
      .command(at, 'r1', client, ['EVALSHA', 'take', '1', KEY, `value-of-${client}`])
      .command(at, 'r1', 'lua', ['hget', KEY, 'mode']);
    story
      .command(at, 'r1', 'lua', ['hset', KEY, `value-of-${client}`, '1'])
      .command(at, 'r1', 'lua', ['hset', KEY, 'mode', 'write']);
  }
  expect(names(story)).not.toContain('shared-owner');
});

it('a clock that drifts does not say when a line was printed, nor that time was left which may have been over', () => {
  const drift: FaultRecord['effects'] = [{ kind: 'clock-drifts', who: ['r1'], ratePpm: 400_000, gainedMs: 0 }];
  const drifting = (ttlMs: number) =>
    broken()
      .fault(0.5, 0, 'drift', 'strike', { effects: drift })
      // It ran at 0.999 s, and was read 12 ms later.
      .take(1.011, 'r1', 'c1', 'value-of-c1', 188, ttlMs)
      .take(2.999, 'r1', 'c2', 'value-of-c2', 1_000);
  expect(names(drifting(2_500))).toEqual(['clock-ran-fast']);
  expect(names(drifting(1_995))).toEqual(['unexplained']);
});

it('a clock that is right says when a line was printed, however long before that the attempt had left', () => {
  const story = new Story().up('c1').up('c2').grant('c1', 1, { sent: 0.2, began: 0.2, grantSent: 0.3 }).grant('c2', 3);
  story.release('c1', 4).release('c2', 4).watch(0, 'r1').sample(0.5, 'r1').take(0.999, 'r1', 'c1', 'v1', 0, 2_100);
  story.sample(2, 'r1', { skewMs: 200, owner: 'v1', pttlMs: 899 }).take(2.999, 'r1', 'c2', 'value-of-c2', 200);
  expect(names(story)).toEqual(['clock-jumped']);
});

it('a server that is empty, for what it had was over, is one on which it was over', () => {
  const empty = (at: number) =>
    names(
      broken()
        .take(0.999, 'r1', 'c1', 'value-of-c1', 0, 500)
        .sample(at, 'r1', { isEmpty: true })
        .take(2.999, 'r1', 'c2'),
    );
  expect(empty(1.8)).toEqual(['lease-too-short']);
  expect(empty(1.2)).toEqual(['unexplained']);
});

it('what is not in a record that ends early, or was cut, may have happened all the same', () => {
  const refused = (lastAt: number) =>
    broken()
      .replicated()
      .take(0.999, 'r1', 'c1')
      .take(2.999, 'r1', 'c2')
      .sample(lastAt, 'r1', { owner: 'value-of-c1' });
  expect(names(refused(3.5))).toEqual(['never-granted']);
  expect(names(refused(3.9).open())).toEqual(['unexplained']);
  expect(names(refused(4.1).open())).toEqual(['never-granted']);
  expect(names(refused(4.1).event(5, { type: 'closed', observations: 5 }))).toEqual(['never-granted']);
  expect(names(refused(4.1).event(5, { type: 'closed', observations: 6 }))).toEqual(['unexplained']);
});

it('a script that did not read whose the key was did not take one owner for the other', () => {
  const story = (...looks: string[][]) => {
    const told = broken().take(0.999, 'r1', 'c1', SAME).command(2.999, 'r1', 'c2', ['EVALSHA', 'take', '1', KEY, SAME]);
    for (const argv of looks) told.command(2.999, 'r1', 'lua', argv);
    return told.command(2.999, 'r1', 'lua', ['set', KEY, SAME, 'PX', '5000']);
  };
  expect(names(story(['get', KEY]))).toEqual(['shared-owner']);
  // It goes by the time that is stored elsewhere.
  expect(names(story(['get', `{${KEY}}:until`], ['exists', KEY]))).toEqual(['unexplained']);
});

it('a script that deletes whatever is there did not take one owner for the other', () => {
  const story = (...looks: string[][]) => {
    const told = broken().up('c3').take(0.2, 'r1', 'c3', SAME, 0, 300).sample(0.6, 'r1').take(0.999, 'r1', 'c1', SAME);
    told.command(2, 'r1', 'c3', ['EVALSHA', 'release', '1', KEY, SAME]);
    for (const argv of looks) told.command(2, 'r1', 'lua', argv);
    return told.command(2, 'r1', 'lua', ['del', KEY]).take(2.999, 'r1', 'c2');
  };
  expect(names(story(['get', KEY]))).toEqual(['shared-owner']);
  expect(names(story(['exists', KEY]))).toEqual(['released-by-other']);
});

it('a script that asked for another key, too, may have gone by that, and not have found the lock free', () => {
  const story = (...looks: string[][]) => {
    const told = broken()
      .take(0.999, 'r1', 'c1')
      .fault(1.5, 0, 'jump', 'strike', {
        effects: [{ kind: 'clock-jumped', who: ['r1'], offsetMs: 9_000 }],
      });
    told.sample(1.6, 'r1', { skewMs: 9_000, owner: 'value-of-c1' }).fault(1.8, 0, 'jump', 'heal', { beganNs: 1.79e9 });
    told.sample(2, 'r1').command(2.999, 'r1', 'c2', ['EVALSHA', 'take', '1', KEY, 'value-of-c2']);
    for (const argv of looks) told.command(2.999, 'r1', 'lua', argv);
    return told.command(2.999, 'r1', 'lua', ['set', KEY, 'value-of-c2', 'PX', '5000']);
  };
  expect(names(story(['exists', KEY]))).toEqual(['clock-jumped']);
  expect(names(story(['get', `{${KEY}}:until`], ['exists', KEY]))).toEqual(['unexplained']);
});

describe('of a semaphore of one permit, counted in one number', () => {
  const ask = (s: Story, at: number, client: string, ...calls: string[][]) =>
    calls.reduce(
      (told, argv) => told.command(at, 'r1', 'lua', argv),
      s.command(at, 'r1', client, ['EVAL', 'x', '1', KEY]),
    );
  const take = (s: Story, at: number, client: string, ttlMs?: number) =>
    ask(s, at, client, ['get', KEY], ['incr', KEY], ...(ttlMs ? [['pexpire', KEY, String(ttlMs)]] : []));
  const giveBack = (s: Story, at: number, client: string) => ask(s, at, client, ['exists', KEY], ['decr', KEY]);
  const ONE_SERVER = {
    topology: 'any',
    runtime: 'netns',
    serverVersion: '7.0.15',
    settings: [],
    quorum: { kind: 'primary' as const },
  };
  const opened = () =>
    new Story()
      .promised({ kind: 'semaphore', permits: 1 })
      .event(0, { type: 'deployment', ...ONE_SERVER })
      .up('c1')
      .up('c2')
      .up('c3')
      .watch(0.1, 'r1')
      .sample(0.15, 'r1');
  const said = (story: Story) => [
    ...new Set(names(story.grant('c2', 3).release('c1', 4).release('c2', 4.1).sample(9, 'r1'))),
  ];

  it('what was given back too often of a number that time has taken since is not why', () => {
    const story = (ttlMs?: number) => {
      const told = giveBack(giveBack(take(opened(), 0.2, 'c3', ttlMs), 0.4, 'c3'), 0.45, 'c3');
      return take(take(told.grant('c1', 1), 0.9995, 'c1', ttlMs), 2.9995, 'c2');
    };
    expect(said(story())).toEqual(['returned-too-often']);
    expect(said(story(500))).not.toContain('returned-too-often');
  });

  it('who gives back to a new number what it had taken of one that time took has not given back too often', () => {
    const story = (ttlMs?: number) =>
      take(
        giveBack(take((ttlMs ? take(opened(), 0.2, 'c3', ttlMs) : opened()).grant('c1', 1), 0.9995, 'c1'), 2, 'c3'),
        2.9995,
        'c2',
      );
    expect(said(story())).toEqual(['returned-too-often']);
    expect(said(story(500))).not.toContain('returned-too-often');
  });

  it('a number that expired by a clock that jumped just before, which nothing but the stamps tells of', () => {
    const story = (jumpedMs: number) => {
      const told = take(opened().grant('c1', 1), 0.9995, 'c1', jumpedMs > 0 ? 3_000 : 1_500);
      told
        .command(2.9995, 'r1', 'c2', ['EVAL', 'x', '1', KEY], jumpedMs)
        .command(2.9995, 'r1', 'lua', ['get', KEY], jumpedMs);
      return told.command(2.9995, 'r1', 'lua', ['incr', KEY], jumpedMs);
    };
    expect(said(story(0))).toContain('count-expired');
    expect(said(story(2_000))).not.toContain('count-expired');
  });
});
