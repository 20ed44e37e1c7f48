/** When a restart is not what a key was lost by, and what it is said of all the same. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { KEY, Story } from '../build.js';
import { causeNames, FIRST_TAKE, grantedByR1, SECOND_TAKE, twoGrants } from './two-grants.js';

const back = { runId: 'run-2' };
const lostAt = (story: Story, at: number) => story.watch(at, 'r1', false).watch(at + 0.3, 'r1');
/** Looked at with c1's key at 1.2 s. */
const granted = () => grantedByR1().sample(1.2, 'r1', { owner: 'value-of-c1' });
/** The same, and c2's attempt has left at 1.9 s. */
const patient = () =>
  new Story()
    .up('c1')
    .up('c2')
    .grant('c1', 1)
    .grant('c2', 3, { grantSent: 1.9 })
    .release('c1', 4)
    .release('c2', 4)
    .watch(0, 'r1')
    .sample(0.5, 'r1')
    .take(FIRST_TAKE, 'r1', 'c1')
    .sample(1.2, 'r1', { owner: 'value-of-c1' });
const retaken = (story: Story) => causeNames(story.take(SECOND_TAKE, 'r1', 'c2'));
/** By a script that asks whether something is there, so that it is known to have found nothing. */
const asking = (story: Story, value = 'value-of-c2', skewMs = 0) =>
  story
    .command(SECOND_TAKE, 'r1', 'c2', ['EVAL', 'take', '1', KEY, value], skewMs)
    .command(SECOND_TAKE, 'r1', 'lua', ['exists', KEY], skewMs)
    .command(SECOND_TAKE, 'r1', 'lua', ['set', KEY, value, 'PX', '5000'], skewMs);

describe('a key may have gone before the restart, or after it', () => {
  it('where the old process was seen without it', () => {
    const looked = (fields: Parameters<Story['sample']>[2]) =>
      retaken(lostAt(lostAt(granted(), 1.3).sample(1.7, 'r1', fields), 2).sample(2.5, 'r1', back));
    expect(looked({})).toEqual(['unexplained']);
    expect(looked({ unseen: [KEY] })).toEqual(['unexplained']);
    expect(looked({ owner: 'value-of-c1' })).toEqual(['node-forgot']);
  });

  it('where watching broke off twice: the server restarted in one of them', () => {
    expect(retaken(lostAt(lostAt(granted(), 1.3), 2).sample(2.5, 'r1', back))).toEqual(['unexplained']);
    const after = asking(lostAt(granted(), 2)).watch(3.05, 'r1', false).watch(3.2, 'r1').sample(3.3, 'r1', back);
    expect(causeNames(after)).toEqual(['unexplained']);
    expect(causeNames(asking(lostAt(granted(), 2)).sample(3.3, 'r1', back))).toEqual(['node-forgot']);
  });

  it('where the process that granted it may have been the new one', () => {
    const since = (watchedNs: number) => {
      const story = twoGrants()
        .sample(0.5, 'r1')
        .watch(watchedNs, 'r1')
        .sample(0.55, 'r1', { unseen: [KEY] });
      story.command(FIRST_TAKE, 'r1', 'c1', ['SET', KEY, 'value-of-c1', 'PX', '5000']);
      return retaken(lostAt(story, 2).sample(2.5, 'r1', back));
    };
    expect(since(0.1)).toEqual(['node-forgot']);
    expect(since(0.8)).toEqual(['unexplained']);
    const lost = twoGrants().watch(0, 'r1').sample(0.5, 'r1').watch(0.6, 'r1', false).watch(0.7, 'r1');
    expect(retaken(lost.take(FIRST_TAKE, 'r1', 'c1').sample(1.4, 'r1', back))).toEqual(['unexplained']);
  });

  it('where it was lost before it printed the grant, and not at that very moment', () => {
    const forgot = { did: 'killed r1 without its data', effects: [{ kind: 'forgot' as const, who: ['r1'] }] };
    const lost = (story: Story) => story.watch(FIRST_TAKE, 'r1', false);
    const takes = (story: Story) => story.take(FIRST_TAKE, 'r1', 'c1');
    const killed = (...does: ((story: Story) => Story)[]) => {
      const story = twoGrants().watch(0, 'r1').sample(0.5, 'r1');
      story.fault(FIRST_TAKE - 0.000_005, 0, 'amnesia', 'strike', forgot);
      for (const one of does) one(story);
      const again = story.watch(1.3, 'r1').sample(1.4, 'r1', back).take(SECOND_TAKE, 'r1', 'c2');
      return mutualExclusion.check(again.input()).violations[0]!.cause;
    };
    expect(killed(lost, takes).name).toBe('unexplained');
    expect(killed(takes, lost).name).toBe('node-forgot');
    expect(killed(takes, lost).chain.map(({ text }) => text)).toContain('killed r1 without its data');
  });

  it('where nothing was seen of the old process before the second grant', () => {
    const stores = ['SET', KEY, 'value-of-c1', 'PX', '5000'];
    const story = lostAt(twoGrants().watch(0, 'r1').command(FIRST_TAKE, 'r1', 'c1', stores), 2);
    expect(causeNames(asking(story).sample(3.1, 'r1', back))).toEqual(['unexplained']);
  });

  it('where the second grant was read after it, but had run before', () => {
    const ran = (skewMs: number) => asking(lostAt(patient(), 2), 'value-of-c2', skewMs).sample(3.1, 'r1', back);
    expect(causeNames(ran(0))).toEqual(['node-forgot']);
    expect(causeNames(ran(-1_050))).toEqual(['unexplained']);
  });
});

