/** What an explanation must not say: for each of its links a story that lacks only that one, beside one that has them all. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { EPOCH_WALL_MS, KEY, Story } from '../build.js';
import { causeNames, FIRST_TAKE, grantedByR1, overwrites, SECOND_TAKE, twoGrants } from './two-grants.js';

const sent = (value = 'value-of-c1', untilMs = 5_999) => [
  'SET',
  KEY,
  value,
  'PXAT',
  String(1_700_000_000_000 + untilMs),
];

describe('node-forgot', () => {
  const granted = () => grantedByR1().sample(1.2, 'r1', { owner: 'value-of-c1' });
  const back = { runId: 'run-2' };
  const restarted = () => granted().watch(2, 'r1', false).watch(2.3, 'r1');
  const retaken = (story: Story) => causeNames(story.take(SECOND_TAKE, 'r1', 'c2'));
  const kill =
    (at: number, ...kinds: ('killed' | 'forgot')[]) =>
    (story: Story) =>
      story.fault(at, 0, 'kill', 'strike', { effects: kinds.map((kind) => ({ kind, who: ['r1'] })) });

  it('needs the next one to have asked, after the key may have gone: who stores whatever is there is let in by no loss', () => {
    const lost = () => restarted().sample(2.4, 'r1', back);
    const stores = (argv: string[], story = lost()) => causeNames(story.command(SECOND_TAKE, 'r1', 'c2', argv));
    const plain = ['SET', KEY, 'value-of-c2', 'PX', '5000'];
    expect(stores(plain)).toEqual(['unexplained']);
    expect(stores([...plain, 'NX'])).toEqual(['node-forgot']);
    expect(stores([...plain, 'GET'])).toEqual(['node-forgot']);
    expect(stores(['GETSET', KEY, 'value-of-c2'])).toEqual(['node-forgot']);
    expect(stores(['PSETEX', KEY, '5000', 'value-of-c2'])).toEqual(['unexplained']);
    const asks = (at: number, client: string, story = lost()) => story.command(at, 'r1', client, ['GET', KEY]);
    expect(stores(plain, asks(2.9985, 'c2'))).toEqual(['node-forgot']);
    expect(stores(plain, asks(2.9985, 'c3'))).toEqual(['unexplained']);
    const evicted = (does: string[]) => stores(plain, granted().evicted(2, 'r1').command(2.9985, 'r1', 'c2', does));
    expect(evicted(['GET', KEY])).toEqual(['evicted']);
    expect(evicted(['LREM', KEY, '0', 'x'])).toEqual(['unexplained']);
    // In an earlier attempt; or in the same, before it may have gone; or somebody else was let have it first.
    const attempt = (sentAt: number, askedAt: number, also = (story: Story) => story) => {
      const story = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 3, { grantSent: sentAt });
      story.release('c1', 4).release('c2', 4).watch(0, 'r1').sample(0.5, 'r1').take(FIRST_TAKE, 'r1', 'c1');
      story.sample(1.2, 'r1', { owner: 'value-of-c1' });
      if (askedAt < 2) asks(askedAt, 'c2', story);
      story.watch(2, 'r1', false).watch(2.3, 'r1').sample(2.4, 'r1', back);
      if (askedAt > 2) asks(askedAt, 'c2', story);
      return stores(plain, also(story));
    };
    expect(attempt(2.8, 2.85)).toEqual(['node-forgot']);
    expect(attempt(2.8, 2.7)).toEqual(['unexplained']);
    expect(attempt(1.4, 1.5)).toEqual(['unexplained']);
    expect(attempt(1.4, 2.5)).toEqual(['node-forgot']);
    const another =
      (...how: string[]) =>
      (story: Story) =>
        story.command(2.6, 'r1', 'c3', ['SET', KEY, 'value-of-c3', 'PX', '5000', ...how]).unlock(2.7, 'r1', 'c3');
    expect(attempt(2.8, 2.85, another())).toEqual(['unexplained']);
    expect(attempt(2.8, 2.85, another('NX'))).toEqual(['node-forgot']);
    expect(attempt(2.45, 2.5, another())).toEqual(['unexplained']);
    const script = (...calls: string[][]) => {
      const story = lost().command(SECOND_TAKE, 'r1', 'c2', ['EVAL', 'script', '1', KEY, 'value-of-c2']);
      for (const argv of calls) story.command(SECOND_TAKE, 'r1', 'lua', argv);
      return causeNames(story);
    };
    expect(script(plain)).toEqual(['unexplained']);
    expect(script(['get', KEY], plain)).toEqual(['node-forgot']);
    expect(script(plain, ['pttl', KEY])).toEqual(['unexplained']);
    expect(script(['del', KEY], plain)).toEqual(['unexplained']);
    expect(script(['get', `${KEY}:of-another`], plain)).toEqual(['unexplained']);
  });

  it('needs the key to have stayed away', () => {
    const found = restarted()
      .sample(2.4, 'r1', back)
      .sample(2.6, 'r1', { ...back, owner: 'value-of-c1' });
    expect(causeNames(overwrites(found))).not.toContain('node-forgot');
    const hidden = restarted()
      .sample(2.4, 'r1', back)
      .sample(2.6, 'r1', { ...back, owner: '"(a list)"' });
    expect(causeNames(overwrites(hidden))).not.toContain('node-forgot');
    expect(causeNames(overwrites(restarted().sample(2.4, 'r1', back).sample(2.6, 'r1', back)))).toEqual([
      'node-forgot',
    ]);
  });

  it('needs what is found instead to have been stored since', () => {
    const instead = (owner: string, story = restarted()) =>
      retaken(story.sample(2.5, 'r1', { ...back, owner, pttlMs: 100 }).sample(2.8, 'r1', back));
    expect(instead('value-of-c9')).not.toContain('node-forgot');
    const since = restarted().take(2.45, 'r1', 'c3', 'value-of-c3', 0, 150);
    expect(instead('value-of-c3', since)).toEqual(['node-forgot']);
    const before = granted()
      .watch(1.3, 'r1', false)
      .watch(1.4, 'r1')
      .take(1.5, 'r1', 'c3')
      .sample(1.6, 'r1', { owner: 'value-of-c1' });
    expect(instead('value-of-c3', before.watch(2, 'r1', false).watch(2.3, 'r1'))).not.toContain('node-forgot');
  });

  it('takes what is found for stored since where more is left of it than an older one could have', () => {
    // c1 asked for 5 s; it was last watched 0.5 s before: at most 4.5 s can be left of what was stored by then.
    const found = (pttlMs: number, story = restarted()) =>
      retaken(
        story
          .sample(2.5, 'r1', { ...back, owner: 'value-of-c3', pttlMs })
          .unlock(2.7, 'r1', 'c3')
          .sample(2.8, 'r1', back),
      );
    const jump = (at: number) => (story: Story) =>
      story.fault(at, 0, 'clock', 'strike', {
        effects: [{ kind: 'clock-jumped', who: ['r1'], offsetMs: -3_000, sinceNs: at * 1e9 }],
      });
    expect(found(4_700)).toEqual(['node-forgot']);
    expect(found(4_510)).not.toContain('node-forgot');
    expect(found(-1)).not.toContain('node-forgot');
    expect(found(4_700, restarted().take(1.5, 'r1', 'c3', 'value-of-c3', 0, 9_000))).not.toContain('node-forgot');
    expect(found(4_700, restarted().command(1.5, 'r1', 'c1', ['PEXPIRE', KEY, '9000']))).not.toContain('node-forgot');
    expect(found(4_700, restarted().command(1.5, 'r1', 'c3', ['SET', KEY, 'value-of-c3', 'NX']))).not.toContain(
      'node-forgot',
    );
    expect(found(4_700, jump(2.2)(restarted()))).not.toContain('node-forgot');
  });

  it('takes what is found for what was there before the grant where it ends when that would have', () => {
    // c3 had it from 0.6 s on, for 2.2 s, and released it; the server comes back with that, for what it wrote last was lost.
    const had = (take = (story: Story) => story.take(0.6, 'r1', 'c3', 'value-of-c3', 0, 2_200)) =>
      take(twoGrants().watch(0, 'r1').sample(0.5, 'r1'))
        .unlock(0.8, 'r1', 'c3')
        .take(FIRST_TAKE, 'r1', 'c1')
        .sample(1.2, 'r1', { owner: 'value-of-c1' })
        .watch(2, 'r1', false)
        .watch(2.3, 'r1');
    const wallMs: [number, number] = [EPOCH_WALL_MS + 2_500, EPOCH_WALL_MS + 2_500];
    const found = (pttlMs: number, fields: Parameters<Story['sample']>[2] = { wallMs }, story = had()) =>
      retaken(story.sample(2.5, 'r1', { ...back, owner: 'value-of-c3', pttlMs, ...fields }));
    expect(found(300)).toEqual(['node-forgot']);
    expect(found(296)).toEqual(['unexplained']);
    expect(found(304)).toEqual(['unexplained']);
    expect(found(300, {})).toEqual(['unexplained']);
    expect(found(300, { wallMs, role: 'replica' })).toEqual(['unexplained']);
    expect(found(300, { wallMs, owner: 'value-of-c9' })).toEqual(['unexplained']);
    // Whoever stores the same again until the same time of day gives it the same end.
    const untilThen = ['SET', KEY, 'value-of-c3', 'PXAT', String(EPOCH_WALL_MS + 2_800), 'NX'];
    expect(
      found(
        300,
        { wallMs },
        had((story) => story.command(0.6, 'r1', 'c3', untilThen)),
      ),
    ).toEqual(['unexplained']);
    // What was stored after the grant took it.
    const later = restarted().command(1.5, 'r1', 'c3', ['SET', KEY, 'value-of-c3', 'PX', '1300']);
    expect(found(300, { wallMs }, later)).not.toContain('node-forgot');
  });

  it('is said of a grant by a clock that had jumped and was set right before the node died', () => {
    const jumps = { effects: [{ kind: 'clock-jumped' as const, who: ['r1'], offsetMs: 9_400 }] };
    const story = () => {
      const told = twoGrants().watch(0, 'r1').sample(0.5, 'r1').fault(0.7, 0, 'clock', 'strike', jumps);
      told.take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', 9_400).fault(1.3, 0, 'clock', 'heal');
      told
        .take(1.5, 'r1', 'c3')
        .sample(1.7, 'r1', { owner: 'value-of-c1', pttlMs: 13_699 })
        .watch(2, 'r1', false)
        .watch(2.3, 'r1');
      return retaken(told.sample(2.5, 'r1', back));
    };
    expect(story()).toEqual(['node-forgot']);
  });

  it('is said although its holder had used the same value before, if nothing of that can come later', () => {
    const emptied = (story: Story) => retaken(story.sample(2.5, 'r1', back));
    const used = (at: number, from?: string) => (story: Story) =>
      story.command(at, 'r1', 'c1', ['SET', KEY, 'value-of-c1', 'PX', '200', 'NX'], 0, from);
    const other = '10.77.0.9:40001';
    expect(emptied(used(0.6)(restarted()))).toEqual(['node-forgot']);
    // Over another connection it may still be on its way, unless the process went to which it was sent.
    expect(emptied(used(0.6, other)(restarted()))).toEqual(['unexplained']);
    const older = (at: number) => used(at, other)(restarted().sample(0.4, 'r1', { runId: 'run-0' }));
    expect(emptied(older(0.3))).toEqual(['node-forgot']);
    expect(emptied(older(0.45))).toEqual(['unexplained']);
    expect(emptied(restarted().take(0.6, 'r1', 'c3', 'value-of-c1', 0, 200))).toEqual(['unexplained']);
  });

  it('is not said where clients remove what is not theirs, or store what others do', () => {
    const emptied = (story: Story) => retaken(story.sample(2.5, 'r1', back));
    const plain = () => restarted().command(0.7, 'r1', 'c3', ['DEL', KEY]);
    expect(emptied(restarted())).toEqual(['node-forgot']);
    expect(emptied(plain())).toEqual(['unexplained']);
    expect(emptied(kill(2, 'killed', 'forgot')(plain()))).toEqual(['unexplained']);
    // What the holder does so, others may do as well.
    expect(emptied(restarted().command(0.7, 'r1', 'c1', ['DEL', KEY]))).toEqual(['unexplained']);
    const script = restarted().command(0.7, 'r1', 'c3', ['EVAL', 'release', '1', KEY]);
    expect(emptied(script.command(0.7, 'r1', 'lua', ['del', KEY]))).toEqual(['node-forgot']);
    expect(emptied(restarted().take(0.2, 'r1', 'c3', 'value-of-c1', 0, 200))).toEqual(['unexplained']);
  });

  it('needs a look at the server before the second grant, whatever that found', () => {
    const after = { ...back, owner: 'value-of-c2' };
    expect(causeNames(overwrites(restarted()).sample(3.1, 'r1', after))).toEqual(['unexplained']);
    expect(causeNames(overwrites(restarted().sample(2.9, 'r1', back)).sample(3.1, 'r1', after))).toEqual([
      'node-forgot',
    ]);
  });

  it('needs the time of the key not to have been over at any moment', () => {
    const jump = { effects: [{ kind: 'clock-jumped' as const, who: ['r1'], offsetMs: 6_000 }] };
    const jumped = restarted().fault(1.5, 0, 'clock', 'strike', jump).fault(1.6, 0, 'clock', 'heal');
    expect(retaken(jumped.sample(2.5, 'r1', back))).not.toContain('node-forgot');
    expect(retaken(restarted().sample(1.5, 'r1', { skewMs: 6_000 }).sample(2.5, 'r1', back))).not.toContain(
      'node-forgot',
    );
  });

  it('needs the restart to lie between the grants', () => {
    const unbroken = retaken(granted().sample(2.5, 'r1', back));
    expect(unbroken).toEqual(['node-forgot']);
    // Of the first process nothing was seen since the grant: the second one may have granted it.
    expect(retaken(grantedByR1().sample(2.5, 'r1', back))).not.toContain('node-forgot');
    const first = twoGrants().watch(0, 'r1').command(FIRST_TAKE, 'r1', 'c1', ['SET', KEY, 'value-of-c1', 'PX', '5000']);
    first.sample(1.2, 'r1', { owner: 'value-of-c1' }).watch(2, 'r1', false).watch(2.3, 'r1');
    expect(retaken(first.sample(2.5, 'r1', back))).toEqual(['node-forgot']);
  });

  it('is not said of a server that was killed and is known to have kept its data', () => {
    const killed = (at: number, ...kinds: ('killed' | 'forgot')[]) =>
      retaken(kill(at, ...kinds)(restarted().sample(2.5, 'r1', back)));
    expect(killed(2, 'killed')).toEqual(['unexplained']);
    expect(killed(2, 'killed', 'forgot')).toEqual(['node-forgot']);
    expect(killed(0.7, 'killed')).toEqual(['node-forgot']);
    expect(killed(3.5, 'killed')).toEqual(['node-forgot']);
  });
});

describe('released-by-other', () => {
  it('is no shared owner where a plain DEL removed what both had stored', () => {
    const story = twoGrants().watch(0, 'r1').sample(0.1, 'r1').take(0.2, 'r1', 'c3', 'same', 0, 300);
    story.take(FIRST_TAKE, 'r1', 'c1', 'same').command(2, 'r1', 'c3', ['DEL', KEY]).take(SECOND_TAKE, 'r1', 'c2');
    expect(causeNames(story)).toEqual(['released-by-other']);
  });

  it('is not where a clock may have ended the key before that jumped and was set right before anybody looked', () => {
    const jumped = (offsetMs: number, at = 1.5) => {
      const effects: FaultEffect[] = [{ kind: 'clock-jumped', who: ['r1'], offsetMs }];
      const story = grantedByR1()
        .fault(at, 0, 'clock', 'strike', { effects })
        .fault(at + 0.02, 0, 'clock', 'heal');
      return causeNames(story.command(2, 'r1', 'c3', ['DEL', KEY]).take(SECOND_TAKE, 'r1', 'c2'));
    };
    expect(jumped(9_000)).toEqual(['unexplained']);
    // Not as far as that, or only when the key had been removed.
    expect(jumped(3_000)).toEqual(['released-by-other']);
    expect(jumped(9_000, 2.5)).toEqual(['released-by-other']);
  });

  it("needs the removal at the first one's node to be a client's, and to come before the second grant", () => {
    const through = (removed: (story: Story) => Story) => {
      const story = grantedByR1()
        .watch(0, 'r2')
        .sample(0.5, 'r2', { role: 'replica' })
        .command(1, 'r2', 'link', sent())
        .looks(1.1, 1.5, 'r1', { owner: 'value-of-c1' })
        .sample(1.9, 'r1', { owner: 'value-of-c1' })
        .sample(0.9, 'r2', { role: 'replica' })
        .looks(1.1, 2, 'r2', { role: 'replica', owner: 'value-of-c1' });
      return causeNames(
        removed(story).command(2.001, 'r2', 'link', ['DEL', KEY]).sample(2.5, 'r2').take(SECOND_TAKE, 'r2', 'c2'),
      );
    };
    const by = (client: string, at: number) => (story: Story) => story.command(at, 'r1', client, ['DEL', KEY]);
    expect(through(by('c3', 2))).toEqual(['released-by-other']);
    expect(through(by('c3', 3.5))).not.toContain('released-by-other');
    const demoted = (story: Story) =>
      story.sample(1.5, 'r1', { role: 'replica' }).command(2, 'r1', 'link', ['DEL', KEY]);
    expect(through((story) => demoted(story).sample(2.2, 'r1', { role: 'replica' }))).not.toContain(
      'released-by-other',
    );
  });
});

describe('overwritten', () => {
  it('is told of the one whose key was there first, whoever had the answer first', () => {
    const story = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 3, { grantSent: 0.89 });
    story.release('c1', 4).release('c2', 4).watch(0, 'r1').sample(0.5, 'r1').take(0.9, 'r1', 'c2');
    story.command(FIRST_TAKE, 'r1', 'c1', ['SET', KEY, 'value-of-c1', 'PX', '5000']);
    const [violation] = mutualExclusion.check(story.input()).violations;
    expect(violation!.cause.sentence).toBe("c1 overwrote c2's lock:0: SET without NX overwrites what is there.");
  });

  it('is said of what another client of the run wrote', () => {
    const by = (client: string, value: string) =>
      causeNames(
        grantedByR1()
          .command(2, 'r1', client, ['SET', KEY, value, 'PX', '300'])
          .sample(2.6, 'r1')
          .take(SECOND_TAKE, 'r1', 'c2'),
      );
    expect(by('c3', 'another')).toEqual(['overwritten']);
    expect(by('stranger', 'another')).not.toContain('overwritten');
    expect(by('c1', 'another')).not.toContain('overwritten');
  });

  it('is not said of what stored its own beside, in a hash, a set, a sorted set or a list', () => {
    const adds = (...argv: string[]) => {
      const [name, ...before] = argv;
      const add = (client: string) => [name!, KEY, ...before, `value-of-${client}`, ...(name === 'HSET' ? ['1'] : [])];
      const story = twoGrants().watch(0, 'r1').sample(0.5, 'r1');
      story.command(FIRST_TAKE, 'r1', 'c1', add('c1')).command(SECOND_TAKE, 'r1', 'c2', add('c2'));
      return causeNames(story);
    };
    for (const argv of [['HSET'], ['SADD'], ['ZADD', '1'], ['RPUSH']])
      expect(adds(...argv), argv[0]).toEqual(['granted-beside']);
    const field = (client: string) => ['HSET', KEY, 'owner', client];
    const replaced = twoGrants().watch(0, 'r1').sample(0.5, 'r1').command(FIRST_TAKE, 'r1', 'c1', field('c1'));
    expect(causeNames(replaced.command(SECOND_TAKE, 'r1', 'c2', field('c2')))).toEqual(['overwritten']);
  });

  it('is no shared owner where no script took one for the other', () => {
    const again = (...argv: string[]) =>
      causeNames(grantedByR1().command(SECOND_TAKE, 'r1', 'c2', ['SET', KEY, 'value-of-c1', ...argv, 'PX', '5000']));
    expect(again('XX')).toEqual(['unexplained']);
    expect(again()).toEqual(['overwritten']);
  });
});

describe('failover-lost-write', () => {
  /** c1 granted by r1; r2 was its replica until 2.0 s. */
  const failover = () =>
    grantedByR1()
      .watch(0, 'r2')
      .sample(0.4, 'r2', { role: 'replica' })
      .sample(1.1, 'r1', { owner: 'value-of-c1' })
      .sample(2, 'r2', { role: 'replica' });
  const named = (story: Story) => causeNames(story).includes('failover-lost-write');

  it('is said of a primary that had been a replica once, longer ago', () => {
    expect(
      named(failover().sample(0.1, 'r1', { role: 'replica' }).sample(2.5, 'r2').take(SECOND_TAKE, 'r2', 'c2')),
    ).toBe(true);
  });

  it('is said of a primary that nobody had looked at before the other was a replica, and soon after that', () => {
    const looked = (at: number) => {
      const story = twoGrants().watch(0, 'r1').watch(0, 'r2').sample(0.505, 'r2', { role: 'replica' });
      story.looks(at, 0.9, 'r1').take(FIRST_TAKE, 'r1', 'c1').looks(1.05, 2.9, 'r2');
      return named(story.take(SECOND_TAKE, 'r2', 'c2'));
    };
    expect(looked(0.51)).toBe(true);
    // Another one may have been primary, and this one in its place since.
    expect(looked(0.6)).toBe(false);
  });

  it('needs the first primary to have run on until the other took over, and not longer', () => {
    const again = (at: number) => failover().sample(at, 'r1', { runId: 'run-9' });
    expect(named(again(2.7).sample(2.5, 'r2').take(SECOND_TAKE, 'r2', 'c2'))).toBe(true);
    expect(named(again(2.2).sample(2.5, 'r2').take(SECOND_TAKE, 'r2', 'c2'))).toBe(false);
    expect(named(again(2.2).take(SECOND_TAKE, 'r2', 'c2'))).toBe(false);
  });

  it('needs a look that shows no such owner, where not all was watched', () => {
    const looked = (owner: string) => {
      const story = failover().sample(2.5, 'r2', { owner, pttlMs: 100 }).watch(2.7, 'r2', false).watch(2.8, 'r2');
      return named(overwrites(story, 'r2'));
    };
    expect(looked('value-of-c9')).toBe(true);
    expect(looked('"(a list)"')).toBe(false);
    const unseen = failover()
      .sample(2.5, 'r2', { unseen: [KEY] })
      .watch(2.7, 'r2', false)
      .watch(2.8, 'r2');
    expect(named(overwrites(unseen, 'r2'))).toBe(false);
    const unwatched = overwrites(failover().watch(2.7, 'r2', false).watch(2.8, 'r2'), 'r2');
    expect(causeNames(unwatched)).toEqual(['unexplained']);
  });

  it('needs a new primary that was not seen to have had it, as a replica', () => {
    const seen = failover().sample(1.5, 'r2', { role: 'replica', owner: 'value-of-c1' });
    expect(named(seen.sample(2.5, 'r2').take(SECOND_TAKE, 'r2', 'c2'))).toBe(false);
  });

  it('says what another owner shows, too', () => {
    const story = failover().sample(2.5, 'r2', { owner: 'value-of-c9', pttlMs: 100 });
    const [violation] = mutualExclusion.check(overwrites(story, 'r2').input()).violations;
    expect(violation!.cause.chain.map(({ text }) => text)).toContain('r2, as primary, had another owner for lock:0');
  });

  it('is not said of one that was a replica only before it granted both', () => {
    expect(named(failover().sample(0.1, 'r1', { role: 'replica' }).take(SECOND_TAKE, 'r1', 'c2'))).toBe(false);
  });

  describe('of one that was made a replica and primary again', () => {
    const back = () => {
      const story = failover().sample(1.6, 'r1', { role: 'replica' });
      for (let at = 1.05; at < 1.6; at += 0.1) story.sample(at, 'r1', { owner: 'value-of-c1' });
      return story;
    };
    const promoted = (story: Story) => story.sample(1.5, 'r2').sample(2.4, 'r2', { role: 'replica' });
    const retaken = (story: Story) => named(story.sample(2.5, 'r1').take(SECOND_TAKE, 'r1', 'c2'));

    it('needs a look at it as primary without the key', () => {
      expect(retaken(promoted(back()))).toBe(true);
      expect(named(overwrites(promoted(back())))).toBe(false);
    });

    it('needs the grant to have been read before that', () => {
      const late = twoGrants().watch(0, 'r1').watch(0, 'r2').sample(0.5, 'r1').sample(0.4, 'r2', { role: 'replica' });
      late.looks(0.6, 1.6, 'r1').sample(1.6, 'r1', { role: 'replica' });
      late.command(1.65, 'r1', 'c1', ['SET', KEY, 'value-of-c1', 'PX', '5000'], -651);
      const unwatched = late.watch(1.8, 'r1', false).watch(1.9, 'r1');
      expect(retaken(promoted(unwatched))).toBe(false);
    });

    it('needs another one that was primary meanwhile', () => {
      expect(retaken(back().sample(1.5, 'r2', { role: 'replica' }))).toBe(false);
    });

    it('is not said where another one was primary too, which had the write and was made to delete it', () => {
      const third = (...commands: [at: number, by: string, argv: string[]][]) => {
        const story = promoted(back()).watch(0, 'r3').sample(0.5, 'r3', { role: 'replica' }).sample(1.45, 'r3');
        for (const [at, by, argv] of commands) story.command(at, 'r3', by, argv);
        return retaken(story.sample(1.55, 'r3').sample(1.9, 'r3', { role: 'replica' }));
      };
      const sent = ['SET', KEY, 'value-of-c1', 'PXAT', String(EPOCH_WALL_MS + 5_999)];
      expect(third()).toBe(true);
      expect(third([1, 'link', sent], [1.5, 'c3', ['DEL', KEY]])).toBe(false);
    });

    it('is said although that one had got something else', () => {
      expect(retaken(promoted(back()).command(0.7, 'r2', 'link', sent('value-of-c9', 800)))).toBe(true);
    });
  });
});

