/** Who stood in the way of those who ask in vain is said where the record proves it; each link of that is taken away once. */
import { describe, expect, it } from 'vitest';
import { asksOf, runKeyOf } from '../../../../checkers/causes/asks.js';
import { headOf } from '../../../../checkers/causes/blocker.js';
import { Departures } from '../../../../checkers/causes/departures.js';
import { blockerBetween } from '../../../../checkers/liveness/starvation.js';
import { starved } from '../../../../checkers/liveness/starved.js';
import type { StoredState } from '../../../../harness/record/facts/commands/state.js';
import { Evidence } from '../../../../harness/record/facts/evidence.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import type { Deadlines } from '../../../../harness/vocabulary/protocol.js';
import { EPOCH_WALL_MS, KEY, LEASE_MS, ns, Story } from '../build.js';
import { abandoned, asksSet, begun, QUEUE, wants } from './starving.js';

const OTHER = 'lock:1';
const causes = (story: Story) => starved.check(story.input()).violations.map(({ cause }) => cause.name);

/** c3 stores a key without expiry at `at`, and others ask for it in vain from 12 s on. */
const standing = (at: number, story = begun(['r1'], undefined, { from: at, owner: 'of-c3' })) =>
  wants(story.command(at, 'r1', 'c3', ['SET', KEY, 'of-c3']), 25, 12, asksSet);

describe('its client was gone', () => {
  it('where the acquire that stored it came to nothing, and not where another one did, or another client died', () => {
    expect(causes(standing(3.1).refused('c3', 3, 4))).toEqual(['key-never-expires']);
    expect(causes(standing(3.1).refused('c3', 3, 4, 'fail', OTHER))).toEqual(['unexplained']);
    expect(causes(standing(3.1).down('c1', 4))).toEqual(['unexplained']);
    expect(causes(standing(3.1).refused('c3', 2, 2.5).grant('c1', 2.6, { key: OTHER }).down('c1', 4))).toEqual([
      'key-never-expires',
    ]);
  });

  it('not where it stored it by its release, though that failed', () => {
    const story = standing(2.501).grant('c3', 2.2).release('c3', 2.5, { type: 'fail' });
    expect(causes(story)).toEqual(['unexplained']);
  });

  it('where it released what it held by it, not where it only lost that, extended it, or released another', () => {
    const held = () => standing(2.199).grant('c3', 2.2);
    expect(causes(held().release('c3', 2.6))).toEqual(['key-never-expires']);
    expect(causes(held().lost('c3', 2.6))).toEqual(['unexplained']);
    expect(causes(held().extend('c3', 2.4).lost('c3', 2.6))).toEqual(['unexplained']);
    expect(causes(held().release('c3', 2.6, { type: 'never' }))).toEqual(['unexplained']);
    const another = held().lost('c3', 2.6).grant('c3', 2.8, { key: OTHER }).release('c3', 2.9);
    expect(causes(another)).toEqual(['unexplained']);
  });

  it('is not said to have released it where that failed', () => {
    const texts = (reason?: string) => {
      const story = standing(2.199)
        .grant('c3', 2.2)
        .release('c3', 2.6, { ...(reason && { reason }) });
      return starved.check(story.input()).violations.flatMap(({ cause }) => cause.chain.map(({ text }) => text));
    };
    expect(texts()).toContain('c3 had released it');
    expect(texts('unreachable')).toContain('c3 had tried to release it');
  });

  it('not where it is not known whether it held by it, though it released it', () => {
    const blocker = (type: 'fail' | 'info') => {
      const story = standing(3.1).refused('c3', 3, 3.2, type).release('c3', 3.5, { hold: 1 });
      return blockerBetween(story.input(), KEY, ns(12), ns(25))?.name;
    };
    expect(blocker('fail')).toBe('key-never-expires');
    expect(blocker('info')).toBeUndefined();
  });

  it('where it named its value late, but asked no more; others may name it for other keys', () => {
    const named = (by: string, ...argv: string[]) => causes(wants(abandoned()).command(6.5, 'r1', by, argv));
    expect(named('c3', 'LPOS', QUEUE, 'ticket-of-c3')).toEqual(['queue-head-gone']);
    expect(named('c1', 'LPOS', QUEUE, 'ticket-of-c3')).toEqual(['unexplained']);
    expect(named('stranger', 'LPOS', QUEUE, 'ticket-of-c3')).toEqual(['queue-head-gone']);
    const elsewhere = wants(abandoned()).refused('c1', 5, 5.1, 'fail', OTHER);
    expect(causes(elsewhere.command(6.5, 'r1', 'c1', ['SADD', `${OTHER}:set`, 'ticket-of-c3']))).toEqual([
      'queue-head-gone',
    ]);
  });
});

