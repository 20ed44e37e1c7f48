/** Each cause is named where its whole chain was observed, and not where something merely happened at the same time. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { Evidence } from '../../../../harness/record/facts/evidence.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import type { Cause } from '../../../../harness/vocabulary/verdict.js';
import { KEY, Story } from '../build.js';

/** The causes of all violations, earliest first. */
function causes(story: Story): Cause[] {
  const input = story.input();
  const found = mutualExclusion.check(input).violations.map(({ cause }) => cause);
  for (const { chain } of found) {
    expect(chain.length).toBeGreaterThan(0);
    for (const { history, observation } of chain) {
      if (history !== undefined) expect(input.history.event(history)).toBeDefined();
      if (observation !== undefined) expect(input.observations.line(observation)).toBeDefined();
    }
    expect(chain.map(({ atNs }) => atNs)).toEqual(chain.map(({ atNs }) => atNs).sort((a, b) => a - b));
  }
  return found;
}

function only(story: Story): Cause {
  const found = causes(story);
  expect(found).toHaveLength(1);
  return found[0]!;
}

/** c1 is granted at 1 s, c2 at 3 s, both until 4 s: broken. */
function broken(): Story {
  return new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 3).release('c1', 4).release('c2', 4);
}

function jump(node: string, offsetMs: number): FaultEffect {
  return { kind: 'clock-jumped', who: [node], offsetMs };
}

function drifting(node: string, ratePpm: number, gainedMs: number): FaultEffect {
  return { kind: 'clock-drifts', who: [node], ratePpm, gainedMs };
}

const TAKEN = 0.999; // c1's take, as its node ran it
const RETAKEN = 2.999;

describe('failover-lost-write', () => {
  /** c1 granted by r1; r2 was its replica until 2.0 s and primary from 2.5 s on. */
  const failover = () =>
    broken()
      .watch(0, 'r1')
      .watch(0, 'r2')
      .sample(0.5, 'r1')
      .sample(0.5, 'r2', { role: 'replica' })
      .take(TAKEN, 'r1', 'c1')
      .sample(1.1, 'r1', { owner: 'value-of-c1' })
      .sample(2, 'r2', { role: 'replica' });

  it('is named where the new primary never got the write', () => {
    const cause = only(
      failover()
        // An earlier cut was mended in time.
        .fault(0.6, 1, 'partition', 'strike', { effects: [{ kind: 'cut', pairs: [['r1', 'r2']] }] })
        .fault(0.7, 1, 'partition', 'heal')
        .fault(0.8, 0, 'failover', 'phase', { did: 'cut r1 -x- r2', effects: [{ kind: 'cut', pairs: [['r1', 'r2']] }] })
        .fault(2.6, 0, 'failover', 'strike', { targets: ['r1'] })
        .sample(2.5, 'r2')
        .take(RETAKEN, 'r2', 'c2'),
    );
    expect(cause.name).toBe('failover-lost-write');
    expect(cause.sentence).toBe("r2 replaced r1 as primary without c1's lock:0, and granted it to c2.");
    expect(cause.chain.map(({ text }) => text)).toEqual([
      'r1 could not reach r2 (failover: cut r1 -x- r2)',
      'r1 granted lock:0 to c1 (SET)',
      'r2 was a replica',
      'r2 was primary',
      'r2, as primary, had no lock:0',
      'r2 granted lock:0 to c2 (SET)',
      "until 5.998 s c1's lease would have run",
    ]);
  });

  it('is named where no sample was taken in time, but every command of the new primary was seen', () => {
    const cut: FaultEffect = { kind: 'cut', pairs: [['r1', 'r2']] };
    const cause = only(
      failover()
        .fault(1.5, 0, 'partition', 'strike', { effects: [cut] })
        .take(RETAKEN, 'r2', 'c2'),
    );
    expect(cause.name).toBe('failover-lost-write');
    const texts = cause.chain.map(({ text }) => text);
    expect(texts).toContain("r2 was watched from 0.998 s on and never got c1's write");
    // It was cut off when c1 had been granted.
    expect(texts.join()).not.toContain('could not reach');
  });

  it('is named where the old primary was back before the next look at the new one, which had said by then that it is one', () => {
    const back = (readAt: number, by = 'r2', lookAt = 2.5) =>
      only(
        failover()
          .watch(2.05, 'r1', false)
          .fault(readAt, 0, 'failover', 'strike', {
            effects: [{ kind: 'replaced', who: ['r1'], by, sinceNs: readAt * 1e9 }],
          })
          .watch(2.2, 'r1')
          .sample(2.2, 'r1', { runId: 'run-2' })
          .sample(lookAt, 'r2')
          .take(RETAKEN, 'r2', 'c2'),
      ).name;
    expect(back(2.1)).toBe('failover-lost-write');
    expect(back(2.3)).toBe('unexplained');
    expect(back(2.1, 'r3')).toBe('unexplained');
    // It may have been a replica again until then.
    expect(back(2.1, 'r2', 2.7)).toBe('unexplained');
    // It was a replica after that.
    expect(back(1.95, 'r2', 2.4)).toBe('unexplained');
  });

  it('is not named once a slot has been moved: the two may be of different shards', () => {
    const moves = (slotMovesAt: number) =>
      only(
        failover()
          .fault(slotMovesAt, 0, 'move-slot', 'strike', {
            effects: [{ kind: 'slot-moves', who: ['r1', 'r2'], slot: 7_495 }],
          })
          .sample(2.5, 'r2')
          .take(RETAKEN, 'r2', 'c2'),
      ).name;
    expect(moves(2.7)).toBe('unexplained');
    expect(moves(3.5)).toBe('failover-lost-write');
  });

  it('is named where the old primary was made a replica, and primary again without the write', () => {
    const looked = (story: Story) => {
      for (let at = 1.05; at < 1.6; at += 0.1) story.sample(at, 'r1', { owner: 'value-of-c1' });
      return story;
    };
    const back = () =>
      looked(failover()).sample(1.6, 'r1', { role: 'replica' }).sample(2.5, 'r1').take(RETAKEN, 'r1', 'c2');
    const promoted = (story: Story) => story.sample(1.5, 'r2').sample(2.4, 'r2', { role: 'replica' });
    expect(only(promoted(back()))).toMatchObject({
      name: 'failover-lost-write',
      sentence: "r1 was made a replica and primary again without c1's lock:0, and granted it to c2.",
    });
    // No server took its place that is known not to have had the write; or one did that had it.
    expect(only(back()).name).toBe('unexplained');
    const unwatched = promoted(back()).watch(1.2, 'r2', false).watch(1.3, 'r2');
    expect(only(unwatched).name).toBe('unexplained');
    const sent = ['SET', KEY, 'value-of-c1', 'PXAT', '1700000005999'];
    expect(only(promoted(back()).command(1.001, 'r2', 'link', sent)).name).toBe('unexplained');
    expect(only(promoted(back()).sample(1.2, 'r2', { owner: 'value-of-c1' })).name).toBe('unexplained');
    // Its holder stored it on that one itself; what it was refused there it did not.
    expect(only(promoted(back()).take(1.7, 'r2', 'c1')).name).toBe('unexplained');
    const refused = promoted(back()).take(1.7, 'r2', 'c3').take(1.8, 'r2', 'c1');
    expect(only(refused).name).toBe('failover-lost-write');
    // It was removed from the one that had it before that became a replica.
    expect(only(promoted(back()).command(1.3, 'r1', 'c1', ['DEL', KEY])).name).toBe('unexplained');
    // Its time was over by then.
    const fast = failover().sample(1.6, 'r1', { role: 'replica', skewMs: 6_000 }).sample(2.5, 'r1', { skewMs: 6_000 });
    expect(only(promoted(fast).take(RETAKEN, 'r1', 'c2', 'value-of-c2', 6_000)).name).toBe('unexplained');
  });

  it('is not named where the new primary ran anew meanwhile: it may have had the write, and forgotten it', () => {
    const restarted = (runId: string) =>
      only(
        failover().sample(2.1, 'r2', { role: 'replica', runId }).sample(2.5, 'r2', { runId }).take(RETAKEN, 'r2', 'c2'),
      );
    expect(restarted('run-2').name).toBe('unexplained');
    expect(restarted('run-1').name).toBe('failover-lost-write');
  });

  it('is not named where the new primary was not watched and no sample shows that it had nothing', () => {
    const story = failover().watch(2.2, 'r2', false).watch(2.6, 'r2').take(RETAKEN, 'r2', 'c2');
    expect(only(story).name).toBe('unexplained');
  });

  it('is not named where the new primary had the write', () => {
    const replicated = ['SET', KEY, 'value-of-c1', 'PXAT', '1700000005999'];
    expect(
      only(failover().command(1.001, 'r2', 'link', replicated).sample(2.5, 'r2').take(RETAKEN, 'r2', 'c2')).name,
    ).toBe('unexplained');
    expect(
      only(
        failover()
          .sample(2.1, 'r2', { role: 'replica', owner: 'value-of-c1' })
          .sample(2.5, 'r2')
          .take(RETAKEN, 'r2', 'c2'),
      ).name,
    ).toBe('unexplained');
  });

  it('is not named for a failover elsewhere: both were granted by the same primary', () => {
    const story = failover()
      .sample(2.5, 'r2')
      .looks(1.1, 3, 'r1', { owner: 'value-of-c1' })
      .take(RETAKEN, 'r1', 'c2')
      .fault(0.8, 0, 'failover', 'strike', { targets: ['r1'] });
    expect(only(story).name).toBe('never-granted');
  });

  it('is not named where the second node was never seen to be a replica', () => {
    const story = broken()
      .watch(0, 'r1')
      .watch(0, 'r2')
      .sample(0.5, 'r2')
      .take(TAKEN, 'r1', 'c1')
      .take(RETAKEN, 'r2', 'c2');
    expect(only(story).name).toBe('unexplained');
  });

  it('is not named where nothing of the grants was observed', () => {
    expect(only(broken().sample(2, 'r2', { role: 'replica' }).sample(2.5, 'r2')).name).toBe('unexplained');
  });

  it('is called a split brain where the new primary granted first and the old one did not know yet', () => {
    const story = broken()
      .watch(0, 'r1')
      .watch(0, 'r2')
      .sample(0.5, 'r2', { role: 'replica' })
      .sample(0.8, 'r2')
      .take(TAKEN, 'r2', 'c1')
      .sample(2.5, 'r1')
      .take(RETAKEN, 'r1', 'c2');
    // Unless it was looked at all the time it may have been a replica, and primary again.
    expect(only(story).name).toBe('unexplained');
    for (let at = 0.4; at < 3; at += 0.1) story.sample(at, 'r1');
    expect(only(story).name).toBe('split-brain');
    // Also where the old one had itself replaced the new one, once.
    expect(only(story.sample(0.1, 'r1', { role: 'replica' }).sample(0.2, 'r1')).name).toBe('split-brain');
  });
});