describe('split-brain', () => {
  /** r2, which had been r1's replica, is primary and grants c1; r1 grants c2. */
  const split = (lookedNs = 2.5) => {
    const story = twoGrants().watch(0, 'r1').watch(0, 'r2').sample(0.2, 'r1').sample(0.5, 'r2', { role: 'replica' });
    for (let at = 0.4; lookedNs > 1 && at < 3; at += 0.1) story.sample(at, 'r1');
    return story.sample(0.8, 'r2').take(FIRST_TAKE, 'r2', 'c1').sample(lookedNs, 'r1');
  };
  const retaken = (story: Story) => causeNames(story.take(SECOND_TAKE, 'r1', 'c2'));

  it('needs the other one to have taken itself for primary since', () => {
    expect(retaken(split())).toEqual(['split-brain']);
    expect(retaken(split(0.3))).not.toContain('split-brain');
  });

  it('is not said where a slot was moved', () => {
    const effects: FaultEffect[] = [{ kind: 'slot-moves', who: ['r1', 'r2'], slot: 7_495 }];
    expect(retaken(split().fault(0.9, 0, 'move-slot', 'strike', { effects }))).not.toContain('split-brain');
  });

  it('is not said of one that granted it while it was the only primary, and was answered late', () => {
    const story = new Story().up('c1').up('c2').grant('c2', 3, { grantSent: 2 }).grant('c1', 2.7);
    story.release('c1', 4).release('c2', 4).watch(0, 'r1').watch(0, 'r2').looks(0.2, 2.1, 'r1');
    story.looks(0.2, 2.5, 'r2', { role: 'replica' }).looks(2.5, 3, 'r2');
    expect(causeNames(story.take(2.01, 'r1', 'c2').take(2.699, 'r2', 'c1'))).not.toContain('split-brain');
  });

  it('needs the other one never to have got the write', () => {
    expect(retaken(split().command(1.001, 'r1', 'link', sent('value-of-c1', 1_300)))).not.toContain('split-brain');
    const shown = split().sample(1.2, 'r1', { owner: 'value-of-c1', pttlMs: 300 });
    expect(causeNames(overwrites(shown))).not.toContain('split-brain');
  });
});

