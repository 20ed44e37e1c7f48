import { describe, expect, it } from 'vitest';
import { judge } from '../../../../checkers/index.js';
import { leftBehind } from '../../../../checkers/liveness/left-behind.js';
import { KEY, literalConfig, Story } from '../build.js';

const found = (story: Story) => leftBehind.check(story.input());

/** c1 tries at 1 s and again at 2 s, and is refused. */
const refusedTwice = () => new Story().up('c1').up('c2').refused('c1', 0.9, 1.6).refused('c1', 1.9, 2.4);

/** In the first of them it stored `one` on r1. */
const tried = () => refusedTwice().take(1, 'r1', 'c1', 'one').take(2, 'r1', 'c1', 'two');

it('rejects a try whose value is still there when the next one has come over the same connection', () => {
  const result = found(tried().sample(2.5, 'r1', { owner: 'one' }));
  expect(result).toMatchObject({
    verdict: 'invalid',
    stats: { leftBehind: 1 },
    violations: [{ class: 'liveness', kind: 'left-behind', key: KEY, fromNs: 1e9, untilNs: 2.5e9 }],
  });
  expect(result.violations[0]!.proof).toMatch(
    /^c1 stored lock:0 on r1 at 1\.000 s, and tried for it again at 2\.000 s/,
  );
});

it('accepts where it was named in between: given back, or released', () => {
  const story = refusedTwice().take(1, 'r1', 'c1', 'one').unlock(1.5, 'r1', 'c1', 'one').take(2, 'r1', 'c1', 'two');
  expect(found(story.sample(2.5, 'r1', { owner: 'one' })).verdict).toBe('valid');
});

it('accepts where it was named before the node was looked at', () => {
  const story = tried().unlock(2.3, 'r1', 'c1', 'one');
  expect(found(story.sample(2.5, 'r1', { owner: 'one' })).verdict).toBe('valid');
});

it('accepts where the node does not have it: it was refused, or has expired', () => {
  expect(found(tried().sample(2.5, 'r1', { owner: 'two' })).verdict).toBe('valid');
  expect(found(tried().sample(2.5, 'r1')).verdict).toBe('valid');
  expect(found(tried()).verdict).toBe('valid');
});

it('accepts what is still on its way, and what another node has', () => {
  expect(found(tried().sample(2.1, 'r1', { owner: 'one' })).verdict).toBe('valid');
  expect(found(tried().sample(2.5, 'r2', { owner: 'one' })).verdict).toBe('valid');
});

it('accepts another try with the same value, and one of another process', () => {
  const same = refusedTwice().take(1, 'r1', 'c1', 'one').take(2, 'r1', 'c1', 'one');
  expect(found(same.sample(2.5, 'r1', { owner: 'one' })).verdict).toBe('valid');
});

describe('of a value that serves for all acquires of its client, as the name of a thread does', () => {
  /** A try that was refused and took nothing on the node that is looked at, or had it taken back there; and one that is granted. */
  const granted = (first: readonly string[]) => {
    const story = new Story().up('c1').refused('c1', 0.5, 0.7).grant('c1', 2, { grantSent: 1.9 });
    for (const node of first) story.take(0.6, node, 'c1', 'thread').unlock(0.65, node, 'c1', 'thread');
    return story;
  };
  /** The grant is made of a command that stores it, and one that gives it its lease. */
  const stored = (story: Story, nodes: readonly string[]) => {
    for (const node of nodes)
      story.take(1.95, node, 'c1', 'thread').command(1.96, node, 'c1', ['PEXPIRE', KEY, '5000']);
    return found(story.sample(2.5, 'r1', { owner: 'thread' })).verdict;
  };

  it('accepts what the granted acquire did after it had stored it', () => {
    expect(stored(granted(['r1']), ['r1'])).toBe('valid');
  });

  it('accepts it on a node that the refused one did not reach, whichever node shows that the value is reused', () => {
    expect(stored(granted(['r2']), ['r2', 'r1'])).toBe('valid');
    expect(stored(granted(['r2']), ['r1', 'r2'])).toBe('valid');
  });
});