describe('node-forgot', () => {
  const granted = () =>
    broken().watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1').sample(1.2, 'r1', { owner: 'value-of-c1' });
  const restarted = (at: number) =>
    granted()
      .watch(at, 'r1', false)
      .watch(at + 0.3, 'r1');

  it('is named where the node came back as another process without the key', () => {
    const cause = only(restarted(2).sample(2.5, 'r1', { runId: 'run-2' }).take(RETAKEN, 'r1', 'c2'));
    expect(cause.name).toBe('node-forgot');
    expect(cause.chain.map(({ text }) => text)).toContain('r1 ran as another process (run id run-2 after run-1)');
    expect(cause.chain.map(({ text }) => text)).toContain("r1 did not have c1's lock:0 any more");
  });

  it('is not named where the next sample came only after the second grant: the key may have been there', () => {
    expect(
      only(restarted(2).take(RETAKEN, 'r1', 'c2').sample(3.1, 'r1', { runId: 'run-2', owner: 'value-of-c2' })).name,
    ).toBe('unexplained');
  });

  it('is named although a third client took the key and released it in between', () => {
    const story = restarted(2)
      .sample(2.4, 'r1', { runId: 'run-2' })
      .grant('c3', 2.5)
      .take(2.499, 'r1', 'c3')
      .release('c3', 2.8)
      .unlock(2.801, 'r1', 'c3')
      .take(RETAKEN, 'r1', 'c2');
    expect(causes(story).map(({ name }) => name)).toEqual(['node-forgot', 'node-forgot']);
  });

  it('is not named where it is unknown whether a third client took the key and released it in between', () => {
    const story = restarted(2)
      .grant('c3', 2.5)
      .take(2.499, 'r1', 'c3')
      .release('c3', 2.8)
      .unlock(2.801, 'r1', 'c3')
      .take(RETAKEN, 'r1', 'c2')
      .sample(3.1, 'r1', { runId: 'run-2', owner: 'value-of-c2' });
    // Nor whether what c3 removed was c1's, which a restart may leave.
    expect(causes(story).map(({ name }) => name)).toEqual(['unexplained', 'unexplained']);
  });

  it('is not named from the record of a fault where watching the node went on', () => {
    const story = broken()
      .sample(0.5, 'r1')
      .take(TAKEN, 'r1', 'c1')
      .take(RETAKEN, 'r1', 'c2')
      .sample(3.1, 'r1', { runId: 'run-2' })
      .fault(1.1, 0, 'amnesia', 'strike', { effects: [{ kind: 'forgot', who: ['r1'] }] });
    expect(only(story).name).toBe('unexplained');
    expect(only(story.watch(0.9, 'r1')).name).toBe('unexplained');
  });

  it('is not named where the holder itself had removed the key before', () => {
    const story = granted().command(1.5, 'r1', 'c1', ['DEL', KEY]).watch(2, 'r1', false).watch(2.3, 'r1');
    expect(only(story.sample(2.5, 'r1', { runId: 'run-2' }).take(RETAKEN, 'r1', 'c2')).name).toBe('unexplained');
  });

  it('is not named where the restart lay before the first grant', () => {
    const story = broken()
      .watch(0, 'r1')
      .sample(0.5, 'r1')
      .watch(0.6, 'r1', false)
      .watch(0.9, 'r1')
      .take(TAKEN, 'r1', 'c1')
      .sample(1.2, 'r1', { runId: 'run-2', owner: 'value-of-c1' })
      .take(RETAKEN, 'r1', 'c2');
    expect(only(story).name).toBe('unexplained');
    expect(only(story.fault(1.1, 0, 'amnesia', 'strike', { effects: [{ kind: 'forgot', who: ['r1'] }] })).name).toBe(
      'unexplained',
    );
  });

  it('is not named where the node kept the key, or another node restarted', () => {
    expect(
      only(restarted(2).sample(2.5, 'r1', { runId: 'run-2', owner: 'value-of-c1' }).take(RETAKEN, 'r1', 'c2')).name,
    ).toBe('never-granted');
    expect(
      only(
        granted()
          .sample(0.5, 'r2')
          .watch(2, 'r2', false)
          .sample(2.5, 'r2', { runId: 'run-2' })
          .take(RETAKEN, 'r1', 'c2'),
      ).name,
    ).toBe('unexplained');
  });

  it('yields to a removal that was seen', () => {
    const story = granted().command(1.5, 'r1', 'c3', ['DEL', KEY]).watch(2, 'r1', false).watch(2.3, 'r1');
    expect(only(story.sample(2.5, 'r1', { runId: 'run-2' }).take(RETAKEN, 'r1', 'c2')).name).toBe('released-by-other');
  });
});

describe('clock-jumped', () => {
  const granted = () =>
    broken().watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1').sample(1.2, 'r1', { owner: 'value-of-c1' });

  it('is named where the node was ahead by the rest of the lease when it granted again', () => {
    const story = granted().fault(2, 0, 'clock', 'strike', {
      effects: [jump('r1', 6_000)],
      did: "set r1's clock forward by 6 s",
    });
    const cause = only(story.sample(2.2, 'r1', { skewMs: 6_000 }).take(RETAKEN, 'r1', 'c2', 'value-of-c2', 6_000));
    expect(cause.name).toBe('clock-jumped');
    expect(cause.sentence).toContain("r1's clock was 6.0 s ahead");
    expect(cause.chain.map(({ text }) => text)).toEqual(
      expect.arrayContaining(["set r1's clock forward by 6 s", "r1's clock was read 6000 ms off the machine's"]),
    );
  });

  it('is named where a look found that the server had removed the key by itself, and nothing else was stored there', () => {
    const story = granted().fault(2, 0, 'clock', 'strike', { effects: [jump('r1', 6_000)] });
    const emptied = story.sample(2.2, 'r1', { skewMs: 6_000, isEmpty: true });
    expect(only(emptied.take(RETAKEN, 'r1', 'c2', 'value-of-c2', 6_000)).name).toBe('clock-jumped');
  });

  it('is not named where a look found the server empty although its clock did not say that the time was over', () => {
    const emptied = granted().sample(2.2, 'r1', { isEmpty: true });
    expect(only(emptied.take(RETAKEN, 'r1', 'c2')).name).toBe('unexplained');
  });

  it('is named although how far the clock was off is known to some milliseconds only', () => {
    // It ran at 2.999 s, 6,000 ms ahead, and was read when the client had its answer.
    const story = granted().sample(2.2, 'r1', { skewMs: 5_994 });
    expect(only(story.take(3.006, 'r1', 'c2', 'value-of-c2', 5_992)).name).toBe('clock-jumped');
  });

  it('is named although the clock was set back before a third one was granted it', () => {
    const story = granted()
      .grant('c3', 2.5)
      .take(2.499, 'r1', 'c3', 'value-of-c3', 6_000)
      .release('c3', 2.8)
      .unlock(2.801, 'r1', 'c3', 'value-of-c3', 6_000)
      .take(RETAKEN, 'r1', 'c2');
    expect(causes(story).map(({ name }) => name)).toEqual(['clock-jumped', 'clock-jumped']);
  });

  it('is named although another asked in the very millisecond, and then let go what was stored', () => {
    // By r1's clock it ends at 5.999 s; c3's SET comes then, and nobody can tell what it found.
    const asked = () =>
      granted()
        .up('c3')
        .fault(2, 0, 'clock', 'strike', { effects: [jump('r1', 3_400)] })
        .sample(2.2, 'r1', { skewMs: 3_400, owner: 'value-of-c1', pttlMs: 399 })
        .take(2.5995, 'r1', 'c3', 'value-of-c3', 3_400);
    const released = (story: Story) => story.unlock(2.7, 'r1', 'c3', 'value-of-c3', 3_400);
    const taken = (story: Story) => only(story.take(RETAKEN, 'r1', 'c2', 'value-of-c2', 3_400)).name;
    expect(taken(released(asked()))).toBe('clock-jumped');
    // Had somebody given it more time, c3 may have let go what was c1's; or had nobody looked at it by that clock.
    const prolonged = asked().command(2.5999, 'r1', 'c1', ['PEXPIRE', KEY, '5000'], 3_400);
    expect(taken(released(prolonged))).not.toBe('clock-jumped');
    const soon = asked().unlock(2.6, 'r1', 'c3', 'value-of-c3', 3_400);
    expect(taken(soon)).not.toBe('clock-jumped');
  });

  it('is not named where the clock moved by less than can be distinguished from reading late', () => {
    const story = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 5.985).release('c1', 6.5).release('c2', 7);
    story.watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1').take(5.984, 'r1', 'c2', 'value-of-c2', 20);
    expect(only(story).name).toBe('unexplained');
  });

  it('is named where a replica with a fast clock was promoted and had the write', () => {
    const story = granted()
      .watch(0, 'r2')
      .sample(0.5, 'r2', { role: 'replica', skewMs: 6_000 })
      .command(1, 'r2', 'link', ['SET', KEY, 'value-of-c1', 'PXAT', '1700000005999'], 6_000)
      .looks(0.6, 2.4, 'r2', { role: 'replica', skewMs: 6_000 })
      .sample(2.5, 'r2', { skewMs: 6_000 })
      .take(RETAKEN, 'r2', 'c2', 'value-of-c2', 6_000);
    expect(only(story).name).toBe('clock-jumped');
  });

  it('is named although the clock was set back before any client asked: by a sample, or by the fault that struck', () => {
    const seen = granted().sample(2, 'r1', { skewMs: 6_000 }).sample(2.5, 'r1').take(RETAKEN, 'r1', 'c2');
    expect(only(seen).name).toBe('unexplained');
    expect(only(seen.sample(3.1, 'r1', { owner: 'value-of-c2' })).name).toBe('clock-jumped');
    const struck = granted()
      .fault(2, 0, 'skew-granted', 'strike', { effects: [jump('r1', 6_000)], did: 'clock of r1 set forward' })
      .fault(2.01, 0, 'skew-granted', 'heal', { targets: ['r1'] })
      .take(RETAKEN, 'r1', 'c2')
      .sample(3.1, 'r1', { owner: 'value-of-c2' });
    expect(only(struck).chain.map(({ text }) => text)).toContain('clock of r1 set forward');
    const tooLittle = granted()
      .fault(2, 0, 'clock', 'strike', { effects: [jump('r1', 2_000)] })
      .fault(2.01, 0, 'clock', 'heal', { targets: ['r1'] })
      .take(RETAKEN, 'r1', 'c2');
    expect(only(tooLittle).name).toBe('never-granted');
  });

  it('is not named where the jump was too small to end the lease, was on another node, or came before the grant', () => {
    expect(
      only(granted().sample(2.2, 'r1', { skewMs: 2_000 }).take(RETAKEN, 'r1', 'c2', 'value-of-c2', 2_000)).name,
    ).toBe('unexplained');
    const elsewhere = granted()
      .fault(2, 0, 'clock', 'strike', { effects: [jump('r2', 6_000)] })
      .sample(2.2, 'r2', { skewMs: 6_000 });
    expect(only(elsewhere.take(RETAKEN, 'r1', 'c2')).name).toBe('unexplained');
    const before = broken()
      .watch(0, 'r1')
      .sample(0.5, 'r1', { skewMs: 6_000 })
      .take(TAKEN, 'r1', 'c1', 'value-of-c1', 6_000);
    expect(only(before.take(RETAKEN, 'r1', 'c2', 'value-of-c2', 6_000)).name).toBe('never-granted');
  });
});

