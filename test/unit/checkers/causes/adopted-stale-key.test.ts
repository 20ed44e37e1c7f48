/** That a client took its own earlier key for a grant is said where it is proven, and each link of that is taken away once. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { KEY, Story } from '../build.js';

const OWN = 'machine-1';

interface Telling {
  /** What c1.2's attempt, that leaves at 3.998 s, did beside being refused. */
  attempt?: (story: Story) => Story;
  /** Who stored the value that c1.2 found, and when. */
  by?: string;
  storedAt?: number;
  /** When c2 stored its own. */
  takenAt?: number;
  between?: (story: Story) => Story;
  samples?: Parameters<Story['sample']>[2];
  nodes?: string[];
  story?: Story;
}

/** c1 stores its machine's name at 1 s, for 5 s, and is killed; c1.2 says at 4 s that it holds until 9 s; c2 is granted at 6.1 s. */
function told({
  attempt = (s) => s,
  by = 'c1',
  storedAt = 0.999,
  takenAt = 6.099,
  between,
  ...of
}: Telling = {}): Story {
  const { samples = {}, nodes = ['r1'], story = new Story() } = of;
  story.up('c1').up('c2').up('c3').event(2.5, {
    type: 'client-up',
    client: 'c1.2',
    slot: 'c1',
    host: 'c1',
    address: '10.77.0.9',
    lock: 'any',
    features: [],
  });
  for (const node of nodes) story.watch(0, node).sample(0.5, node).sample(8, node, samples);
  story.grant('c1', 1).take(storedAt, 'r1', by, OWN).down('c1', 2);
  story.grant('c1.2', 4).release('c1.2', 8.5);
  attempt(story.take(3.999, 'r1', 'c1.2', OWN).command(3.9995, 'r1', 'c1.2', ['GET', KEY]));
  between?.(story);
  return story
    .grant('c2', takenAt + 0.001)
    .take(takenAt, 'r1', 'c2', 'machine-2')
    .release('c2', 7.5);
}

function cause(story: Story) {
  const input = story.input();
  const overlap = mutualExclusion.check(input).violations.find(({ kind }) => kind === 'overlap');
  for (const { history, observation } of overlap?.cause.chain ?? []) {
    if (history !== undefined) expect(input.history.event(history)).toBeDefined();
    if (observation !== undefined) expect(input.observations.line(observation)).toBeDefined();
  }
  return overlap?.cause;
}

it('is not said of a client that asked under another name, and took the refusal for a yes', () => {
  expect(cause(told())?.name).toBe('adopted-stale-key');
  const another = told({ attempt: (story) => story.take(3.9992, 'r1', 'c1.2', 'machine-1 again') });
  expect(cause(another)?.name).not.toBe('adopted-stale-key');
});

it('is not said of a client that did not look whose the key was', () => {
  const blind = (...asked: string[]) => {
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(8, 'r1');
    story.grant('c1', 1).take(0.999, 'r1', 'c1', OWN).release('c1', 2);
    story.grant('c1', 4).command(3.999, 'r1', 'c1', asked).release('c1', 8.5);
    return cause(story.grant('c2', 6.1).take(6.099, 'r1', 'c2').release('c2', 7.5))?.name;
  };
  const set = ['SET', KEY, OWN, 'PX', '5000', 'NX'];
  expect(blind(...set, 'GET')).toBe('adopted-stale-key');
  expect(blind(...set)).not.toBe('adopted-stale-key');
});

it('is not said of a client whose script asked under another name and was refused', () => {
  const asking = (name: string) =>
    told({
      attempt: (story) =>
        story
          .command(3.9992, 'r1', 'c1.2', ['EVALSHA', 'take', '1', KEY, name])
          .command(3.9992, 'r1', 'lua', ['get', KEY]),
    });
  expect(cause(asking(OWN))?.name).toBe('adopted-stale-key');
  expect(cause(asking('machine-1 again'))?.name).not.toBe('adopted-stale-key');
});

const named = (story: Story) => cause(story)?.name;