it('is of the client whose own command stored it, on whatever server, if it came by replication', () => {
  const by = (client: string | undefined, stores: (story: Story) => Story) => {
    const input = stores(begun(['r1']).watch(0.2, 'r0').command(3.1, 'r1', 'link', ['SET', KEY, 'of-c3'])).input();
    const evidence = new Evidence(input);
    const origin = { line: 0, atNs: ns(3.1), serverWallMs: 0, name: 'SET', source: '', ...(client && { client }) };
    return new Departures(input, KEY).storedBy(origin, 'of-c3', evidence)?.client;
  };
  const stored = (at: number, client: string) => (story: Story) =>
    story.command(at, 'r0', client, ['SET', KEY, 'of-c3']);
  expect(by(undefined, stored(3, 'c3'))).toBe('c3');
  expect(by('c1', stored(3, 'c3'))).toBe('c1');
  expect(by(undefined, stored(4, 'c3'))).toBe('c3');
  expect(by(undefined, stored(4.2, 'c3'))).toBeUndefined();
  expect(by(undefined, stored(3, 'link'))).toBeUndefined();
});

it('is not of a client that is gone where another one stored the same value, and that came by replication', () => {
  /** c1 holds and releases the key on r0, and is killed; c3 is granted it, and told that it is lost; r0 dies, and r1 is primary. */
  const promoted = (value: string) => {
    const story = new Story().replicated().up('c1').up('c2').up('c3').watch(0.2, 'r0').watch(0.2, 'r1');
    for (const [node, role] of [
      ['r0', 'primary'],
      ['r1', 'replica'],
    ] as const)
      story
        .looks(0.3, 0.95, node, { role, runId: node })
        .looks(1.05, 1.95, node, { role, runId: node, owner: 'of-c1', pttlMs: -1 })
        .looks(2.05, 2.95, node, { role, runId: node })
        .looks(3.05, 6, node, { role, runId: node, owner: value, pttlMs: -1 });
    const both = (at: number, client: string, ...argv: string[]) =>
      story.command(at, 'r0', client, argv).command(at + 0.0005, 'r1', 'link', argv);
    story.grant('c1', 1).release('c1', 2).down('c1', 4).grant('c3', 3).lost('c3', 5);
    both(0.999, 'c1', 'SET', KEY, 'of-c1');
    both(2.0005, 'c1', 'DEL', KEY);
    both(2.999, 'c3', 'SET', KEY, value);
    const effects: FaultEffect[] = [{ kind: 'killed', who: ['r0'] }];
    story.fault(5.95, 0, 'kill', 'strike', { effects }).watch(5.95, 'r0', false);
    story.looks(6.1, 25, 'r1', { owner: value, runId: 'r1', pttlMs: -1 });
    return story;
  };
  const blocker = (story: Story) => blockerBetween(wants(story, 25, 12, asksSet).input(), KEY, ns(12), ns(25));
  expect(blocker(promoted('of-c1'))).toBeUndefined();
  expect(blocker(promoted('of-c3'))).toBeUndefined();
  expect(blocker(promoted('of-c3').down('c3', 5.5))?.sentence).toContain("c3's of-c3, which has no expiry");
});