describe('clock-ran-fast', () => {
  const granted = () =>
    broken().watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1').sample(1.2, 'r1', { owner: 'value-of-c1' });
  const runs = (ratePpm: number, gainedMs: number, node = 'r1') => ({
    did: `clock of ${node} runs ${ratePpm > 0 ? 'fast' : 'slow'}`,
    effects: [drifting(node, ratePpm, gainedMs)],
  });
  const drift = runs(2_000_000, 100);

  it('is named where a drift explains how far ahead the node was, also one that began before the grant', () => {
    const during = granted().fault(1.3, 0, 'drift', 'strike', drift);
    const cause = only(during.take(RETAKEN, 'r1', 'c2', 'value-of-c2', 3_500));
    expect(cause.name).toBe('clock-ran-fast');
    expect(cause.chain.map(({ text }) => text)).toContain('clock of r1 runs fast');
    const seen = (skewMs: number, pttlMs: number) =>
      broken()
        .watch(0, 'r1')
        .sample(0.5, 'r1')
        .fault(0.8, 0, 'drift', 'strike', drift)
        .take(TAKEN, 'r1', 'c1', 'value-of-c1', 500)
        .sample(1.2, 'r1', { owner: 'value-of-c1', skewMs: 900, pttlMs: 4_400 })
        .sample(2.4, 'r1', { owner: 'value-of-c1', skewMs, pttlMs })
        .take(RETAKEN, 'r1', 'c2', 'value-of-c2', 4_500);
    expect(only(seen(3_300, 800)).name).toBe('clock-ran-fast');
    // It stood still then: something had set it right, and it jumped after that.
    expect(only(seen(900, 3_200)).name).toBe('unexplained');
  });

  it('is not named for a drift that was over, was elsewhere, was slow, or gained too little', () => {
    const retaken = (story: Story) => only(story.take(RETAKEN, 'r1', 'c2', 'value-of-c2', 5_000)).name;
    const heal = { targets: ['r1'] };
    const over = granted().fault(0.6, 0, 'drift', 'strike', drift).fault(0.9, 0, 'drift', 'heal', heal);
    expect(retaken(over)).toBe('clock-jumped');
    expect(retaken(granted().fault(1.3, 0, 'drift', 'strike', runs(2_000_000, 100, 'r2')))).toBe('clock-jumped');
    const slow = runs(-500_000, -100);
    expect(retaken(granted().fault(1.3, 0, 'drift', 'strike', slow))).toBe('clock-jumped');
    const little = runs(50_000, 10);
    expect(retaken(granted().fault(1.3, 0, 'drift', 'strike', little))).toBe('clock-jumped');
    const alone = granted().fault(1.3, 0, 'drift', 'strike', drift).take(RETAKEN, 'r1', 'c2');
    expect(only(alone).name).toBe('never-granted');
  });

  it('shows the heal by which a slow clock was set forward, but calls that a jump', () => {
    const slow = runs(-900_000, -100);
    const story = broken()
      .watch(0, 'r1')
      .fault(0, 0, 'drift', 'strike', slow)
      .sample(0.9, 'r1', { skewMs: -5_000 })
      .take(TAKEN, 'r1', 'c1', 'value-of-c1', -5_000)
      .fault(2, 0, 'drift', 'heal', { targets: ['r1'] })
      .take(RETAKEN, 'r1', 'c2');
    const cause = only(story);
    expect(cause.name).toBe('clock-jumped');
    expect(cause.chain.map(({ text }) => text)).toEqual(
      expect.arrayContaining(['clock of r1 runs slow', "r1's clock was set right"]),
    );
  });
});

describe('a clock that went to and fro', () => {
  const strobe = (offsetMs = 6_000) => ({ effects: [{ kind: 'clock-strobes' as const, who: ['r1'], offsetMs }] });

  /** Whether c3's take, which the node's own clock seems to refuse, is known to have succeeded. */
  function took(story: Story): boolean | undefined {
    const evidence = new Evidence(story.sample(0.5, 'r1').take(1, 'r1', 'c1').take(2, 'r1', 'c3').input());
    return evidence.writes('r1', KEY).find((write) => write.client === 'c3')?.took;
  }

  it('leaves it open whether a key expired between two commands', () => {
    expect(took(new Story().watch(0, 'r1'))).toBe(false);
    expect(took(new Story().watch(0, 'r1').fault(0.6, 0, 'strobe', 'strike', strobe()))).toBeUndefined();
    const less = new Story().watch(0, 'r1').fault(0.6, 0, 'strobe', 'strike', strobe(-2_000));
    expect(took(less)).toBe(false);
    const over = new Story().watch(0, 'r1').fault(0.6, 0, 'strobe', 'strike', strobe());
    expect(took(over.fault(0.9, 0, 'strobe', 'heal', { targets: ['r1'] }))).toBe(false);
  });

  it('also for a drift that was set right meanwhile', () => {
    const drift = { effects: [drifting('r1', 9_000_000, 100)] };
    const story = new Story().watch(0, 'r1').fault(1.1, 0, 'drift', 'strike', drift);
    expect(took(story.fault(1.8, 0, 'drift', 'heal', { targets: ['r1'] }))).toBeUndefined();
  });
});

describe('a grant that was not watched', () => {
  it("is not taken for the client's next one, which follows on the release", () => {
    const story = broken().watch(0, 'r1').take(TAKEN, 'r1', 'c1').watch(2.9, 'r1', false).watch(3.1, 'r1');
    const input = story.unlock(3.5, 'r1', 'c2').take(3.6, 'r1', 'c2', 'another').input();
    const [, second] = mutualExclusion.check(input).violations[0]!.holds;
    expect(new Evidence(input).grantsOf(second!)).toEqual([]);
  });
});