describe('without a look at the new process the next one who took it must have found nothing', () => {
  const found = (value?: string, skewMs?: number) =>
    causeNames(asking(lostAt(granted(), 2), value, skewMs).sample(3.1, 'r1', back));

  it('and not its own value, nor one whose time was over', () => {
    expect(found()).toEqual(['node-forgot']);
    expect(found('value-of-c1')).toEqual(['unexplained']);
    expect(found('value-of-c2', 6_000)).toEqual(['unexplained']);
  });
});

describe('what is found of another one in its place', () => {
  it('was there before, where that one asked for it only after the look', () => {
    const found = (asks: (story: Story) => Story) =>
      retaken(
        asks(lostAt(granted(), 2).sample(2.4, 'r1', { ...back, owner: 'value-of-c3', pttlMs: 200 }))
          .sample(2.5, 'r1', { ...back, owner: 'value-of-c3', pttlMs: 100 })
          .sample(2.8, 'r1', back),
      );
    expect(found((story) => story.take(2.45, 'r1', 'c3'))).not.toContain('node-forgot');
    expect(found((story) => story.take(2.35, 'r1', 'c3', 'value-of-c3', 0, 250))).toEqual(['node-forgot']);
  });

  it('was stored since by a request that was seen, whenever the attempt of the second grant had left', () => {
    const story = lostAt(patient(), 2)
      .take(2.45, 'r1', 'c3', 'value-of-c3', 0, 150)
      .sample(2.5, 'r1', { ...back, owner: 'value-of-c3', pttlMs: 100 })
      .sample(2.8, 'r1', back);
    expect(retaken(story)).toEqual(['node-forgot']);
  });

  it('may be of before, where only a look shows it and the attempt had left by then', () => {
    const seen = (grantSent: number) => {
      const story = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 3, { grantSent }).independent();
      for (const node of ['r1', 'r2', 'r3', 'r4', 'r5']) story.watch(0, node).sample(0.5, node);
      for (const node of ['r1', 'r2', 'r3'])
        story.take(FIRST_TAKE, node, 'c1').sample(1.2, node, { owner: 'value-of-c1' });
      for (const node of ['r4', 'r5']) story.take(SECOND_TAKE, node, 'c2');
      story.release('c1', 4).release('c2', 4).watch(2, 'r3', false);
      return causeNames(story.sample(3.05, 'r3', { ...back, owner: 'value-of-c2', pttlMs: 3_000 }).watch(3.06, 'r3'));
    };
    expect(seen(2.998)).toEqual(['node-forgot']);
    expect(seen(1.9)).not.toContain('node-forgot');
  });
});