describe('a key that stands', () => {
  it('was stored by one command', () => {
    const again = ['SET', KEY, 'of-c3'];
    expect(causes(standing(3.1).refused('c3', 3, 4).command(15, 'r1', 'stranger', again))).toEqual(['unexplained']);
  });

  it('is no count', () => {
    const counted = begun(['r1'], undefined, { from: 3.1, owner: '1' }).refused('c3', 3, 4);
    expect(causes(wants(counted.command(3.1, 'r1', 'c3', ['INCR', KEY]), 25, 12, asksSet))).toEqual(['unexplained']);
  });

  it('is one that they looked at, on the one server that they asked', () => {
    const looking = (...looks: string[][]) => {
      let asked = 0;
      const stands = begun(['r1'], undefined, { from: 3.1, owner: 'of-c3' }).refused('c3', 3, 4);
      stands.command(3.1, 'r1', 'c3', ['SET', KEY, 'of-c3']);
      return wants(stands, 25, 12, (story, at, client) => {
        const look = looks[Math.min(asked++, looks.length - 1)]!;
        return story.command(at, 'r1', client, ['EVAL', 'script', '1', KEY]).command(at, 'r1', 'lua', look);
      });
    };
    const [there, elsewhere] = [
      ['get', KEY],
      ['llen', QUEUE],
    ];
    const blocker = (story: Story) => blockerBetween(story.input(), KEY, ns(12), ns(25));
    expect(blocker(looking(elsewhere))).toBeUndefined();
    expect(blocker(looking(there, elsewhere))).toBeUndefined();
    const found = blocker(looking(elsewhere, there, there, elsewhere));
    expect(found).toMatchObject({ name: 'key-never-expires' });
    expect(found!.chain.slice(-2).map(({ atNs }) => atNs)).toEqual([ns(12.51), ns(13.01)]);
    const two = asksSet(looking(there), 12.2, 'c2').watch(0.2, 'r2').sample(0.5, 'r2');
    expect(blocker(two)).toMatchObject({ name: 'key-never-expires' });
    const everywhere = looking(there)
      .watch(0.2, 'r2')
      .sample(0.5, 'r2')
      .command(3.1, 'r2', 'c3', ['SET', KEY, 'of-c3']);
    for (const at of [12.1, 12.6]) {
      everywhere.command(at, 'r2', 'c2', ['EVAL', 'script', '1', KEY]).command(at, 'r2', 'lua', there);
    }
    expect(blocker(everywhere)).toBeUndefined();
  });

  it('is looked at on a majority of independent nodes', () => {
    const asked = (times: number) => {
      const story = begun(['r1', 'r2', 'r3'], undefined, { from: 3.1, owner: 'of-c3', on: ['r1', 'r2'] });
      for (const node of ['r1', 'r2']) story.command(3.1, node, 'c3', ['SET', KEY, 'of-c3', 'NX']);
      story.refused('c3', 3, 4).refused('c2', 12, 25);
      for (let n = 0; n < 3; n++)
        for (const node of n < times ? ['r1', 'r2', 'r3'] : ['r2', 'r3'])
          story.command(12.1 + n, node, 'c2', ['SET', KEY, 'of-c2', 'PX', '5000', 'NX']);
      return blockerBetween(story.input(), KEY, ns(12), ns(25))?.name;
    };
    expect(asked(2)).toBe('key-never-expires');
    expect(asked(1)).toBeUndefined();
  });

  it('is no permit of a semaphore', () => {
    const story = begun(['r1'], { permit: 1_000 }, { from: 3.1, owner: 'of-c3' }).refused('c3', 3, 4);
    expect(causes(standing(3.1, story).promised({ kind: 'semaphore', permits: 1 }))).toEqual(['unexplained']);
  });

  it('names no client that may still be there', () => {
    const asksHash = (story: Story, at: number, client: string) =>
      story
        .command(at, 'r1', client, ['EVAL', 'script', '1', KEY, `of-${client}`])
        .command(at, 'r1', 'lua', ['hexists', KEY, `of-${client}`]);
    const hash = (...owners: string[]) => {
      const owner = JSON.stringify(Object.fromEntries(owners.map((by) => [`of-${by}`, '1'])));
      const story = begun(['r1'], undefined, { from: 3.3, owner }).refused('c3', 3, 4);
      owners.forEach((by, n) => {
        story.command(3.1 + n / 10, 'r1', by, ['HSET', KEY, `of-${by}`, '1']);
      });
      return causes(wants(story, 25, 12, asksHash));
    };
    expect(hash('c3')).toEqual(['key-never-expires']);
    expect(hash('c3', 'c1')).toEqual(['unexplained']);
  });

  it('names nobody by a count that came to nothing, or below', () => {
    const asksHash = (story: Story, at: number, client: string) =>
      story
        .command(at, 'r1', client, ['EVAL', 'script', '1', KEY, `of-${client}`])
        .command(at, 'r1', 'lua', ['hexists', KEY, `of-${client}`]);
    const beside = (value: string, ...counts: string[][]) => {
      const owner = JSON.stringify(['of-c3', '1', 'other', value]);
      const story = begun(['r1'], undefined, { from: 3.4, owner }).refused('c3', 3, 4);
      story.command(3.1, 'r1', 'c3', ['HSET', KEY, 'of-c3', '1']);
      for (const argv of counts) story.command(3.2, 'r1', 'c1', argv);
      return causes(wants(story, 25, 12, asksHash));
    };
    const by = (amount: number) => ['HINCRBY', KEY, 'other', String(amount)];
    expect(beside('-1', by(-1))).toEqual(['key-never-expires']);
    expect(beside('0', by(2), by(-2))).toEqual(['key-never-expires']);
    expect(beside('1', by(2), by(-1))).toEqual(['unexplained']);
    expect(beside('-1', ['HSET', KEY, 'other', '-1'])).toEqual(['unexplained']);
    const third = [
      ['HSET', KEY, 'other', '-1'],
      ['HINCRBY', KEY, 'of-c3', '1'],
      ['HINCRBY', KEY, 'of-c3', '-1'],
    ];
    expect(beside('-1', ...third)).toEqual(['unexplained']);
    const fourth = [
      ['HSET', KEY, 'other', '-1'],
      ['HINCRBY', KEY, 'count', '1'],
      ['HDEL', KEY, 'count'],
    ];
    expect(beside('-1', ...fourth)).toEqual(['unexplained']);
    const story = begun(['r1'], undefined, { from: 3.4, owner: JSON.stringify(['other', '0']) });
    story.command(3.2, 'r1', 'c1', by(2)).command(3.3, 'r1', 'c1', by(-2));
    expect(causes(wants(story, 25, 12, asksHash))).toEqual(['unexplained']);
  });

  it('is what says who holds: the key itself, or one in which grants came and went', () => {
    const MODE = `${KEY}:mode`;
    const asksBoth = (story: Story, at: number, client: string) =>
      story
        .command(at, 'r1', client, ['EVAL', 'script', '1', KEY, `of-${client}`])
        .command(at, 'r1', 'lua', ['get', MODE])
        .command(at, 'r1', 'lua', ['exists', KEY]);
    const kept = (before: (story: Story) => Story) =>
      causes(
        wants(before(begun()).refused('c3', 3, 4).command(3.1, 'r1', 'c3', ['SET', MODE, 'of-c3']), 25, 12, asksBoth),
      );
    const came = (by: string) => (story: Story) =>
      story.command(1.1, 'r1', 'c1', ['SET', MODE, 'of-c1']).command(1.9, 'r1', by, ['DEL', MODE]);
    expect(kept(came('c1'))).toEqual(['key-never-expires']);
    const prolongs = (story: Story) => story.command(1.5, 'r1', 'c1', ['PEXPIRE', MODE, '5000']);
    expect(kept((story) => prolongs(came('c2')(story)))).toEqual(['unexplained']);
    expect(kept(came('c2'))).toEqual(['unexplained']);
    const strangers = (story: Story) =>
      story.command(1.1, 'r1', 'stranger', ['SET', MODE, 'x']).command(1.9, 'r1', 'stranger', ['DEL', MODE]);
    expect(kept(strangers)).toEqual(['unexplained']);
    expect(kept((story) => story)).toEqual(['unexplained']);
  });

  it('is not said to be all where the key itself stands for a reason that is not known', () => {
    const LAST = `${KEY}:last`;
    const asksBoth = (story: Story, at: number, client: string) =>
      story
        .command(at, 'r1', client, ['EVAL', 'script', '2', KEY, LAST, `of-${client}`])
        .command(at, 'r1', 'lua', ['get', LAST])
        .command(at, 'r1', 'lua', ['exists', KEY]);
    /** c1, who was granted it twice, is named as the last holder; then `by` stores the key. */
    const named = (by: string, argv = ['SET', KEY, 'of-c3']) => {
      const story = begun(['r1'], undefined, { from: argv[1] === KEY ? 3.1 : 99, owner: 'of-c3' })
        .grant('c1', 2.3)
        .release('c1', 2.5);
      for (const [n, at] of [0.999, 2.299].entries())
        asksBoth(story, at, 'c1').command(at, 'r1', 'lua', ['set', LAST, `c1:${n}`]);
      story.refused('c3', 3, 4).command(3.1, 'r1', by, argv);
      return blockerBetween(wants(story, 25, 12, asksBoth).input(), KEY, ns(12), ns(25))?.sentence;
    };
    expect(named('stranger')).toBeUndefined();
    expect(named('c3')).toContain('stands on r1 with');
    expect(named('stranger', ['SET', OTHER, 'of-c3'])).toContain("lock:0:last stands on r1 with c1's c1:1");
  });

  describe('that was stored for long', () => {
    const LONG_MS = 5_000_000;
    const long = () =>
      begun(['r1'], undefined, { from: 0.99, owner: 'of-c1', pttlMs: LONG_MS })
        .command(0.999, 'r1', 'c1', ['SET', KEY, 'of-c1', 'PX', String(LONG_MS), 'NX'])
        .command(2, 'r1', 'c1', ['EVALSHA', 'release', '1', KEY, 'of-somebody'])
        .command(2, 'r1', 'lua', ['get', KEY]);
    const prolonged = (at: number, by: string, ms: number) =>
      causes(wants(long(), 20, 6, asksSet).command(at, 'r1', by, ['PEXPIRE', KEY, String(ms)]));

    it('is no longer than the lease that they all ask for', () => {
      const asked = wants(long(), 20, 6, asksSet);
      expect(causes(asked.configured({ leaseMs: LONG_MS }))).toEqual(['unexplained']);
    });

    it('is not where it was until a time of day, by a clock that was ahead', () => {
      const until = (clocks: (story: Story) => Story) => {
        const story = begun(['r1'], undefined, { from: 3.1, owner: 'of-c3', pttlMs: LONG_MS }).refused('c3', 3, 4);
        const argv = ['SET', KEY, 'of-c3', 'PXAT', String(EPOCH_WALL_MS + 3_100 + LONG_MS)];
        const stood = wants(clocks(story).command(3.1, 'r1', 'c3', argv), 25, 12, asksSet);
        return blockerBetween(stood.input(), KEY, ns(12), ns(25))?.name;
      };
      expect(until((story) => story)).toBe('outlives-its-lease');
      const jumps: FaultEffect = { kind: 'clock-jumped', who: ['c3'], offsetMs: LONG_MS };
      expect(until((story) => story.fault(2.5, 0, 'clock', 'strike', { effects: [jumps] }))).toBeUndefined();
    });

    it('was not prolonged by what was done to an earlier one', () => {
      const late = begun(['r1'], undefined, { from: 4.1, owner: 'of-c3', pttlMs: LONG_MS }).refused('c3', 3, 4);
      late
        .command(3.6, 'r1', 'c1', ['SET', KEY, 'of-c1', 'PX', '5000'])
        .command(4.05, 'r1', 'c1', ['PEXPIRE', KEY, '9000']);
      late
        .command(4.06, 'r1', 'c1', ['DEL', KEY])
        .command(4.1, 'r1', 'c3', ['SET', KEY, 'of-c3', 'PX', String(LONG_MS)]);
      expect(causes(wants(late, 25, 12, asksSet))).toEqual(['outlives-its-lease']);
    });

    it('was not prolonged by its client once that was dead: the renewal was only read by then', () => {
      const story = begun(['r1'], undefined, { from: 2.3, owner: 'of-c3', pttlMs: 50_000 }).grant('c3', 2.2);
      story.command(2.199, 'r1', 'c3', ['SET', KEY, 'of-c3', 'NX', 'PX', '60000']);
      story.command(4.2, 'r1', 'c3', ['PEXPIRE', KEY, '60000'], -300).down('c3', 4);
      expect(causes(wants(story, 25, 12, asksSet))).toEqual(['outlives-its-lease']);
    });

    it('outlives its lease by that, unless it was prolonged while they asked', () => {
      expect(causes(wants(long(), 20, 6, asksSet))).toEqual(['outlives-its-lease']);
      expect(prolonged(9, 'c3', 2 * LONG_MS)).toEqual(['prolonged-for-others']);
      expect(prolonged(1.5, 'c1', 2 * LONG_MS)).toEqual(['outlives-its-lease']);
      expect(prolonged(1.5, 'c3', 2 * LONG_MS)).toEqual(['unexplained']);
      expect(prolonged(23, 'c3', 2 * LONG_MS)).toEqual(['outlives-its-lease']);
      expect(prolonged(9, 'c3', LONG_MS / 2)).toEqual(['outlives-its-lease']);
    });
  });
});