describe('released-by-other', () => {
  it('is not named for a key that another client may have taken while it was not watched', () => {
    const story = broken().watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1').watch(1.2, 'r1', false);
    const unseen = story.watch(1.4, 'r1').unlock(1.6, 'r1', 'c2', 'value-of-c2').take(RETAKEN, 'r1', 'c2', 'another');
    expect(only(unseen).name).not.toBe('released-by-other');
  });

  const granted = () => broken().watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1');

  it('is named where another client deleted the key', () => {
    const cause = only(granted().command(2, 'r1', 'c3', ['DEL', KEY]).take(RETAKEN, 'r1', 'c2'));
    expect(cause.name).toBe('released-by-other');
    expect(cause.sentence).toBe("c3 removed c1's lock:0 from r1 (DEL), which let c2 have it.");
  });

  it('is named of a nested hold that needs no grant of its own, by the hold that it is nested in', () => {
    const story = () =>
      new Story()
        .up('c1')
        .up('c2')
        .promised({ kind: 'reentrant', depth: 2 })
        .watch(0, 'r1')
        .sample(0.5, 'r1')
        .take(TAKEN, 'r1', 'c1')
        .command(2, 'r1', 'c3', ['DEL', KEY])
        .take(RETAKEN, 'r1', 'c2')
        .grant('c1', 1);
    const nested = story().grant('c2', 3).grant('c2', 3.5).release('c2', 3.9).release('c2', 4).release('c1', 4);
    expect(causes(nested).map(({ name }) => name)).toEqual(['released-by-other', 'released-by-other']);
    // It is no nested one where the hold before it was over, nor is one explained by what c1 had nothing to do with.
    const again = story().grant('c2', 3).release('c2', 3.4).grant('c2', 3.5).release('c2', 4).release('c1', 4);
    expect(causes(again).map(({ name }) => name)).toEqual(['released-by-other', 'unexplained']);
    const before = story().release('c1', 3.2).grant('c2', 3).grant('c1', 3.3).grant('c2', 3.5).release('c2', 4);
    expect(causes(before.release('c2', 4).release('c1', 4)).map(({ name }) => name)).toEqual([
      'released-by-other',
      'unexplained',
      'unexplained',
    ]);
  });

  it('is named where an unknown client deleted it, on a primary', () => {
    const removed = granted().command(2, 'r1', 'stranger', ['UNLINK', KEY]).take(RETAKEN, 'r1', 'c2');
    // Without a look at it afterwards it may have been made a replica, which is told what to delete.
    expect(only(removed).name).toBe('unexplained');
    expect(only(removed.sample(2.1, 'r1')).sentence).toContain('somebody at 10.77.0.9:40000');
  });

  it('is named through a failover: removed on the old primary, and there by another client', () => {
    const story = granted()
      .watch(0, 'r2')
      .sample(0.5, 'r2', { role: 'replica' })
      .command(1, 'r2', 'link', ['SET', KEY, 'value-of-c1', 'PXAT', '1700000005999'])
      .command(2, 'r1', 'c3', ['DEL', KEY])
      .command(2.001, 'r2', 'link', ['DEL', KEY])
      .looks(1.1, 2, 'r1', { owner: 'value-of-c1' })
      .sample(0.9, 'r2', { role: 'replica' })
      .looks(1.1, 2, 'r2', { role: 'replica', owner: 'value-of-c1' })
      .sample(2.5, 'r2')
      .take(RETAKEN, 'r2', 'c2');
    expect(only(story).name).toBe('released-by-other');
  });

  it('is not named for a removal that only came over the replication link', () => {
    const story = granted()
      .watch(0, 'r2')
      .sample(0.5, 'r2', { role: 'replica' })
      .command(1, 'r2', 'link', ['SET', KEY, 'value-of-c1', 'PXAT', '1700000005999'])
      .command(2.001, 'r2', 'link', ['DEL', KEY])
      .sample(2.5, 'r2')
      .take(RETAKEN, 'r2', 'c2');
    expect(only(story).name).toBe('unexplained');
  });

  it("is not named for the holder's own client, a script that removed nothing, another key, or a time before the grant", () => {
    expect(only(granted().command(2, 'r1', 'c1', ['DEL', KEY]).take(RETAKEN, 'r1', 'c2')).name).toBe('unexplained');
    const refused = granted()
      .command(2, 'r1', 'c3', ['EVALSHA', 'abc', '1', KEY, 'value-of-c3'])
      .command(2, 'r1', 'lua', ['get', KEY]);
    expect(only(refused.take(RETAKEN, 'r1', 'c2')).name).toBe('never-granted');
    expect(only(granted().command(2, 'r1', 'c3', ['DEL', 'lock:9']).take(RETAKEN, 'r1', 'c2')).name).toBe(
      'never-granted',
    );
    expect(only(granted().command(0.9, 'r1', 'c3', ['DEL', KEY]).take(RETAKEN, 'r1', 'c2')).name).toBe('never-granted');
  });

  it('is not named where it is not certain that what was removed was still there', () => {
    const jumped = () =>
      granted()
        .fault(1.5, 0, 'skew-granted', 'strike', { effects: [jump('r1', 6_000)] })
        .fault(1.51, 0, 'skew-granted', 'heal', { targets: ['r1'] });
    const removed = (story: Story) => story.command(2, 'r1', 'c3', ['DEL', KEY]).take(RETAKEN, 'r1', 'c2');
    expect(only(removed(jumped())).name).toBe('unexplained');
    expect(only(removed(jumped().sample(1.8, 'r1', { owner: 'value-of-c1' }))).name).toBe('released-by-other');
  });

  it('is not named for a client that released what was its own by then', () => {
    const overwritten = granted().command(1.5, 'r1', 'c3', ['SET', KEY, 'value-of-c3', 'PX', '5000']);
    const released = overwritten.unlock(2, 'r1', 'c3').take(RETAKEN, 'r1', 'c2');
    expect(only(released).name).toBe('overwritten');
    const expired = broken().watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1', 'value-of-c1', 0, 300);
    const own = expired.take(1.5, 'r1', 'c3').unlock(2, 'r1', 'c3').take(RETAKEN, 'r1', 'c2');
    expect(only(own).name).toBe('lease-too-short');
  });

  it('is called a shared owner where a compare-and-delete was let through', () => {
    const story = broken()
      .watch(0, 'r1')
      .sample(0.1, 'r1')
      .take(0.2, 'r1', 'c3', 'locked', 0, 300)
      .take(TAKEN, 'r1', 'c1', 'locked')
      .unlock(2, 'r1', 'c3', 'locked')
      .take(RETAKEN, 'r1', 'c2', 'locked');
    expect(only(story).name).toBe('shared-owner');
  });

  it('is not called a shared owner where a script that was told no owner looked, and deleted what was there', () => {
    const story = (...told: string[]) =>
      broken()
        .watch(0, 'r1')
        .sample(0.1, 'r1')
        .take(0.2, 'r1', 'c3', 'locked', 0, 300)
        .take(TAKEN, 'r1', 'c1', 'locked')
        .command(2, 'r1', 'c3', ['EVALSHA', 'force', '1', KEY, ...told])
        .command(2, 'r1', 'lua', ['get', KEY])
        .command(2, 'r1', 'lua', ['del', KEY])
        .take(RETAKEN, 'r1', 'c2', 'locked');
    expect(only(story('locked')).name).toBe('shared-owner');
    expect(only(story()).name).toBe('released-by-other');
  });

  it('says of a shared owner whether the one who released it had ever stored it', () => {
    const refused = broken().watch(0, 'r1').sample(0.1, 'r1').take(TAKEN, 'r1', 'c1', 'locked');
    refused.take(1.5, 'r1', 'c3', 'locked').unlock(2, 'r1', 'c3', 'locked').take(RETAKEN, 'r1', 'c2', 'locked');
    const { sentence, chain } = only(refused);
    expect(sentence).toBe('c3 released lock:0 although c1 held it: both had asked with the same value as owner.');
    expect(chain.map(({ text }) => text)).toContain('c3 had asked with the same value as c1');
  });

  it('is not called a shared owner where a script deletes whatever is there', () => {
    const story = broken()
      .watch(0, 'r1')
      .sample(0.1, 'r1')
      .take(0.2, 'r1', 'c3', 'mine', 0, 300)
      .take(TAKEN, 'r1', 'c1');
    expect(only(story.unlock(2, 'r1', 'c3', 'mine').take(RETAKEN, 'r1', 'c2')).name).toBe('released-by-other');
  });

  it('is counted from the right grant, although the client tried again at once', () => {
    const story = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 1.03).release('c1', 1.05).release('c2', 2);
    story
      .watch(0, 'r1')
      .sample(0.5, 'r1')
      .take(TAKEN, 'r1', 'c1')
      .command(1.01, 'r1', 'c3', ['DEL', KEY])
      .take(1.029, 'r1', 'c2');
    story.unlock(1.051, 'r1', 'c1').take(1.1, 'r1', 'c1');
    expect(only(story).sentence).toContain("c3 removed c1's lock:0");
  });

  it('is called overwritten where the second client asked no other node', () => {
    expect(only(granted().command(RETAKEN, 'r1', 'c2', ['SET', KEY, 'value-of-c2', 'PX', '5000'])).name).toBe(
      'overwritten',
    );
  });

  it('two scripts that store the same value have the same owner, except those of a semaphore, which store none', () => {
    const stored = () => {
      const story = broken().watch(0, 'r1').sample(0.5, 'r1');
      for (const [at, client] of [
        [TAKEN, 'c1'],
        [RETAKEN, 'c2'],
      ] as const)
        story
          .command(at, 'r1', client, ['EVAL', 'take', '1', KEY])
          .command(at, 'r1', 'lua', ['get', KEY])
          .command(at, 'r1', 'lua', ['set', KEY, '1']);
      return story.sample(1.2, 'r1', { owner: '1', pttlMs: -1 });
    };
    expect(only(stored()).name).toBe('shared-owner');
    expect(only(stored().promised({ kind: 'semaphore', permits: 1 })).name).toBe('unexplained');
  });
});

it('what a client stores just after it had its answer is not what it was granted with', () => {
  const taken = broken().watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1');
  const [first, again] = [RETAKEN, 3.012];
  for (const [at, value] of [
    [first, 'value-of-c2'],
    [again, 'what c2 stores besides'],
  ] as const)
    taken.command(at, 'r1', 'c2', ['SET', KEY, value, 'PX', '5000']);
  const { name, chain } = only(taken);
  expect(name).toBe('overwritten');
  expect(Math.max(...chain.map(({ atNs }) => atNs))).toBeLessThan(again * 1e9);
});

it('fields that every owner writes beside its own are nobody’s: two that write `mode` are not one owner', () => {
  const story = broken().watch(0, 'r1').sample(0.5, 'r1');
  for (const [at, client] of [
    [TAKEN, 'c1'],
    [RETAKEN, 'c2'],
  ] as const) {
    story.command(at, 'r1', client, ['EVAL', 'take', '1', KEY, `value-of-${client}`]);
    story.command(at, 'r1', 'lua', ['hincrby', KEY, `write:value-of-${client}`, '1']);
    story.command(at, 'r1', client, ['EVAL', 'renew', '1', KEY, `value-of-${client}`]);
    story.command(at, 'r1', 'lua', ['hexists', KEY, `write:value-of-${client}`]);
    story.command(at, 'r1', 'lua', ['hset', KEY, 'mode', 'write']).command(at, 'r1', 'lua', ['pexpire', KEY, '5000']);
  }
  expect(only(story).name).not.toBe('shared-owner');
});