it('accepts where the client died, or was held up, before what it gave back could have come', () => {
  const verdictOf = (story: Story) => found(story.sample(2.5, 'r1', { owner: 'one' })).verdict;
  expect(verdictOf(tried().down('c1', 2.2))).toBe('valid');
  expect(verdictOf(tried().down('c1', 2.4))).toBe('invalid');
  const stopped = (from: number, until: number) =>
    tried()
      .fault(from, 0, 'pause', 'strike', { effects: [{ kind: 'stopped', who: ['c1'] }] })
      .fault(until, 0, 'pause', 'heal');
  expect(verdictOf(stopped(1.9, 2.1))).toBe('valid');
  expect(verdictOf(stopped(2.3, 2.4))).toBe('invalid');
});

it('accepts where the next try came over another connection: what was sent on the first may be lost', () => {
  const story = refusedTwice().take(1, 'r1', 'c1', 'one');
  story.command(2, 'r1', 'c1', ['SET', KEY, 'two', 'PX', '5000', 'NX'], 0, '10.77.0.9:40001');
  expect(found(story.sample(2.5, 'r1', { owner: 'one' })).verdict).toBe('valid');
});

it('accepts where the node was a replica in between: it turned away whoever gave back, and MONITOR shows nothing of that', () => {
  const seenAs = (role: 'primary' | 'replica', at: number) =>
    found(tried().sample(at, 'r1', { role, owner: 'one' }).sample(2.5, 'r1', { owner: 'one' })).verdict;
  expect(seenAs('replica', 1.7)).toBe('valid');
  expect(seenAs('primary', 1.7)).toBe('invalid');
  expect(seenAs('replica', 0.9)).toBe('invalid');
});

it('accepts where the node may have turned its client away because another was in trouble, and MONITOR shows nothing of that', () => {
  const killed = (name: string, atNs: number, minReplicasToWrite: number, primaries: string[]) => {
    const topologyOptions = { ...literalConfig.topologyOptions, minReplicasToWrite };
    const story = tried().sample(2.5, 'r1', { owner: 'one' }).configured({ topologyOptions }).replicated();
    for (const node of ['r1', 'r2', 'r3']) {
      story.sample(0.1, node, { role: primaries.includes(node) ? 'primary' : 'replica' });
    }
    story.fault(atNs, 0, 'kill', 'strike', {
      targets: [name],
      effects: [{ kind: 'killed', who: [name], sinceNs: atNs * 1e9 }],
    });
    story.fault(atNs + 0.1, 0, 'kill', 'heal', { targets: [name] });
    return found(story).verdict;
  };
  const three = ['r1', 'r2', 'r3'];
  expect(killed('r3', 1.5, 0, three)).toBe('valid');
  expect(killed('r3', 0.5, 0, three)).toBe('valid');
  expect(killed('r3', 1.5, 1, ['r1'])).toBe('valid');
  expect(killed('r3', 2.1, 0, three)).toBe('invalid');
  expect(killed('r3', 1.5, 0, ['r1'])).toBe('invalid');
  expect(killed('c2', 1.5, 0, three)).toBe('invalid');

  const beside = (told: Story) => found(told.sample(2.5, 'r1', { owner: 'one' })).verdict;
  const primaries = (told: Story, at: number, nodes = three) =>
    nodes.reduce((story, node) => story.sample(at, node, { role: 'primary' }), told);
  const unnamed = (told: Story, at: number) =>
    told.fault(at, 0, 'latency', 'strike').fault(at + 0.1, 0, 'latency', 'heal');
  expect(beside(unnamed(primaries(tried().replicated(), 0.1), 1.5))).toBe('valid');
  // Nodes that know nothing of each other, and one that took over after the trouble, are no shards.
  expect(beside(unnamed(primaries(tried().independent(3), 0.1), 1.5))).toBe('invalid');
  const tookOver = primaries(unnamed(primaries(tried().replicated(), 0.1, ['r1']), 1.5), 2.4, ['r2']);
  expect(beside(tookOver)).toBe('invalid');
  // What was over ten seconds before.
  const story = (at: number) => {
    const later = new Story().up('c1').refused('c1', 10.9, 11.6).refused('c1', 11.9, 12.4);
    later.take(11, 'r1', 'c1', 'one').take(12, 'r1', 'c1', 'two').sample(12.5, 'r1', { owner: 'one' });
    return found(unnamed(primaries(later.replicated(), 0.2), at)).verdict;
  };
  expect(story(0.5)).toBe('invalid');
  expect(story(1.5)).toBe('valid');
});

