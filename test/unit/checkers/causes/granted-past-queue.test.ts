/** That a client was granted past the server's queue is said where it is proven, and each link of that is taken away once. */
import { describe, expect, it } from 'vitest';
import { fifo } from '../../../../checkers/liveness/fifo.js';
import type { Quorum } from '../../../../harness/vocabulary/topology.js';
import { KEY, ns, Story } from '../build.js';

const QUEUE = `{${KEY}}:queue`;
const DEADLINES = `{${KEY}}:deadlines`;
/** The connection of whoever was in the client's place before. */
const OTHER_CONNECTION = '10.77.0.9:39999';

interface Telling {
  /** What was done to the server before anybody asked. */
  deployed?: (story: Story) => Story;
  /** What became of the queue before the grant that jumps it. */
  before?: (story: Story) => Story;
  /** How c2 queues up, at 1.2 s. */
  queues?: (story: Story) => Story;
  /** How c1 is granted, at 2.5 s. */
  granted?: (story: Story) => Story;
  /** How c2 is granted, at 4 s. */
  passed?: (story: Story) => Story;
  watchedFrom?: number;
  quorum?: Quorum;
  commandCount?: number;
  /** When c1's attempt left. */
  grantSent?: number;
}

const pushed = (s: Story) => s.command(1.2, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@1']);
const taken = (s: Story) => s.take(2.499, 'r1', 'c1', 'c1@2');

/** c2 asks at 1 s and is queued; c1 asks at 2 s and is granted at 2.5 s; c2 is granted at 4 s. */
function told({
  deployed = (s) => s,
  before = (s) => s,
  queues = pushed,
  granted = taken,
  passed = (s) => s.take(3.999, 'r1', 'c2', 'c2@1'),
  watchedFrom = 0.1,
  quorum = { kind: 'primary' },
  commandCount,
  grantSent = 2.498,
}: Telling = {}) {
  const story = new Story().promised({ kind: 'fair' }).up('c1').up('c2');
  story.deployed(quorum).watch(watchedFrom, 'r1');
  queues(deployed(story).sample(0.5, 'r1')).event(1.5, {
    type: 'step',
    client: 'c2',
    name: 'queued',
    clientNs: ns(1.5),
    hold: 1,
  });
  story.grant('c2', 4, { sent: 1, began: 1.001 });
  story.grant('c1', 2.5, { sent: 2, began: 2.001, grantSent }).release('c1', 3);
  passed(granted(before(story)).sample(3.2, 'r1').command(3.5, 'r1', 'c1', ['DEL', KEY]));
  const input = story.sample(6, 'r1').input();
  const observations = { ...input.observations, ...(commandCount !== undefined && { commandCount }) };
  const { violations } = fifo.check({ ...input, observations });
  expect(violations.every(({ kind }) => kind === 'fifo-inversion')).toBe(true);
  return violations[0]?.cause;
}

const name = (telling: Telling) => told(telling)?.name;

describe('named', () => {
  it('where the place of the one who waited stood in the queue when the other was granted', () => {
    expect(told()).toMatchObject({
      name: 'granted-past-queue',
      sentence:
        "r1 granted lock:0 to c1, which asked for it at 2.001 s, while c2's place c2@1 in {lock:0}:queue had stood there since 1.200 s.",
      chain: [
        { text: "r1 stored c2's place c2@1 in {lock:0}:queue" },
        { text: 'c1 asked for lock:0' },
        { text: "r1 stored c1's grant under lock:0, and c2's place c2@1 in {lock:0}:queue was still there" },
        { text: 'c2 was granted lock:0' },
      ],
    });
  });

  it('where it was granted by a script, beside another one that waits, and one that another process left there', () => {
    const script = (s: Story) =>
      s
        .command(2.498, 'r1', 'c1', ['EVAL', 'take', '1', KEY, 'c1@2'])
        .command(2.498, 'r1', 'lua', ['hset', KEY, 'c1@2', '1']);
    expect(name({ granted: script })).toBe('granted-past-queue');
    const third = (s: Story) => s.command(1.1, 'r1', 'c3', ['RPUSH', QUEUE, 'c3@1']);
    expect(name({ queues: (s) => pushed(third(s)) })).toBe('granted-past-queue');
    const late = (s: Story) => s.command(1.1, 'r1', 'c1', ['RPUSH', QUEUE, 'c1@0'], 0, OTHER_CONNECTION);
    expect(name({ queues: (s) => pushed(late(s)) })).toBe('granted-past-queue');
  });

  it('where the clock was off all the time, and stood still', () => {
    const jumped = { effects: [{ kind: 'clock-jumped' as const, who: ['r1'], offsetMs: 60_000 }] };
    const off = (from: number, until: number) =>
      told({
        deployed: (s) => s.fault(from, 0, 'clock', 'strike', jumped),
        before: (s) => (until < 2.5 ? s.fault(until, 0, 'clock', 'heal') : s),
        granted: (s) => (until >= 2.5 ? taken(s).sample(3.2, 'r1').fault(until, 0, 'clock', 'heal') : taken(s)),
      })?.name;
    expect(off(0.2, 3.3)).toBe('granted-past-queue');
    expect(off(0.2, 2.3)).toBe('unexplained');
  });

  it('where the other one had lost a place of its own before it asked', () => {
    const earlier = (s: Story) => pushed(s.command(1.1, 'r1', 'c1', ['RPUSH', QUEUE, 'c1@2']));
    const popped = (at: number) => (s: Story) => s.command(at, 'r1', 'c3', ['LREM', QUEUE, '0', 'c1@2']);
    expect(name({ queues: earlier, before: popped(1.8) })).toBe('granted-past-queue');
    expect(name({ queues: earlier, before: popped(2.2) })).toBe('unexplained');
    // It gave up, and came back to a place that it had stored before it asked.
    const again = (s: Story) => popped(1.7)(s).command(1.8, 'r1', 'c1', ['RPUSH', QUEUE, 'c1@2']);
    expect(name({ queues: earlier, before: again })).toBe('unexplained');
  });

  it('but not where the place was removed after the other had stored something, and before its grant', () => {
    const marks = (s: Story) => s.command(2.4, 'r1', 'c1', ['SET', `{${KEY}}:alive`, 'c1@2', 'PX', '5000']);
    const removed = (s: Story) => s.command(2.45, 'r1', 'c3', ['LREM', QUEUE, '0', 'c2@1']);
    expect(name({ granted: (s) => taken(marks(s)), grantSent: 2.3 })).toBe('granted-past-queue');
    expect(name({ granted: (s) => taken(removed(marks(s))), grantSent: 2.3 })).toBe('unexplained');
  });

  it('of its last place alone, if that stood until the grant, whatever its other servers saw', () => {
    const two = (s: Story) => pushed(s.command(1.1, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@0']));
    const left = (s: Story) => s.command(2.2, 'r1', 'c3', ['LREM', QUEUE, '0', 'c2@0']);
    expect(name({ queues: two, before: left })).toBe('granted-past-queue');
    const later = (s: Story) => taken(s).command(2.6, 'r1', 'c3', ['LREM', QUEUE, '0', 'c2@1']);
    expect(name({ granted: later })).toBe('granted-past-queue');
    const twice = (s: Story) =>
      s.watch(0.1, 'r0').sample(0.6, 'r0').take(3.998, 'r0', 'c2', 'c2@1').take(3.999, 'r1', 'c2', 'c2@1');
    expect(name({ passed: twice })).toBe('granted-past-queue');
  });
});

describe('not named', () => {
  it('where a grant was stored only after the answer, or that of the one who waited was not seen', () => {
    expect(name({ granted: (s) => s.take(2.6, 'r1', 'c1', 'c1@2') })).toBe('unexplained');
    expect(name({ passed: (s) => s })).toBe('unexplained');
  });

  it('of more commands than are followed', () => {
    expect(name({ commandCount: 1_000_000 })).toBe('granted-past-queue');
    expect(name({ commandCount: 1_000_001 })).toBe('unexplained');
  });

  it('where the time of its place was over', () => {
    const lasting = (ms: number) => (s: Story) => pushed(s).command(1.201, 'r1', 'c2', ['PEXPIRE', QUEUE, String(ms)]);
    expect(name({ queues: lasting(1_000) })).toBe('unexplained');
    expect(name({ queues: lasting(3_000) })).toBe('granted-past-queue');
  });

  it('where its place was gone, wherever it stood', () => {
    expect(name({ before: (s) => s.command(2.2, 'r1', 'c3', ['LREM', QUEUE, '0', 'c2@1']) })).toBe('unexplained');
    const popped = (s: Story) =>
      s
        .command(2.498, 'r1', 'c1', ['EVAL', 'take', '2', KEY, QUEUE, 'c1@2'])
        .command(2.498, 'r1', 'lua', ['lpop', QUEUE])
        .command(2.498, 'r1', 'lua', ['set', KEY, 'c1@2']);
    expect(name({ granted: popped })).toBe('unexplained');
    const both = (s: Story) => pushed(s).command(1.21, 'r1', 'c2', ['ZADD', DEADLINES, '5', 'c2@1']);
    expect(name({ queues: both })).toBe('granted-past-queue');
    expect(name({ queues: both, before: (s) => s.command(2.2, 'r1', 'c3', ['ZREM', DEADLINES, 'c2@1']) })).toBe(
      'unexplained',
    );
    // It came back later, to the end.
    const again = (s: Story) =>
      s.command(2.2, 'r1', 'c3', ['DEL', QUEUE]).command(2.3, 'r1', 'c3', ['RPUSH', QUEUE, 'c2@1']);
    expect(name({ before: again })).toBe('unexplained');
  });

  it('where it was queued only when the other one asked, or before it asked itself', () => {
    const at = (s: number) => (story: Story) => story.command(s, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@1']);
    expect(name({ queues: at(2.1) })).toBe('unexplained');
    expect(name({ queues: at(0.9) })).toBe('unexplained');
  });

  it('where what it stored is no queue', () => {
    expect(name({ queues: (s) => s.command(1.2, 'r1', 'c2', ['SET', QUEUE, 'c2@1']) })).toBe('unexplained');
  });

  it('where another stored the place, or an earlier process over its own connection', () => {
    expect(name({ queues: (s) => s.command(1.2, 'r1', 'c3', ['RPUSH', QUEUE, 'c2@1']) })).toBe('unexplained');
    const late = (s: Story) => s.command(1.2, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@1'], 0, OTHER_CONNECTION);
    expect(name({ queues: late })).toBe('unexplained');
  });

  it('where the other one had a place there before it asked, or may have had one', () => {
    const own = (place: string) => (s: Story) => pushed(s.command(1.1, 'r1', 'c1', ['RPUSH', QUEUE, place]));
    expect(name({ queues: own('c1@2') })).toBe('unexplained');
    expect(name({ queues: own('c1@0') })).toBe('unexplained');
    const named = (s: Story) => pushed(s.command(1.1, 'r1', 'c3', ['RPUSH', QUEUE, 'c1@2']));
    expect(name({ queues: named })).toBe('unexplained');
    const stranger = (s: Story) => pushed(s.command(1.1, 'r1', 'stranger', ['RPUSH', QUEUE, 'x']));
    expect(name({ queues: stranger })).toBe('unexplained');
    // Its own place of this acquire is behind.
    const behind = (s: Story) => s.command(2.1, 'r1', 'c1', ['RPUSH', QUEUE, 'c1@2']);
    expect(name({ before: behind })).toBe('granted-past-queue');
  });

  it('where the other one had stored its place over the connection of its last hold, which is gone', () => {
    const held = (from: string) => (s: Story) => {
      s.grant('c1', 0.7).command(0.699, 'r1', 'c1', ['SET', KEY, 'c1@0', 'PX', '5000', 'NX'], 0, from);
      s.release('c1', 0.8).command(0.799, 'r1', 'c1', ['DEL', KEY], 0, from);
      return s.command(1.1, 'r1', 'c1', ['RPUSH', QUEUE, 'place-of-c1'], 0, OTHER_CONNECTION);
    };
    expect(name({ queues: (s) => pushed(held('10.77.0.9:39998')(s)) })).toBe('granted-past-queue');
    expect(name({ queues: (s) => pushed(held(OTHER_CONNECTION)(s)) })).toBe('unexplained');
  });

  it('where it was gone from the queue, and its client’s name stood in another key', () => {
    const seen = (s: Story) => pushed(s).command(1.21, 'r1', 'c2', ['ZADD', `{${KEY}}:seen`, '1', 'c2']);
    expect(name({ queues: seen })).toBe('granted-past-queue');
    expect(name({ queues: seen, before: (s) => s.evicted(2.2, 'r1', QUEUE) })).toBe('unexplained');
  });

  it('where it came back to its place, and took that out when it was granted the lock: nobody is accused', () => {
    const earlier = (by: string) => (s: Story) => pushed(s.command(1.1, 'r1', by, ['RPUSH', QUEUE, 'place-of-c1']));
    const comes = (s: Story) => s.command(2.498, 'r1', 'c1', ['LREM', QUEUE, '0', 'place-of-c1']);
    expect(name({ queues: earlier('c1'), granted: (s) => taken(comes(s)) })).toBeUndefined();
    expect(name({ queues: earlier('c1') })).toBe('unexplained');
    expect(name({ queues: earlier('c3'), granted: (s) => taken(comes(s)) })).toBe('granted-past-queue');
    const behind = (s: Story) => pushed(s).command(1.3, 'r1', 'c1', ['RPUSH', QUEUE, 'place-of-c1']);
    expect(name({ queues: behind, granted: (s) => taken(comes(s)) })).toBe('unexplained');
  });

  it('where its own grant of before let it in again', () => {
    const reenters = (s: Story) => s.command(2.499, 'r1', 'c1', ['HINCRBY', KEY, 'c1@2', '1']);
    const stored = (s: Story) => s.refused('c1', 0.6, 0.9, 'info').command(0.7, 'r1', 'c1', ['HSET', KEY, 'c1@2', '1']);
    expect(name({ granted: reenters })).toBe('granted-past-queue');
    expect(name({ deployed: stored, granted: reenters })).toBe('unexplained');
  });

  it('where another server granted it in the same attempt', () => {
    const marks = (s: Story) => s.command(2.4, 'r1', 'c1', ['SET', `{${KEY}}:alive`, 'c1@2', 'PX', '5000']);
    const elsewhere = (s: Story) => marks(s.watch(0.1, 'r2').sample(0.5, 'r2')).take(2.499, 'r2', 'c1', 'c1@2');
    expect(name({ granted: (s) => taken(marks(s)), grantSent: 2.3 })).toBe('granted-past-queue');
    expect(name({ granted: elsewhere, grantSent: 2.3 })).toBe('unexplained');
  });

  it('where the server was not seen all the time, ran as another process, or its clock was moved', () => {
    for (const at of [1.3, 2.4])
      expect(name({ before: (s) => s.watch(at, 'r1', false).watch(at + 0.01, 'r1') }), `${at}`).toBe('unexplained');
    expect(name({ watchedFrom: 1.3 })).toBe('unexplained');
    expect(name({ before: (s) => s.sample(2, 'r1', { runId: 'run-2' }) })).toBe('unexplained');
    const jumped = { effects: [{ kind: 'clock-jumped' as const, who: ['r1'], offsetMs: 60_000 }] };
    expect(name({ before: (s) => s.fault(2, 0, 'clock', 'strike', jumped) })).toBe('unexplained');
  });

  it('where the grant was stored in the queue itself, or not seen, or on independent nodes', () => {
    const first = (s: Story) => s.command(2.499, 'r1', 'c1', ['LPUSH', QUEUE, 'c1@2']);
    expect(name({ granted: first })).toBe('unexplained');
    expect(name({ granted: (s) => s })).toBe('unexplained');
    expect(name({ quorum: { kind: 'majority', nodes: ['r1'], majority: 1 } })).toBe('unexplained');
  });
});