describe('overwritten, by a script', () => {
  const causeBy = (...called: string[][]) => {
    const story = broken().watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1');
    story.command(RETAKEN, 'r1', 'c2', ['EVAL', 'take', '1', KEY]);
    for (const argv of called) story.command(RETAKEN, 'r1', 'lua', argv);
    return only(story.sample(3.1, 'r1', { owner: 'value-of-c2' }));
  };
  const by = (...called: string[][]) => causeBy(...called).name;
  const set = ['set', KEY, 'value-of-c2', 'PX', '5000'];

  it('is named where it wrote and had asked for nothing, and not where it may have asked for what it was told', () => {
    expect(causeBy(set)).toMatchObject({
      name: 'overwritten',
      sentence: "c2 overwrote c1's lock:0: its script wrote before it asked what is there.",
    });
    expect(by(set, ['get', KEY])).toBe('overwritten');
    expect(by(['get', KEY], set)).toBe('unexplained');
    expect(by(['get', 'another'], set)).toBe('unexplained');
  });
});

describe('lease-too-short', () => {
  it('is named where the server was asked for less than the lease', () => {
    const story = broken()
      .watch(0, 'r1')
      .sample(0.5, 'r1')
      .take(TAKEN, 'r1', 'c1', 'value-of-c1', 0, 5)
      .take(RETAKEN, 'r1', 'c2', 'value-of-c2', 0, 5);
    expect(only(story)).toMatchObject({
      name: 'lease-too-short',
      sentence: expect.stringContaining('for 5 ms only, of a lease of 5000 ms'),
    });
  });

  it('is named although the clock moved a little meanwhile', () => {
    const story = broken().watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1', 'value-of-c1', 0, 1_500);
    expect(only(story.take(RETAKEN, 'r1', 'c2', 'value-of-c2', 100)).name).toBe('lease-too-short');
  });

  it('is not named where it was asked for the whole lease', () => {
    expect(only(broken().watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1').take(RETAKEN, 'r1', 'c2')).name).toBe(
      'never-granted',
    );
  });
});

describe('which write granted a hold', () => {
  it('is the one before the answer, not what the client asked of another node after its release', () => {
    // The old primary r1 grants c1, is demoted, and c1 (releasing in vain) asks the new one, r2, for the same key again.
    const story = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 1.7).release('c1', 1.9).release('c2', 4);
    story.watch(0, 'r1').watch(0, 'r2').sample(0.5, 'r1').sample(0.5, 'r2', { role: 'replica' }).sample(0.8, 'r2');
    story.take(0.999, 'r1', 'c1').sample(1.2, 'r2').take(1.699, 'r2', 'c2').take(1.91, 'r2', 'c1', 'value-of-the-next');
    for (let at = 0.4; at < 0.95; at += 0.1) story.sample(at, 'r1');
    expect(only(story).name).toBe('failover-lost-write');
  });
});

describe('on independent nodes', () => {
  const nodes = ['r1', 'r2', 'r3', 'r4', 'r5'];
  /** Watched and empty; c1 is granted on `c1On`, and c2 asks r3, r4, r5. */
  const redlock = (c1On: string[], c2On = ['r3', 'r4', 'r5'], skewOf: Record<string, number> = {}) => {
    const story = broken().independent();
    for (const node of nodes) story.watch(0, node).sample(0.5, node);
    for (const node of c1On) story.take(TAKEN, node, 'c1').sample(1.2, node, { owner: 'value-of-c1' });
    for (const node of c2On) story.take(RETAKEN, node, 'c2', 'value-of-c2', skewOf[node] ?? 0);
    return story;
  };
  const forget = (story: Story, node: string) =>
    story.watch(2, node, false).watch(2.3, node).sample(2.5, node, { runId: 'run-2' });

  it('one that forgot, and was the only one that granted both, explains it', () => {
    expect(only(forget(redlock(['r1', 'r2', 'r3']), 'r3')).name).toBe('node-forgot');
  });

  it('so does one whose clock jumped', () => {
    expect(only(redlock(['r1', 'r2', 'r3'], ['r3', 'r4', 'r5'], { r3: 6_000 })).name).toBe('clock-jumped');
  });

  it('so does one whose clock was ahead for a moment only: a key that expired meanwhile refuses no client', () => {
    const moment = (story: Story) =>
      story
        .fault(2, 0, 'skew-granted', 'strike', { effects: [jump('r3', 6_000)] })
        .fault(2.01, 0, 'skew-granted', 'heal', { targets: ['r3'] });
    const asked = ['r1', 'r2', 'r3', 'r4', 'r5'];
    const unseen = moment(redlock(['r1', 'r2', 'r3'], []));
    for (const node of asked) unseen.take(RETAKEN, node, 'c2');
    expect(only(unseen).name).toBe('unexplained');
    unseen.sample(3.1, 'r3', { owner: 'value-of-c2' });
    expect(only(unseen).name).toBe('clock-jumped');
    const seen = moment(redlock(['r1', 'r2', 'r3'], [])).sample(2.5, 'r3');
    for (const node of asked) seen.take(RETAKEN, node, 'c2');
    expect(only(seen).name).toBe('clock-jumped');
  });

  it('what a client takes when it has its answer, with another value, is a later try of its own', () => {
    const story = forget(redlock(['r1', 'r2', 'r3']), 'r3')
      .take(1.8, 'r4', 'c1', 'later')
      .unlock(1.9, 'r4', 'c1', 'later');
    expect(only(story).name).toBe('node-forgot');
  });

  it("a release that found another client's key ends the attempt: the next one is another", () => {
    const story = forget(redlock(['r1', 'r2', 'r3']), 'r3').take(RETAKEN, 'r1', 'c2');
    // c2 gives back what it got (r1 had refused it), takes r1 anew within the second, and has it this time.
    story.command(RETAKEN + 0.3, 'r1', 'c2', ['EVAL', 'compare-and-delete', '1', KEY, 'value-of-c2']);
    story.unlock(RETAKEN + 0.31, 'r1', 'c1').take(RETAKEN + 0.35, 'r1', 'c2');
    expect(only(story).name).toBe('node-forgot');
  });

  it('one that was not watched when it granted, having just come back, is found by what it stores', () => {
    const story = redlock(['r1', 'r2', 'r3'], ['r4', 'r5']).watch(2, 'r3', false);
    const seen = () => story.sample(3.05, 'r3', { runId: 'run-2', owner: 'value-of-c2' }).watch(3.06, 'r3');
    expect(only(seen()).name).toBe('node-forgot');
    const other = redlock(['r1', 'r2', 'r3'], ['r4', 'r5']).watch(2, 'r3', false);
    expect(only(other.sample(3.05, 'r3', { runId: 'run-2', owner: 'value-of-c3' })).name).toBe('unexplained');
  });

  it('an earlier try that the observer read late is not the one that was granted', () => {
    const story = forget(redlock(['r1', 'r2', 'r3'], []), 'r3');
    for (const node of ['r4', 'r5']) story.take(2.6, node, 'c3', 'value-of-c3');
    for (const node of ['r3', 'r4', 'r5']) {
      // The harness was not scheduled for 80 ms: the refused try, c3's release and the granted try are read together.
      story.take(2.9985, node, 'c2', 'first-of-c2', -80);
      story.command(2.9986, node, 'c2', ['EVAL', 'compare-and-delete', '1', KEY, 'first-of-c2'], -79);
      if (node === 'r3') story.command(2.9987, node, 'lua', ['del', KEY], -79);
      else story.unlock(2.9987, node, 'c3', 'value-of-c3', -40);
      story.take(2.9988, node, 'c2');
    }
    expect(only(story).name).toBe('node-forgot');
  });

  it('refusals of the others do not matter', () => {
    const story = forget(redlock(['r1', 'r2', 'r3'], ['r1', 'r2', 'r3', 'r4', 'r5']), 'r3');
    expect(only(story)).toMatchObject({ name: 'node-forgot', sentence: expect.not.stringContaining('r1') });
  });

  it('one that forgot does not, where another one granted both for no reason', () => {
    const story = forget(redlock(['r1', 'r2', 'r3', 'r4'], []), 'r3')
      .take(RETAKEN, 'r3', 'c2')
      .take(RETAKEN, 'r5', 'c2');
    // Whether r4 granted c2 is unknown: watching it broke off, without a restart.
    story.watch(2.8, 'r4', false).watch(2.9, 'r4').take(RETAKEN, 'r4', 'c2');
    expect(only(story).name).toBe('unexplained');
  });

  it('one that forgot does not, where each of the two may have had its majority from nodes that were not watched', () => {
    const unseen = (of: string[]) => {
      const story = forget(redlock(['r1', 'r2', 'r3'], []), 'r3').take(RETAKEN, 'r3', 'c2');
      for (const node of of) story.watch(0.9, node, false).watch(1.5, node).watch(2.9, node, false);
      return only(story).name;
    };
    expect(unseen(['r4', 'r5'])).toBe('node-forgot');
    expect(unseen(['r1', 'r4', 'r5'])).toBe('unexplained');
  });

  it('one that forgot but had not granted the first explains nothing', () => {
    expect(only(forget(redlock(['r1', 'r2', 'r3']), 'r5')).name).not.toBe('node-forgot');
  });

  it('a minority that sufficed is named, by those that granted and those that refused', () => {
    const cause = only(redlock(nodes, ['r1', 'r2']).unlock(1.5, 'r1', 'c1').command(1.5, 'r2', 'c3', ['DEL', KEY]));
    expect(cause.name).toBe('minority-granted');
    expect(cause.sentence).toBe('c2 was told that it holds lock:0, but only r1 and r2 granted it; it takes 3.');
  });

  it('a minority is not named where the others could not be watched', () => {
    const story = redlock(['r1', 'r2', 'r3'], ['r4', 'r5']).watch(2.9, 'r3', false);
    expect(only(story).name).toBe('unexplained');
  });
});

