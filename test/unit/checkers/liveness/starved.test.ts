import { describe, expect, it } from 'vitest';
import { judge } from '../../../../checkers/index.js';
import { liveness } from '../../../../checkers/liveness/liveness.js';
import { starved } from '../../../../checkers/liveness/starved.js';
import { waiting } from '../../../../checkers/liveness/waiting.js';
import type { Deadlines, LockModel } from '../../../../harness/vocabulary/protocol.js';
import { KEY, LEASE_MS, ns, Story } from '../build.js';
import { abandoned, asksInQueue, asksSet, begun, QUEUE, wants } from './starving.js';

/** With a lease of 5 s, what c1 held until 2 s is free from 7 s on at the latest; from there it takes 7 s more. */
const FREE = 7.01;

const found = (story: Story) => starved.check(story.input());
const causes = (story: Story) => found(story).violations.map(({ cause }) => cause.name);

it('accuses a free key that was asked for in vain, with the queue whose head is gone', () => {
  const { verdict, violations, stats } = found(wants(abandoned()));
  expect(verdict).toBe('invalid');
  expect(stats).toEqual({ starved: 1 });
  expect(violations).toMatchObject([
    { class: 'liveness', kind: 'starved', key: KEY, untilNs: ns(19.51), cause: { name: 'queue-head-gone' } },
  ]);
  expect(violations[0]!.cause.sentence).toBe(
    `The head of the queue ${QUEUE} on r1 is c3's place ticket-of-c3; c3 gave up at 4.000 s, and the place stays.`,
  );
  expect(violations[0]!.proof).toMatch(
    /^No client held lock:0 or can have held it from 7\.\d+ s on; 2\d requests of 1 client/,
  );
  expect(violations[0]!.cause.chain.map(({ text }) => text)).toEqual([
    'c3 queued in {lock:0}:tickets as ticket-of-c3 (RPUSH)',
    'c3 gave up',
    'c2 asked, looked at {lock:0}:tickets, and was not granted the lock',
    'c2 asked, looked at {lock:0}:tickets, and was not granted the lock',
  ]);
});

it('and one that several clients asked for in turn, in tries of any length', () => {
  const story = abandoned();
  for (let n = 0; n < 14; n++) {
    const [client, from] = [n % 2 ? 'c2' : 'c1', 6 + n];
    asksInQueue(story, from + 0.1, client, `ticket-${n}`, true).refused(client, from, from + 0.5);
  }
  expect(causes(story)).toEqual(['queue-head-gone']);
});