describe('a clock of the server that was put back, by which something stands for longer than it was given', () => {
  const JUMP_MS = 30_000;

  /**
   * The clock of r1, or whose it is told, jumps ahead at 2.5 s and is set right at 4 s; c3 is granted the key at 3 s and killed at
   * 3.7 s; c2 asks from 8 s on.
   */
  const stood = (set: string[], prolonged?: { at: number; ranS?: number; argv: string[] }, by = 'c3', whose = 'r1') => {
    const story = new Story().up('c1').up('c2').up('c3').watch(0.2, 'r1');
    const effects: FaultEffect[] = [{ kind: 'clock-jumped', who: [whose], offsetMs: JUMP_MS }];
    story.fault(2.5, 0, 'clock', 'strike', { effects }).fault(4, 0, 'clock', 'heal', { beganNs: ns(3.99) });
    const skewMs = (at: number) => (whose === 'r1' && at > 2.4 && at < 4 ? JUMP_MS : 0);
    const endMs = (at: number, [, ms = '']: string[]) =>
      ms.length > 10 ? Number(ms) - EPOCH_WALL_MS : at * 1_000 + skewMs(at) + Number(ms);
    for (let at = 0.5; at < 21; at += 0.5) {
      const isProlonged = prolonged && at > prolonged.at;
      const untilMs = isProlonged ? endMs(prolonged.ranS ?? prolonged.at, prolonged.argv) : endMs(2.999, set);
      const pttlMs = Math.round(untilMs - at * 1_000 - skewMs(at));
      story.sample(at, 'r1', { skewMs: skewMs(at), ...(at > 3 && pttlMs > 0 && { owner: 'of-c3', pttlMs }) });
    }
    story
      .grant('c3', 3)
      .down('c3', 3.7)
      .command(2.999, 'r1', 'c3', ['SET', KEY, 'of-c3', ...set], skewMs(3));
    if (prolonged) {
      const { at, ranS = at, argv } = prolonged;
      story.command(at, 'r1', by, [argv[0]!, KEY, ...argv.slice(1)], skewMs(ranS) + (ranS - at) * 1_000);
    }
    return blockerBetween(wants(story, 20, 8, asksSet).input(), KEY, ns(8), ns(20))?.name;
  };

  it('is no doing of a lock that stored it for a little longer than the lease, or prolonged it in time', () => {
    expect(stood(['PX', '6000'])).toBeUndefined();
    expect(stood(['PX', '5000'], { at: 3.4, argv: ['PEXPIRE', '5000'] })).toBeUndefined();
    expect(stood(['PX', '5000'], { at: 3.8, argv: ['PEXPIRE', '5000'] })).toBeUndefined();
    expect(stood(['PX', '5000'], { at: 3.8, argv: ['PEXPIRE', '5000'] }, 'c1')).toBeUndefined();
    // Which stands for as long by a clock that is right.
    expect(stood(['PX', '60000'])).toBe('outlives-its-lease');
    expect(stood(['PX', '60000'], undefined, 'c3', 'nobody')).toBe('outlives-its-lease');
    expect(stood(['PX', '5000'], { at: 3.8, argv: ['PEXPIRE', '60000'] })).toBe('prolonged-too-long');
    expect(stood(['PX', '5000'], { at: 3.8, argv: ['PEXPIRE', '60000'] }, 'c1')).toBe('prolonged-for-others');
  });

  it('nor is it where a client whose clock was ahead prolonged it until a time of day', () => {
    const until = ['PEXPIREAT', String(EPOCH_WALL_MS + 3_400 + JUMP_MS + 5_000)];
    expect(stood(['PX', '5000'], { at: 3.4, argv: until }, 'c3', 'nobody')).toBe('outlives-its-lease');
    expect(stood(['PX', '5000'], { at: 3.4, argv: until }, 'c3', 'c3')).toBeUndefined();
  });

  it('its client did not go on prolonging it that did so before it was gone, read late', () => {
    const late = { at: 4.2, ranS: 3.5, argv: ['PEXPIRE', '60000'] };
    expect(stood(['PX', '5000'], late, 'c3', 'nobody')).toBe('outlives-its-lease');
    expect(stood(['PX', '5000'], { ...late, ranS: 3.8 }, 'c3', 'nobody')).toBe('prolonged-too-long');
  });

  it('leaves a place in a queue for longer that is to end by it, and not one that has no end', () => {
    const placed = (place: Deadlines['place'], jumpAt: number) => {
      const story = begun(['r1'], { place: place! });
      const effects: FaultEffect[] = [{ kind: 'clock-jumped', who: ['r1'], offsetMs: JUMP_MS }];
      story.fault(jumpAt, 0, 'clock', 'strike', { effects });
      story.fault(jumpAt + 1.5, 0, 'clock', 'heal', { beganNs: ns(jumpAt + 1.5) });
      const skewMs = jumpAt < 3.1 && jumpAt + 1.5 > 3.1 ? JUMP_MS : 0;
      story.command(3.1, 'r1', 'c3', ['EVAL', 'script', '2', KEY, QUEUE, 'ticket-of-c3', String(LEASE_MS)], skewMs);
      story.command(3.1, 'r1', 'lua', ['rpush', QUEUE, 'ticket-of-c3'], skewMs);
      return blockerBetween(wants(story.refused('c3', 3, 4), 25, 8).input(), KEY, ns(8), ns(25))?.name;
    };
    expect(placed('lease', 2.5)).toBeUndefined();
    expect(placed(3_000, 2.5)).toBeUndefined();
    expect(placed('never', 2.5)).toBe('queue-head-gone');
    expect(placed('lease', 1)).toBe('queue-head-gone');
  });
});

