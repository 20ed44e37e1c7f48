/** What must not have happened between two writes: each way in which it may have is told once, beside what rules it out. */
import { describe, expect, it } from 'vitest';
import {
  foundNone,
  hadTimeLeft,
  isByRightClocks,
  isReplicated,
  keptItsData,
  lastProlonged,
  mayHaveBeenOver,
  mayHaveBeenReplaced,
  overMeanwhile,
  ranAnew,
  wasMovedBetween,
  wasPrimaryThroughout,
  wasReplicaThroughout,
} from '../../../../checkers/causes/meanwhile.js';
import { Evidence } from '../../../../harness/record/facts/evidence.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import type { Hold } from '../../../../harness/vocabulary/verdict.js';
import { EPOCH_WALL_MS, KEY, ns, Story } from '../build.js';

const REPLICA = { role: 'replica' } as const;
const evidenceOf = (story: Story) => new Evidence(story.input());
const watched = () => new Story().watch(0, 'r1').watch(0, 'r2');
/** The only write on a node that was read at this instant. */
const writeAt = (evidence: Evidence, at: number, node = 'r1') =>
  evidence.writes(node, KEY).find(({ atNs }) => atNs === ns(at))!;

describe("a node's data may have been replaced between 2 s and 4 s", () => {
  const replaced = (story: Story) => mayHaveBeenReplaced('r1', ns(2), ns(4), evidenceOf(story));
  const follows = () => new Story().sample(1.5, 'r2').sample(1.9, 'r1', REPLICA);

  it('where another one started again or took over while it was a replica', () => {
    expect(replaced(follows().sample(2.5, 'r2'))).toBe(false);
    expect(replaced(follows().sample(2.5, 'r2', { runId: 'run-2' }))).toBe(true);
    const beside = (role: 'primary' | 'replica') => follows().sample(1.6, 'r3', REPLICA).sample(2.5, 'r3', { role });
    expect(replaced(beside('primary'))).toBe(true);
    expect(replaced(beside('replica'))).toBe(false);
    // Its own start is another matter.
    expect(replaced(follows().sample(2.5, 'r1', { ...REPLICA, runId: 'run-2' }))).toBe(false);
  });

  it('not where it had been made primary before, and again where it was made a replica meanwhile', () => {
    const promoted = () => follows().sample(1.95, 'r1').sample(2.02, 'r2', { runId: 'run-2' });
    expect(replaced(promoted())).toBe(false);
    expect(replaced(promoted().sample(3, 'r1', REPLICA))).toBe(true);
  });

  it('where the other one was looked at just after its promotion, unless it had no link by then', () => {
    const until = (linkUp: boolean, at: number) =>
      replaced(
        follows()
          .sample(2.5, 'r1', { ...REPLICA, linkUp })
          .sample(2.6, 'r1')
          .sample(at, 'r2', { runId: 'run-2' }),
      );
    expect(until(true, 2.65)).toBe(true);
    expect(until(true, 2.75)).toBe(false);
    expect(until(false, 2.65)).toBe(false);
    expect(until(false, 2.55)).toBe(true);
  });
});

it('may be of the replication link where its node may have been a replica when it ran', () => {
  const sent = (skewMs: number, ...replicaAt: number[]) => {
    const story = watched().sample(1.5, 'r1').sample(2.5, 'r1').command(2, 'r1', 'link', ['DEL', KEY], skewMs);
    for (const at of replicaAt) story.sample(at, 'r1', REPLICA);
    const evidence = evidenceOf(story);
    return isReplicated(writeAt(evidence, 2), evidence);
  };
  expect(sent(0, 0.9)).toBe(false);
  expect(sent(0, 1.9)).toBe(true);
  // By a clock that is off it is not known when it ran.
  expect(sent(500, 0.9)).toBe(true);
});

it('was primary throughout where it was never seen to be anything else', () => {
  const was = (story: Story) => wasPrimaryThroughout('r1', ns(2), ns(3), evidenceOf(story));
  expect(was(new Story().looks(1.9, 3, 'r1'))).toBe(true);
  expect(was(new Story().looks(1.9, 3, 'r1').sample(2.55, 'r1', REPLICA))).toBe(false);
});

