import { describe, expect, it } from 'vitest';
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
    const told = refusedTwice().up('c2').grant('c2', 0.35, { grantSent: 0.29 });
    cycle(told, ['RPUSH', KEY, 'theirs'], ['LREM', KEY, '0', 'theirs']);
    runs(told, 1, 'c1', ['RPUSH', KEY, 'one']).command(2, 'r1', 'c1', ['EVALSHA', 'take', '1', KEY, 'two']);
    expect(found(told.command(2.5, 'r1', 'c2', ['RPUSH', KEY, 'new']))).toMatchObject({
      verdict: 'valid',
      notJudged: 'no server was seen to store what names an owner',
    });
  });
});