it('what the holder sends later over another connection says nothing of what it had sent before', () => {
  const story = lostAt(granted(), 2)
    .command(0.6, 'r1', 'c1', ['SET', KEY, 'value-of-c1', 'PX', '200', 'NX'])
    .command(1.1, 'r1', 'c1', ['PEXPIRE', KEY, '5000'], 0, '10.77.0.9:40001');
  expect(retaken(story.sample(2.5, 'r1', back))).toEqual(['node-forgot']);
});

it('tells of the restart what shows it', () => {
  const forgot = { did: 'killed r1 without its data', effects: [{ kind: 'forgot' as const, who: ['r1'] }] };
  const story = lostAt(granted(), 2).fault(2, 0, 'amnesia', 'strike', forgot).sample(2.5, 'r1', back);
  const [violation] = mutualExclusion.check(story.take(SECOND_TAKE, 'r1', 'c2').input()).violations;
  expect(violation!.cause.chain.map(({ text }) => text)).toEqual([
    'r1 granted lock:0 to c1 (SET)',
    'r1 could not be watched any more',
    'killed r1 without its data',
    'r1 ran as another process (run id run-2 after run-1)',
    "r1 did not have c1's lock:0 any more",
    'r1 granted lock:0 to c2 (SET)',
  ]);
});