describe('on a node that carries out late what it was asked, when its client has gone on', () => {
  /** c1 asks r1, r2 and r3 at once; r3 answers nobody between 1 s and 2 s. */
  const asked = (story: Story, at: number, value: string, on: readonly string[]) => {
    for (const node of on) story.take(at, node, 'c1', value);
    return story;
  };
  const verdictOf = (story: Story) => found(story.sample(2.5, 'r3', { owner: 'one' })).verdict;
  const refusedOnce = () => asked(new Story().up('c1').refused('c1', 1.1, 1.2), 1.15, 'one', ['r1', 'r2']);
  const woken = (story: Story) => {
    asked(story, 1.55, 'two', ['r1', 'r2']);
    return asked(asked(story, 2, 'one', ['r3']), 2.001, 'two', ['r3']);
  };

  it('a value belongs to the try that named it, and not to the one that runs when it is stored', () => {
    const holding = woken(refusedOnce().grant('c1', 1.6, { grantSent: 1.54 }));
    expect(verdictOf(holding)).toBe('invalid');
    const later = refusedOnce().refused('c1', 1.3, 1.4).grant('c1', 1.6, { grantSent: 1.54 });
    asked(later, 1.35, 'between', ['r1', 'r2']);
    asked(asked(later, 1.55, 'two', ['r1', 'r2']), 2, 'one', ['r3']);
    expect(verdictOf(asked(asked(later, 2.001, 'between', ['r3']), 2.002, 'two', ['r3']))).toBe('invalid');
  });

  it('so it does where its client asks for another key when it is stored, or gives one back', () => {
    const twice = () => refusedOnce().refused('c1', 1.5, 1.6);
    expect(verdictOf(woken(twice().refused('c1', 1.9, 2.1, 'fail', 'lock:1')))).toBe('invalid');
    expect(verdictOf(woken(twice().grant('c1', 1.8, { key: 'lock:1' }).release('c1', 1.9)))).toBe('invalid');
  });

  it('so it is nobody’s leftover where that one is still held, though both came while the next was asked for', () => {
    const held = (released: boolean) => {
      const story = asked(new Story().up('c1').grant('c1', 1.2, { grantSent: 1.1 }), 1.15, 'one', ['r1', 'r2']);
      if (released) story.release('c1', 1.4);
      return woken(story.refused('c1', 1.5, 2.2));
    };
    expect(verdictOf(held(false))).toBe('valid');
    expect(verdictOf(held(true))).toBe('invalid');
  });
});

it('cannot tell where observations are missing: the line that named the value may be among them', () => {
  const story = () => tried().sample(2.5, 'r1', { owner: 'one' });
  const closed = (observations: number) => found(story().event(3, { type: 'closed', observations }));
  expect(closed(4)).toMatchObject({ verdict: 'unknown', violations: [] });
  expect(closed(3)).toMatchObject({ verdict: 'invalid' });
});

it('cannot tell of more commands than are read', () => {
  const input = tried().sample(2.5, 'r1', { owner: 'one' }).input();
  const told = (commandCount: number) =>
    leftBehind.check({ ...input, observations: { ...input.observations, commandCount } });
  expect(told(1_000_000).verdict).toBe('invalid');
  expect(told(1_000_001)).toMatchObject({
    verdict: 'unknown',
    violations: [],
    notes: [expect.stringMatching(/^whether tries left something behind cannot be told: 1000001 commands/)],
  });
});