describe('the head of a queue', () => {
  /** A lock whose requests look at a queue by these commands; c3 left its place, and c2's came after it. */
  const looking = (join: (ticket: string, score: number) => string[], ...looks: string[][]) =>
    lookingIn((story) => story, join, ...looks);
  const lookingIn = (
    befell: (story: Story) => Story,
    join: (ticket: string, score: number) => string[],
    ...looks: string[][]
  ) => {
    const ask = (story: Story, at: number, client: string, ticket: string, isNew: boolean, score: number) => {
      story.command(at, 'r1', client, ['EVAL', 'script', '2', KEY, QUEUE, ticket, String(LEASE_MS)]);
      if (isNew) story.command(at, 'r1', 'lua', join(ticket, score));
      for (const look of looks) story.command(at, 'r1', 'lua', look);
      return story;
    };
    const story = ask(befell(begun()), 3.1, 'c3', 'ticket-of-c3', true, 1).refused('c3', 3, 4);
    return causes(
      wants(story, 20, 6, (told, at, client, ticket, isNew = false) => ask(told, at, client, ticket, isNew, 2)),
    );
  };
  const pushed = (command: string) => (ticket: string) => [command, QUEUE, ticket];
  const added = (ticket: string, score: number) => ['zadd', QUEUE, String(score), ticket];

  it.each([
    ['LINDEX 0', pushed('rpush'), ['lindex', QUEUE, '0']],
    ['LINDEX -1', pushed('lpush'), ['lindex', QUEUE, '-1']],
    ['LRANGE 0 0', pushed('rpush'), ['lrange', QUEUE, '0', '0']],
    ['LRANGE -1 -1', pushed('lpush'), ['lrange', QUEUE, '-1', '-1']],
    ['ZRANGE 0 0', added, ['zrange', QUEUE, '0', '0']],
    ['ZRANK', added, ['zrank', QUEUE, 'ticket-of-c2']],
  ] as const)('is what they look at by %s', (_, join, look) => {
    expect(looking(join, [...look])).toEqual(['queue-head-gone']);
  });

  it('is not known where they look at both ends, at another place, or at the other end', () => {
    const first = ['lindex', QUEUE, '0'];
    const last = ['lindex', QUEUE, '-1'];
    expect(looking(pushed('rpush'), first, last)).toEqual(['unexplained']);
    expect(looking(pushed('rpush'), ['lindex', QUEUE, '1'])).toEqual(['unexplained']);
    expect(looking(pushed('rpush'), last)).toEqual(['unexplained']);
    expect(looking(added, ['zrange', QUEUE, '-1', '-1'])).toEqual(['unexplained']);
    expect(looking(added, ['zrange', QUEUE, '0', '0', 'REV'])).toEqual(['unexplained']);
    expect(looking(added, ['zrange', QUEUE, '0', '0', 'WITHSCORES'])).toEqual(['queue-head-gone']);
    const more = ['lindex', `${KEY}:more`, '0'];
    expect(looking(pushed('rpush'), ['llen', QUEUE], more)).toEqual(['unexplained']);
    expect(looking(pushed('lpush'), ['lindex', QUEUE, '5'])).toEqual(['unexplained']);
    expect(looking(pushed('lpush'), ['lrange', QUEUE, '1', '5'])).toEqual(['unexplained']);
    expect(looking(pushed('lpush'), ['lrange', QUEUE, '-1', '5'])).toEqual(['unexplained']);
    expect(looking(added, ['zscore', QUEUE, 'ticket-of-c2'])).toEqual(['unexplained']);
    expect(looking(pushed('lpush'), ['lrange', QUEUE, '5', '-1'])).toEqual(['unexplained']);
  });

  it('is not known where another was there for a while, or may have been, or something beside the queue is', () => {
    const first = ['lindex', QUEUE, '0'];
    const before = (story: Story) =>
      story.command(9, 'r1', 'stranger', ['LPUSH', QUEUE, 'x']).command(9.7, 'r1', 'stranger', ['LPOP', QUEUE]);
    expect(lookingIn(before, pushed('rpush'), first)).toEqual(['unexplained']);
    const unseen = (story: Story) => story.watch(2.5, 'r1', false).watch(2.6, 'r1');
    expect(lookingIn(unseen, added, ['zrange', QUEUE, '0', '0'])).toEqual(['unexplained']);
    const somewhere = (story: Story) => story.command(3.3, 'r1', 'stranger', ['GEOADD', QUEUE, '0', '0', 'x']);
    expect(lookingIn(somewhere, added, ['zrange', QUEUE, '0', '0'])).toEqual(['unexplained']);
    const more = `${KEY}:more`;
    const beside = (story: Story) => story.command(2.9, 'r1', 'stranger', ['HSET', more, 'x', '1']);
    expect(lookingIn(beside, pushed('rpush'), first)).toEqual(['queue-head-gone']);
    expect(lookingIn(beside, pushed('rpush'), first, ['hlen', more])).toEqual(['unexplained']);
    expect(looking(pushed('rpush'), first, ['hlen', more])).toEqual(['queue-head-gone']);
  });

  it('is, of places of the same score, that whose name comes first', () => {
    const same = (ticket: string) => added(ticket, 1);
    expect(looking(same, ['zrange', QUEUE, '0', '0'])).toEqual(['unexplained']);
    expect(
      looking((ticket) => added(ticket === 'ticket-of-c3' ? 'first-ticket' : ticket, 1), ['zrange', QUEUE, '0', '0']),
    ).toEqual(['queue-head-gone']);
  });
});