describe('who removes what is there whosever it is', () => {
  /** c3 releases by a plain DEL; c1 is granted at 2 s, and the server killed at 2.5 s. */
  const killed = (meddles: (story: Story) => Story) => {
    const story = new Story().up('c1').up('c2').up('c3').watch(0, 'r1').sample(0.2, 'r1').grant('c3', 0.5);
    story.release('c3', [0.9, 1.1]).grant('c1', 2).grant('c2', 4).release('c1', 5).release('c2', 5);
    story.take(0.499, 'r1', 'c3').command(0.95, 'r1', 'c3', ['DEL', KEY]);
    const granted = meddles(story).take(1.999, 'r1', 'c1').sample(2.4, 'r1', { owner: 'value-of-c1' });
    return causeNames(lostAt(granted, 2.5).sample(3, 'r1', back).take(3.999, 'r1', 'c2'));
  };

  it('may have done so unseen while it was at what it did that at, and not at any other time', () => {
    expect(killed((story) => story)).toEqual(['node-forgot']);
    // It releases when the server is killed, or has before that, and is not known to be done with it.
    expect(killed((story) => story.release('c3', [2.2, 2.6], { hold: 1 }))).toEqual(['unexplained']);
    expect(killed((story) => story.release('c3', [1.3, 1.5], { hold: 1 }))).toEqual(['node-forgot']);
    const failed = { hold: 1, type: 'fail', reason: 'gone' } as const;
    expect(killed((story) => story.release('c3', [1.3, 1.5], failed))).toEqual(['unexplained']);
  });

  it('may not have done so before what the server printed last, if it was watched until then', () => {
    const printed = (meddles: (story: Story) => Story, at = 2.3) =>
      killed((story) => meddles(story.release('c3', [2.1, 2.2], { hold: 1 })).take(at, 'r1', 'c2', 'refused'));
    expect(killed((story) => story.release('c3', [2.1, 2.2], { hold: 1 }))).toEqual(['unexplained']);
    expect(printed((story) => story)).toEqual(['node-forgot']);
    expect(printed((story) => story, 2.15)).toEqual(['unexplained']);
    expect(printed((story) => story, 2.9)).toEqual(['unexplained']);
    expect(printed((story) => lostAt(story, 2.01))).toEqual(['unexplained']);
  });

  it('is nobody who removes by name what is its own', () => {
    const member = (story: Story, at: number, client: string, ...argv: string[]) =>
      story.command(at, 'r1', client, [argv[0]!, KEY, ...argv.slice(1)]);
    const killed = (removes: string, removed: string, also: string[] = []) => {
      const story = new Story().up('c1').up('c2').up('c3').watch(0, 'r1').sample(0.2, 'r1').grant('c3', 0.5);
      story.release('c3', [0.9, 1.1]).grant('c1', 2).grant('c2', 4).release('c1', 5).release('c2', 5);
      for (const [at, client] of [
        [0.3, 'c2'],
        [0.499, 'c3'],
      ] as const)
        member(story, at, client, 'ZADD', '9999', `value-of-${client}`);
      member(story, 0.95, 'c3', removes, ...(removes === 'ZREM' ? [removed] : ['0', '9999']));
      for (const [n, client] of also.entries()) member(story, 0.96 + n / 100, client, 'ZREM', `value-of-${client}`);
      story.release('c3', [2.2, 2.9], { hold: 1 });
      member(story, 1.999, 'c1', 'ZADD', '9999', 'value-of-c1');
      return causeNames(
        member(
          member(
            lostAt(story.sample(2.4, 'r1', { owner: '"(a sorted set)"' }), 2.5).sample(3, 'r1', back),
            3.998,
            'c2',
            'ZCARD',
          ),
          3.999,
          'c2',
          'ZADD',
          '9999',
          'value-of-c2',
        ),
      );
    };
    expect(killed('ZREM', 'value-of-c3')).toEqual(['node-forgot']);
    expect(killed('ZREM', 'value-of-c2')).toEqual(['unexplained']);
    // The last one to give back leaves nothing, and once more finds nothing.
    expect(killed('ZREM', 'value-of-c3', ['c2', 'c2'])).toEqual(['node-forgot']);
    expect(killed('ZREMRANGEBYSCORE', '')).toEqual(['unexplained']);
  });

  it('may have done so at any time where it was seen to do it at nothing', () => {
    expect(killed((story) => story.command(1.5, 'r1', 'c3', ['DEL', KEY]))).toEqual(['unexplained']);
  });

  it('may have done so for the first time, where another client of this lock was seen at it', () => {
    const told = (shows: string | undefined, releases: boolean) => {
      const story = new Story().up('c1').up('c2').up('c3').watch(0, 'r1').sample(0.05, 'r1');
      if (shows) story.grant(shows, 0.2).release(shows, [0.3, 0.32]);
      if (shows) story.take(0.199, 'r1', shows, 'of before').command(0.31, 'r1', shows, ['DEL', KEY]);
      story.grant('c3', 0.5, { leaseMs: 500 }).take(0.499, 'r1', 'c3', 'value-of-c3', 0, 500);
      if (releases) story.release('c3', [2.45, 2.55]);
      story.grant('c1', 2).grant('c2', 4).release('c1', 5).release('c2', 5);
      story.take(1.999, 'r1', 'c1').sample(2.4, 'r1', { owner: 'value-of-c1' });
      // c3 worked past its lease, too, which is told first.
      return causeNames(lostAt(story, 2.5).sample(3, 'r1', back).take(3.999, 'r1', 'c2')).at(-1);
    };
    expect(told(undefined, true)).toBe('node-forgot');
    expect(told('c1', false)).toBe('node-forgot');
    expect(told('c1', true)).toBe('unexplained');
    expect(told('c2', true)).toBe('unexplained');
  });

  it('is no primary, whose writes come to its replica only while that is one', () => {
    const copied = (role: 'primary' | 'replica', lookedAt = 2.82) =>
      killed((story) =>
        story
          .replicated()
          .watch(0, 'r2')
          .looks(0.3, 3, 'r2', { role: 'replica' })
          .looks(1.1, 2.4, 'r1')
          .sample(0.05, 'r1', { role })
          .command(0.1, 'r1', 'link', ['DEL', KEY])
          .sample(lookedAt, 'r1', back),
      );
    expect(copied('replica')).toEqual(['node-forgot']);
    expect(copied('primary')).toEqual(['unexplained']);
    // It was not seen for so long that it may have been one.
    expect(copied('replica', 2.95)).toEqual(['unexplained']);
  });
});