it('understands a script that stores where there is nothing, and one that gives back', () => {
  const asks = (story: Story, at: number, value: string) =>
    story
      .command(at, 'r1', 'c1', ['EVALSHA', 'abc', '1', KEY, value])
      .command(at, 'r1', 'lua', ['set', KEY, value, 'NX', 'PX', '5000']);
  const left = asks(asks(refusedTwice(), 1, 'one'), 2, 'two');
  expect(found(left.sample(2.5, 'r1', { owner: 'one' })).verdict).toBe('invalid');
  const given = asks(refusedTwice(), 1, 'one').command(1.5, 'r1', 'c1', ['EVALSHA', 'def', '1', KEY, 'one']);
  expect(found(asks(given, 2, 'two').sample(2.5, 'r1', { owner: 'one' })).verdict).toBe('valid');
});

describe('whether the try had come to nothing', () => {
  const left = (story: Story) =>
    found(story.take(1, 'r1', 'c1', 'one').take(4, 'r1', 'c1', 'two').sample(4.5, 'r1', { owner: 'one' })).verdict;
  const granted = () => new Story().up('c1').grant('c1', 1.1, { grantSent: 0.95 });

  it('it had if it was released, and that was answered', () => {
    expect(left(granted().release('c1', 2).refused('c1', 3.9, 4.2))).toBe('invalid');
    expect(left(granted().release('c1', 2, { type: 'never' }).refused('c1', 3.9, 4.2))).toBe('valid');
    expect(left(granted().release('c1', 4.1).refused('c1', 3.9, 4.2))).toBe('valid');
  });

  it('it had not while it is held, by this grant or another, or its outcome is not known', () => {
    expect(left(granted().refused('c1', 3.9, 4.2))).toBe('valid');
    expect(left(new Story().up('c1').grant('c1', 0.5).refused('c1', 0.9, 1.2).refused('c1', 3.9, 4.2))).toBe('valid');
    expect(left(new Story().up('c1').refused('c1', 0.9, 1.2, 'info').refused('c1', 3.9, 4.2))).toBe('valid');
  });

  it('and an earlier try of the same acquire had, whatever became of the last', () => {
    expect(left(new Story().up('c1').grant('c1', 4.1, { grantSent: 3.95, began: 0.9 }))).toBe('invalid');
  });
});