describe('who asked for a key', () => {
  it('asked as often as it sent what it sent first, and not when it was to release it', () => {
    expect(runKeyOf('lock:00:own', ['lock:00', 'lock:0'])).toBe('lock:00');
    const story = begun()
      .refused('c2', 6, 7)
      .command(6.1, 'r1', 'c2', ['GET', `${KEY}:own`]);
    story.command(6.2, 'r1', 'c2', ['GET', KEY]).command(6.3, 'r1', 'stranger', ['GET', KEY]);
    expect(asksOf(story.input(), KEY, ns(6), ns(7)).map(({ atNs }) => atNs)).toEqual([ns(6.1), ns(6.2)]);
    expect(asksOf(story.command(2.001, 'r1', 'c1', ['GET', KEY]).input(), KEY, ns(2), ns(3))).toEqual([]);
  });

  const free = (ask: typeof asksSet, ...others: [client: string, key: string][]) => {
    const asked = begun(['r1'], undefined, { from: 3.1, owner: 'of-c3' }).refused('c3', 3, 4);
    asked.command(3.1, 'r1', 'c3', ['SET', KEY, 'of-c3']).refused('c1', 12, 25);
    for (const [client, key] of others) asked.refused(client, 12, 25, 'fail', key);
    for (let at = 12.01; at < 25; at += 0.5) ask(asked, at, others.length > 0 ? 'c2' : 'c1');
    return causes(asked);
  };

  it('did so in an acquire of that very key, by its name', () => {
    const asking =
      (...argv: string[]) =>
      (told: Story, at: number, client: string) =>
        told.command(at, 'r1', client, argv);
    expect(free(asksSet)).toEqual(['key-never-expires']);
    expect(free(asksSet, ['c2', OTHER])).toEqual([]);
    expect(free(asking('PING', 'somebody'))).toEqual([]);
    // A longer name is another key's.
    expect(free(asking('GET', `${KEY}0`), ['c3', `${KEY}0`], ['c2', KEY])).toEqual([]);
    expect(free(asking('GET', `${KEY}:own`), ['c3', `${KEY}0`], ['c2', KEY])).toEqual(['unexplained']);
  });
});