describe('lease-too-short', () => {
  const asked = (ttlMs: number, story = twoGrants().watch(0, 'r1').sample(0.5, 'r1')) =>
    story.take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', 0, ttlMs);
  const retaken = (story: Story) => causeNames(story.take(SECOND_TAKE, 'r1', 'c2'));
  const prolonged = (story: Story, at: number, by: string, ms: number) =>
    story.command(at, 'r1', by, ['PEXPIRE', KEY, String(ms)]);

  it('is reckoned from what the holder asked for last', () => {
    expect(retaken(prolonged(asked(5_000), 1.2, 'c1', 600))).toEqual(['lease-too-short']);
    expect(retaken(prolonged(prolonged(asked(5_000), 1.2, 'c1', 3_000), 1.5, 'c1', 600))).toEqual(['lease-too-short']);
    // What was refused asked for nothing.
    expect(retaken(asked(500).take(1.2, 'r1', 'c1', 'again'))).toEqual(['lease-too-short']);
  });

  it("is not said of another's doing", () => {
    expect(retaken(prolonged(asked(4_600), 1.2, 'c3', 600))).toEqual(['shortened-by-other']);
  });

  it('is said although somebody removed the key when it had expired', () => {
    expect(retaken(asked(500).command(2, 'r1', 'c3', ['DEL', KEY]))).toEqual(['lease-too-short']);
  });

  it('is not said where the clock may have made the difference', () => {
    const over = (ttlMs: number, movedMs: number) =>
      causeNames(asked(ttlMs).take(SECOND_TAKE, 'r1', 'c2', 'value-of-c2', movedMs));
    expect(over(1_980, 40)).toEqual(['lease-too-short']);
    expect(over(1_980, 60)).toEqual(['unexplained']);
    expect(over(1_900, 60)).toEqual(['lease-too-short']);
  });

  it('is said of less than nine tenths of the lease', () => {
    const late = (ttlMs: number) => {
      const story = asked(ttlMs, new Story().watch(0, 'r1').sample(0.5, 'r1')).up('c1').up('c2');
      story.grant('c1', 1).release('c1', 5.9).grant('c2', 5.7).release('c2', 5.9).take(5.699, 'r1', 'c2');
      return causeNames(story);
    };
    expect(late(4_400)).toEqual(['lease-too-short']);
    expect(late(4_600)).toEqual(['unexplained']);
  });

  it("is not said where the node's data may have become another's", () => {
    const beside = (story: Story, other: (story: Story) => Story) =>
      retaken(
        asked(500, other(story.watch(0, 'r1').sample(0.5, 'r1').sample(0.5, 'r2', { role: 'replica' })))
          .sample(1.1, 'r1', { owner: 'value-of-c1', pttlMs: 400 })
          .looks(1.55, 2.9, 'r1'),
      );
    const restarted = (story: Story) => story.sample(1.4, 'r2', { role: 'replica', runId: 'run-9' });
    const promoted = (story: Story) => story.sample(1.4, 'r2');
    const asReplica = (at: number) => twoGrants().sample(at, 'r1', { role: 'replica' });
    expect(beside(twoGrants(), restarted)).toEqual(['lease-too-short']);
    // It was a replica long before.
    expect(beside(asReplica(0.3), restarted)).toEqual(['lease-too-short']);
    // It was meanwhile.
    for (const other of [restarted, promoted])
      expect(beside(asReplica(1.2).sample(1.7, 'r1'), other)).not.toContain('lease-too-short');
    expect(beside(asReplica(1.2).sample(1.7, 'r1'), (story) => story)).toEqual(['unexplained']);
  });
});

