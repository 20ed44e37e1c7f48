import { describe, expect, it } from 'vitest';
import { overstayed } from '../../../../checkers/liveness/overstayed.js';
import type { Completion, FaultRecord } from '../../../../harness/vocabulary/history.js';
import { KEY, LEASE_MS, ns, Story } from '../build.js';

interface Tried {
  until?: number;
  waitMs?: number;
  type?: 'ok' | 'fail' | 'info';
  reason?: string;
  /** When c1's commands on the key ran. */
  commandsAt?: readonly number[];
  features?: string[];
}

/** c1 asks for the key at 20 s. */
function tried({ until = 24, waitMs = 0, type = 'fail', reason, commandsAt = [20, 23], features }: Tried = {}): Story {
  const story = new Story().up('c1', features).up('c2').watch(0, 'r1');
  for (const at of commandsAt) story.command(at, 'r1', 'c1', ['SET', KEY, 'value', 'PX', '5000', 'NX']);
  const about = { client: 'c1', id: 9, op: 'acquire', key: KEY } as const;
  const stamps: Completion = type === 'info' ? {} : { beganNs: ns(20), endedNs: ns(until) };
  if (type === 'ok') stamps.grantSentNs = ns(until - 0.01);
  return story
    .event(20, { type: 'invoke', ...about, leaseMs: LEASE_MS, waitMs })
    .event(until, { type, ...about, ...stamps, ...(type !== 'ok' && { reason: reason ?? 'held' }) });
}

const found = (story: Story) => overstayed.check(story.input()).violations;
const kinds = (story: Story) => found(story).map(({ kind }) => kind);

it('rejects an answer that came later than anything excuses, whatever the answer was', () => {
  const [violation] = found(tried());
  expect(violation).toMatchObject({
    class: 'liveness',
    kind: 'overstayed',
    fromNs: ns(20),
    untilNs: ns(24),
    holds: [],
  });
  expect(violation!.proof).toBe(
    'c1 asked for lock:0 at 20.000 s without a wait and was refused (held) at 24.000 s, 4 s later; 2 commands of its own and 2 unseen ones may have taken 2 s at most.',
  );
  expect(found(tried({ type: 'ok' }))).toMatchObject([{ kind: 'overstayed', holds: [{ client: 'c1' }] }]);
  expect(kinds(tried({ type: 'info', reason: 'no answer within 4000 ms' }))).toEqual(['overstayed']);
});

it('accepts what the wait, its commands, two unseen ones and an unnoticed stall may have taken', () => {
  expect(kinds(tried({ until: 22.25, commandsAt: [20, 22] }))).toEqual([]);
  expect(kinds(tried({ until: 22.26, commandsAt: [20, 22] }))).toEqual(['overstayed']);
  expect(kinds(tried({ waitMs: 1_745 }))).toEqual(['overstayed']);
  expect(kinds(tried({ waitMs: 1_755 }))).toEqual([]);
  expect(kinds(tried({ commandsAt: [20, 20.5, 21, 21.5, 22, 22.5] }))).toEqual([]);
});

it('says nothing of an acquire whose client was gone, or of which no command was seen', () => {
  expect(kinds(tried({ type: 'info', reason: 'client exited (SIGKILL)' }))).toEqual([]);
  expect(kinds(tried({ commandsAt: [] }))).toEqual([]);
  expect(kinds(tried({ commandsAt: [1] }))).toEqual([]);
});

it('counts only what its own client sent, on this key: of anything else its acquire is not known to have waited', () => {
  const beside = (by: string, key: string) =>
    found(tried({ commandsAt: [] }).command(23, 'r1', by, ['SET', key, 'value', 'NX']));
  expect(beside('c1', KEY)).toHaveLength(1);
  expect(beside('c1', 'lock:1')).toEqual([]);
  expect(beside('c2', KEY)).toEqual([]);
  expect(beside('stranger', KEY)).toEqual([]);
});

