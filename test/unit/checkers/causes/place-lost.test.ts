/**
 * That another client took a waiter out of the queue, or the queue expired with it, is said where it is proven, and each link of that is
 * taken away once.
 */
import { describe, expect, it } from 'vitest';
import { fifo } from '../../../../checkers/liveness/fifo.js';
import type { Quorum } from '../../../../harness/vocabulary/topology.js';
import { EPOCH_WALL_MS, fairStory, KEY, ns, type Story } from '../build.js';

const QUEUE = `{${KEY}}:queue`;
const DEADLINES = `{${KEY}}:deadlines`;

interface Telling {
  queues?: (story: Story) => Story;
  /** What becomes of the place before c1 is granted the lock. */
  removed?: (story: Story) => Story;
  deadline?: boolean | 'never';
  /** For how long c2 asks for the lock. */
  leaseMs?: number;
  watchedFrom?: number;
  quorum?: Quorum;
  commandCount?: number;
  /** Over which connection c2 was granted the lock before, if it was. */
  earlierFrom?: string;
  /** When c1 asks, and is granted the lock. */
  asked?: number;
  granted?: number;
  /** Whether the record shows how r1 granted it to c1. */
  isSeen?: boolean;
}

const pushed = (s: Story) => s.command(1.2, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@1']);
/** A script stores the queue anew with those that it names. */
const anew =
  (by: string, at: number, ...places: string[]) =>
  (s: Story) =>
    s
      .command(at, 'r1', by, ['EVAL', 'sweep', '1', QUEUE])
      .command(at, 'r1', 'lua', ['del', QUEUE])
      .command(at, 'r1', 'lua', ['rpush', QUEUE, ...places]);
const taken = (at: number, by: string) => (s: Story) => s.command(at, 'r1', by, ['LREM', QUEUE, '0', 'c2@1']);

/** c2 asks at 1 s and is queued; its place is removed; c1 asks at 2 s and is granted at 2.5 s, c2 at 4 s. */
function name({
  queues = pushed,
  removed = taken(1.8, 'c3'),
  deadline = true,
  watchedFrom = 0.1,
  quorum = { kind: 'primary' },
  commandCount,
  earlierFrom,
  asked = 2,
  granted = 2.5,
  isSeen = true,
  leaseMs = 5_000,
}: Telling = {}) {
  const story = fairStory(deadline);
  story.deployed(quorum).watch(watchedFrom, 'r1').sample(0.5, 'r1');
  if (earlierFrom) {
    story.grant('c2', 0.7).command(0.699, 'r1', 'c2', ['SET', KEY, 'c2@0', 'PX', '5000', 'NX'], 0, earlierFrom);
    story.release('c2', 0.8).command(0.799, 'r1', 'c2', ['DEL', KEY], 0, earlierFrom);
  }
  removed(
    queues(story).event(1.5, {
      type: 'step',
      client: 'c2',
      name: 'queued',
      clientNs: ns(1.5),
      hold: earlierFrom ? 3 : 1,
    }),
  );
  story.grant('c2', 4, { sent: 1, began: 1.001, leaseMs });
  story.grant('c1', granted, { sent: asked, began: asked + 0.001 }).release('c1', granted + 0.5);
  if (isSeen) story.take(granted - 0.001, 'r1', 'c1', 'c1@2');
  story.sample(3.2, 'r1').command(granted + 1, 'r1', 'c1', ['DEL', KEY]);
  const input = story.take(3.999, 'r1', 'c2', 'c2@1').sample(6, 'r1').input();
  const observations = { ...input.observations, ...(commandCount !== undefined && { commandCount }) };
  const { violations } = fifo.check({ ...input, observations });
  return violations[0]?.cause.name;
}

it('is named where the place was removed by another before its time was over', () => {
  expect(name()).toBe('place-removed');
  expect(name({ deadline: 'never' })).toBe('place-removed');
  // A look that took longer shows the clock a little less ahead.
  expect(name({ removed: (s) => taken(1.8, 'c3')(s.sample(1.3, 'r1', { skewMs: -20 })) })).toBe('place-removed');
});

describe('of a place before the last, while its client had no other', () => {
  /** c2 is queued again at 3.2 s, so that c1, which asked at 2 s, comes before that. */
  const again =
    (before: (s: Story) => Story, at = 3.2) =>
    (s: Story) =>
      before(s)
        .command(at - 0.1, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@1'])
        .event(at, { type: 'step', client: 'c2', name: 'queued', clientNs: ns(at), hold: 1 });

  it('is named where that was removed before its time was over', () => {
    expect(name({ removed: again(taken(1.8, 'c3')) })).toBe('place-removed');
    const twice = again(taken(1.8, 'c3'));
    expect(name({ removed: (s) => again(taken(3.3, 'c3'), 3.4)(twice(s)) })).toBe('place-removed');
  });

  it('accuses nobody where that is not proven, or the other came later', () => {
    expect(name({ removed: again(taken(1.8, 'c2')) })).toBeUndefined();
    expect(name({ removed: again(taken(1.8, 'c3')), deadline: false })).toBeUndefined();
    expect(name({ removed: again((s) => s) })).toBeUndefined();
    expect(name({ removed: again(taken(1.7, 'c3'), 1.9) })).not.toBe('place-removed');
  });

  it('accuses nobody of whom came first to ask, or last to be granted it', () => {
    const removed = again(taken(1.8, 'c3'));
    expect(name({ removed, asked: 1.51 })).toBe('place-removed');
    // Its place was stored already, but not known to its client.
    expect(name({ removed, asked: 1.49 })).toBeUndefined();
    expect(name({ removed, granted: 4.5 })).toBeUndefined();
  });
});

it('is named also where the queue had expired when the place was stored', () => {
  const old = (s: Story) => s.command(1.01, 'r1', 'c1', ['RPUSH', QUEUE, 'c1@0']);
  expect(name({ queues: (s) => pushed(old(s).command(1.02, 'r1', 'c1', ['PEXPIRE', QUEUE, '50'])) })).toBe(
    'place-removed',
  );
});

describe('not named', () => {
  it('where the place was taken out only when the other one, who came back to its own, had been granted the lock', () => {
    const queues = (s: Story) => pushed(s.command(1.1, 'r1', 'c1', ['RPUSH', QUEUE, 'c1@2']));
    expect(name({ queues })).toBe('place-removed');
    expect(name({ queues, removed: taken(2.7, 'c3') })).toBe('unexplained');
    expect(name({ queues, isSeen: false })).toBe('place-removed');
    expect(name({ queues, isSeen: false, removed: taken(2.7, 'c3') })).toBe('unexplained');
    const timed = (ms: number) => (s: Story) => s.command(1.8, 'r1', 'c3', ['PEXPIRE', QUEUE, String(ms)]);
    const stored = (s: Story) => s.command(3.1, 'r1', 'c4', ['RPUSH', QUEUE, 'c4@1']);
    expect(name({ queues, removed: (s) => stored(timed(500)(s)) })).toBe('place-expired');
    expect(name({ queues, removed: (s) => stored(timed(1_000)(s)) })).toBe('unexplained');
  });

  it('where the lock does not say when places end', () => {
    expect(name({ deadline: false })).toBe('unexplained');
  });

  it('where the queue was over only by a step of the machine’s clock', () => {
    const timed = (ms: number) => (s: Story) => s.command(1.3, 'r1', 'c3', ['PEXPIRE', QUEUE, String(ms)]);
    expect(name({ removed: timed(1_100) })).toBe('place-expired');
    expect(name({ removed: (s) => timed(2_000)(s).disturbed(1.6, 'wall-clock-step', 1_500) })).toBe('unexplained');
    expect(name({ removed: (s) => timed(1_100)(s).disturbed(1.6, 'wall-clock-step', 20) })).toBe('place-expired');
  });

  it('where the lock was handed over to it, which was evicted then', () => {
    const hands =
      (...calls: string[][]) =>
      (s: Story) =>
        calls
          .reduce(
            (told, argv) => told.command(1.8, 'r1', 'lua', argv),
            s.command(1.8, 'r1', 'c3', ['EVAL', 'hand', '2', KEY, QUEUE]),
          )
          .evicted(1.9, 'r1');
    expect(name({ removed: hands(['lpop', QUEUE], ['set', KEY, 'c2@1', 'PX', '5000']) })).toBe('unexplained');
    expect(name({ removed: hands(['lpop', QUEUE], ['set', KEY, 'c3@1', 'PX', '5000']) })).toBe('place-removed');
    // By the name under which it holds, and in two commands.
    const queues = (s: Story) => s.command(1.2, 'r1', 'c2', ['RPUSH', QUEUE, '1200:c2@1']);
    expect(name({ queues, removed: hands(['lpop', QUEUE], ['set', KEY, 'c2@1', 'PX', '5000']) })).toBe('unexplained');
    expect(name({ queues, removed: hands(['lpop', QUEUE], ['set', KEY, 'c3@1', 'PX', '5000']) })).toBe('place-removed');
    const apart = (owner: string) => (s: Story) =>
      s
        .command(1.8, 'r1', 'c3', ['LPOP', QUEUE])
        .command(1.801, 'r1', 'c3', ['SET', KEY, owner, 'PX', '5000', 'NX'])
        .evicted(1.9, 'r1');
    expect(name({ removed: apart('c2@1') })).toBe('unexplained');
    expect(name({ removed: apart('c3@1') })).toBe('place-removed');
    const mode = (at: number, by: string) => (s: Story) =>
      s.command(at, 'r1', by, ['HSET', `{${KEY}}:mode`, 'mode', 'w']);
    const all = (s: Story) => mode(3.9985, 'c2')(mode(2.4985, 'c1')(mode(1.802, 'c3')(apart('c3@1')(s))));
    expect(name({ removed: all })).toBe('place-removed');
  });

  it('where the lock was handed over to it for its lease, and it did not come: nobody is accused', () => {
    const hands =
      (ms: number, owner = 'c2@1') =>
      (s: Story) =>
        s
          .command(1.8, 'r1', 'c3', ['EVAL', 'hand', '2', KEY, QUEUE])
          .command(1.8, 'r1', 'lua', ['lpop', QUEUE])
          .command(1.8, 'r1', 'lua', ['set', KEY, owner, 'PX', String(ms)]);
    const story: Telling = { deadline: 'never', leaseMs: 600 };
    expect(name({ ...story, removed: hands(600) })).toBeUndefined();
    expect(name({ ...story, removed: hands(300) })).toBe('unexplained');
    expect(name({ ...story, removed: hands(600, 'c3@1') })).toBe('place-removed');
    const deleted = (s: Story) => hands(600)(s).command(2.3, 'r1', 'stranger', ['DEL', KEY]);
    expect(name({ ...story, removed: deleted })).toBe('unexplained');
  });

  it('where that was another’s place, which its own client took out, and the waiting one’s script had stored anew', () => {
    const fourth = (s: Story) => pushed(s).command(1.3, 'r1', 'c4', ['RPUSH', QUEUE, 'c4@1']);
    const left = (s: Story) =>
      s
        .command(1.7, 'r1', 'stranger', ['LREM', QUEUE, '0', 'c2@1'])
        .command(1.8, 'r1', 'c4', ['LREM', QUEUE, '0', 'c4@1']);
    const queues = (s: Story) => anew('c2', 1.4, 'c2@1', 'c4@1')(fourth(s));
    expect(name({ queues, removed: left })).toBe('unexplained');
    expect(name({ queues, removed: taken(1.8, 'c3') })).toBe('place-removed');
  });

  it('where who took it out put it back at once', () => {
    const back = anew('c3', 1.6, 'c2@1');
    expect(name({ removed: (s) => taken(1.8, 'stranger')(back(s)) })).toBe('unexplained');
    expect(name({ removed: (s) => taken(1.8, 'c3')(back(s)) })).toBe('place-removed');
    const apart = (at: number) => (s: Story) => taken(1.6, 'c3')(s).command(at, 'r1', 'c3', ['RPUSH', QUEUE, 'c2@1']);
    expect(name({ removed: (s) => taken(1.8, 'stranger')(apart(1.65)(s)) })).toBe('unexplained');
    expect(name({ removed: apart(2.7) })).toBe('place-removed');
  });

  it('where the other one was granted the lock by another server', () => {
    const elsewhere = (value: string) => (s: Story) =>
      taken(1.8, 'c3')(s).watch(0.1, 'r2').sample(0.5, 'r2').command(2.499, 'r2', 'c1', ['SET', KEY, value, 'NX']);
    expect(name({ removed: elsewhere('c1@2'), isSeen: false })).toBe('unexplained');
  });

  it('where the client left by itself, or a stranger removed it', () => {
    expect(name({ removed: taken(1.8, 'c2') })).toBe('unexplained');
    expect(name({ removed: taken(1.8, 'stranger') })).toBe('unexplained');
  });

  it('where it was removed only when the client had been granted the lock, or not at all', () => {
    expect(name({ removed: taken(4.1, 'c3') })).not.toBe('place-removed');
    expect(name({ removed: (s) => s })).toBe('granted-past-queue');
  });

  it('where it was there until the client had been granted the lock, though another was not granted past it', () => {
    const beside = (s: Story) => pushed(s.command(1.1, 'r1', 'c1', ['RPUSH', QUEUE, 'c1@0']));
    expect(name({ queues: beside })).toBe('place-removed');
    expect(name({ queues: beside, removed: taken(3.9985, 'c3') })).toBe('unexplained');
  });

  it('where it may have been there still, or gone by its time', () => {
    const replaced = (s: Story) => s.command(1.8, 'r1', 'c3', ['RESTORE', QUEUE, '0', 'x', 'REPLACE']);
    expect(name({ removed: replaced })).toBe('unexplained');
    const lasting = (ms: number) => (s: Story) => pushed(s).command(1.2, 'r1', 'c2', ['PEXPIRE', QUEUE, String(ms)]);
    // In the millisecond in which it was over, c3's command may have found it, or not.
    expect(name({ queues: lasting(600) })).toBe('unexplained');
    expect(name({ queues: lasting(700) })).toBe('place-removed');
  });

  it('on independent nodes, or of more commands than are followed', () => {
    expect(name({ quorum: { kind: 'majority', nodes: ['r1'], majority: 1 } })).toBe('unexplained');
    expect(name({ commandCount: 1_000_000 })).toBe('place-removed');
    expect(name({ commandCount: 1_000_001 })).toBe('unexplained');
  });

  it('where it may have been gone already', () => {
    const unknown = (s: Story) => taken(1.8, 'c3')(s.command(1.6, 'r1', 'c3', ['SOMETHING', QUEUE]));
    expect(name({ removed: unknown })).toBe('unexplained');
  });

  it('where its time was over by the clock of the server', () => {
    const ahead = (s: Story) => s.command(1.8, 'r1', 'c3', ['LREM', QUEUE, '0', 'c2@1'], 60_000);
    expect(name({ removed: ahead })).toBe('unexplained');
  });

  it('where another stored the place, or before the acquire began', () => {
    expect(name({ queues: (s) => s.command(1.2, 'r1', 'c3', ['RPUSH', QUEUE, 'c2@1']) })).toBe('unexplained');
    expect(name({ queues: (s) => s.command(0.9, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@1']) })).toBe('unexplained');
  });

  it('where it had stored its place again after that', () => {
    const again = (s: Story) => taken(1.6, 'c3')(s).command(1.7, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@1']);
    expect(name({ removed: again })).not.toBe('place-removed');
    const elsewhere = (s: Story) => taken(1.6, 'c3')(s).command(1.7, 'r1', 'c2', ['ZADD', DEADLINES, '5', 'c2@1']);
    expect(name({ removed: elsewhere })).not.toBe('place-removed');
  });

  it('where the server was not seen all the time, ran as another process, or its clock was moved', () => {
    expect(name({ watchedFrom: 1.3 })).toBe('unexplained');
    const unseen = (s: Story) => taken(1.8, 'c3')(s.watch(1.6, 'r1', false).watch(1.61, 'r1'));
    expect(name({ removed: unseen })).toBe('unexplained');
    const anew = (s: Story) => taken(1.8, 'c3')(s.sample(1.6, 'r1', { runId: 'run-2' }));
    expect(name({ removed: anew })).toBe('unexplained');
    const jumped = { effects: [{ kind: 'clock-jumped' as const, who: ['r1'], offsetMs: 100 }] };
    const moved = (s: Story) => taken(1.8, 'c3')(s.fault(1.6, 0, 'clock', 'strike', jumped));
    expect(name({ removed: moved })).toBe('unexplained');
  });
});

describe('the queue expired with all who stood in it', () => {
  const none = (s: Story) => s;
  const timed =
    (by: string, ms: number, at = 1.3) =>
    (s: Story) =>
      pushed(s).command(at, 'r1', by, ['PEXPIRE', QUEUE, String(ms)]);

  it('is named by whoever had set its time, whether or not anybody stood in it since', () => {
    expect(name({ queues: timed('c2', 100), removed: none })).toBe('place-expired');
    expect(name({ queues: timed('c3', 100), removed: none })).toBe('place-expired');
    const again = (s: Story) => s.command(1.7, 'r1', 'c3', ['RPUSH', QUEUE, 'c3@1']);
    expect(name({ queues: timed('c3', 100), removed: again })).toBe('place-expired');
    // What another removes from nothing was gone by its time.
    expect(name({ queues: timed('c3', 100) })).toBe('place-expired');
    const before = (s: Story) =>
      pushed(
        s.command(1.15, 'r1', 'c3', ['RPUSH', QUEUE, 'c3@1']).command(1.16, 'r1', 'c3', ['PEXPIRE', QUEUE, '300']),
      );
    expect(name({ queues: before, removed: none })).toBe('place-expired');
  });

  it('is not named where it was there when the other was granted the lock', () => {
    expect(name({ queues: timed('c3', 1_150), removed: none })).toBe('place-expired');
    expect(name({ queues: timed('c3', 1_250), removed: none })).toBe('granted-past-queue');
  });

  it('is not named where a stranger had set its time, or nobody knows who', () => {
    expect(name({ queues: timed('stranger', 100), removed: none })).toBe('unexplained');
    const unknown = (s: Story) => s.command(1.35, 'r1', 'c3', ['SOMETHING', QUEUE]);
    expect(name({ queues: timed('c3', 100), removed: unknown })).toBe('unexplained');
  });

  it('is not named where the place may have ended by its declared time, or the lock declares none', () => {
    const late = (s: Story) => s.command(2.45, 'r1', 'c3', ['GET', 'elsewhere'], 9_000);
    expect(name({ queues: timed('c3', 100), removed: none, deadline: false })).toBe('unexplained');
    expect(name({ queues: timed('c3', 6_000), removed: late })).not.toBe('place-expired');
  });

  it('is not named where its client stored its place again, or had stored none', () => {
    const again = (s: Story) => s.command(1.7, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@1']);
    expect(name({ queues: timed('c3', 100), removed: again })).not.toBe('place-expired');
    const others = (s: Story) =>
      s.command(1.2, 'r1', 'c3', ['RPUSH', QUEUE, 'c2@1']).command(1.3, 'r1', 'c3', ['PEXPIRE', QUEUE, '100']);
    expect(name({ queues: others, removed: none })).toBe('unexplained');
  });

  it('is not named where the server was not seen all the time, ran as another process, or its clock was moved', () => {
    const queues = timed('c3', 100);
    expect(name({ queues, removed: none, watchedFrom: 1.25 })).toBe('unexplained');
    expect(name({ queues, removed: (s) => s.watch(1.6, 'r1', false).watch(1.61, 'r1') })).toBe('unexplained');
    expect(name({ queues, removed: (s) => s.sample(1.6, 'r1', { runId: 'run-2' }) })).toBe('unexplained');
    const jumped = { effects: [{ kind: 'clock-jumped' as const, who: ['r1'], offsetMs: 100 }] };
    expect(name({ queues, removed: (s) => s.fault(1.35, 0, 'clock', 'strike', jumped) })).toBe('unexplained');
    // A clock that jumped after the time was set, and before the place was stored.
    const early = (s: Story) =>
      s
        .command(1.05, 'r1', 'c3', ['RPUSH', QUEUE, 'c3@1'])
        .command(1.06, 'r1', 'c3', ['PEXPIRE', QUEUE, '900'])
        .fault(1.1, 0, 'clock', 'strike', jumped);
    expect(name({ queues: (s) => pushed(early(s)), removed: none })).toBe('unexplained');
  });

  it('is not named where its time was a time of day, by a clock that was off', () => {
    const until = (s: Story) => pushed(s).command(1.3, 'r1', 'c3', ['PEXPIREAT', QUEUE, String(EPOCH_WALL_MS + 1_400)]);
    expect(name({ queues: until, removed: none })).toBe('place-expired');
    const back = { effects: [{ kind: 'clock-jumped' as const, who: ['c3'], offsetMs: -5_000 }] };
    expect(name({ queues: (s) => until(s.fault(0.6, 0, 'clock', 'strike', back)), removed: none })).toBe('unexplained');
  });

  it('is told where its client reconnected since, of which an earlier hold tells', () => {
    const queues = (s: Story) =>
      s
        .command(1.2, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@1'], 0, '10.77.0.9:40001')
        .command(1.3, 'r1', 'c2', ['PEXPIRE', QUEUE, '100'], 0, '10.77.0.9:40001');
    expect(name({ queues, removed: none })).toBe('unexplained');
    expect(name({ queues, removed: none, earlierFrom: '10.77.0.9:40001' })).toBe('place-expired');
    expect(name({ queues, removed: none, earlierFrom: '10.77.0.9:40002' })).toBe('unexplained');
  });
});