describe('clock-ran-fast', () => {
  it('is not said where the clock moved by more than is known of', () => {
    const drift: FaultEffect = { kind: 'clock-drifts', who: ['r1'], ratePpm: 2_000_000, gainedMs: 100 };
    const moved = (ms: number) => {
      const story = grantedByR1().fault(1.3, 0, 'drift', 'strike', { effects: [drift] });
      return causeNames(story.take(SECOND_TAKE, 'r1', 'c2', 'value-of-c2', ms));
    };
    expect(moved(3_500)).toEqual(['clock-ran-fast']);
    expect(moved(6_000)).toEqual(['unexplained']);
  });

  it('is not said, nor a jump, where both came to it and the drift had not sufficed before', () => {
    const drift: FaultEffect = { kind: 'clock-drifts', who: ['r1'], ratePpm: 2_000_000, gainedMs: 100 };
    const jump: FaultEffect = { kind: 'clock-jumped', who: ['r1'], offsetMs: 60_000 };
    const story = grantedByR1().fault(1.1, 0, 'drift', 'strike', { effects: [drift] });
    const jumped = story.fault(1.5, 1, 'jump', 'strike', { effects: [jump] });
    expect(causeNames(jumped.take(SECOND_TAKE, 'r1', 'c2', 'value-of-c2', 63_800))).toEqual(['unexplained']);
  });
});

