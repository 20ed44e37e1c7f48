/**
 * Who takes a holder's lease for over by a clock that is off has removed nothing by mistake, nor let anybody in beside a holder that it
 * knew of. Each clock that may be off is told once, beside the same story with right clocks.
 */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { EPOCH_WALL_MS, KEY, Story } from '../build.js';

const namesOf = (story: Story) => mutualExclusion.check(story.input()).violations.map(({ cause }) => cause.name);
const wallAt = (seconds: number) => String(EPOCH_WALL_MS + seconds * 1_000);

interface Clocks {
  /** How far the server's is ahead all the time, milliseconds. */
  server?: number;
  /** Whose else is off, how far, and from when to when. */
  who?: string;
  offsetMs?: number;
  since?: number;
  until?: number;
}

/** c1 is granted at 1 s, for 5 s, and c2 at 3 s. */
function granted({ server = 0, who, offsetMs = 0, since = 0.3, until }: Clocks): Story {
  const story = new Story().up('c1').up('c2').up('c3').grant('c1', 1).grant('c2', 3).release('c1', 4).release('c2', 4);
  const jump = (name: string, ms: number): FaultEffect[] => [{ kind: 'clock-jumped', who: [name], offsetMs: ms }];
  if (server !== 0) story.fault(0.2, 0, 'clock', 'strike', { effects: jump('r1', server) });
  if (who !== undefined) story.fault(since, 1, 'clock', 'strike', { effects: jump(who, offsetMs) });
  if (until !== undefined) story.fault(until, 1, 'clock', 'heal');
  return story.watch(0, 'r1').sample(0.5, 'r1', { skewMs: server });
}

describe('a hash that says until when each holds, by times that clients send', () => {
  const enters = (story: Story, at: number, client: string, server = 0, tells = true) => {
    const until = wallAt(at + 5);
    return story
      .command(at, 'r1', client, ['EVAL', 'take', '1', KEY, client, ...(tells ? [until] : [])], server)
      .command(at, 'r1', 'lua', ['hgetall', KEY], server)
      .command(at, 'r1', 'lua', ['hset', KEY, client, until], server);
  };
  const beside = (clocks: Clocks = {}, tells = true) => {
    const story = enters(granted(clocks), 0.999, 'c1', clocks.server, tells);
    return namesOf(enters(story, 2.999, 'c2', clocks.server, tells));
  };
  const removed = (clocks: Clocks = {}, by = 'c3', also = (story: Story) => story) => {
    const story = also(enters(granted(clocks), 0.999, 'c1', clocks.server));
    story
      .command(2.5, 'r1', by, ['EVAL', 'clean', '1', KEY], clocks.server)
      .command(2.5, 'r1', 'lua', ['hgetall', KEY], clocks.server)
      .command(2.5, 'r1', 'lua', ['hdel', KEY, 'c1'], clocks.server);
    return namesOf(enters(story, 2.999, 'c2', clocks.server));
  };

  it('does not name a holder to the one whose clock is ahead by the rest of the lease', () => {
    expect(beside()).toEqual(['granted-beside']);
    expect(beside({ who: 'c2', offsetMs: 10_000 })).toEqual(['unexplained']);
    // Not as far as that, or right again for long, or of somebody else.
    expect(beside({ who: 'c2', offsetMs: 1_000 })).toEqual(['granted-beside']);
    expect(beside({ who: 'c2', offsetMs: 10_000, until: 0.6 })).toEqual(['granted-beside']);
    expect(beside({ who: 'c3', offsetMs: 10_000 })).toEqual(['granted-beside']);
    expect(beside({ who: 'c2', offsetMs: -10_000 })).toEqual(['granted-beside']);
  });

  it('nor where the holder said it by a clock that was behind, or the server that is asked for the time is ahead', () => {
    expect(beside({ who: 'c1', offsetMs: -10_000 })).toEqual(['unexplained']);
    expect(beside({ who: 'c1', offsetMs: 10_000 })).toEqual(['granted-beside']);
    expect(beside({ server: 10_000 })).toEqual(['unexplained']);
    // Both times are the server's own.
    expect(beside({ server: 10_000 }, false)).toEqual(['granted-beside']);
  });

  it('is not cleaned by mistake where by such a clock the lease was over', () => {
    expect(removed()).toEqual(['released-by-other']);
    expect(removed({ who: 'c3', offsetMs: 10_000, since: 1.5 })).toEqual(['unexplained']);
    expect(removed({ who: 'c1', offsetMs: -10_000 })).toEqual(['unexplained']);
    expect(removed({ server: 10_000 })).toEqual(['unexplained']);
    expect(removed({ server: 1_000 })).toEqual(['released-by-other']);
  });

  it("nor by the holder's own extension", () => {
    const extended = (story: Story) => story.extend('c1', 2.4995, 5_000, { hold: 1, reason: 'lost' });
    expect(removed({}, 'c1', extended)).toEqual(['released-by-itself']);
    expect(removed({ server: 10_000 }, 'c1', extended)).toEqual(['unexplained']);
  });
});

describe('a command that takes out by a time of day', () => {
  const scored = (clocks: Clocks, bySeconds: number) => {
    const story = granted(clocks).command(0.999, 'r1', 'c1', ['ZADD', KEY, 'NX', wallAt(5.999), 'c1']);
    story.command(2.5, 'r1', 'c3', ['ZREMRANGEBYSCORE', KEY, '-inf', wallAt(bySeconds)]);
    story.command(2.9985, 'r1', 'c2', ['ZCARD', KEY]);
    return namesOf(story.command(2.999, 'r1', 'c2', ['ZADD', KEY, 'NX', wallAt(7.999), 'c2']));
  };
  const ended = (clocks: Clocks, argv: string[]) => {
    const { server = 0 } = clocks;
    const story = granted(clocks).take(0.999, 'r1', 'c1', 'value-of-c1', server);
    return namesOf(story.command(2, 'r1', 'c3', argv, server).take(2.999, 'r1', 'c2', 'value-of-c2', server));
  };

  it('of members of a sorted set is not blamed on who sent it, where its clock was ahead', () => {
    expect(scored({}, 12.5)).toEqual(['released-by-other']);
    expect(scored({ who: 'c3', offsetMs: 10_000 }, 12.5)).toEqual(['unexplained']);
  });

  it('until which it gives the key, nor where the clock of who sent it, or of the server, was off', () => {
    const past = ['PEXPIREAT', KEY, wallAt(-3)];
    expect(ended({}, past)).toEqual(['released-by-other']);
    expect(ended({ who: 'c3', offsetMs: -10_000 }, past)).toEqual(['unexplained']);
    for (const argv of [
      ['PEXPIREAT', KEY, wallAt(7)],
      ['SET', KEY, 'value-of-c3', 'PXAT', wallAt(7)],
    ])
      expect(ended({ server: 10_000 }, argv), argv[0]).toEqual(['unexplained']);
  });
});