describe('in scripts that store otherwise than where there is nothing', () => {
  /** A client runs a script with these commands, and names the owner. */
  const runs = (story: Story, at: number, client: string, ...commands: string[][]) => {
    story.command(at, 'r1', client, ['EVALSHA', 'take', '1', KEY, client === 'c1' ? 'one' : 'theirs']);
    for (const argv of commands) story.command(at, 'r1', 'lua', argv);
    return story;
  };
  /** c2 takes its own and gives it back: so it is seen what the lock stores. */
  const cycle = (story: Story, take: string[], giveBack: string[]) =>
    runs(runs(story, 0.3, 'c2', take), 0.4, 'c2', giveBack);

  it('a string that was set in a script is found where clients take theirs away', () => {
    const set = (value: string) => ['SET', KEY, value, 'PX', '5000'];
    const story = (known: boolean) => {
      const told = refusedTwice().up('c2').grant('c2', 0.35, { grantSent: 0.29 });
      if (known) cycle(told, set('theirs'), ['DEL', KEY]);
      return runs(told, 1, 'c1', ['EXISTS', KEY], set('one'))
        .command(2, 'r1', 'c1', ['EVALSHA', 'take', '1', KEY, 'two'])
        .command(2, 'r1', 'lua', ['EXISTS', KEY])
        .sample(2.5, 'r1', { owner: 'one' });
    };
    expect(found(story(true))).toMatchObject({ verdict: 'invalid', stats: { leftBehind: 1 } });
    expect(found(story(false)).verdict).toBe('valid');
  });

  it('so are fields of hashes, by samples, and members of sets, by the next command that finds them', () => {
    const story = (type: 'H' | 'S', seen: (told: Story) => Story) => {
      const add = (one: string) => (type === 'H' ? ['HSET', KEY, one, '1'] : ['SADD', KEY, one]);
      const told = refusedTwice().up('c2').grant('c2', 0.35, { grantSent: 0.29 });
      told.command(0.2, 'r1', 'c2', ['DEL', KEY]);
      cycle(told, add('theirs'), [type === 'H' ? 'HDEL' : 'SREM', KEY, 'theirs']);
      runs(told, 1, 'c1', add('one')).command(2, 'r1', 'c1', ['EVALSHA', 'take', '1', KEY, 'two']);
      return found(seen(told)).verdict;
    };
    const sampled = (told: Story) => told.sample(2.5, 'r1', { owner: JSON.stringify({ one: '1' }) });
    expect(story('H', sampled)).toBe('invalid');
    expect(story('H', (told) => told.sample(2.5, 'r1', { owner: JSON.stringify({ two: '1' }) }))).toBe('valid');
    const asked = (at: number) => (told: Story) => told.command(at, 'r1', 'c2', ['SADD', KEY, 'new']);
    expect(story('S', asked(2.5))).toBe('invalid');
    expect(story('S', asked(2.2))).toBe('valid');
    expect(story('S', (told) => asked(2.5)(told.watch(2.3, 'r1')))).toBe('valid');
    expect(story('S', (told) => asked(2.5)(told.watch(2.3, 'r2')))).toBe('invalid');
    expect(story('S', (told) => asked(2.5)(told.evicted(2.3, 'r1')))).toBe('valid');
    const restarted = (told: Story) => asked(2.5)(told.sample(0.5, 'r1').sample(2.3, 'r1', { runId: 'another' }));
    expect(story('S', restarted)).toBe('valid');
    expect(story('S', (told) => asked(2.5)(told.command(2.4, 'r1', 'c1', ['SREM', KEY, 'one'])))).toBe('valid');
  });

  it('not what a script composed, what others store, too, or how many permits are free', () => {
    const set = (value: string) => ['SET', KEY, value, 'PX', '5000'];
    const story = (value: string, by = 'c1') => {
      const told = refusedTwice().up('c2').grant('c2', 0.35, { grantSent: 0.29 });
      cycle(told, set('theirs'), ['DEL', KEY]);
      runs(told, 1, by, set(value)).command(2, 'r1', 'c1', ['EVALSHA', 'take', '1', KEY, 'two']);
      return told.sample(2.5, 'r1', { owner: value });
    };
    expect(found(story('one')).verdict).toBe('invalid');
    expect(found(story('write:one')).verdict).toBe('valid');
    const shared = runs(story('one').grant('c2', 3.1), 3.09, 'c1').command(3.095, 'r1', 'c2', [...set('one'), 'NX']);
    expect(found(shared).verdict).toBe('valid');
    expect(found(story('one').promised({ kind: 'semaphore', permits: 2 })).verdict).toBe('valid');
  });

  it('not what lists and sorted sets have, nor what is counted under other keys', () => {
    const story = (add: (value: string) => string[], remove: string[]) => {
      const told = refusedTwice().up('c2').grant('c2', 0.35, { grantSent: 0.29 });
      told.command(0.2, 'r1', 'c2', ['DEL', KEY]);
      cycle(told, add('theirs'), remove);
      runs(told, 1, 'c1', add('one')).command(2, 'r1', 'c1', ['EVALSHA', 'take', '1', KEY, 'two']);
      return found(told.command(2.5, 'r1', 'c2', add('new')));
    };
    const notJudged = 'no server was seen to store what names an owner';
    const list = story((value) => ['RPUSH', KEY, value], ['LREM', KEY, '0', 'theirs']);
    expect(list).toMatchObject({ verdict: 'valid', notJudged });
    const sorted = story((value) => ['ZADD', KEY, '1', value], ['ZREM', KEY, 'theirs']);
    expect(sorted).toMatchObject({ verdict: 'valid', notJudged });
  });
});