describe('evicted', () => {
  const retaken = (story: Story) => causeNames(story.take(SECOND_TAKE, 'r1', 'c2'));
  /** r2 has the write by replication, and loses it at 2.01 s by `removed`. */
  const copied = (removed: string, evictedAt: number, role: 'primary' | 'replica' = 'replica') => {
    const story = grantedByR1()
      .watch(0, 'r2')
      .sample(0.5, 'r2', { role: 'replica' })
      .command(1.001, 'r2', 'link', sent());
    story
      .looks(1.1, 2, 'r1', { owner: 'value-of-c1' })
      .sample(0.9, 'r2', { role: 'replica' })
      .looks(1.1, 1.9, 'r2', { role: 'replica', owner: 'value-of-c1' })
      .sample(1.9, 'r2', { role, owner: 'value-of-c1' })
      .command(2.01, 'r2', removed, ['DEL', KEY])
      .sample(2.5, 'r2');
    return causeNames(story.evicted(evictedAt, 'r1').take(SECOND_TAKE, 'r2', 'c2'));
  };

  it('is said although others asked in vain meanwhile, or the holder stored it again', () => {
    expect(retaken(grantedByR1().take(1.5, 'r1', 'c3').evicted(2, 'r1'))).toEqual(['evicted']);
    const again = ['SET', KEY, 'value-of-c1', 'PX', '5000'];
    expect(retaken(grantedByR1().command(1.5, 'r1', 'c1', again).evicted(2, 'r1'))).toEqual(['evicted']);
  });

  it('needs the eviction to come before the key was taken', () => {
    expect(causeNames(overwrites(grantedByR1()).evicted(3.1, 'r1'))).toEqual(['overwritten']);
  });

  it("needs the replica's removal to come from its primary, at about the same time", () => {
    expect(copied('link', 2)).toEqual(['evicted']);
    expect(copied('link', 3.2)).not.toContain('evicted');
    expect(copied('c3', 2)).not.toContain('evicted');
    expect(copied('link', 2, 'primary')).not.toContain('evicted');
  });
});