it('is not shown to be primary by what its clients read: a replica answers that, too', () => {
  const story = (...argv: string[]) => {
    const told = new Story().looks(1.7, 2, 'r1').looks(2.8, 3, 'r1');
    return told.times(8, (one, n) => one.command(2 + n / 10, 'r1', 'c1', argv));
  };
  const was = (told: Story) => wasPrimaryThroughout('r1', ns(2), ns(3), evidenceOf(told));
  expect(was(story('SET', KEY, 'value-of-c1'))).toBe(true);
  expect(was(story('GET', KEY))).toBe(false);
  const replica = new Story().looks(1.9, 3.1, 'r1', REPLICA).command(2.5, 'r1', 'c1', ['GET', KEY]);
  expect(wasReplicaThroughout('r1', ns(2), ns(3), evidenceOf(replica))).toBe(true);
  expect(wasReplicaThroughout('r1', ns(2), ns(3), evidenceOf(replica.sample(2.55, 'r1')))).toBe(false);
});

it('kept its data as a replica of one that kept its own, and that it never lost', () => {
  const kept = (story: Story) => keptItsData('r1', ns(2), ns(3), evidenceOf(story.sample(1.9, 'r2')));
  const link = (linkUp: boolean) => ({ ...REPLICA, linkUp });
  expect(kept(new Story().looks(1.9, 3, 'r1', link(true)))).toBe(true);
  expect(kept(new Story().looks(1.9, 3, 'r1', link(false)))).toBe(true);
  expect(kept(new Story().looks(1.9, 2.5, 'r1', link(true)).looks(2.5, 3, 'r1', link(false)))).toBe(true);
  expect(kept(new Story().looks(1.9, 2.5, 'r1', link(false)).looks(2.5, 3, 'r1', link(true)))).toBe(false);
  const again = new Story().looks(1.9, 3, 'r1', link(true)).sample(2.5, 'r2', { runId: 'run-2' });
  expect(kept(again)).toBe(false);
  // Of two primaries one may be made the other's replica at any time, and promoted again.
  expect(kept(new Story().looks(1.9, 2.5, 'r1').looks(2.5, 2.8, 'r1', REPLICA).looks(2.8, 3, 'r1'))).toBe(false);
  expect(kept(new Story().looks(1.9, 2.5, 'r1', REPLICA).looks(2.5, 3, 'r1'))).toBe(true);
});

describe('a replica without a link at 2.4 s that was primary at 2.6 s kept its data', () => {
  const CUT: FaultEffect = { kind: 'cut', pairs: [['r1', 'r2']] };
  const promoted = () =>
    new Story()
      .watch(0, 'r2')
      .sample(1.9, 'r2')
      .looks(1.9, 2.5, 'r1', { ...REPLICA, linkUp: false })
      .looks(2.6, 3, 'r1');
  const kept = (story: Story) => keptItsData('r1', ns(2), ns(3), evidenceOf(story));

  it('unless a primary was in reach, from which it may have loaded', () => {
    expect(kept(promoted())).toBe(false);
    const cut = (fromS: number, untilS: number) =>
      kept(
        promoted()
          .fault(fromS, 0, 'partition', 'strike', { effects: [CUT] })
          .fault(untilS, 0, 'partition', 'heal'),
      );
    expect(cut(2.3, 2.7)).toBe(true);
    expect(cut(2.5, 2.7)).toBe(false);
    expect(cut(2.3, 2.5)).toBe(false);
  });

  it('where the other one was a replica itself, or had died with the link', () => {
    expect(kept(promoted().sample(2.3, 'r2', REPLICA))).toBe(true);
    expect(kept(promoted().watch(2.3, 'r2', false))).toBe(true);
    // It was only not watched.
    expect(kept(promoted().watch(2.3, 'r2', false).sample(2.7, 'r2'))).toBe(false);
    expect(kept(promoted().watch(2.3, 'r2', false).sample(2.9, 'r2', { runId: 'run-2' }))).toBe(true);
  });
});

it('ran anew where a look shows another process than the last look before', () => {
  const anew = (runId: string) =>
    ranAnew('r1', ns(2), ns(3), evidenceOf(new Story().sample(1.5, 'r1').sample(2.5, 'r1', { runId })));
  expect(anew('run-1')).toBe(false);
  expect(anew('run-2')).toBe(true);
  // Of one that was not looked at before it is not known.
  expect(ranAnew('r1', ns(2), ns(3), evidenceOf(new Story().sample(2.5, 'r1')))).toBe(false);
});

it('found none where it asked, and stored what the holder had not', () => {
  const found = (value: string) => {
    const evidence = evidenceOf(watched().take(1, 'r1', 'c1').take(3, 'r1', 'c2', value));
    return foundNone({ reached: writeAt(evidence, 1), gone: writeAt(evidence, 3) });
  };
  expect(found('value-of-c2')).toBe(true);
  expect(found('value-of-c1')).toBe(false);
});

