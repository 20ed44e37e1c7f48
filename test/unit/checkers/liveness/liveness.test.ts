import { expect, it } from 'vitest';
import { liveness } from '../../../../checkers/liveness/liveness.js';
import { KEY, ns, Story } from '../build.js';
import { asksInQueue } from './starving.js';

const QUEUE = `${KEY}:queue`;

const judged = (story: Story) => liveness.check(story.input());

it('accepts locks that could be acquired again', () => {
  expect(judged(new Story().whole(5))).toMatchObject({
    verdict: 'valid',
    violations: [],
    notes: [],
    stats: { probes: 1, deadlocks: 0 },
  });
});

it('rejects a lock that could not be acquired, once everything had recovered', () => {
  const result = judged(new Story().recovered(5).probe(12, false));
  expect(result.verdict).toBe('invalid');
  expect(result.violations).toMatchObject([
    {
      class: 'liveness',
      kind: 'deadlock',
      key: KEY,
      fromNs: ns(5),
      untilNs: ns(12),
      evidence: [1, 2],
      cause: { name: 'unexplained' },
    },
  ]);
});

/** c9 asks for the key from 1 s to 2 s, and stores it for ever. */
const leaves = (story: Story, ...nodes: string[]) => {
  for (const node of nodes) story.command(1.5, node, 'c9', ['SET', KEY, 'dead']);
  return story.refused('c9', 1, 2);
};

it('names a key that never expires, from the last sample of the primary', () => {
  const stuck = () => leaves(new Story(), 'r1').recovered(5).probe(12, false);
  const cause = judged(stuck().sample(11, 'r1', { owner: 'dead', pttlMs: -1 })).violations[0]!.cause;
  expect(cause).toMatchObject({ name: 'key-never-expires', chain: [{ observation: 1 }, { history: 4 }] });
  const names = (story: Story) => judged(story).violations.map((violation) => violation.cause.name);
  expect(names(stuck().sample(11, 'r1', { owner: 'alive', pttlMs: 900 }))).toEqual(['unexplained']);
  expect(names(stuck().sample(10, 'r1', { owner: 'dead', pttlMs: -1 }).sample(11, 'r1'))).toEqual(['unexplained']);
  expect(names(stuck().sample(11, 'r2', { role: 'replica', owner: 'dead', pttlMs: -1 }).sample(11, 'r1'))).toEqual([
    'unexplained',
  ]);
  expect(names(stuck().sample(11, 'r2', { role: 'replica', owner: 'dead', pttlMs: -1 }))).toEqual(['unexplained']);
  expect(names(stuck().sample(13, 'r1', { owner: 'dead', pttlMs: -1 }))).toEqual(['unexplained']);
});

it('names it only where it was seen of late, and where a client stored it that asked for the lock', () => {
  const named = (tell: (story: Story) => Story, at = 11) =>
    judged(tell(new Story()).recovered(5).probe(12, false).sample(at, 'r1', { owner: 'dead', pttlMs: -1 }))
      .violations[0]!.cause.name;
  const asked = (story: Story) => leaves(story, 'r1');
  expect(named(asked)).toBe('key-never-expires');
  expect(named(asked, 10.9)).toBe('unexplained');
  expect(named((story) => story)).toBe('unexplained');
  // What a lock stores when it is given back may say that it is free.
  const released = (at: number) => (story: Story) =>
    story.grant('c9', 1).release('c9', [1.4, 1.5]).command(at, 'r1', 'c9', ['SET', KEY, 'dead']).refused('c9', 1.6, 2);
  expect(named(released(1.45))).toBe('unexplained');
  expect(named((story) => released(1.45)(asked(story)))).toBe('unexplained');
  expect(named(released(0.999))).toBe('key-never-expires');
});