describe('is silent where', () => {
  it('it was free, or asked for, for no longer than lease and grace', () => {
    expect(found(wants(abandoned(), FREE + 7)).verdict).toBe('valid');
    expect(causes(wants(abandoned(), FREE + 8))).toEqual(['queue-head-gone']);
    const stopped = wants(wants(abandoned(), 13), 19, 14.5);
    expect(found(stopped).verdict).toBe('valid');
  });

  it('no server was asked: it sleeps, and that is asked elsewhere', () => {
    expect(found(abandoned().refused('c2', 6, 20)).verdict).toBe('valid');
    const once = asksInQueue(abandoned().refused('c2', 6, 20), 9, 'c2', 'ticket-of-c2', true);
    expect(found(once).verdict).toBe('valid');
    const leaves = asksInQueue(abandoned().refused('c2', 6, 20), 7.5, 'c2', 'ticket-of-c2', true);
    asksInQueue(leaves, 8, 'c2', 'ticket-of-c2').command(15.5, 'r1', 'c2', [
      'EVAL',
      'leave',
      '1',
      QUEUE,
      'ticket-of-c2',
    ]);
    expect(found(leaves).verdict).toBe('valid');
  });

  it('a client held it, or may have', () => {
    expect(found(wants(abandoned()).grant('c1', 12)).verdict).toBe('valid');
    expect(found(wants(abandoned()).grant('c1', 12).release('c1', 12.1)).verdict).toBe('valid');
    expect(found(wants(abandoned()).refused('c1', 11, 12, 'info')).verdict).toBe('valid');
    expect(found(wants(abandoned(), 16).refused('c1', 2.5, 3, 'info').down('c1', 3)).verdict).toBe('valid');
    // Nobody knows what became of that one, and its client lives.
    expect(found(wants(abandoned()).refused('c1', 2.5, 3, 'info')).verdict).toBe('valid');
    expect(found(wants(abandoned()).refused('c1', 11, 12, 'fail', 'lock:1')).verdict).toBe('invalid');
    expect(found(wants(abandoned()).grant('c1', 12, { key: 'lock:1' })).verdict).toBe('invalid');
  });

  it('a release was answered late, or who held it died: from then on a lease counts, of the dead and grace besides', () => {
    const again = () => abandoned().grant('c1', 4.5);
    const answered = (read: number) => found(wants(again().release('c1', 4.6, { read, stamps: false }))).verdict;
    expect([answered(4.7), answered(12)]).toEqual(['invalid', 'valid']);
    const died = (until: number) => found(wants(again().down('c1', 9), until)).verdict;
    expect([died(23), died(24)]).toEqual(['valid', 'invalid']);
    // It was told nothing more after 5 s, and renewed what it had until it was gone.
    const gaveUp = () => again().extend('c1', 4.9, LEASE_MS, { type: 'info', read: 5 });
    const gone = (until: number) => found(wants(gaveUp().down('c1', 9), until)).verdict;
    expect([gone(23), gone(24)]).toEqual(['valid', 'invalid']);
  });

  it('it was refused for another reason: what was tried may have left something', () => {
    const about = { client: 'c1', id: 50, op: 'acquire', key: KEY } as const;
    const other = (reason: string) =>
      wants(abandoned())
        .event(11, { type: 'invoke', ...about, leaseMs: LEASE_MS, waitMs: 0 })
        .event(12, { type: 'fail', ...about, reason });
    expect(found(other('noreplicas')).verdict).toBe('valid');
    expect(found(other('no-quorum')).verdict).toBe('valid');
    expect(found(other('queued-behind')).verdict).toBe('invalid');
    expect(found(other('held')).verdict).toBe('invalid');
  });

  it('a fault struck a server or the network, or a client that may be in the way still', () => {
    const struck = (who: string[], kind: 'killed' | 'stopped', from: number, until: number, story = abandoned()) =>
      found(
        wants(story)
          .fault(from, 0, 'any', 'strike', { targets: who, effects: [{ kind, who }] })
          .fault(until, 0, 'any', 'heal', { targets: who }),
      ).verdict;
    expect(struck(['r1'], 'stopped', 12, 12.1)).toBe('valid');
    expect(struck(['r1'], 'stopped', 3.3, 3.4)).toBe('valid');
    expect(struck(['r1'], 'stopped', 0.3, 0.4)).toBe('invalid');
    expect(struck(['r1'], 'stopped', 20.5, 21)).toBe('invalid');
    expect(struck(['c2'], 'stopped', 12, 12.1)).toBe('valid');
    expect(struck(['c1'], 'stopped', 12, 30)).toBe('valid');
    // It is not known what was done to c1.
    const somehow = { targets: ['c1'] };
    const done = wants(abandoned()).fault(0.4, 0, 'any', 'strike', somehow).fault(1, 0, 'any', 'heal', somehow);
    expect(found(done).verdict).toBe('valid');
    // A dead client's lease and grace are over at 7.4 s.
    expect(struck(['c1'], 'killed', 0.4, 0.5)).toBe('invalid');
    expect(struck(['c1'], 'killed', 6.1, 6.2)).toBe('valid');
    expect(struck(['c1'], 'killed', 0.4, 0.5, abandoned(begun(['r1'], { place: 'never' })))).toBe('valid');
    expect(struck(['c1'], 'killed', 0.4, 0.5, abandoned(begun(['r1'], { place: 100 })))).toBe('invalid');
  });

  it('only a client that was struck itself had not been answered meanwhile: it asked for nothing', () => {
    const bridged = (who: string, kind: 'stopped' | 'off-network' = 'stopped') => {
      const story = abandoned();
      asksInQueue(story, 10.1, 'c2', 'one', true).refused('c2', 10, 10.2);
      asksInQueue(story, 19.5, 'c2', 'two', true).refused('c2', 19.4, 19.6);
      story.fault(0.4, 0, 'any', 'strike', { targets: [who], effects: [{ kind, who: [who] }] });
      return found(story.refused('c1', 9.5, 21)).verdict;
    };
    expect(bridged('c1')).toBe('valid');
    expect(bridged('c1', 'off-network')).toBe('valid');
    expect(bridged('c3')).toBe('invalid');
    expect(bridged('c3', 'off-network')).toBe('invalid');
  });

  it("where a server's clock was ahead when it stored the key of one that died, and set right: that lasts longer by so much", () => {
    const set = (offsetMs: number, ...lasts: string[]) => {
      const story = begun(['r1'], undefined, { from: 3.2, owner: 'of-c3', pttlMs: lasts.length > 0 ? 50_000 : -1 });
      const effects = [{ kind: 'clock-jumped' as const, who: ['r1'], offsetMs }];
      story.fault(2.5, 0, 'clock', 'strike', { effects }).fault(5, 0, 'clock', 'heal').grant('c3', 3.1);
      story.command(3.099, 'r1', 'c3', ['SET', KEY, 'of-c3', 'NX', ...lasts], offsetMs).down('c3', 4);
      return found(wants(story, 24.9, 16, asksSet)).verdict;
    };
    expect(set(60_000, 'PX', '5000')).toBe('valid');
    // What never ends is found when all that the clock kept for longer was over.
    expect([set(60_000), set(1_000)]).toEqual(['valid', 'invalid']);
  });

  it('the machine or the harness stood still, or leases were made longer', () => {
    expect(found(wants(abandoned()).disturbed(12, 'harness-stall', 500)).verdict).toBe('valid');
    expect(found(wants(abandoned()).disturbed(6, 'wall-clock-step', -5_000)).verdict).toBe('valid');
    const longer = (ms: number) => found(wants(abandoned(), 22).disturbed(6, 'wall-clock-step', ms)).verdict;
    expect([longer(-5_000), longer(-500)]).toEqual(['valid', 'invalid']);
    expect(found(wants(abandoned()).disturbed(22, 'harness-stall', 500)).verdict).toBe('invalid');
  });

  it('places may last for so long, as the lock declares', () => {
    const declared = (place: number) => found(wants(abandoned(begun(['r1'], { place })))).verdict;
    expect([declared(5_000), declared(6_000)]).toEqual(['invalid', 'valid']);
    expect(causes(wants(abandoned(begun(['r1'], { place: 'never' }))))).toEqual(['queue-head-gone']);
  });
});