it('did not find none where a script went by what another key held, too', () => {
  const found = (...asked: string[]) => {
    const story = watched()
      .take(1, 'r1', 'c1')
      .command(3, 'r1', 'c2', ['EVAL', 'take', '2', KEY, `${KEY}:mode`]);
    for (const key of asked) story.command(3, 'r1', 'lua', ['exists', key]);
    const evidence = evidenceOf(story.command(3, 'r1', 'lua', ['set', KEY, 'value-of-c2', 'PX', '5000']));
    return foundNone({ reached: writeAt(evidence, 1), gone: writeAt(evidence, 3) });
  };
  expect(found(KEY)).toBe(true);
  expect(found(KEY, `${KEY}:mode`)).toBe(false);
});

describe('a key was prolonged last', () => {
  const until = (seconds: number) => String(EPOCH_WALL_MS + seconds * 1_000);
  /** c1's key of 1 s, on `node`, was taken by c2 there at 3 s: which write was last, and which is its client's. */
  const last = (told: (story: Story) => Story, node = 'r1') => {
    const evidence = evidenceOf(told(watched().sample(0.4, 'r1').take(1, 'r1', 'c1')).take(3, node, 'c2'));
    const earlier = { hold: { client: 'c1' } as Hold, write: writeAt(evidence, 1) };
    const reached = node === 'r1' ? earlier.write : writeAt(evidence, 1.001, node);
    const found = lastProlonged(reached, { earlier, gone: writeAt(evidence, 3, node), key: KEY }, evidence);
    return [found.last.atNs / 1e9, found.origin && found.origin.atNs / 1e9];
  };
  const prolong =
    (at: number, by: string, seconds: number, node = 'r1') =>
    (story: Story) =>
      story.command(at, node, by, ['PEXPIREAT', KEY, until(seconds)]);

  it('by its client, be it by storing the same again', () => {
    expect(last((story) => story)).toEqual([1, 1]);
    expect(last(prolong(2, 'c1', 8))).toEqual([2, 2]);
    expect(last(prolong(2, 'c3', 8))).toEqual([2, undefined]);
    expect(last((story) => story.command(2, 'r1', 'c1', ['SET', KEY, 'value-of-c1', 'PX', '5000']))).toEqual([2, 2]);
    // What another asked for before does not matter, though it was the same.
    expect(last((story) => prolong(2.1, 'c1', 8)(prolong(2, 'c3', 8)(story)))).toEqual([2.1, 2.1]);
  });

  it('not by what was refused, stored another, or was removed at once', () => {
    expect(last((story) => story.take(2, 'r1', 'c1'))).toEqual([1, 1]);
    expect(last((story) => story.command(2, 'r1', 'c1', ['SET', KEY, 'another', 'PX', '9000']))).toEqual([1, 1]);
    const atOnce = (story: Story) =>
      story
        .command(2, 'r1', 'c1', ['EVAL', 'script', '1', KEY, 'value-of-c1'])
        .command(2.001, 'r1', 'lua', ['set', KEY, 'value-of-c1', 'PX', '9000'])
        .command(2.002, 'r1', 'lua', ['del', KEY]);
    expect(last(atOnce)).toEqual([1, 1]);
  });

  it('by whoever asked its primary for the same time, where it came over the link', () => {
    const copied = (...asked: ((story: Story) => Story)[]) =>
      last((story) => {
        for (const ask of asked) ask(story);
        story.sample(0.5, 'r2', REPLICA).command(1.001, 'r2', 'link', ['SET', KEY, 'value-of-c1', 'PXAT', until(6)]);
        return prolong(2.001, 'link', 8, 'r2')(story);
      }, 'r2');
    expect(copied(prolong(2, 'c1', 8))).toEqual([2.001, 2]);
    expect(copied(prolong(1.5, 'c3', 7), prolong(2, 'c1', 8))).toEqual([2.001, 2]);
    expect(copied(prolong(1.5, 'c3', 8), prolong(2, 'c1', 8))).toEqual([2.001, undefined]);
    const refused = (story: Story) =>
      story.command(1.5, 'r1', 'c3', ['SET', KEY, 'value-of-c3', 'PXAT', until(8), 'NX']);
    expect(copied(refused, prolong(2, 'c1', 8))).toEqual([2.001, 2]);
  });
});