it('does not name it where a stranger took its end from it, or stored the same', () => {
  const named = (by: string, argv: string[]) => {
    const story = new Story().watch(0, 'r1').refused('c9', 1, 2).sample(0.5, 'r1');
    story.command(1.5, 'r1', 'c9', ['SET', KEY, 'dead', 'PX', '5000']).command(2.5, 'r1', by, argv);
    story.recovered(5).probe(12, false).sample(11, 'r1', { owner: 'dead', pttlMs: -1 });
    return judged(story).violations[0]!.cause.name;
  };
  expect(named('stranger', ['PERSIST', KEY])).toBe('unexplained');
  expect(named('stranger', ['SET', KEY, 'dead'])).toBe('unexplained');
  expect(named('c9', ['PERSIST', KEY])).toBe('key-never-expires');
});

it('does not name it where it was stored with an end, which something took from it while the server was not watched', () => {
  const named = (...stored: string[][]) => {
    const story = new Story().watch(0, 'r1').refused('c9', 1, 2).sample(0.5, 'r1');
    for (const [n, argv] of stored.entries()) story.command(1.5 + n / 100, 'r1', 'c9', argv);
    story.watch(2.5, 'r1', false).watch(3, 'r1').refused('c1', 11, 11.5).recovered(5).probe(12, false);
    story.command(11.1, 'r1', 'c1', ['SET', KEY, 'of-c1', 'PX', '5000', 'NX']);
    story.sample(3.5, 'r1', { owner: 'dead', pttlMs: -1 }).sample(11, 'r1', { owner: 'dead', pttlMs: -1 });
    return judged(story).violations[0]!.cause.name;
  };
  expect(named(['SET', KEY, 'dead', 'PX', '5000'])).toBe('unexplained');
  expect(named(['SETNX', KEY, 'dead'], ['PEXPIRE', KEY, '5000'])).toBe('unexplained');
  // The same stands without an end under another name of the lock's.
  expect(named(['DEL', QUEUE], ['RPUSH', QUEUE, 'dead'], ['SET', KEY, 'dead', 'PX', '5000'])).toBe('unexplained');
  expect(named(['SETNX', KEY, 'dead'])).toBe('key-never-expires');
});

it('does not name what the last try had stored itself, and not given an end yet', () => {
  const named = (storedAt: number) => {
    const story = new Story().recovered(5);
    for (const at of [6, 8, 11.2]) story.refused('c1', at, at + 0.1);
    const { cause } = judged(
      story
        .event(12, { type: 'probe', key: KEY, client: 'c1', acquired: false, afterMs: 6_100, reason: 'not-synced' })
        .command(storedAt, 'r1', 'c1', ['SETNX', KEY, 'dead'])
        .command(11.22, 'r1', 'c1', ['GET', KEY])
        .sample(11.4, 'r1', { owner: 'dead', pttlMs: -1 }),
    ).violations[0] ?? { cause: undefined };
    return cause?.name;
  };
  expect(named(8.05)).toBe('key-never-expires');
  expect(named(11.25)).not.toBe('key-never-expires');
});

it('does not name it where the tries were refused for another reason, and did not look at the key', () => {
  const named = (reason: string, looks: boolean) => {
    const story = leaves(new Story().replicated().up('c1').up('c9').watch(0, 'r1').sample(0.5, 'r1'), 'r1').recovered(
      5,
    );
    for (let at = 6; at < 12; at += 0.5) {
      story.refused('c1', at, at + 0.1).command(at + 0.05, 'r1', 'c1', ['EVALSHA', 'abc', '1', KEY, 'new', '5000']);
      if (looks) story.command(at + 0.05, 'r1', 'lua', ['get', KEY]);
    }
    story.looks(9, 12, 'r1', { owner: 'dead', pttlMs: -1 });
    const probe = { type: 'probe', key: KEY, client: 'c1', acquired: false, afterMs: 6_100 } as const;
    return judged(story.event(12, { ...probe, reason })).violations[0]!.cause.name;
  };
  expect(named('NOSCRIPT No matching script.', false)).toBe('script-unknown');
  expect(named('Command timed out', false)).toBe('unexplained');
  expect(named('not granted', true)).toBe('key-never-expires');
});