describe('named', () => {
  it("where a successor takes its predecessor's key for a grant", () => {
    expect(cause(told())).toMatchObject({
      name: 'adopted-stale-key',
      sentence:
        'c1.2 said at 4.000 s that it holds lock:0 until 8.998 s, but all that r1 had of it under lock:0 was what c1 had stored at 0.999 s, and no request of the attempt stored or prolonged anything: that had expired by 6.000 s, and c2 was granted it.',
      chain: [
        { text: "r1 stored c1's own under lock:0" },
        { text: "c1.2's attempt left" },
        { text: 'c1.2 said at 4.000 s that it holds the lock' },
        { text: "r1 stored c2's own: the key had expired" },
      ],
    });
  });

  it('not where a client asks under another name: it may have taken the refusal for a yes', () => {
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(8, 'r1');
    story.grant('c1', 1).take(0.999, 'r1', 'c1', 'first').release('c1', 2);
    story.grant('c1', 4).take(3.999, 'r1', 'c1', 'second').release('c1', 8.5);
    expect(named(story.grant('c2', 6.1).take(6.099, 'r1', 'c2').release('c2', 7.5))).toBe('never-granted');
  });

  it("where the run ends soon after the other one's grant: a server prints what it does in order", () => {
    const ends = (sampledAt: number, watchedUntil: number) => {
      const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(sampledAt, 'r1');
      story.watch(watchedUntil, 'r1', false).grant('c1', 1).take(0.999, 'r1', 'c1').release('c1', 2);
      story.grant('c1', 4).take(3.999, 'r1', 'c1').command(3.9995, 'r1', 'c1', ['GET', KEY]).release('c1', 6.15);
      return named(story.grant('c2', 6.1).take(6.099, 'r1', 'c2').release('c2', 6.15));
    };
    expect(ends(6.2, 6.3)).toBe('adopted-stale-key');
    // Its clock may have moved before.
    expect(ends(6.05, 6.3)).toBe('unexplained');
    expect(ends(6.2, 6.05)).toBe('unexplained');
  });

  it('where a script that was sent by its text is sent by its hash the next time, it is the same', () => {
    const script = (s: Story, at: number, ...argv: string[]) =>
      s.command(at, 'r1', 'c1', [...argv, '1', KEY, OWN, '5000']).command(at, 'r1', 'lua', ['get', KEY]);
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(8, 'r1');
    script(story.grant('c1', 1), 0.999, 'EVAL', 'return 1').command(0.999, 'r1', 'lua', [
      'set',
      KEY,
      OWN,
      'PX',
      '5000',
    ]);
    script(story.release('c1', 2).grant('c1', 4), 3.999, 'EVALSHA', 'e0e1f9').release('c1', 8.5);
    expect(named(story.grant('c2', 6.1).take(6.099, 'r1', 'c2').release('c2', 7.5))).toBe('adopted-stale-key');
  });

  it('where its key has a name of its own', () => {
    const set = (s: Story, at: number, by: string, ...how: string[]) =>
      s.command(at, 'r1', by, ['SET', `app:${KEY}`, by, 'PX', '5000', ...how]);
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(8, 'r1');
    set(story.grant('c1', 1), 0.999, 'c1').release('c1', 2);
    set(story.grant('c1', 4), 3.999, 'c1', 'NX', 'GET').release('c1', 8.5);
    expect(named(set(story.grant('c2', 6.1), 6.099, 'c2', 'NX').release('c2', 7.5))).toBe('adopted-stale-key');
  });
});