it('was over by a clock that was seen ahead, not by the mere course of time, nor while time was left', () => {
  const over = (at: number, skewMs: number) => {
    const evidence = evidenceOf(watched().sample(0.5, 'r1').take(1, 'r1', 'c1').sample(at, 'r1', { skewMs }));
    const write = writeAt(evidence, 1);
    return [overMeanwhile(write, 'r1', ns(8), evidence) !== undefined, mayHaveBeenOver(write, 'r1', ns(8), evidence)];
  };
  expect(over(2, 5_000)).toEqual([true, true]);
  expect(over(2, 1_000)).toEqual([false, false]);
  expect(over(7, 0)).toEqual([false, false]);
});

describe('the time that c1 set on r1 at 1 s, until 6 s,', () => {
  const clock = (effect: Partial<FaultEffect>, from: number, until: number) =>
    watched()
      .sample(0.5, 'r1')
      .take(1, 'r1', 'c1')
      .fault(from, 0, 'clock', 'strike', { effects: [{ who: ['r1'], ...effect } as FaultEffect] })
      .fault(until, 0, 'clock', 'heal');
  const overBy = (at: number, story: Story) => {
    const evidence = evidenceOf(story);
    return mayHaveBeenOver(writeAt(evidence, 1), 'r1', ns(at), evidence);
  };

  it('may have been over while its clock ran fast, though no look shows it', () => {
    const fast = () => clock({ kind: 'clock-drifts', ratePpm: 1_000_000, gainedMs: 0 }, 2, 4.5);
    expect(overBy(4.4, fast())).toBe(true);
    expect(overBy(3, fast())).toBe(false);
    expect(overBy(4.4, clock({ kind: 'clock-drifts', ratePpm: 100_000, gainedMs: 0 }, 2, 4.5))).toBe(false);
    // The mere course of time is no doing of the clock.
    expect(overBy(7, watched().sample(0.5, 'r1').take(1, 'r1', 'c1'))).toBe(false);
  });

  it('was left at a look that came before its end', () => {
    const left = (at: number, wallMs?: [number, number]) => {
      const evidence = evidenceOf(watched().sample(0.5, 'r1').take(1, 'r1', 'c1').sample(at, 'r1', { wallMs }));
      return hadTimeLeft(writeAt(evidence, 1), evidence.lastSample('r1', ns(at))![1], evidence);
    };
    expect(left(5.9)).toBe(true);
    expect(left(6.1)).toBe(false);
    expect(left(5.9, [EPOCH_WALL_MS + 6_000, EPOCH_WALL_MS + 6_100])).toBe(false);
  });
});

it('a clock was moved where a fault may have done it between, or two looks saw it differently far off', () => {
  const looks = (...skewsMs: number[]) =>
    skewsMs.reduce((story, skewMs, n) => story.sample(2 + n / 10, 'r1', { skewMs }), new Story());
  const moved = (story: Story) => wasMovedBetween('r1', ns(2), ns(3), evidenceOf(story));
  expect(moved(looks(5, 5, 5))).toBe(false);
  expect(moved(looks(5, 5, 56))).toBe(true);
  expect(moved(looks(5, 5, -46))).toBe(true);
  expect(moved(looks(5, 5, 54))).toBe(false);
  const jumps = (at: number, who = 'r1') =>
    looks(5, 5).fault(at, 0, 'clock', 'strike', { effects: [{ kind: 'clock-jumped', who: [who], offsetMs: 40 }] });
  expect(moved(jumps(2.5))).toBe(true);
  expect(moved(jumps(2.5, 'r2'))).toBe(false);
  expect(moved(jumps(1.5))).toBe(false);
});

it('a time of day is its client’s own doing by two clocks that are right', () => {
  const right = (client: string | undefined, story = watched(), skewMs = 0) => {
    const set = { untilTimeOfDay: true, serverWallMs: EPOCH_WALL_MS + 2_000 + skewMs, atNs: ns(2) };
    return isByRightClocks({ ...set, ...(client && { client }) }, ns(2), evidenceOf(story));
  };
  const jumps = (at: number) =>
    watched().fault(at, 0, 'clock', 'strike', { effects: [{ kind: 'clock-jumped', who: ['c1'], offsetMs: 3_000 }] });
  expect(right('c1')).toBe(true);
  expect(right('c1', watched(), 60)).toBe(false);
  expect(right('c1', jumps(1))).toBe(false);
  expect(right('c1', jumps(3))).toBe(true);
  // Who asked for what comes over the replication link is not known, nor by whose clock it was reckoned.
  expect(right(undefined)).toBe(false);
});