describe('a removal counts', () => {
  const removed = (between: (story: Story) => Story) =>
    causeNames(between(grantedByR1()).command(2, 'r1', 'c3', ['DEL', KEY]).take(SECOND_TAKE, 'r1', 'c2'));

  it('although something was done to the key before that left it where it was', () => {
    expect(removed((story) => story.take(1.5, 'r1', 'c3'))).toEqual(['released-by-other']);
    expect(removed((story) => story.command(1.5, 'r1', 'c1', ['PEXPIRE', KEY, '4000']))).toEqual(['released-by-other']);
    expect(removed((story) => story.command(1.5, 'r1', 'c4', ['SET', KEY, 'value-of-c1', 'PX', '4000']))).toEqual([
      'released-by-other',
    ]);
  });

  it('on a replica, unless what came there may have been what another one stored', () => {
    const copy = (others: (story: Story) => Story) =>
      causeNames(
        others(grantedByR1().watch(0, 'r2').sample(0.5, 'r2', { role: 'replica' }))
          .command(1.001, 'r2', 'link', sent())
          .sample(0.9, 'r2', { role: 'replica' })
          .looks(1.1, 2, 'r2', { role: 'replica', owner: 'value-of-c1' })
          .sample(2, 'r2', { owner: 'value-of-c1' })
          .command(2.2, 'r2', 'c3', ['DEL', KEY])
          .sample(2.3, 'r2')
          .take(SECOND_TAKE, 'r2', 'c2'),
      );
    expect(copy((story) => story)).toEqual(['released-by-other']);
    expect(copy((story) => story.take(0.7, 'r1', 'c4', 'value-of-c1', 0, 100))).toEqual(['unexplained']);
    // Another value, a request that was refused, and one of later.
    expect(copy((story) => story.take(0.7, 'r1', 'c4', 'another', 0, 100))).toEqual(['released-by-other']);
    expect(copy((story) => story.take(1.0005, 'r1', 'c4', 'value-of-c1'))).toEqual(['released-by-other']);
    const later = ['SET', KEY, 'value-of-c1', 'PX', '100'];
    expect(copy((story) => story.command(2.6, 'r1', 'c4', later))).toEqual(['released-by-other']);
  });
});