it('on independent nodes names it only where no majority is left', () => {
  const story = (nodes: string[]) => {
    const told = leaves(new Story(), ...nodes)
      .recovered(5)
      .probe(12, false)
      .independent(3);
    for (const node of ['r1', 'r2', 'r3'])
      told.sample(11, node, nodes.includes(node) ? { owner: 'dead', pttlMs: -1 } : {});
    return judged(told).violations[0]!.cause.name;
  };
  expect(story(['r1'])).toBe('unexplained');
  expect(story(['r1', 'r2'])).toBe('key-never-expires');
});

it('cannot tell where a fault could not be healed: c1 may be stopped for ever while it holds the lock', () => {
  const story = new Story()
    .fault(4, -1, 'heal', 'failed', { proof: 'c1 is still stopped', mishap: 'unhealed' })
    .recovered(5);
  expect(judged(story.probe(12, false))).toMatchObject({
    verdict: 'unknown',
    violations: [],
    notes: ['not everything could be healed (c1 is still stopped)'],
  });
});

it('cannot tell where the deployment had not recovered: that is not the fault of the lock', () => {
  const result = judged(new Story().recovered(5, ['no primary']).probe(12, false));
  expect(result).toMatchObject({ verdict: 'unknown', violations: [] });
  expect(result.notes[0]).toMatch(
    /had not recovered .*no primary.* not the lock's fault that lock:0 could not be acquired/,
  );
  expect(judged(new Story().probe(12, false)).verdict).toBe('unknown');
});

it('cannot tell where the run ended before the probe, or before all of it', () => {
  expect(judged(new Story().recovered(5))).toMatchObject({
    verdict: 'unknown',
    notes: [expect.stringMatching(/ended before it was tried/)],
  });
  const half = new Story().recovered(5).probe(6, true).grant('c1', 1, { key: 'lock:1' }).release('c1', 2);
  expect(judged(half)).toMatchObject({
    verdict: 'unknown',
    notes: [expect.stringMatching(/ended before lock:1 could be tried/)],
  });
  // A deadlock of another key is found all the same, and the rest is open.
  const dead = new Story().recovered(5).probe(12, false).grant('c1', 1, { key: 'lock:1' }).release('c1', 2);
  expect(judged(dead)).toMatchObject({ verdict: 'invalid', open: ['liveness'] });
});