describe('what is a try, and whose', () => {
  const verdictOf = (story: Story, node = 'r1', owner = 'one') => found(story.sample(2.5, node, { owner })).verdict;
  const set = (value: string) => ['SET', KEY, value, 'PX', '5000'];
  /** A script that c2 runs, which names no other owner than its own. */
  const runs = (story: Story, at: number, client: string, argv: string[], named = 'theirs') =>
    story.command(at, 'r1', client, ['EVALSHA', 'take', '1', KEY, named]).command(at, 'r1', 'lua', argv);

  it('not what was stored while its client asked for nothing', () => {
    expect(found(new Story().up('c1').take(0.5, 'r1', 'c1', 'one'))).toHaveProperty('notJudged');
  });

  it('a command that asks for another key is no next try', () => {
    const story = refusedTwice().take(1, 'r1', 'c1', 'one').command(2, 'r1', 'c1', ['GET', 'lock:1']);
    expect(verdictOf(story.configured({ keys: [KEY, 'lock:1'] }))).toBe('valid');
  });

  it('nor is one that asks once more for the same acquire', () => {
    const story = new Story().up('c1').refused('c1', 0.9, 2.4).take(1, 'r1', 'c1', 'one');
    expect(verdictOf(story.command(2, 'r1', 'c1', ['GET', KEY]))).toBe('valid');
  });

  it('only a client can name it, and one that names it again in another try does', () => {
    expect(verdictOf(tried().command(2.3, 'r1', 'stranger', ['GET', 'one']))).toBe('invalid');
    expect(verdictOf(tried().take(2.3, 'r1', 'c1', 'one'))).toBe('valid');
  });

  it('not what another client had stored before', () => {
    const story = refusedTwice().up('c2').grant('c2', 0.4, { grantSent: 0.29 }).take(0.3, 'r1', 'c2', 'one');
    expect(verdictOf(story.take(1, 'r1', 'c1', 'one').take(2, 'r1', 'c1', 'two'))).toBe('valid');
  });

  it('clients that take away what others stored, or only prolong their own, show nothing', () => {
    const story = (by: string, argv: string[]) => {
      const told = refusedTwice().up('c2').grant('c2', 0.35, { grantSent: 0.29 });
      runs(runs(told, 0.3, 'c2', set('theirs')), 0.4, by, argv);
      return verdictOf(
        runs(told, 1, 'c1', set('one'), 'one').command(2, 'r1', 'c1', ['EVALSHA', 'x', '1', KEY, 'two']),
      );
    };
    expect(story('c2', ['DEL', KEY])).toBe('invalid');
    expect(story('c1', ['DEL', KEY])).toBe('valid');
    expect(story('c2', ['PEXPIRE', KEY, '5000'])).toBe('valid');
  });

  it('an acquire that its caller gave up came to nothing, whatever its outcome, but over a reconnect, which hides what was granted', () => {
    const story = (given: object) => {
      const about = { client: 'c1', id: 900, op: 'acquire', key: KEY } as const;
      const told = new Story().up('c1').event(0.9, { type: 'invoke', ...about, leaseMs: 5_000, waitMs: 0 });
      const ended = { reason: 'timeout', beganNs: 0.9e9, endedNs: 1.6e9, ...given };
      told.event(1.6, { type: 'info', ...about, ...ended }).refused('c1', 1.9, 2.4);
      return verdictOf(told.take(1, 'r1', 'c1', 'one').take(2, 'r1', 'c1', 'two'));
    };
    expect(story({ cancelledNs: 1.2e9 })).toBe('invalid');
    expect(story({ cancelledNs: 1.2e9, reason: 'reconnect' })).toBe('valid');
    expect(story({})).toBe('valid');
  });

  it('what is held is no leftover, though its client names a value of an earlier try after it', () => {
    const story = new Story().up('c1').refused('c1', 1.1, 1.2).take(1.15, 'r1', 'c1', 'one');
    story.grant('c1', 1.6, { grantSent: 1.54 }).take(1.55, 'r3', 'c1', 'two');
    expect(verdictOf(story.refused('c1', 1.9, 2.2).take(2, 'r3', 'c1', 'one'), 'r3', 'two')).toBe('valid');
  });

  it('belongs to the first acquire that named it, though a later one names it to another node', () => {
    const story = new Story().up('c1').refused('c1', 1.1, 1.2).take(1.15, 'r1', 'c1', 'one');
    story.grant('c1', 1.6, { grantSent: 1.54 }).unlock(1.56, 'r1', 'c1', 'one').take(1.57, 'r1', 'c1', 'two');
    expect(verdictOf(story.take(2, 'r3', 'c1', 'one').take(2.001, 'r3', 'c1', 'two'), 'r3')).toBe('invalid');
  });

  describe('in a set', () => {
    /** c1 left `one` in a set that clients leave by themselves; then something happens, and c2 finds what is there. */
    const story = (then: (told: Story) => Story, at = [2.5]) => {
      const told = refusedTwice()
        .up('c2')
        .grant('c2', 0.35, { grantSent: 0.29 })
        .command(0.2, 'r1', 'c2', ['DEL', KEY]);
      runs(runs(told, 0.3, 'c2', ['SADD', KEY, 'theirs']), 0.4, 'c2', ['SREM', KEY, 'theirs']);
      runs(told, 1, 'c1', ['SADD', KEY, 'one'], 'one').command(2, 'r1', 'c1', ['EVALSHA', 'take', '1', KEY, 'two']);
      then(told);
      for (const one of at) told.command(one, 'r1', 'c2', ['SADD', KEY, `new at ${one}`]);
      return found(told);
    };

    it('the first command that finds it is what shows it, from a quarter of a second on', () => {
      expect(story((told) => told, [2.25, 2.7]).violations).toMatchObject([{ untilNs: 2.25e9 }]);
    });

    it('a look at the server that is the same process changes nothing', () => {
      expect(story((told) => told.sample(0.5, 'r1').sample(2.3, 'r1')).verdict).toBe('invalid');
    });

    it('not what is stored there anew, nor what may have been taken away', () => {
      const anew = (told: Story) => runs(told.command(2.1, 'r1', 'c2', ['DEL', KEY]), 2.2, 'c2', ['SADD', KEY, 'one']);
      expect(story(anew).verdict).toBe('valid');
      const perhaps = (told: Story) =>
        runs(told, 2.1, 'c2', ['SADD', KEY, 'x']).command(2.2, 'r1', 'c2', ['SPOP', KEY]);
      expect(story(perhaps).verdict).toBe('valid');
    });

    it('so it is of a semaphore, of which only a number is none', () => {
      expect(story((told) => told.promised({ kind: 'semaphore', permits: 2 })).verdict).toBe('invalid');
    });
  });
});