describe('never-granted, of a request that was refused', () => {
  const refused = (also: (story: Story) => Story) => causeNames(also(grantedByR1()).take(SECOND_TAKE, 'r1', 'c2'));
  const otherwise = (story: Story, at: number, by: string) =>
    story.command(at, 'r1', by, ['SETNX', KEY, `value-of-${by}`]);

  it('does not mind what others asked, or the client itself in other attempts', () => {
    expect(refused((story) => otherwise(story, 2.9985, 'c2'))).toEqual(['unexplained']);
    expect(refused((story) => otherwise(story, 2.9985, 'c3'))).toEqual(['never-granted']);
    expect(refused((story) => otherwise(story, 2.5, 'c2'))).toEqual(['never-granted']);
    expect(refused((story) => otherwise(story, 3.2, 'c2'))).toEqual(['never-granted']);
    expect(refused((story) => story.command(2.9985, 'r1', 'c2', ['PEXPIRE', KEY, '5000']))).toEqual(['never-granted']);
  });

  it('takes for its own what came so near to the attempt that stamps do not tell', () => {
    const at = (seconds: number) => refused((story) => otherwise(story, seconds, 'c2'))[0];
    expect([2.99, 2.996, 3.002, 3.008].map(at)).toEqual([
      'never-granted',
      'unexplained',
      'unexplained',
      'never-granted',
    ]);
  });

  it('does not mind what ran before the attempt left, or is read long after the answer, whatever the clock shows', () => {
    const ahead = (also: (story: Story) => Story) => {
      const story = also(twoGrants().watch(0, 'r1').sample(0.5, 'r1', { skewMs: 100 }));
      return causeNames(
        story.take(FIRST_TAKE, 'r1', 'c1', 'value-of-c1', 100).take(SECOND_TAKE, 'r1', 'c2', 'value-of-c2', 100),
      );
    };
    const before = (story: Story) => story.take(0.6, 'r1', 'c2', 'early', 100).unlock(0.7, 'r1', 'c2', 'early', 100);
    const after = (story: Story) =>
      story.unlock(4.1, 'r1', 'c1', 'value-of-c1', 100).take(4.5, 'r1', 'c2', 'late', 100);
    expect(ahead(before)).toEqual(['never-granted']);
    expect(ahead(after)).toEqual(['never-granted']);
    const readLate = (story: Story) =>
      story
        .command(2.9985, 'r1', 'c2', ['EVALSHA', 'abc', '1', KEY, 'x'], -498)
        .command(2.9985, 'r1', 'lua', ['get', KEY], -498);
    expect(refused(readLate)).toEqual(['never-granted']);
  });

  it('needs what was found to be what the server had, and not what it took over from another unseen', () => {
    const through = (looks: (story: Story) => Story) => {
      const story = grantedByR1().watch(0, 'r2').looks(0.5, 4, 'r2', { role: 'replica' });
      return causeNames(looks(story).take(SECOND_TAKE, 'r1', 'c2').take(4.5, 'r1', 'c3'));
    };
    const owner = 'value-of-c1';
    expect(through((story) => story.looks(1.1, 2.9, 'r1', { owner }))).toEqual(['never-granted']);
    expect(through((story) => story.looks(1.1, 1.5, 'r1', { owner }))).toEqual(['unexplained']);
  });

  it('is said of either of the two', () => {
    const first = twoGrants().refused('c9', 0.59, 0.7, 'info').watch(0, 'r1').sample(0.5, 'r1');
    first.take(0.6, 'r1', 'c9').take(FIRST_TAKE, 'r1', 'c1');
    expect(causeNames(first.unlock(2, 'r1', 'c9').take(SECOND_TAKE, 'r1', 'c2'))).toEqual(['never-granted']);
  });
});