it('cannot tell where a lock with a queue or permits declares no deadline for them, or the record is cut', () => {
  const told = (model: LockModel, deadlines?: Deadlines) =>
    found(wants(abandoned(begun(['r1'], deadlines))).promised(model));
  expect(told({ kind: 'fair' })).toMatchObject({ verdict: 'unknown', violations: [] });
  expect(told({ kind: 'fair' }).notes[0]).toMatch(/does not declare when a silent client's place ends/);
  expect(told({ kind: 'fair' }, { place: 1_000 }).verdict).toBe('invalid');
  expect(told({ kind: 'fair' }, { permit: 1_000 }).verdict).toBe('unknown');
  expect(told({ kind: 'semaphore', permits: 2 }).verdict).toBe('unknown');
  const cut = wants(abandoned()).event(24, { type: 'closed', observations: 9_999 });
  expect(found(cut)).toMatchObject({ verdict: 'unknown', violations: [] });
});

describe('who was in the way', () => {
  it('is not said where the client at the head still shows itself, or it is not known who it is', () => {
    const back = wants(abandoned());
    asksInQueue(back, 6.5, 'c3', 'ticket-of-c3').refused('c3', 6.4, 6.6);
    expect(causes(back)).toEqual(['unexplained']);
    expect(causes(wants(abandoned()).command(9, 'r1', 'c1', ['LPOS', QUEUE, 'ticket-of-c3']))).toEqual(['unexplained']);
    const stranger = begun().command(3.1, 'r1', 'stranger', ['RPUSH', QUEUE, 'ticket-of-c3']);
    expect(causes(wants(stranger))).toEqual(['unexplained']);
  });

  it('nor of a queue where the server was not watched all the time, or something else was found, too', () => {
    const unseen = wants(abandoned()).watch(9, 'r1', false).watch(9.1, 'r1');
    expect(found(unseen).verdict).toBe('valid');
    const marked = abandoned(begun(['r1'], undefined, { from: 2.5, owner: 'closed' }));
    marked.command(2.5, 'r1', 'stranger', ['SET', KEY, 'closed']);
    expect(causes(wants(marked))).toEqual(['unexplained']);
  });

  it('a key without expiry whose client is gone', () => {
    const story = begun(['r1'], undefined, { from: 3.1, owner: 'of-c3' })
      .command(3.1, 'r1', 'c3', ['SET', KEY, 'of-c3', 'NX'])
      .refused('c3', 3, 4, 'info')
      .down('c3', 4);
    const [violation] = found(wants(story, 25, 12, asksSet)).violations;
    expect(violation!.cause).toMatchObject({ name: 'key-never-expires' });
    expect(violation!.cause.sentence).toBe(
      "lock:0 stands on r1 with c3's of-c3, which has no expiry; c3 was gone at 4.000 s.",
    );
  });

  it('a key that its client released and was given for longer than the lease, or that others prolong', () => {
    const stored = (ttl: string) =>
      begun(['r1'], undefined, { from: 0.99, owner: 'of-c1', pttlMs: Number(ttl) })
        .command(0.999, 'r1', 'c1', ['SET', KEY, 'of-c1', 'PX', ttl, 'NX'])
        .command(2, 'r1', 'c1', ['EVALSHA', 'release', '1', KEY, 'of-somebody'])
        .command(2, 'r1', 'lua', ['get', KEY]);
    expect(causes(wants(stored('5000000'), 20, 6, asksSet))).toEqual(['outlives-its-lease']);
    const prolonged = (by: string) => {
      const story = wants(stored('5000'), 20, 6, asksSet);
      for (let at = 2.5; at < 20; at++) story.command(at, 'r1', by, ['PEXPIRE', KEY, '5000']);
      return found(story).violations.map(({ cause }) => [cause.name, cause.sentence]);
    };
    expect(prolonged('c3')).toEqual([
      ['prolonged-for-others', expect.stringContaining('which c3 went on prolonging (')],
    ]);
    expect(prolonged('c1')).toEqual([['prolonged-too-long', expect.stringContaining('which c1 went on prolonging (')]]);
    expect(prolonged('stranger')).toEqual([['unexplained', expect.anything()]]);
  });

  it('a count, and what no request looked at, is no owner', () => {
    const counted = begun(['r1'], undefined, { from: 3.1, owner: '1' })
      .command(3.1, 'r1', 'c3', ['INCR', KEY])
      .refused('c3', 3, 4);
    expect(causes(wants(counted, 20, 6, asksSet))).toEqual(['unexplained']);
    const beside = begun()
      .command(3.1, 'r1', 'c3', ['SET', `${KEY}:note`, 'x'])
      .refused('c3', 3, 4);
    expect(causes(wants(beside))).toEqual(['unexplained']);
  });
});

it('without a blocker: not where clients take parts of it from each other, or writes may be refused', () => {
  const plain = () => wants(begun().command(0.9, 'r1', 'c1', ['RPUSH', QUEUE, 'x']));
  expect(causes(plain())).toEqual(['unexplained']);
  const parts = plain()
    .command(10, 'r1', 'c3', ['SET', `${KEY}:b`, 'x'])
    .command(10.1, 'r1', 'c3', ['DEL', `${KEY}:b`]);
  expect(found(parts).verdict).toBe('valid');
  // What was so before they asked, or came after, is no part taken meanwhile; nor is what a look found, or what was gone.
  const taken = (at: number, ...argv: string[]) => found(plain().command(at, 'r1', 'c3', argv)).verdict;
  expect(taken(10, 'SET', `${KEY}:b`, 'x')).toBe('valid');
  expect(taken(6, 'SET', `${KEY}:b`, 'x')).toBe('invalid');
  expect(taken(20, 'SET', `${KEY}:b`, 'x')).toBe('invalid');
  expect(taken(10, 'DEL', `${KEY}:b`)).toBe('invalid');
  expect(taken(10, 'SET', `${KEY}:b`, 'x', 'XX')).toBe('invalid');
  expect(taken(10, 'SET', 'other', 'x')).toBe('invalid');
  // What a server evicted may be what the lock is asked by.
  const before = (story: Story) => found(story.command(5, 'r1', 'c3', ['SET', `${KEY}:b`, 'x'])).verdict;
  expect([before(plain()), before(plain().evicted(10, 'r1', `${KEY}:b`))]).toEqual(['invalid', 'valid']);
  const few = plain().configured({
    topologyOptions: { nodes: 3, persistence: 'none', minReplicasToWrite: 1, redisConf: [] },
  });
  expect(found(few).verdict).toBe('valid');
  expect(found(plain().sample(12, 'r1', { role: 'replica' })).verdict).toBe('valid');
  expect(found(plain().sample(12, 'r1', { runId: 'another' })).verdict).toBe('valid');
});

describe('without a blocker: not where its server may not have been the one that answers for the key, which', () => {
  /** Asks that show nothing of what they look at, for a key of which samples tell nothing. */
  const opaqueAt = (node: string) => (story: Story, at: number, client: string) =>
    story.command(at, node, client, ['FCALL', 'acquire', '0', KEY]);
  const asked = (story = begun()) => wants(story, 20, 6, opaqueAt('r1')).configured({ keys: [] });

  it('was watched, and itself, throughout', () => {
    expect(causes(asked())).toEqual(['unexplained']);
    expect(found(asked().watch(9, 'r1', false).watch(9.1, 'r1')).verdict).toBe('valid');
    expect(found(asked().watch(5, 'r1', false)).verdict).toBe('valid');
    expect(found(asked().sample(12, 'r1', { runId: 'another' })).verdict).toBe('valid');
    expect(found(asked().sample(12, 'r1', { role: 'replica' })).verdict).toBe('valid');
  });

  it('was one of several that were asked', () => {
    const two = (other: string) => {
      const story = begun().watch(0.2, other).refused('c2', 6, 20);
      for (let at = 0.5; at < 25; at += 0.5) story.sample(at, other);
      for (let n = 0; n < 28; n++) opaqueAt(n % 2 ? 'r1' : other)(story, 6.01 + n / 2, 'c2');
      return found(story.configured({ keys: [] })).verdict;
    };
    expect([two('r1'), two('r2')]).toEqual(['invalid', 'valid']);
  });

  it('was never looked at', () => {
    const story = new Story().watch(0.2, 'r1').grant('c1', 1).release('c1', 2);
    expect(found(asked(story)).verdict).toBe('valid');
    for (let at = 0.5; at < 25; at += 0.5) story.sample(at, 'r1');
    expect(found(story).verdict).toBe('invalid');
  });

  it('was one of independent nodes, of which the others may have been asked unseen', () => {
    expect(found(asked(begun(['r1', 'r2', 'r3']))).verdict).toBe('valid');
  });
});

describe('of independent nodes', () => {
  const nodes = ['r1', 'r2', 'r3'];
  const asksAll = (story: Story, at: number, client: string) => {
    for (const node of nodes)
      story.command(at, node, client, ['SET', KEY, `of-${client}`, 'PX', String(LEASE_MS), 'NX']);
    return story;
  };
  const blockedOn = (some: string[]) => {
    const story = begun(nodes, undefined, { from: 3.1, owner: 'of-c3', on: some }).refused('c3', 3, 4);
    for (const node of some) story.command(3.1, node, 'c3', ['SET', KEY, 'of-c3', 'NX']);
    return wants(story, 25, 12, asksAll);
  };

  it('accuses only where the record proves that no majority was left', () => {
    expect(causes(blockedOn(['r1', 'r2']))).toEqual(['key-never-expires']);
    expect(found(blockedOn(['r1'])).verdict).toBe('valid');
    expect(found(blockedOn([])).verdict).toBe('valid');
  });
});

describe('the same is reported once', () => {
  const whole = (story: Story) => story.recovered(20.5).probe(24, false).event(24.1, { type: 'phase', phase: 'end' });

  it('as a deadlock, with its cause, where the key was granted to no client any more', () => {
    const story = wants(wants(whole(abandoned())), 24, 20.6);
    const input = story.input();
    expect(starved.check(input)).toMatchObject({ verdict: 'valid', violations: [] });
    expect(liveness.check(input).violations).toMatchObject([{ kind: 'deadlock', cause: { name: 'queue-head-gone' } }]);
    expect(judge(input, [liveness, starved, waiting]).violations).toHaveLength(1);
  });

  it('as both where it was granted between them', () => {
    const story = wants(wants(whole(abandoned()), 15), 24, 20.6)
      .grant('c1', 15.5)
      .release('c1', 15.6);
    expect(starved.check(story.input()).violations).toHaveLength(1);
    expect(liveness.check(story.input()).violations).toHaveLength(1);
  });

  it('as starved, not as slept', () => {
    const story = abandoned();
    const about = { client: 'c2', id: 90, op: 'acquire', key: KEY } as const;
    story
      .event(6, { type: 'invoke', ...about, leaseMs: LEASE_MS, waitMs: 20_000 })
      .event(20, { type: 'fail', ...about, beganNs: ns(6), endedNs: ns(20), reason: 'held' });
    expect(waiting.check(story.input()).violations).toMatchObject([{ kind: 'slept' }]);
    for (let at = 6.01; at < 20; at += 0.5) asksInQueue(story, at, 'c2', 'ticket-of-c2', at < 6.1);
    expect(waiting.check(story.input()).violations).toEqual([]);
    expect(causes(story)).toEqual(['queue-head-gone']);
  });

  it('as both where a client slept beside another key, or at another time', () => {
    const kinds = (key: string, from: number, until: number) => {
      const story = wants(abandoned());
      const about = { client: 'c1', id: 90, op: 'acquire', key } as const;
      story
        .event(from, { type: 'invoke', ...about, leaseMs: LEASE_MS, waitMs: 20_000 })
        .event(until, { type: 'fail', ...about, beganNs: ns(from), endedNs: ns(until), reason: 'held' });
      for (let at = 25; at < 46; at += 0.5) story.sample(at, 'r1');
      expect(causes(story)).toEqual(['queue-head-gone']);
      return waiting.check(story.input()).violations.map(({ kind }) => kind);
    };
    expect(kinds(KEY, 6, 20)).toEqual([]);
    expect(kinds('lock:1', 6, 20)).toEqual(['slept']);
    expect(kinds(KEY, 21, 33)).toEqual(['slept']);
  });
});

it('says nothing of a run that something befell that was not the lock, or of whose commands none was seen', () => {
  const full = wants(abandoned()).fault(30, -1, 'none', 'failed', { mishap: 'disk', did: 'the disk was full' });
  const notJudged = 'something befell the run that was not the lock';
  expect(found(full)).toMatchObject({ verdict: 'valid', notJudged, violations: [] });
  const unseen = begun().refused('c2', 6, 20);
  expect(found(unseen)).toMatchObject({ notJudged: 'no command of any client was observed', violations: [] });
});

it('cannot tell, and says so, where there are more commands than are followed from the beginning', () => {
  const told = (commandCount: number, story = wants(abandoned())) => {
    const input = story.input();
    const { verdict, notes } = starved.check({ ...input, observations: { ...input.observations, commandCount } });
    return [verdict, ...notes];
  };
  expect(told(1_000_000)).toEqual(['invalid']);
  expect(told(1_000_001)).toEqual([
    'unknown',
    'whether clients starved beside a free lock cannot be told: 1000001 commands of clients were observed, and of more than 1000000 it is not worked out what servers stored',
  ]);
  expect(told(1_000_001, begun())).toEqual(['valid']);
});