describe('not named', () => {
  it('where no value was asked with in two acquires: a new one for each makes an old one no grant', () => {
    const story = (again: (s: Story) => Story) => {
      const told = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(8, 'r1');
      told.grant('c1', 1).take(0.999, 'r1', 'c1', 'first').command(1.5, 'r1', 'c1', ['GET', KEY]).release('c1', 2);
      again(told.grant('c1', 4).command(3.9995, 'r1', 'c1', ['GET', KEY])).release('c1', 8.5);
      return named(told.grant('c2', 6.1).take(6.099, 'r1', 'c2').release('c2', 7.5));
    };
    const release = ['EVALSHA', 'release', '1', KEY, 'first'];
    expect(story((s) => s)).toBe('unexplained');
    expect(story((s) => s.command(3.9985, 'r1', 'c1', release).command(3.9985, 'r1', 'lua', ['get', KEY]))).toBe(
      'unexplained',
    );
    expect(story((s) => s.take(3.999, 'r1', 'c1', 'first'))).toBe('adopted-stale-key');
  });

  it('where a request of the attempt stored or prolonged it, or may have', () => {
    for (const argv of [
      ['PEXPIRE', KEY, '1500'],
      ['SET', KEY, OWN, 'PX', '2000'],
      ['SOMETHING', KEY, OWN],
      ['RPUSH', `${KEY}:queue`, OWN],
    ])
      expect(named(told({ attempt: (s) => s.command(3.9997, 'r1', 'c1.2', argv) })), argv[0]).not.toBe(
        'adopted-stale-key',
      );
    // An earlier try of the same acquire.
    expect(named(told({ attempt: (s) => s.command(3.9975, 'r1', 'c1.2', ['PEXPIRE', KEY, '1500']) }))).not.toBe(
      'adopted-stale-key',
    );
  });

  it('where it prolonged it later: that its renewals ended is another matter', () => {
    expect(named(told({ between: (s) => s.command(4.5, 'r1', 'c1.2', ['PEXPIRE', KEY, '1500']) }))).not.toBe(
      'adopted-stale-key',
    );
  });

  it('where it changed its time shortly before that was over', () => {
    expect(named(told({ between: (s) => s.command(5.5, 'r1', 'c1.2', ['PEXPIRE', KEY, '200']) }))).not.toBe(
      'adopted-stale-key',
    );
  });

  it('where it would have been there still when the other one came, had nobody else given it less time meanwhile', () => {
    const shortened = (by: string, toMs: string, takenAt: number) =>
      named(told({ between: (s) => s.command(4.5, 'r1', by, ['PEXPIRE', KEY, toMs]), takenAt }));
    for (const by of ['c3', 'stranger']) {
      expect(shortened(by, '200', 4.899), by).not.toBe('adopted-stale-key');
      expect(shortened(by, '200', 6.099), by).toBe('adopted-stale-key');
      expect(shortened(by, '1800', 6.499), by).toBe('adopted-stale-key');
    }
  });

  it('where not all keys of the resource are followed on some server', () => {
    const keys = (count: number) => (s: Story) => {
      for (let n = 0; n < count; n++) s.command(0.6, 'r2', 'c3', ['DEL', `${KEY}:try-${n}`]);
      return s;
    };
    const two = (count: number) => named(told({ nodes: ['r1', 'r2'], between: keys(count) }));
    expect(two(31)).toBe('adopted-stale-key');
    expect(two(33)).not.toBe('adopted-stale-key');
  });

  it('where another client had stored it', () => {
    expect(named(told({ by: 'c3' }))).not.toBe('adopted-stale-key');
    expect(named(told({ by: 'stranger' }))).not.toBe('adopted-stale-key');
  });

  it('where it had expired before the answer', () => {
    const late = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(8, 'r1');
    late.grant('c1', 1).take(0.999, 'r1', 'c1', OWN).release('c1', 2);
    late.grant('c1', 6.05).release('c1', 8.5).grant('c2', 6.1).take(6.099, 'r1', 'c2').release('c2', 7.5);
    expect(named(late)).not.toBe('adopted-stale-key');
  });

  it('where something else removed it, or the other one took it while it was there', () => {
    expect(named(told({ between: (s) => s.command(5, 'r1', 'c3', ['DEL', KEY]) }))).not.toBe('adopted-stale-key');
    expect(named(told({ between: (s) => s.evicted(5, 'r1') }))).not.toBe('adopted-stale-key');
    expect(named(told({ between: (s) => s.command(5, 'r1', 'c2', ['SET', KEY, 'machine-2', 'PX', '5000']) }))).not.toBe(
      'adopted-stale-key',
    );
    expect(named(told({ takenAt: 5.5 }))).not.toBe('adopted-stale-key');
  });

  it("where the other one's own grant does not show", () => {
    const unseen = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(8, 'r1');
    unseen.grant('c1', 1).take(0.999, 'r1', 'c1', OWN).release('c1', 2).grant('c1', 4).release('c1', 8.5);
    unseen.command(6.2, 'r1', 'c1', ['GET', KEY]);
    expect(named(unseen.grant('c2', 6.1).release('c2', 7.5))).not.toBe('adopted-stale-key');
  });

  it('where watching had a gap between the earlier request and the grant, or at another server during the attempt', () => {
    const gap =
      (at: number, node = 'r1') =>
      (s: Story) =>
        s.watch(at, node, false).watch(at + 0.001, node);
    for (const at of [1.5, 3.9985, 5, 6.05])
      expect(named(told({ between: gap(at) })), `${at}`).not.toBe('adopted-stale-key');
    const two = (at: number) => told({ nodes: ['r1', 'r2'], between: gap(at, 'r2') });
    expect(named(two(3.9985))).not.toBe('adopted-stale-key');
    expect(named(two(2))).toBe('adopted-stale-key');
  });

  it('where a clock moved, or the server may be another process', () => {
    const jump: FaultEffect = { kind: 'clock-jumped', who: ['r1'], offsetMs: 2 };
    expect(named(told({ between: (s) => s.fault(3, 0, 'clock', 'strike', { effects: [jump] }) }))).not.toBe(
      'adopted-stale-key',
    );
    expect(named(told({ samples: { skewMs: 40 } }))).not.toBe('adopted-stale-key');
    expect(named(told({ samples: { runId: 'run-2' } }))).not.toBe('adopted-stale-key');
  });

  it('of permits, nested holds and independent nodes', () => {
    expect(named(told().promised({ kind: 'semaphore', permits: 1 }))).not.toBe('adopted-stale-key');
    expect(named(told({ nodes: ['r1', 'r2', 'r3'], story: new Story().independent(3) }))).not.toBe('adopted-stale-key');
    const nested = new Story().promised({ kind: 'reentrant', depth: 2 }).up('c1').up('c2').watch(0, 'r1');
    nested.sample(0.5, 'r1').sample(8, 'r1').grant('c1', 1).take(0.999, 'r1', 'c1', OWN);
    nested.grant('c1', 4).release('c1', 8.5).grant('c2', 6.1).take(6.099, 'r1', 'c2').release('c2', 7.5);
    expect(named(nested)).not.toBe('adopted-stale-key');
  });
});