describe('client-slow', () => {
  const stale = () => {
    const story = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 6.1).release('c2', 9);
    return story.fault(0.3, 0, 'pause', 'strike', { effects: [{ kind: 'stopped', who: ['c1'] }] });
  };

  it('is said where a fault on the client was over before it was granted', () => {
    const healed = (at: number) =>
      causeNames(
        stale()
          .release('c1', 8)
          .fault(at, 0, 'pause', 'heal', { targets: ['c1'] }),
      );
    expect(healed(0.5)).toEqual(['client-slow']);
    expect(healed(1.5)).toEqual(['unexplained']);
  });

  it('is not said where the client ever asked for more time: it should have kept on', () => {
    const extended = new Story().up('c1').up('c2').grant('c1', 1).extend('c1', 1.05).release('c1', 8).grant('c2', 6.2);
    expect(causeNames(extended.release('c2', 9))).toEqual(['unexplained']);
    const renewed = new Story().up('c1').up('c2').grant('c1', 1).renewed('c1', 1.05).release('c1', 8).grant('c2', 6.2);
    expect(causeNames(renewed.release('c2', 9))).toEqual(['unexplained']);
  });

  it('is said of one that never released, too', () => {
    const story = new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 6.2).release('c2', 9);
    expect(causeNames(story)).toEqual(['client-slow']);
  });
});