describe('minority-granted', () => {
  const nodes = ['r1', 'r2', 'r3', 'r4', 'r5'];
  const killed = (...who: string[]) => ({
    did: `SIGKILL to ${who.join(', ')}`,
    effects: [{ kind: 'killed' as const, who }],
  });
  const cut = (...pairs: [string, string][]) => ({ did: 'cut', effects: [{ kind: 'cut' as const, pairs }] });
  /** c1 is granted by r1, r2, r3; c3 removes that from r3; c2 is refused by r1 and r2, granted by r3, and asks no other. */
  const onlyR3 = (story = broken()) => {
    story.independent();
    for (const node of nodes) story.watch(0, node).sample(0.5, node);
    for (const node of ['r1', 'r2', 'r3']) story.take(TAKEN, node, 'c1');
    story.command(1.5, 'r3', 'c3', ['DEL', KEY]);
    for (const node of ['r1', 'r2', 'r3']) story.take(RETAKEN, node, 'c2');
    return story;
  };
  const unseen = (story: Story, ...of: string[]) => {
    for (const node of of) story.watch(2, node, false);
    return story;
  };

  it('is named where the nodes that were not watched were dead for the whole attempt', () => {
    const cause = only(unseen(onlyR3(), 'r4', 'r5').fault(2, 0, 'kill', 'strike', killed('r4', 'r5')));
    expect(cause.name).toBe('minority-granted');
    expect(cause.sentence).toContain('only r3 granted it');
    expect(cause.chain.map(({ text }) => text)).toEqual([
      'SIGKILL to r4, r5',
      'r3 granted it to c2',
      "r1 refused it: another owner's value was there",
      "r2 refused it: another owner's value was there",
      'c2 was told at 3.000 s that it holds the lock',
    ]);
  });

  it('is not named where what was read after the answer may have run before, by a clock that does not say when', () => {
    const asked = (aheadMs: number) => {
      const story = onlyR3();
      for (const node of ['r4', 'r5']) story.take(3.05, node, 'c2', 'value-of-c2', aheadMs);
      return only(story).name;
    };
    expect(asked(0)).toBe('minority-granted');
    expect(asked(100)).not.toBe('minority-granted');
    // As far off all the time, it does say when.
    const off = { skewMs: 100, owner: 'value-of-c2' };
    const steady = onlyR3();
    for (const node of ['r4', 'r5'])
      steady.sample(2.5, node, { skewMs: 100 }).take(3.05, node, 'c2', 'value-of-c2', 100).sample(3.1, node, off);
    expect(only(steady).name).toBe('minority-granted');
  });

  it('is not named where a request that was read late ran within the attempt by a clock that is steadily off', () => {
    const JUMP_MS = 3_000;
    const jumped = (ranMs: number) => {
      const story = onlyR3();
      for (const node of ['r4', 'r5']) {
        story.sample(2.5, node, { owner: 'of-somebody' }).sample(2.6, node, { owner: 'of-somebody', skewMs: JUMP_MS });
        // All read at 3.2 s: of the first it is not known by which of the two clocks it ran.
        story.take(3.2, node, 'c2', 'value-of-before', 2_550 - 3_200);
        story.take(3.2, node, 'c2', 'value-of-c2', ranMs - 3_200 + JUMP_MS);
        story.sample(3.3, node, { owner: 'of-somebody', skewMs: JUMP_MS });
      }
      return only(story).name;
    };
    expect(jumped(2_999.5)).not.toBe('minority-granted');
    expect(jumped(3_150)).toBe('minority-granted');
  });

  it('is not named where they came back before the answer, died after the attempt left, or were not struck', () => {
    const struck = (at: number) => unseen(onlyR3(), 'r4', 'r5').fault(at, 0, 'kill', 'strike', killed('r4', 'r5'));
    expect(only(struck(2).fault(2.9995, 0, 'kill', 'heal')).name).not.toBe('minority-granted');
    expect(only(struck(2.999)).name).not.toBe('minority-granted');
    expect(only(unseen(onlyR3(), 'r4', 'r5')).name).not.toBe('minority-granted');
    expect(only(struck(2).fault(3.1, 0, 'kill', 'heal')).name).toBe('minority-granted');
  });

  it('is named where what the client sent could not reach them, and not where only their answers could not', () => {
    const out = unseen(onlyR3(), 'r4', 'r5').fault(2, 0, 'partition', 'strike', cut(['c2', 'r4'], ['c2', 'r5']));
    expect(only(out).name).toBe('minority-granted');
    const back = unseen(onlyR3(), 'r4', 'r5').fault(2, 0, 'partition', 'strike', cut(['r4', 'c2'], ['r5', 'c2']));
    expect(only(back).name).not.toBe('minority-granted');
    const another = unseen(onlyR3(), 'r4', 'r5').fault(2, 0, 'partition', 'strike', cut(['c1', 'r4'], ['c1', 'r5']));
    expect(only(another).name).not.toBe('minority-granted');
  });

  it('is not named where watching broke off within a second after the answer', () => {
    expect(only(onlyR3()).name).toBe('minority-granted');
    const lost = onlyR3().watch(3.5, 'r4', false).watch(3.5, 'r5', false);
    expect(only(lost).name).not.toBe('minority-granted');
  });

  it('is not named where nodes may have kept what the client stored before, or were found to', () => {
    const kept = onlyR3();
    for (const node of ['r4', 'r5']) kept.take(2, node, 'c2');
    expect(only(kept).name).not.toBe('minority-granted');
    const found = onlyR3();
    for (const node of ['r4', 'r5']) found.take(2, node, 'c2').take(RETAKEN, node, 'c2');
    expect(only(found).name).not.toBe('minority-granted');
    const forgotten = onlyR3();
    for (const node of ['r4', 'r5']) forgotten.take(2, node, 'c2').watch(2.2, node, false).watch(2.4, node);
    expect(only(forgotten).name).not.toBe('minority-granted');
    const others = onlyR3();
    for (const node of ['r4', 'r5']) others.take(2, node, 'c3').take(RETAKEN, node, 'c2');
    expect(only(others).name).toBe('minority-granted');
  });

  it('counts a node of which nothing was ever observed', () => {
    const four = ['r1', 'r2', 'r3', 'r4'];
    const story = broken().independent();
    for (const node of four) story.watch(0, node).sample(0.5, node).take(TAKEN, node, 'c1');
    story.command(1.5, 'r3', 'c3', ['DEL', KEY]).command(1.5, 'r4', 'c3', ['DEL', KEY]);
    for (const node of four) story.take(RETAKEN, node, 'c2');
    expect(only(story).name).not.toBe('minority-granted');
    expect(only(story.fault(0.2, 0, 'kill', 'strike', killed('r5'))).name).toBe('minority-granted');
  });

  it('is not named for a client that held the key already: it may be granted again by one node, or none', () => {
    const nested = () => {
      const story = new Story().up('c1').up('c2').promised({ kind: 'reentrant', depth: 2 }).independent();
      for (const node of nodes) story.watch(0, node).sample(0.5, node);
      return story;
    };
    const story = nested().grant('c2', 1);
    for (const node of ['r3', 'r4', 'r5']) story.take(TAKEN, node, 'c2');
    // c2's outer hold is lost to c1 by c3's doing; its inner one asks r1 alone.
    for (const node of ['r3', 'r4', 'r5']) story.command(1.5, node, 'c3', ['DEL', KEY]);
    story.grant('c2', 2).take(1.999, 'r1', 'c2', 'inner-of-c2').unlock(2.1, 'r1', 'c2', 'inner-of-c2');
    story.grant('c1', 3).release('c1', 4);
    for (const node of nodes) story.take(RETAKEN, node, 'c1');
    // Both holds ended by what c3 deleted: neither was granted by too few.
    const named = causes(story);
    expect(named.map(({ name }) => name)).toEqual(['released-by-other', 'released-by-other']);
    expect(named.map(({ sentence }) => sentence).join()).not.toContain('only r1');
  });

  it('is not named for permits or readers', () => {
    for (const model of [{ kind: 'semaphore', permits: 1 }, { kind: 'read-write' }] as const)
      expect(only(onlyR3().promised(model)).name).not.toBe('minority-granted');
  });
});