/** One client: it stored its own at 1 s for 5 s, and says at `at` that it holds, by an attempt that left at 3.998 s; c2 at 6.1 s. */
function again({
  attempt = (s: Story) => s.take(3.999, 'r1', 'c1', OWN).command(3.9995, 'r1', 'c1', ['GET', KEY]),
  first = (s: Story) => s.grant('c1', 1).take(0.999, 'r1', 'c1', OWN).release('c1', 2),
  at = 4,
  second = (s: Story) => s.take(6.099, 'r1', 'c2'),
  end = 8,
  secondAt = 6.1,
} = {}) {
  const story = new Story().up('c1').up('c2').watch(0, 'r1').watch(0, 'r2').sample(0.5, 'r1').sample(0.5, 'r2');
  story
    .sample(end, 'r1')
    .sample(end, 'r2')
    .watch(end + 0.1, 'r1', false)
    .watch(end + 0.1, 'r2', false);
  attempt(first(story).grant('c1', at, { grantSent: at === 4 ? 3.998 : Math.min(at - 0.002, 3.998) }));
  return named(second(story.release('c1', secondAt + 0.05).grant('c2', secondAt)).release('c2', secondAt + 0.06));
}

const ADOPTED = 'adopted-stale-key';

describe('of one client that stores the same each time', () => {
  it('is said whatever others asked, or it asked itself before and after', () => {
    expect(again()).toBe(ADOPTED);
    const looked = (s: Story) => s.take(3.999, 'r1', 'c1', OWN).command(3.9995, 'r1', 'c1', ['GET', KEY]);
    for (const [at, client] of [
      [3.9992, 'c2'],
      [2.5, 'c1'],
      [4.6, 'c1'],
    ] as const)
      expect(again({ attempt: (s) => looked(s.take(at, 'r1', client, 'another')) }), `${client} at ${at}`).toBe(
        ADOPTED,
      );
  });

  it('is not said where the value was over before its answer, or may have been there when the other one took it', () => {
    expect(again({ at: 6.05 })).not.toBe(ADOPTED);
    const overwrites = (at: number) => (s: Story) =>
      s.command(at - 0.0005, 'r1', 'c2', ['GET', KEY]).command(at, 'r1', 'c2', ['SET', KEY, 'c2', 'PX', '5000']);
    expect(again({ second: overwrites(6.099) })).toBe(ADOPTED);
    // In the millisecond in which its time was over.
    expect(again({ second: overwrites(5.999), secondAt: 6 })).not.toBe(ADOPTED);
  });

  it('is not said where the other one stores its own whatever is there, and had not asked since the key may have gone', () => {
    const set = (s: Story, ...how: string[]) => s.command(6.099, 'r1', 'c2', ['SET', KEY, 'c2', 'PX', '5000', ...how]);
    expect(again({ second: (s) => set(s) })).not.toBe(ADOPTED);
    expect(again({ second: (s) => set(s.command(6.0985, 'r1', 'c3', ['GET', KEY])) })).not.toBe(ADOPTED);
    expect(again({ second: (s) => set(s.command(5.5, 'r1', 'c2', ['GET', KEY])) })).not.toBe(ADOPTED);
    expect(again({ second: (s) => set(s, 'GET') })).toBe(ADOPTED);
    expect(again({ second: (s) => set(s.command(6.0985, 'r1', 'c2', ['GET', KEY])) })).toBe(ADOPTED);
  });

  it('is not said where both had their own in one hash, which expired later', () => {
    const script = (s: Story, at: number, client: string, ...calls: string[][]) =>
      calls.reduce(
        (told, argv) => told.command(at, 'r1', 'lua', argv),
        s
          .command(at, 'r1', client, ['EVALSHA', 'take', '1', KEY, client])
          .command(at, 'r1', 'lua', ['hexists', KEY, client]),
      );
    const hash = (secondAt: number) => {
      const story = new Story()
        .up('c1')
        .up('c2')
        .watch(0, 'r1')
        .sample(0.5, 'r1')
        .sample(9, 'r1', { unseen: [KEY] });
      script(story.grant('c1', 1), 0.999, 'c1', ['hset', KEY, 'c1', '1'], ['pexpire', KEY, '5000']).release('c1', 2);
      script(story.grant('c1', 4), 3.999, 'c1').release('c1', 8.5);
      script(story.grant('c2', secondAt), secondAt - 0.001, 'c2', ['hset', KEY, 'c2', '1']).release('c2', 7.5);
      return named(story.command(6.8, 'r1', 'c2', ['PEXPIRE', KEY, '5000']));
    };
    expect(hash(6.1)).toBe(ADOPTED);
    expect(hash(5)).not.toBe(ADOPTED);
  });

  it('is said where the other one came so soon after the answer that the record ends before a second is over', () => {
    const attempt = (s: Story) => s.take(5.799, 'r1', 'c1', OWN).command(5.7995, 'r1', 'c1', ['GET', KEY]);
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(6.2, 'r1');
    attempt(
      story.watch(6.3, 'r1', false).grant('c1', 1).take(0.999, 'r1', 'c1', OWN).release('c1', 2).grant('c1', 5.8),
    );
    story.release('c1', 6.15).grant('c2', 6.1).take(6.099, 'r1', 'c2').release('c2', 6.15);
    expect(named(story)).toBe(ADOPTED);
  });

  it('is not said where it asked with the same value in no other acquire', () => {
    const look = (s: Story) => s.command(3.9995, 'r1', 'c1', ['GET', KEY]);
    expect(again({ attempt: look })).not.toBe(ADOPTED);
    // Between the two acquires, and in the first one again.
    expect(again({ attempt: (s) => look(s.take(2.9, 'r1', 'c1', OWN)) })).not.toBe(ADOPTED);
    const long = (s: Story) =>
      s
        .grant('c1', 3, { sent: 0.99, began: 0.991, grantSent: 0.998 })
        .take(0.999, 'r1', 'c1', OWN)
        .take(2.5, 'r1', 'c1', OWN)
        .release('c1', 3.1);
    expect(again({ first: long, attempt: look })).not.toBe(ADOPTED);
    expect(again({ first: long })).toBe(ADOPTED);
  });

  it('is not said where it was to store another owner, though it named the old one as well', () => {
    const script = (value: string) => (s: Story) =>
      s
        .command(3.999, 'r1', 'c1', ['EVALSHA', 'take', '1', KEY, OWN, value])
        .command(3.999, 'r1', 'lua', ['get', KEY])
        .command(3.999, 'r1', 'lua', ['set', KEY, value, 'NX', 'PX', '5000'])
        .take(3.9995, 'r1', 'c1', OWN);
    expect(again({ attempt: script(OWN) })).toBe(ADOPTED);
    expect(again({ attempt: script('another') })).not.toBe(ADOPTED);
  });

  it('is not said where it looked at nothing that could tell it whose the key was', () => {
    const take = (s: Story) => s.take(3.999, 'r1', 'c1', OWN);
    expect(again({ attempt: take })).not.toBe(ADOPTED);
    expect(again({ attempt: (s) => take(s).command(3.9995, 'r1', 'c2', ['GET', KEY]) })).not.toBe(ADOPTED);
    expect(again({ attempt: (s) => take(s).command(3.9995, 'r2', 'c1', ['GET', KEY]) })).not.toBe(ADOPTED);
    expect(again({ attempt: (s) => take(s).command(3.9995, 'r1', 'c1', ['GET', 'lock:1']) })).not.toBe(ADOPTED);
    expect(again({ attempt: (s) => take(s).command(3.9995, 'r1', 'c1', ['SETNX', KEY, OWN]) })).not.toBe(ADOPTED);
    for (const name of ['PTTL', 'EXISTS', 'STRLEN'])
      expect(again({ attempt: (s) => take(s).command(3.9995, 'r1', 'c1', [name, KEY]) }), name).not.toBe(ADOPTED);
    const script = (s: Story) =>
      take(s)
        .command(3.9995, 'r1', 'c1', ['EVALSHA', 'take', '1', KEY, OWN, 'NX'])
        .command(3.9995, 'r1', 'lua', ['get', KEY]);
    expect(again({ attempt: script })).toBe(ADOPTED);
    const waits = (s: Story) =>
      take(s)
        .command(3.9995, 'r1', 'c1', ['EVALSHA', 'wait', '1', KEY, OWN])
        .command(3.9995, 'r1', 'lua', ['pttl', KEY]);
    expect(again({ attempt: waits })).not.toBe(ADOPTED);
  });

  it('is not said of independent nodes', () => {
    const on = (story: Story) => {
      const nodes = ['r1', 'r2', 'r3'];
      for (const node of nodes) story.watch(0, node).sample(0.5, node).sample(8, node);
      story.up('c1').up('c2').grant('c1', 1).release('c1', 2).grant('c1', 4).release('c1', 8.5);
      story.grant('c2', 6.1).release('c2', 7.5);
      for (const node of nodes)
        story
          .take(0.999, node, 'c1', OWN)
          .take(3.999, node, 'c1', OWN)
          .command(3.9995, node, 'c1', ['GET', KEY])
          .take(6.099, node, 'c2');
      return named(story);
    };
    expect(on(new Story().independent(3))).not.toBe(ADOPTED);
  });
});