it('says nothing where commands of the acquire may not have been seen: each may have taken its time', () => {
  const unwatched = (from: number, until?: number) => {
    const story = tried().watch(from, 'r1', false);
    return kinds(until === undefined ? story : story.watch(until, 'r1'));
  };
  expect(unwatched(20.5, 22.5)).toEqual([]);
  expect(unwatched(19, 20.2)).toEqual([]);
  expect(unwatched(23.9)).toEqual([]);
  expect(unwatched(18, 19)).toEqual(['overstayed']);
  expect(unwatched(24.1)).toEqual(['overstayed']);
  // One of several servers.
  expect(kinds(tried().watch(0, 'r2').watch(21, 'r2', false))).toEqual([]);
  const cut = tried().event(30, { type: 'closed', observations: 9 });
  expect(overstayed.check(cut.input())).toMatchObject({ verdict: 'unknown', violations: [] });
});

it('says nothing of what is no acquire, or has no answer', () => {
  const about = { client: 'c1', id: 1, op: 'acquire', key: KEY } as const;
  const asked = () => new Story().up('c1').watch(0, 'r1').command(20, 'r1', 'c1', ['SET', KEY, 'value', 'NX']);
  const unanswered = asked().event(20, { type: 'invoke', ...about, leaseMs: LEASE_MS, waitMs: 0 });
  expect(kinds(unanswered)).toEqual([]);
  // A release may take as long as it will: nobody told it when to give up.
  const released = asked().grant('c1', 20.01).command(21, 'r1', 'c1', ['DEL', KEY]).release('c1', 21, { read: 29 });
  expect(kinds(released.event(29.1, { type: 'phase', phase: 'end' }))).toEqual([]);
  expect(kinds(released.release('c1', [30, 39]).command(31, 'r1', 'c1', ['DEL', KEY]))).toEqual([]);
});

it('says nothing of a run that something befell that was not the lock', () => {
  const full = { mishap: 'disk', did: 'the disk was full' } as const;
  expect(overstayed.check(tried().fault(30, -1, 'none', 'failed', full).input())).toMatchObject({
    notJudged: 'something befell the run that was not the lock',
    violations: [],
  });
  expect(overstayed.check(tried({ commandsAt: [] }).input()).notJudged).toBe('no command of any client was observed');
});

it('says nothing of a lock that has no notion of a wait', () => {
  const { notJudged, violations } = overstayed.check(tried({ features: ['no-wait'] }).input());
  expect({ notJudged, violations }).toEqual({ notJudged: 'the lock has no notion of a wait', violations: [] });
});

describe('an excuse', () => {
  const struck = (who: string, from: number, until: number): [number, FaultRecord['effects'], number] => [
    from,
    [{ kind: 'stopped', who: [who] }],
    until,
  ];
  const with_ = ([from, effects, until]: [number, FaultRecord['effects'], number]) =>
    tried()
      .fault(from, 0, 'any', 'strike', { targets: [], effects })
      .fault(until, 0, 'any', 'heal', { targets: [], effects: [] });

  it('is a fault on its client or a server, then or within 10 s before', () => {
    expect(kinds(with_(struck('c1', 21, 22)))).toEqual([]);
    expect(kinds(with_(struck('r1', 21, 22)))).toEqual([]);
    expect(kinds(with_(struck('r1', 5, 10.1)))).toEqual([]);
    expect(kinds(with_(struck('r1', 5, 9.9)))).toEqual(['overstayed']);
    expect(kinds(with_(struck('r1', 24.1, 30)))).toEqual(['overstayed']);
  });

  it('is no fault on another client: no try waits for that', () => {
    expect(kinds(with_(struck('c2', 21, 22)))).toEqual(['overstayed']);
  });

  it('is one that struck its client beside another, and one that does not say whom it struck', () => {
    const both = (names: string[]) => [21, [{ kind: 'stopped', who: names }], 22] as ReturnType<typeof struck>;
    expect(kinds(with_(both(['c2', 'c1'])))).toEqual([]);
    expect(kinds(with_([21, [], 22]))).toEqual([]);
    expect(kinds(with_([5, [], 9.9]))).toEqual(['overstayed']);
  });

  it('is a harness or a machine that stalled', () => {
    expect(kinds(tried().disturbed(23, 'harness-stall', 300))).toEqual([]);
    expect(kinds(tried().disturbed(19, 'harness-stall', 300))).toEqual(['overstayed']);
    expect(kinds(tried().disturbed(24.1, 'harness-stall', 300))).toEqual(['overstayed']);
  });
});