describe('of a stale holder', () => {
  /** c1's lease ends at 5.998 s; c2 is granted at 6.1 s; c1 acts until `until`. */
  const stale = (until = 8, sent = 4, features: string[] = []) =>
    new Story()
      .up('c1', features)
      .up('c2', features)
      .grant('c1', 1)
      .grant('c2', 6.1)
      .release('c1', until, { sent })
      .release('c2', 9);
  /** That c1 ran at 6.3 s and at 6.7 s, by its own stamps. */
  const ran = (story: Story, ...ats: number[]) => {
    for (const at of ats.length > 0 ? ats : [6.3, 6.7]) story.grant('c1', at, { key: `of-${at}` });
    return story;
  };
  const pause = (story: Story, from: number, until: number, target = 'c1') =>
    story
      .fault(from, 0, 'pause', 'strike', { did: `SIGSTOP to ${target}`, effects: [{ kind: 'stopped', who: [target] }] })
      .fault(until, 0, 'pause', 'heal', { targets: [target] });
  const cut = (story: Story, from: number, until: number, host = 'c1') =>
    story
      .fault(from, 1, 'partition', 'strike', {
        did: `cut ${host} -x- r1`,
        effects: [{ kind: 'cut', pairs: [[host, 'r1']] }],
      })
      .fault(until, 1, 'partition', 'heal', { targets: [host] });

  it('a pause that was in force when the lease ended', () => {
    const cause = only(pause(stale(), 3, 7.9));
    expect(cause).toMatchObject({
      name: 'client-paused',
      sentence: expect.stringContaining('c1 was paused when its lease ended at 5.998 s'),
    });
    expect(cause.chain.map(({ text }) => text)).toEqual([
      'c1 was granted lock:0',
      'SIGSTOP to c1',
      "c1's lease of 5000 ms ended",
      'c1 ran again',
      'until then c1 acted as the holder',
    ]);
  });

  it('a pause by any fault that stopped it, also one that does more than that', () => {
    const frozen: FaultEffect = { kind: 'stopped', who: ['c1'], sinceNs: 3.2e9 };
    const story = stale()
      .fault(3, 0, 'hibernate', 'phase', { did: 'cut c1 off' })
      .fault(3.5, 0, 'hibernate', 'strike', { did: 'froze the machine of c1', effects: [frozen, jump('c1', 900)] })
      .fault(8, 0, 'hibernate', 'heal', { beganNs: 7.9e9 });
    const { name, chain } = only(story);
    expect(name).toBe('client-paused');
    expect(chain.map(({ text }) => text)).toContain('froze the machine of c1');
  });

  it('one of many short stops, which the heal reports', () => {
    const stop: FaultEffect = { kind: 'stopped', who: ['c1'], sinceNs: 5.5e9, untilNs: 6.5e9 };
    const story = stale()
      .fault(2, 0, 'slow', 'strike', { effects: [{ kind: 'slowed', who: ['c1'], stopMs: 1_000, everyMs: 1_100 }] })
      .fault(9, 0, 'slow', 'heal', { effects: [stop] });
    expect(only(story).chain.map(({ text }) => text)).toEqual([
      'c1 was granted lock:0',
      'c1 was stopped',
      "c1's lease of 5000 ms ended",
      'c1 ran again',
      'until then c1 acted as the holder',
    ]);
  });

  it('not a pause after which it may have run again by then; nor is it called slow', () => {
    const story = stale()
      .fault(3, 0, 'pause', 'strike', { effects: [{ kind: 'stopped', who: ['c1'] }] })
      .fault(7, 0, 'pause', 'heal', { beganNs: 5.9e9 });
    expect(only(story).name).toBe('unexplained');
  });

  it('not a pause that was over by then, came later, or struck another client', () => {
    expect(only(pause(stale(), 2, 4)).name).not.toBe('client-paused');
    expect(only(pause(stale(), 6.5, 7.9)).name).toBe('client-slow');
    expect(only(pause(stale(), 3, 7.9, 'c2')).name).toBe('client-slow');
    expect(only(pause(stale(), 3, 7.9, 'c1.2')).name).toBe('client-slow');
  });

  it('not a pause that was shorter than it went on after its lease, having run again', () => {
    expect(only(pause(stale(8, 7.9), 5.9, 6.2)).name).toBe('unexplained');
    expect(only(ran(pause(stale(8, 7.9, ['renews']), 5.9, 6.2))).name).toBe('unexplained');
    // That kept it from renewing.
    expect(only(pause(stale(8, 7.9, ['renews']), 3.4, 6.2)).name).toBe('client-paused');
    expect(only(pause(stale(8, 7.9), 5.9, 7.89)).name).toBe('unexplained');
    expect(only(pause(stale(8, 7.9), 5.9, 7.91)).name).toBe('client-paused');
    // It had been stopped before.
    expect(only(pause(pause(stale(8, 7.9), 2, 4), 5.9, 6.2)).name).toBe('client-paused');
    const slow: FaultEffect = { kind: 'slowed', who: ['c1'], stopMs: 100, everyMs: 200 };
    const slowed = (from: number) => stale(8, 7.9).fault(from, 2, 'slow', 'strike', { effects: [slow] });
    expect(only(pause(slowed(2), 5.9, 6.2)).name).toBe('client-paused');
    expect(only(pause(slowed(8.5), 5.9, 6.2)).name).toBe('unexplained');
  });

  /** The last thing known of r1 and r2 before the lease ended at 5.998 s. */
  const sampled = (story: Story, second: 'primary' | 'replica' = 'replica') =>
    story.sample(5.9, 'r1').sample(5.9, 'r2', { role: second }).sample(6.5, 'r1', { role: 'replica' });

  it('being cut off from the primary, where renewals had to travel; and what came of it', () => {
    const renews = () => sampled(stale(8, 7.9, ['renews']));
    expect(only(cut(renews(), 3, 7))).toMatchObject({
      name: 'client-cut-off',
      sentence:
        'c1 was cut off (cut c1 -x- r1) when its lease ended at 5.998 s, could not renew it, and acted as the holder for another 2.002 s.',
    });
    const lost = { type: 'lost', client: 'c1', hold: 1, key: KEY, clientNs: 7.4e9 } as const;
    expect(only(cut(renews().event(7.41, lost), 3, 7)).sentence).toMatch(/, and noticed only 1\.402 s later\.$/);
    // The second one may be the primary by then, or it is not known which is.
    expect(only(cut(sampled(stale(8, 7.9, ['renews']), 'primary'), 3, 7)).name).toBe('unexplained');
    expect(only(cut(stale(8, 7.9, ['renews']), 3, 7)).name).toBe('unexplained');
  });

  it('not being cut off only when it should have renewed long since', () => {
    // A third of the lease after its grant, as another hold of the run is.
    const renews = () =>
      sampled(stale(8, 7.9, ['renews']))
        .grant('c3', 10, { key: 'another' })
        .renewed('c3', 11.67)
        .release('c3', 12);
    expect(only(cut(renews(), 2, 7)).name).toBe('client-cut-off');
    expect(only(cut(renews(), 3, 7)).name).toBe('unexplained');
    // Where it never was seen to renew anything, a cut just before the end kept it from nothing.
    expect(only(cut(sampled(stale(8, 7.9, ['renews'])), 3.4, 7)).name).toBe('client-cut-off');
    expect(only(cut(sampled(stale(8, 7.9, ['renews'])), 5.9, 7)).name).toBe('unexplained');
  });

  it('being cut off from so many independent nodes that the others are no majority', () => {
    const from = (...nodes: string[]) => {
      const pairs = nodes.map((node): [string, string] => ['c1', node]);
      const story = stale(8, 7.9, ['renews']).independent();
      return only(story.fault(3, 1, 'partition', 'strike', { did: 'cut', effects: [{ kind: 'cut', pairs }] })).name;
    };
    expect(from('r1')).toBe('unexplained');
    expect(from('r1', 'r2')).toBe('unexplained');
    expect(from('r1', 'r2', 'r3')).toBe('client-cut-off');
    expect(from('r1', 'r2', 'c2')).toBe('unexplained');
    const off = stale(8, 7.9, ['renews']).fault(3, 1, 'partition', 'strike', {
      effects: [{ kind: 'off-network', who: ['c1'] }],
    });
    expect(only(off.independent()).name).toBe('client-cut-off');
  });

  it('not being cut off where none had to, or when the cut was over', () => {
    expect(only(cut(sampled(stale(8, 5.9)), 3, 7)).name).toBe('unexplained');
    expect(only(cut(sampled(stale(8, 7.9, ['renews'])), 2, 3)).name).toBe('unexplained');
    expect(only(cut(sampled(stale(8, 7.9, ['renews'])), 3, 7, 'c2')).name).toBe('unexplained');
  });

  it('its own slowness, where no fault was in force on it', () => {
    expect(only(stale(8, 7.9))).toMatchObject({
      name: 'client-slow',
      sentence: expect.stringContaining('c1 worked 7 s under a lease of 5 s'),
    });
    expect(only(stale(8, 4)).sentence).toContain(
      'was told to release in time, but began only 2.002 s after its lease had ended',
    );
    expect(only(stale().fault(1, 0, 'failover', 'strike', { targets: ['r1'] })).name).toBe('client-slow');
  });

  it('its own slowness where it was to work for longer than its lease, and only messages were kept back', () => {
    expect(only(cut(stale(8, 7.9), 3, 7))).toMatchObject({
      name: 'client-slow',
      sentence:
        'c1 worked 7 s under a lease of 5 s: it was to do so for 6.899 s, and what was in force kept back messages alone.',
    });
    // It may not have run, or what it was asked for meanwhile may not have been answered.
    expect(only(pause(stale(8, 7.9), 2, 4)).name).toBe('unexplained');
    const asked = cut(stale(8, 7.9), 3, 7).refused('c1', 3.1, 5, 'fail', 'another');
    expect(only(asked).name).toBe('unexplained');
  });

  describe('that its lock, which renews by itself, did not tell it', () => {
    const untold = (story = stale(8, 7.9, ['renews'])) => only(ran(story));
    const ranAt = (...ats: number[]) => only(ran(stale(8, 7.9, ['renews']), ...ats)).name;

    it('that it was over', () => {
      expect(untold()).toMatchObject({
        name: 'not-told',
        sentence:
          "The lock renews by itself, and yet c1's lease ended at 5.998 s: c1, which ran at 6.297 s and at 8.000 s, had not been told by then, and acted as the holder for another 2.002 s.",
        chain: [
          { text: 'c1 was granted lock:0' },
          { text: "c1's lease of 5000 ms ended" },
          { text: 'c1 ran, and had not been told' },
          { text: 'until then c1 acted as the holder' },
        ],
      });
    });

    it('only where it is proven that it ran meanwhile: a busy machine may not have run it until its release', () => {
      expect(only(stale(8, 7.9, ['renews'])).name).toBe('unexplained');
      expect(ranAt(5.9)).toBe('unexplained');
      expect(ranAt(7.7)).toBe('not-told');
      expect(ranAt(7.76)).toBe('unexplained');
      expect(ranAt(8.5)).toBe('unexplained');
      // What others do shows nothing of it, nor does a client whose stamps contradict themselves.
      expect(only(stale(8, 7.9, ['renews']).grant('c2', 6.5, { key: 'of-c2' })).name).toBe('unexplained');
      const wrong = stale(8, 7.9, ['renews']).grant('c1', 6.5, { key: 'wrong', read: 6.498 });
      expect(only(wrong).name).toBe('unexplained');
    });

    it('in virtual time by nothing else than that no fault stopped it', () => {
      const virtual = (story: Story) =>
        only(
          story.event(0, {
            type: 'deployment',
            ...{ topology: 'single', runtime: 'sim', serverVersion: '7.0.15', settings: [] },
            ...{ quorum: { kind: 'primary' }, exactStamps: true },
          }),
        );
      expect(virtual(stale(8, 7.9, ['renews']))).toMatchObject({
        name: 'not-told',
        sentence: expect.stringContaining(
          'c1, which nothing stopped from 5.998 s to 8.000 s, had not been told by then',
        ),
      });
      expect(virtual(stale(6.24, 6.2, ['renews'])).name).toBe('unexplained');
      expect(virtual(stale(6.26, 6.25, ['renews'])).name).toBe('not-told');
      expect(virtual(stale(8, 5.9, ['renews'])).name).toBe('unexplained');
      expect(virtual(stale(8, 7.9)).name).not.toBe('not-told');
      expect(virtual(pause(stale(8, 7.9, ['renews']), 6.1, 7.5)).name).toBe('unexplained');
      expect(virtual(pause(stale(8, 7.9, ['renews']), 6.4, 7.5)).name).toBe('not-told');
      expect(virtual(stale(12, 11.9, ['renews']).down('c1', 8)).name).toBe('unexplained');
    });

    it('not by the telling itself: it may have come as soon as it ran', () => {
      const told = (...ats: number[]) =>
        only(
          ran(stale(9, 8.9, ['renews']), ...ats).event(8.001, {
            type: 'lost',
            client: 'c1',
            hold: 1,
            key: KEY,
            clientNs: 8e9,
          }),
        );
      expect(told(6.5).name).toBe('unexplained');
      expect(told(6.5, 6.7).name).toBe('unexplained');
      expect(told(6.5, 6.8)).toMatchObject({
        name: 'not-told',
        sentence: expect.stringMatching(/, and heard of it only 2\.002 s after that end\.$/),
      });
    });

    it('not where it was to release by then, may have been stopped, or died', () => {
      expect(untold(stale(8, 5.9, ['renews'])).name).toBe('unexplained');
      // It ran at 6.3 s and by then had not been told; what ran after its stop shows nothing.
      expect(untold(pause(stale(8, 7.9, ['renews']), 6.4, 7.5)).name).toBe('unexplained');
      expect(untold(pause(stale(8, 7.9, ['renews']), 6.1, 6.2)).name).toBe('unexplained');
      expect(untold(pause(stale(8, 7.9, ['renews']), 7, 7.5)).name).toBe('not-told');
      expect(untold(pause(stale(8, 7.9, ['renews']), 5.7, 5.8)).name).toBe('not-told');
      const slow: FaultEffect = { kind: 'slowed', who: ['c1'], stopMs: 100, everyMs: 200 };
      const slowed = stale(8, 7.9, ['renews']).fault(5.5, 0, 'slow', 'strike', { effects: [slow] });
      expect(untold(slowed).name).toBe('unexplained');
      expect(untold(stale(12, 11.9, ['renews']).down('c1', 8)).name).toBe('unexplained');
    });

    it('not where it does not say that it renews', () => {
      expect(untold(stale(8, 7.9)).name).toBe('client-slow');
    });
  });

  it('not its slowness, where the lock should have renewed itself', () => {
    expect(only(stale(8, 7.9, ['renews'])).name).toBe('unexplained');
  });

  it('a grant that outlived its lease, and the pause that made it', () => {
    const late = new Story()
      .up('c1')
      .grant('c1', 8, { grantSent: 1 })
      .grant('c2', 7)
      .release('c1', 8.5)
      .release('c2', 9);
    expect(only(late).name).toBe('granted-late');
    const paused = only(pause(late, 2, 7.9));
    expect(paused.name).toBe('granted-late');
    expect(paused.chain.map(({ text }) => text)).toContain('SIGSTOP to c1');
  });

  describe('a grant that outlived its lease, which its servers', () => {
    const CARRIED_OUT = / carried out the request$/;
    const late = () =>
      new Story().up('c1').grant('c1', 8, { grantSent: 1 }).grant('c2', 7).release('c1', 8.5).release('c2', 9);
    const carriedOut = (story: Story) => {
      const { name, chain } = only(story);
      expect(name).toBe('granted-late');
      return chain.flatMap(({ text }) => (CARRIED_OUT.test(text) ? [text.slice(0, 2)] : []));
    };

    it('made when that was over, or in time: then its client may have been kept from its answer', () => {
      const taken = (at: number) => carriedOut(late().watch(0, 'r1').sample(0.5, 'r1').take(at, 'r1', 'c1'));
      expect(taken(6.5)).toEqual(['r1']);
      expect(taken(1.1)).toEqual([]);
      expect(taken(5.999)).toEqual([]);
      expect(carriedOut(late())).toEqual([]);
      // By a clock that is off, it is not known when.
      const off = late().watch(0, 'r1').sample(0.5, 'r1', { skewMs: 3_000 });
      expect(carriedOut(off.take(6.5, 'r1', 'c1', 'value-of-c1', 3_000))).toEqual([]);
    });

    it('made too late for a majority that could have come together in time', () => {
      const asked = (...at: number[]) => {
        const story = late().independent();
        for (const n of [1, 2, 3, 4, 5]) story.watch(0, `r${n}`).sample(0.5, `r${n}`);
        at.forEach((one, n) => {
          story.take(one, `r${n + 1}`, 'c1');
        });
        return story;
      };
      expect(carriedOut(asked(1.1, 1.1, 6.5))).toEqual(['r3']);
      expect(carriedOut(asked(6.5, 1.1, 6.6, 6.7, 1.1))).toEqual(['r1', 'r3', 'r4']);
      expect(carriedOut(asked(1.1, 1.1, 1.2, 6.5))).toEqual([]);
      // What was not watched may have granted it in time.
      expect(carriedOut(asked(1.1, 1.1, 6.5).watch(0.5, 'r5', false))).toEqual([]);
    });
  });
});