describe('what was there all the time', () => {
  /** c3 stores something at 3.1 s and gives up; c2's scripts look at it from 12 s to 20 s; nobody else looks. */
  const seen = (stores: (story: Story) => Story, until = 20, look = ['get', KEY], watched = true) => {
    const story = new Story().up('c2').up('c3').sample(0.5, 'r1').refused('c3', 3, 4);
    if (watched) story.watch(0.2, 'r1');
    stores(story).refused('c2', 12, 20);
    for (let at = 12; at <= until; at++)
      story.command(at, 'r1', 'c2', ['EVAL', 'script', '1', KEY]).command(at, 'r1', 'lua', look);
    return blockerBetween(story.input(), KEY, ns(12), ns(until))?.name;
  };
  const set = (ms: number) => (story: Story) => story.command(3.1, 'r1', 'c3', ['SET', KEY, 'of-c3', 'PX', String(ms)]);

  it('had not expired by then', () => {
    expect(seen(set(30_000))).toBe('outlives-its-lease');
    expect(seen(set(15_900), 18)).toBe('outlives-its-lease');
    expect(seen(set(15_900))).toBeUndefined();
  });

  it('is all of a hash', () => {
    const hash = (story: Story) =>
      story
        .command(3.1, 'r1', 'c3', ['HSET', KEY, 'of-c3', '1'])
        .command(3.1001, 'r1', 'c3', ['PEXPIRE', KEY, '30000']);
    expect(seen(hash, 20, ['hexists', KEY])).toBe('outlives-its-lease');
    const after = (story: Story) => hash(story.watch(2.5, 'r1', false).watch(2.6, 'r1'));
    expect(seen(after, 20, ['hexists', KEY])).toBeUndefined();
    // One string is all of it.
    const string = (story: Story) => set(30_000)(story.watch(2.5, 'r1', false).watch(2.6, 'r1'));
    expect(seen(string)).toBe('outlives-its-lease');
  });

  it('was watched', () => {
    expect(seen(set(30_000), 20, ['get', KEY], false)).toBeUndefined();
  });
});