it('a lock that could not be acquired is no deadlock where the deployment was not as configured', () => {
  const story = new Story().fault(3, -1, 'server', 'failed', { proof: 'r1 ended by itself', mishap: 'server' });
  expect(judged(story.recovered(5).probe(12, false))).toMatchObject({
    verdict: 'unknown',
    violations: [],
    notes: [expect.stringMatching(/lock:0 could not be acquired, .*not be the lock's doing: r1 ended by itself/)],
  });
});

it("nor where the machine's clock was stepped by more than a lock may be late; by less, it is one", () => {
  const stepped = (ms: number) => new Story().disturbed(3, 'wall-clock-step', ms).recovered(5).probe(12, false);
  expect(judged(stepped(-60_000))).toMatchObject({
    verdict: 'unknown',
    violations: [],
    notes: [expect.stringMatching(/the machine's own clock, which was stepped by -60000 ms/)],
  });
  expect(judged(stepped(-300)).verdict).toBe('invalid');
  expect(judged(new Story().disturbed(3, 'wall-clock-step', -60_000).whole(5)).verdict).toBe('valid');
});

it('nor where the client that was to try it broke the protocol', () => {
  const reason = 'protocol: hello';
  const broke = { what: 'hello', lost: { id: 1, op: 'acquire', key: KEY } } as const;
  const story = new Story()
    .recovered(5)
    .event(11, { type: 'client-down', client: 'c1', endNs: 11e9, reason, broke })
    .event(12, { type: 'probe', key: KEY, client: 'c1', acquired: false, afterMs: 7_000, reason });
  expect(judged(story)).toMatchObject({
    verdict: 'unknown',
    violations: [],
    notes: ['lock:0 could not be tried again: c1 broke the protocol: hello'],
  });
});

it('nor where no client could be started to try it', () => {
  const reason = 'the lock client could not be started';
  const probe = { type: 'probe', key: KEY, client: 'c1', acquired: false, afterMs: 7_000, reason } as const;
  expect(judged(new Story().recovered(5).event(12, { ...probe, untried: true }))).toMatchObject({
    verdict: 'unknown',
    violations: [],
    notes: ['lock:0 could not be tried again: the lock client could not be started'],
  });
  // The words alone may be the lock's own.
  expect(judged(new Story().recovered(5).event(12, probe)).verdict).toBe('invalid');
});

it('a lock whose own words read like a broken protocol is accused all the same', () => {
  const reason = 'protocol: hello';
  const story = new Story()
    .recovered(5)
    .event(12, { type: 'probe', key: KEY, client: 'c1', acquired: false, afterMs: 7_000, reason });
  expect(judged(story).verdict).toBe('invalid');
});

it('nor where a client that may have been granted it in the probe was killed for what it said', () => {
  const story = (key: string, at: number) =>
    new Story()
      .recovered(5)
      .event(at, {
        type: 'client-down',
        client: 'c1',
        endNs: at * 1e9,
        reason: 'x',
        broke: { what: 'hello', lost: { id: 1, op: 'acquire', key } },
      })
      .event(20, { type: 'probe', key: KEY, client: 'c1.2', acquired: false, afterMs: 7_000, reason: 'held' });
  expect(judged(story(KEY, 15))).toMatchObject({
    verdict: 'unknown',
    notes: ['lock:0 could not be tried again: c1, which may have been granted it, broke the protocol: hello'],
  });
  // A lease before the probe began is the earliest that a key which was granted then still stands.
  expect(judged(story(KEY, 8.1)).verdict).toBe('unknown');
  expect(judged(story(KEY, 7.9)).verdict).toBe('invalid');
  expect(judged(story('lock:1', 15)).verdict).toBe('invalid');
});

/** c1 tries from 10 s to 12 s, five seconds after everything had recovered, and is answered that. */
function tried(reason: string, began = 10.1): Story {
  return new Story()
    .up('c1')
    .watch(0, 'r1')
    .sample(4, 'r1')
    .recovered(5)
    .refused('c1', began, 12, 'fail')
    .event(12, { type: 'probe', key: KEY, client: 'c1', acquired: false, afterMs: 7_000, reason });
}

it('nor where its last try began while a lease may still have been in the way', () => {
  expect(judged(tried('held'))).toMatchObject({ verdict: 'invalid' });
  expect(judged(tried('held', 9.9))).toMatchObject({
    verdict: 'unknown',
    violations: [],
    notes: ['lock:0 was last tried at 9.900 s ("held"), when a lease or a place may still have been in the way'],
  });
});

it('nor while a place in the queue may have been, by what the lock declares', () => {
  const fair = (place: number) => {
    const up = { client: 'c1', slot: 'c1', host: 'c1', address: '10.77.0.9', lock: 'fair' };
    const story = new Story().event(0.1, { type: 'client-up', ...up, features: [], deadlines: { place } });
    story.recovered(5).refused('c1', 11, 12, 'fail');
    return judged(story.probe(12, false)).verdict;
  };
  expect(fair(900)).toBe('invalid');
  expect(fair(1_100)).toBe('unknown');
});

it('nor where the head of the queue was of one that gave up, and its place was not over when it was tried last', () => {
  const began = (lastAt: number) => {
    const story = new Story().replicated();
    for (const client of ['c1', 'c3']) {
      const where = { client, slot: client, host: client, address: '10.77.0.9', lock: 'fair' };
      story.event(0.1, { type: 'client-up', ...where, features: [], deadlines: { place: 'lease' } });
    }
    story.watch(0.2, 'r1').looks(0.5, 19, 'r1');
    asksInQueue(story, 4.6, 'c3', 'ticket-of-c3', true).refused('c3', 4.5, 4.8).recovered(5);
    story.refused('c1', lastAt, lastAt + 2);
    for (let n = 0; n < 4; n++) asksInQueue(story, lastAt + 0.1 + n / 2, 'c1', 'ticket-of-c1', n === 0);
    return judged(story.probe(lastAt + 2, false));
  };
  expect(began(12)).toMatchObject({
    verdict: 'unknown',
    violations: [],
    notes: [expect.stringMatching(/last tried at 12.000 s/)],
  });
  expect(began(15.1).violations).toMatchObject([{ cause: { name: 'queue-head-gone' } }]);
});

it('nor where the servers stored it for the client, and the lock waited for more than that', () => {
  const stored = (reason: string, at = 11) =>
    tried(reason)
      .take(at, 'r1', 'c1')
      .unlock(at + 0.3, 'r1', 'c1')
      .sample(12, 'r1');
  expect(judged(stored('not-synced'))).toMatchObject({
    verdict: 'unknown',
    violations: [],
    notes: ['lock:0 was stored for c1 on r1, and that it was refused ("not-synced") shows nobody in the way'],
  });
  // Taken is taken: a lock that counts may store something of one that it refuses.
  expect(judged(stored('held')).verdict).toBe('invalid');
  expect(judged(stored('not-synced', 9)).verdict).toBe('invalid');
  expect(judged(tried('not-synced').take(11, 'r1', 'c2').sample(12, 'r1')).verdict).toBe('invalid');
  const later = stored('not-synced').refused('c9', 11.4, 11.9).command(11.5, 'r1', 'c9', ['SET', KEY, 'dead']);
  const blocked = later.sample(12, 'r1', { owner: 'dead', pttlMs: -1 });
  expect(judged(blocked).verdict).toBe('invalid');
});

it('nor where the harness stood still for half of the grace, unless it was refused as taken', () => {
  const stalled = (reason: string, ms: number, at = 10.5) =>
    judged(tried(reason).disturbed(at, 'harness-stall', ms)).verdict;
  expect(stalled('Command timed out', 1_200)).toBe('unknown');
  expect(stalled('Command timed out', 600)).toBe('invalid');
  expect(stalled('Command timed out', 1_200, 6)).toBe('invalid');
  expect(stalled('held', 1_200)).toBe('invalid');
});

it('says of what stands there who left it and where; where nothing is known to, that no evidence shows why', () => {
  const sentence = (story: Story) => judged(story.recovered(5).probe(12, false)).violations[0]!.cause;
  // What stands is another client's than the one that would explain it: it asked for another key.
  const left = () => new Story().refused('c9', 1, 2, 'fail', 'lock:1').command(1.5, 'r1', 'c9', ['SET', KEY, 'dead']);
  expect(sentence(left())).toMatchObject({
    name: 'unexplained',
    sentence:
      'c9 left lock:0 on r1, where it still stood when the probe was refused. Why it was not taken away is not shown.',
    chain: [
      { text: 'c9 stored lock:0 on r1, where it still stood at 12.000 s', observation: expect.any(Number) },
      { text: expect.stringContaining('could not be acquired') },
    ],
  });
  const none = 'No complete chain of evidence shows why.';
  expect(sentence(left().command(3, 'r1', 'c9', ['DEL', KEY])).sentence).toBe(none);
  expect(
    sentence(new Story().refused('c9', 1, 2).command(1.5, 'r1', 'c9', ['SET', KEY, 'x', 'PX', '500'])).sentence,
  ).toBe(none);
  expect(sentence(left().command(3, 'r1', 'stranger', ['SET', KEY, 'dead'])).sentence).toBe(none);
});