describe('what a finding says, and how many there are', () => {
  it('counts all where it tells of some', () => {
    const told = (count: number) => {
      const story = refusedTwice();
      story.times(count, (one, n) => one.take(1, `r${n}`, 'c1', 'one').take(2, `r${n}`, 'c1', 'two'));
      story.times(count, (one, n) => one.sample(2.5, `r${n}`, { owner: 'one' }));
      return found(story);
    };
    const [most, more] = [told(200), told(201)];
    expect(most).toMatchObject({ stats: { leftBehind: 200 } });
    expect(most).not.toHaveProperty('found');
    expect(more).toMatchObject({ stats: { leftBehind: 201 }, found: { liveness: 201 } });
    expect(more.violations).toHaveLength(200);
  });

  it('says of one and of several what they are', () => {
    const headline = leftBehind.properties[0]!.kinds['left-behind']!.headline as (count: number) => string;
    expect(headline(1)).toBe(
      'Left behind: 1 failed try or released hold stayed on a server, though the client could have taken it back',
    );
    expect(headline(2)).toMatch(/^Left behind: 2 failed tries or released holds .* taken them back$/);
  });

  it('is judged where a server stored what names an owner, and else not', () => {
    expect(found(tried())).not.toHaveProperty('notJudged');
    expect(found(refusedTwice())).toHaveProperty('notJudged');
  });

  it('shows the first look by which it was still there', () => {
    const seen = tried().sample(2.5, 'r1', { owner: 'one' }).sample(2.7, 'r1', { owner: 'one' });
    expect(found(seen).violations).toMatchObject([{ untilNs: 2.5e9 }]);
    // A command found it earlier, but a look is what is shown.
    const emptied = refusedTwice().command(0.2, 'r1', 'c2', ['DEL', KEY]);
    const asked = emptied.take(1, 'r1', 'c1', 'one').take(2, 'r1', 'c1', 'two').take(2.4, 'r1', 'c2');
    expect(found(asked).violations).toMatchObject([{ untilNs: 2.4e9 }]);
    expect(found(asked.sample(2.5, 'r1', { owner: 'one' })).violations).toMatchObject([{ untilNs: 2.5e9 }]);
  });
});