it('a queue is one whose head enough of them looked at', () => {
  const looks = (heads: number) => {
    let asked = 0;
    const story = wants(abandoned(), 20, 6, (told, at, client, ticket, isNew) => {
      told.command(at, 'r1', client, ['EVAL', 'script', '2', KEY, QUEUE, ticket, String(LEASE_MS)]);
      if (isNew) told.command(at, 'r1', 'lua', ['rpush', QUEUE, ticket]);
      told.command(at, 'r1', 'lua', ['lpos', QUEUE, ticket]);
      return asked++ < heads ? told.command(at, 'r1', 'lua', ['lindex', QUEUE, '0']) : told;
    });
    return blockerBetween(story.input(), KEY, ns(6), ns(20))?.name;
  };
  expect(looks(2)).toBe('queue-head-gone');
  expect(looks(1)).toBeUndefined();
});

it('the head of a sorted set is known where it is of every place whether it is there, and by what score', () => {
  const head = (...places: [string, string, string | undefined][]) => {
    const parts = new Map(places.map(([name, there, value]) => [name, { there, value }]));
    return headOf({ exists: 'yes', held: { type: 'zset', complete: true, parts } } as unknown as StoredState, 'first');
  };
  expect(head(['a', 'yes', '2'], ['b', 'yes', '1'])).toBe('b');
  expect(head(['a', 'yes', '2'], ['b', 'unknown', '1'])).toBeUndefined();
  expect(head(['a', 'yes', '2'], ['b', 'yes', undefined])).toBeUndefined();
});