describe('never-granted', () => {
  /** The one server is watched; c1 takes the key at 1 s. */
  const watched = () => broken().watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1');

  it('is named where the server had refused every request of the attempt that the client calls granted', () => {
    const cause = only(watched().take(RETAKEN, 'r1', 'c2'));
    expect(cause).toMatchObject({
      name: 'never-granted',
      sentence: "c2 said that it holds lock:0, but r1 had refused its SET: another owner's value was there.",
    });
    expect(cause.chain.map(({ text }) => text)).toEqual([
      'r1 granted lock:0 to c1 (SET)',
      "r1 refused c2's SET: another owner's value was there",
      'c2 said at 3.000 s that it holds the lock',
    ]);
  });

  it('is not named where a later request of the same attempt may have stored it', () => {
    const storing = ['SET', KEY, 'value-of-c2', 'PX', '5000'];
    expect(only(watched().take(2.9985, 'r1', 'c2').command(RETAKEN, 'r1', 'c2', storing)).name).not.toBe(
      'never-granted',
    );
  });

  it('is not named where a request that was read after the answer may be of the attempt: its clock does not say when', () => {
    const storing = ['SET', KEY, 'value-of-c2', 'PX', '5000'];
    const late = (aheadMs: number) =>
      only(watched().take(RETAKEN, 'r1', 'c2').command(3.2, 'r1', 'c2', storing, aheadMs)).name;
    expect(late(100)).toBe('unexplained');
    expect(late(0)).toBe('never-granted');
  });

  it('is not named where what was refused may be of an earlier try: a clock that ran fast does not say when', () => {
    const nx = (value: string) => ['SET', KEY, value, 'PX', '5000', 'NX'];
    const story = broken().watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1', 'value-of-c1', 0, 2_530);
    // By the looks the first ran within the attempt, and the second, which was granted, before it.
    story.sample(2.5, 'r1', { owner: 'value-of-c1', skewMs: 500 }).command(3.001, 'r1', 'c2', nx('earlier'), 498);
    story.sample(3.02, 'r1', { owner: 'value-of-c2', skewMs: 560 }).command(3.06, 'r1', 'c2', nx('value-of-c2'), 490);
    expect(only(story).name).not.toBe('never-granted');
  });

  it("is not named where the client's own value was there already: that was stored", () => {
    const story = watched().command(2, 'r1', 'c2', ['SET', KEY, 'value-of-c2', 'PX', '5000']).take(RETAKEN, 'r1', 'c2');
    expect(only(story).name).not.toBe('never-granted');
  });

  it('is not named where watching had a gap, before the answer or within a second after it', () => {
    for (const at of [2.9985, 3.5]) {
      const story = watched().take(RETAKEN, 'r1', 'c2');
      expect(only(story.watch(at, 'r1', false).watch(at + 0.0001, 'r1')).name).not.toBe('never-granted');
    }
  });

  it('is not named where the client was seen to ask for nothing, or in another form than the other holder', () => {
    expect(only(watched()).name).toBe('unexplained');
    const otherForm = watched().command(RETAKEN, 'r1', 'c2', ['SETNX', KEY, 'value-of-c2']);
    expect(only(otherForm).name).toBe('unexplained');
  });

  it('is not named for locks whose holders may rightly write nothing of their own', () => {
    const story = (model: Parameters<Story['promised']>[0]) =>
      causes(watched().take(RETAKEN, 'r1', 'c2').promised(model));
    for (const model of [{ kind: 'reentrant', depth: 2 }, { kind: 'read-write' }] as const)
      expect(story(model).map(({ name }) => name)).not.toContain('never-granted');
  });
});