describe('at the bounds', () => {
  const verdictOf = (story: Story) => found(story.sample(2.5, 'r1', { owner: 'one' })).verdict;

  it('a client that was gone when what it gave back would have come, is not accused', () => {
    expect(verdictOf(tried().down('c1', 2.25))).toBe('valid');
    expect(verdictOf(tried().down('c1', 2.251))).toBe('invalid');
  });

  it('nor one that was struck at that moment, or until its try; one that was struck before is', () => {
    const stopped = (from: number, until: number) => {
      const effects = [{ kind: 'stopped' as const, who: ['c1'], sinceNs: from * 1e9, untilNs: until * 1e9 }];
      return tried()
        .fault(from, 0, 'pause', 'strike', { effects: [{ kind: 'stopped', who: ['c1'], sinceNs: from * 1e9 }] })
        .fault(until, 0, 'pause', 'heal', { effects });
    };
    expect(verdictOf(stopped(0.3, 0.4))).toBe('invalid');
    expect(verdictOf(stopped(0.3, 1.1))).toBe('valid');
  });

  it('a look counts from a quarter of a second after the next try', () => {
    const at = (atS: number) => found(tried().sample(atS, 'r1', { owner: 'one' })).verdict;
    expect(at(2.249)).toBe('valid');
    expect(at(2.25)).toBe('invalid');
  });

  it('that was before the value was named', () => {
    const named = (atS: number) => verdictOf(tried().unlock(atS, 'r1', 'c1', 'one'));
    expect(named(2.5)).toBe('valid');
  });

  it('a node that was a replica only after the next try had come heard both', () => {
    const replicaAt = (atS: number) => verdictOf(tried().sample(atS, 'r1', { role: 'replica', owner: 'one' }));
    expect(replicaAt(2)).toBe('invalid');
    expect(replicaAt(1.999)).toBe('valid');
    expect(replicaAt(2.1)).toBe('invalid');
  });
});

it('accepts where the node was not watched for a while: the value may have been named then', () => {
  const unwatched = (at: number, node = 'r1') => {
    const story = refusedTwice();
    if (at < 1) story.watch(at, node);
    story.take(1, 'r1', 'c1', 'one');
    if (at > 1 && at < 2) story.watch(at, node);
    story.take(2, 'r1', 'c1', 'two');
    if (at > 2) story.watch(at, node).command(2.45, 'r1', 'c2', ['PING']);
    return found(story.sample(2.5, 'r1', { owner: 'one' })).verdict;
  };
  expect(unwatched(1.5)).toBe('valid');
  expect(unwatched(2.4)).toBe('valid');
  expect(unwatched(0.5)).toBe('invalid');
  expect(unwatched(1.5, 'r2')).toBe('invalid');
  expect(unwatched(2.4, 'r2')).toBe('invalid');
});

it('accepts a hash that has in it what was stored as a string', () => {
  expect(found(tried().sample(2.5, 'r1', { owner: JSON.stringify({ one: '1' }) })).verdict).toBe('valid');
});

it('says whose command left what where, which is proven, and what is not shown', () => {
  const [finding] = judge(tried().sample(2.5, 'r1', { owner: 'one' }).input(), [leftBehind]).violations;
  expect(finding).toMatchObject({ blame: { on: 'lock' }, cause: { name: 'unexplained' } });
  expect(finding!.cause.sentence).toBe(
    'c1 left on r1 what it had stored for lock:0, and did not take it back before it tried again. Why it did not is not shown.',
  );
});