describe('the cause', () => {
  /** r1 was looked at when the harness did so. */
  const looked = (story: Story, at: readonly number[] = [21, 22]) =>
    at.reduce((sofar, one) => sofar.sample(one, 'r1'), story);
  const causes = (story: Story) => found(story).map(({ cause }) => cause.name);

  it('is that the lock went on trying, where it sent the same again after every excuse had ended', () => {
    expect(found(looked(tried()))[0]!.cause).toMatchObject({
      name: 'went-on-trying',
      sentence: "c1's lock went on trying: it sent another SET 3 s after its wait was over.",
      chain: [
        { history: 3 },
        { text: 'c1 had sent SET when its wait was over', observation: 1 },
        { text: 'c1 sent SET again', observation: 4 },
        { history: 4 },
      ],
    });
  });

  it('is unknown where it sent nothing that late', () => {
    expect(causes(looked(tried({ commandsAt: [20, 22.2] })))).toEqual(['unexplained']);
  });

  it('is unknown of one late command: its client may have been stopped since it had looked at its clock', () => {
    expect(causes(looked(tried({ commandsAt: [23] })))).toEqual(['unexplained']);
    const waits = { waitMs: 300, until: 24.5 };
    expect(causes(looked(tried({ ...waits, commandsAt: [20, 20.1, 20.2, 24] })))).toEqual(['unexplained']);
    // Nor of one that is another one than it had sent before, on another server, or over another connection.
    const late = (node: string, argv: string[], source?: string) =>
      causes(looked(tried({ commandsAt: [20] })).command(23, node, 'c1', argv, 0, source));
    expect(late('r1', ['SET', KEY, 'another', 'NX'])).toEqual(['went-on-trying']);
    expect(late('r1', ['DEL', KEY])).toEqual(['unexplained']);
    expect(late('r2', ['SET', KEY, 'value', 'NX'])).toEqual(['unexplained']);
    expect(late('r1', ['SET', KEY, 'value', 'NX'], '10.77.0.21:41000')).toEqual(['unexplained']);
  });

  it('is unknown of several ones that one stop of the client made late', () => {
    // Its wait began when it was asked, or when its first try had been refused; and it was stopped before.
    const waits = (commandsAt: number[], lookedAt: number[]) =>
      causes(looked(tried({ waitMs: 300, until: 25.9, commandsAt }), lookedAt));
    expect(waits([24, 24.1, 24.2], [24.05, 24.06])).toEqual(['unexplained']);
    expect(waits([20, 24, 24.1, 24.2], [24.05, 24.06, 24.15, 24.16])).toEqual(['unexplained']);
    const steady = [20, 20.8, 21.6, 22.4, 23.2, 24, 24.8, 25.6];
    expect(waits(steady, [22, 23])).toEqual(['went-on-trying']);
  });

  it('is unknown where the server may have kept the second one while it ran the first', () => {
    expect(causes(tried())).toEqual(['unexplained']);
    expect(causes(looked(tried(), [21]))).toEqual(['unexplained']);
    expect(causes(looked(tried(), [19.8, 21]))).toEqual(['unexplained']);
    expect(causes(looked(tried(), [21, 23.1]))).toEqual(['unexplained']);
    expect(causes(looked(tried(), [21, 22.9]))).toEqual(['went-on-trying']);
  });

  it('is unknown where what it sent again is no try: it removed what it had stored, or told others', () => {
    const twice = (...argv: string[]) => {
      const story = looked(tried({ commandsAt: [20] }));
      return causes(story.command(20.5, 'r1', 'c1', argv).command(23, 'r1', 'c1', argv));
    };
    expect(twice('DEL', KEY)).toEqual(['unexplained']);
    expect(twice('PUBLISH', KEY, 'gave up')).toEqual(['unexplained']);
    expect(twice('EVALSHA', 'remove', '1', KEY, 'value')).toEqual(['unexplained']);
    // After each try of a lock that gives back what it stored there comes such a one.
    const rounds = [20, 23.6].reduce(
      (story, at) => story.command(at + 0.1, 'r1', 'c1', ['EVALSHA', 'remove', '1', KEY, 'value']),
      looked(tried({ commandsAt: [20, 23.6] })),
    );
    expect(found(rounds)[0]!.cause.sentence).toContain('it sent another SET');
  });

  it('is unknown where it renewed what it held of the key meanwhile', () => {
    const renewals = (releasedAt?: number) => {
      const story = looked(tried({ commandsAt: [] }), [21, 22])
        .grant('c1', 18)
        .take(17.999, 'r1', 'c1');
      if (releasedAt !== undefined) story.release('c1', releasedAt);
      for (const at of [20.0001, 21.5, 23]) story.command(at, 'r1', 'c1', ['EVALSHA', 'x', '1', KEY]);
      return causes(story);
    };
    expect(renewals()).toEqual(['unexplained']);
    expect(renewals(19)).toEqual(['went-on-trying']);
  });

  it('of a script is known by its name', () => {
    const script = (names: [string, string]) =>
      causes(
        names.reduce(
          (story, name, n) => story.command(20 + 3 * n, 'r1', 'c1', ['EVALSHA', name, '1', KEY]),
          looked(tried({ commandsAt: [] })),
        ),
      );
    expect(script(['aa', 'AA'])).toEqual(['went-on-trying']);
    expect(script(['aa', 'bb'])).toEqual(['unexplained']);
  });

  it('is unknown where that command may have run before, as late as it was read', () => {
    // By the server's clock it ran 2 s after the first, which may have run at 20 s already. All is excused until 22.25 s.
    expect(causes(looked(tried({ commandsAt: [20.5, 22.5] })))).toEqual(['unexplained']);
    expect(causes(looked(tried({ commandsAt: [20.5, 22.8] })))).toEqual(['went-on-trying']);
  });

  it('is told by how much later than its first the same server ran it, and not after it was read', () => {
    const second = (at: number, node: string, skewMs = 0) =>
      causes(looked(tried({ commandsAt: [20] })).command(at, node, 'c1', ['SET', KEY, 'value', 'NX'], skewMs))[0];
    expect(second(23, 'r1')).toBe('went-on-trying');
    expect(second(23, 'r2')).toBe('unexplained');
    expect(second(22.2, 'r1', 1_000)).toBe('unexplained');
  });

  it("is unknown where the next operation's command may be that", () => {
    const next = (at: number) =>
      found(
        looked(tried({ until: 22.8, commandsAt: [20.5] }))
          .command(23, 'r1', 'c1', ['SET', KEY, 'value', 'NX'])
          .grant('c1', 24, { sent: at, began: at, grantSent: at }),
      )[0]!.cause.name;
    expect([next(22.9), next(23.1)]).toEqual(['unexplained', 'went-on-trying']);
  });

  /** Beside the SET of 20 s one that ran at 23.999 s and was read 6 ms later, when c1 had its answer. */
  const readLate = (then: (story: Story) => Story = (story) => story, ranAt = 23.999) =>
    found(
      looked(
        then(
          tried({ commandsAt: [20] }).command(24.005, 'r1', 'c1', ['SET', KEY, 'x', 'NX'], (ranAt - 24.005) * 1_000),
        ),
      ),
    );

  it('is known by a command that was read after the answer, and ran before', () => {
    const [violation] = readLate();
    expect(violation!.proof).toContain('2 commands of its own');
    expect(violation!.cause).toMatchObject({ name: 'went-on-trying', chain: [{}, {}, { observation: 4 }, {}] });
    // Also where its client has gone on meanwhile.
    const goesOn = (at: number) => (story: Story) => story.grant('c1', at + 1, { sent: at, began: at, grantSent: at });
    expect(readLate(goesOn(24.0005))).toMatchObject([{ cause: { name: 'went-on-trying' } }]);
    expect(readLate(goesOn(23.998))).toMatchObject([{ cause: { name: 'unexplained' } }]);
  });

  it("is not known by the next operation's command", () => {
    const [violation] = readLate((story) => story.grant('c1', 24.1, { sent: 24.001, began: 24.001 }), 24.003);
    expect(violation!.proof).toContain('1 command of its own');
    expect(violation!.cause.name).toBe('unexplained');
  });
});
