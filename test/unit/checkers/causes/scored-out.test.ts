/** That a permit was taken out by a server's clock that had jumped is said where it is proven, and each link is taken away once. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import type { Quorum } from '../../../../harness/vocabulary/topology.js';
import { EPOCH_WALL_MS, KEY, LEASE_MS, Story } from '../build.js';

const JUMP_MS = 60_000;
/** What the server's clock shows, in milliseconds since 1970. */
const shows = (at: number, aheadMs = 0) => Math.floor(EPOCH_WALL_MS + at * 1_000 + aheadMs);

interface Telling {
  model?: LockModel;
  quorum?: Quorum;
  /** What c1's script stores at 1 s, and until when, milliseconds from then. */
  first?: (s: Story) => Story;
  forMs?: number;
  /** Null: nothing is recorded that moved the clock. */
  effect?: FaultEffect | null;
  /** By how much the server's clock is ahead until 2 s. */
  wasMs?: number;
  /** By how much the server's clock is ahead from 2 s on. */
  aheadMs?: number;
  /** Up to when c3's script takes out what is over, at 3 s; by which command, and who. */
  upTo?: number;
  remover?: string;
  removes?: string[];
  /** Arguments of the scripts. */
  argument?: string;
  /** What happens before c3 asks. */
  between?: (s: Story) => Story;
  /** What happens before c1 asks. */
  early?: (s: Story) => Story;
  /** By what c3's script asks how many permits are taken. */
  asks?: string[][];
  /** What c3's script does at last. */
  takes?: string[];
  /** When c3's attempt left. */
  grantSent?: number;
}

/** A semaphore of two: c1 takes a permit at 1 s and c2 at 1.5 s, both for 5 s; the clock jumps at 2 s, and c3 takes one at 3 s. */
function told({
  model = { kind: 'semaphore', permits: 2 },
  quorum = { kind: 'primary' },
  forMs = LEASE_MS,
  effect = { kind: 'clock-jumped', who: ['r1'], offsetMs: JUMP_MS },
  aheadMs = JUMP_MS,
  wasMs = 0,
  upTo = shows(2.9995, aheadMs),
  remover = 'c3',
  removes = ['ZREMRANGEBYSCORE', KEY, '-inf', String(upTo)],
  argument = String(LEASE_MS),
  between = (s) => s,
  early = (s) => s,
  asks = [['ZCARD', KEY]],
  grantSent,
  takes = ['ZADD', KEY, String(shows(2.9995, aheadMs) + LEASE_MS), 'p3'],
  first = (s) => s.command(0.9995, 'r1', 'lua', ['ZADD', KEY, String(shows(0.9995, wasMs) + forMs), 'p1'], wasMs),
}: Telling = {}) {
  const script = (s: Story, at: number, client: string, skewMs = 0) =>
    s.command(at, 'r1', client, ['EVAL', 'abc', '1', KEY, 'p', argument], skewMs);
  const story = early(new Story().promised(model).up('c1').up('c2').up('c3').deployed(quorum).watch(0.1, 'r1'));
  story.sample(0.5, 'r1', { isEmpty: true, skewMs: wasMs });
  first(script(story.grant('c1', 1), 0.9995, 'c1', wasMs));
  script(story.grant('c2', 1.5), 1.4995, 'c2', wasMs);
  story.command(1.4995, 'r1', 'lua', ['ZADD', KEY, String(shows(1.4995) + 60 * LEASE_MS), 'p2'], wasMs);
  if (effect) story.fault(2, 0, 'clock', 'strike', { effects: [effect] });
  between(story);
  script(story, 2.9995, remover, aheadMs).command(2.9995, 'r1', 'lua', removes, aheadMs);
  if (remover !== 'c3') script(story, 2.9995, 'c3', aheadMs);
  for (const argv of [...asks, takes]) story.command(2.9995, 'r1', 'lua', argv, aheadMs);
  story.grant('c3', 3, grantSent === undefined ? {} : { grantSent });
  story.sample(3.2, 'r1', { skewMs: aheadMs });
  const input = story.release('c1', 4).release('c2', 4.1).release('c3', 4.2).input();
  return mutualExclusion.check(input).violations.filter(({ class: name }) => name === 'exclusion')[0]!.cause;
}
const name = (telling: Telling) => told(telling).name;

/** A script's one command, when the clock has jumped. */
const script = (s: Story, at: number, client: string, argv: string[]) =>
  s.command(at, 'r1', client, ['EVAL', 'abc', '1', KEY, 'p', '5000'], JUMP_MS).command(at, 'r1', 'lua', argv, JUMP_MS);
/** Takes out by the clock all that is over. */
const out = (s: Story) => script(s, 2.2, 'c3', ['ZREMRANGEBYSCORE', KEY, '-inf', String(shows(2.2, JUMP_MS))]);

it('is named where another client’s script took the permit out by the clock that had jumped', () => {
  const { name: cause, sentence, chain } = told();
  expect(cause).toBe('clock-jumped');
  expect(sentence).toMatch(
    /^c3 took c1's permit in lock:0 out as over by r1's clock \(ZREMRANGEBYSCORE\), which had jumped ahead; by the machine's own 2\.\d+ s of its time was left\. c3 was granted lock:0 after that\.$/,
  );
  expect(chain.map(({ text }) => text)).toContain('clock strike');
});

it('is named also where the permit had been given more time', () => {
  const renewed = (s: Story) =>
    s
      .command(1.8, 'r1', 'c1', ['EVAL', 'abc', '1', KEY, 'p', '5000'])
      .command(1.8, 'r1', 'lua', ['ZADD', KEY, String(shows(1.8) + LEASE_MS), 'p1']);
  expect(name({ forMs: 1_500, between: renewed })).toBe('clock-jumped');
});

it('is named of a clock that had been set back when the permit was taken, and was set right', () => {
  const back: FaultEffect = { kind: 'clock-jumped', who: ['r1'], offsetMs: -6_000 };
  const right = (s: Story) => s.fault(2.2, 1, 'clock', 'heal');
  const early = { wasMs: -6_000, effect: null, aheadMs: 0, between: right };
  expect(name({ ...early, early: (s) => s.fault(0.4, 1, 'clock', 'strike', { effects: [back] }) })).toBe(
    'clock-jumped',
  );
  expect(name(early)).toBe('unexplained');
});

describe('not named', () => {
  it('where the time was over by the machine’s own clock', () => {
    expect(name({ forMs: 1_900 })).toBe('unexplained');
  });

  it('where its time was over by the machine’s own clock when the next one was granted the permit', () => {
    expect(name({ forMs: 2_500, between: out })).toBe('clock-jumped');
    expect(name({ forMs: 1_500, between: out })).toBe('unexplained');
  });

  it('where a stranger removed the whole set after that, and all permits with it', () => {
    const removed = (s: Story) => s.command(2.5, 'r1', 'stranger', ['DEL', KEY], JUMP_MS);
    const takesAgain = (s: Story) =>
      script(s, 2.7, 'c2', ['ZADD', KEY, String(shows(2.7, JUMP_MS) + 60 * LEASE_MS), 'p2']);
    expect(name({ between: (s) => takesAgain(out(s)) })).toBe('clock-jumped');
    expect(name({ between: (s) => takesAgain(removed(out(s))) })).not.toBe('clock-jumped');
  });

  it('where nothing moved the clock that is recorded, or it drifted', () => {
    expect(name({ effect: null })).toBe('unexplained');
    expect(name({ effect: { kind: 'clock-drifts', who: ['r1'], gainedMs: 0, ratePpm: 1_000_000 } })).toBe(
      'unexplained',
    );
    expect(name({ effect: { kind: 'clock-jumped', who: ['r2'], offsetMs: JUMP_MS } })).toBe('unexplained');
  });

  it('where the clock of the machine was stepped ahead, and a jump had set that of the server back by less', () => {
    const stepped = (ms: number) => (s: Story) => s.disturbed(2.2, 'wall-clock-step', ms);
    const effect = (offsetMs: number): FaultEffect => ({ kind: 'clock-jumped', who: ['r1'], offsetMs });
    const both = (offsetMs: number, ms: number) =>
      name({ effect: effect(offsetMs), aheadMs: offsetMs, between: stepped(ms), upTo: shows(2.9995, offsetMs + ms) });
    expect(both(-200, 3_400)).toBe('unexplained');
    expect(both(200, 3_000)).toBe('unexplained');
    expect(both(3_000, 200)).toBe('clock-jumped');
  });

  it('where a renewal had put it there again, and then another took it out by its name', () => {
    const again = (s: Story) => script(s, 2.4, 'c1', ['ZADD', KEY, String(shows(2.4, JUMP_MS) + 5_000), 'p1']);
    expect(name({ between: out })).toBe('clock-jumped');
    expect(name({ between: (s) => script(again(out(s)), 2.8, 'c2', ['ZREM', KEY, 'p1']) })).toBe('unexplained');
  });

  it('where a client gave its script the time, or the bound is not what the server’s clock showed', () => {
    expect(name({ argument: String(shows(2.9995, JUMP_MS)) })).toBe('unexplained');
    expect(name({ upTo: shows(2.9995, JUMP_MS) + 500 })).toBe('unexplained');
    expect(name({ upTo: shows(2.9995, JUMP_MS) - 500 })).toBe('unexplained');
  });

  it('where it was taken out by its name, by its own client or by nobody', () => {
    expect(name({ removes: ['ZREM', KEY, 'p1'] })).toBe('unexplained');
    expect(name({ remover: 'c1' })).toBe('unexplained');
    expect(name({ removes: ['ZREMRANGEBYSCORE', KEY, '(0', '1'] })).toBe('unexplained');
  });

  it('where a permit would have been free without that, or nobody knows how many were', () => {
    const more = (s: Story) => s.command(1.7, 'r1', 'c2', ['ZREM', KEY, 'p2']);
    expect(name({ between: more })).toBe('unexplained');
    const unknown = (s: Story) => s.command(1.7, 'r1', 'c2', ['SOMETHING', KEY]);
    expect(name({ between: unknown })).toBe('unexplained');
  });

  it('where the grant stored no permit, or several were stored', () => {
    expect(name({ takes: ['SET', `{${KEY}}:flag`, '1'] })).toBe('unexplained');
    const two = (s: Story) =>
      s.command(0.9995, 'r1', 'lua', [
        'ZADD',
        KEY,
        String(shows(0.9995) + LEASE_MS),
        'p1',
        String(shows(0.9995)),
        'p0',
      ]);
    expect(name({ first: two })).toBe('unexplained');
  });

  it('where the script of the one who was granted one never asked how many were taken', () => {
    expect(name({ asks: [] })).toBe('unexplained');
  });

  it('where the one who was granted one asked before the permit was stored, and never again', () => {
    const before = (s: Story) => s.command(0.6, 'r1', 'c3', ['ZCARD', KEY]);
    expect(name({ early: before, grantSent: 0.55 })).toBe('clock-jumped');
    expect(name({ early: before, grantSent: 0.55, asks: [] })).toBe('unexplained');
  });

  it('where the server was not looked at for so long that it may have followed another', () => {
    const looks = (until: number) => (s: Story) => {
      for (const [from, to, skewMs] of [
        [0.6, 1.9, 0],
        [2.1, until, JUMP_MS],
        [2.9, 3.1, JUMP_MS],
      ] as const) {
        s.looks(from, to, 'r1', { unseen: [KEY], skewMs });
        s.looks(from, to, 'r2', { unseen: [KEY], role: 'replica', runId: 'run-of-r2' });
      }
      return s.watch(0.1, 'r2').command(1, 'r2', 'link', ['ZADD', KEY, String(shows(0.9995) + LEASE_MS), 'p1']);
    };
    expect(name({ between: looks(2.8) })).toBe('clock-jumped');
    expect(name({ between: looks(2.2) })).toBe('unexplained');
  });

  it('where the lock may go by a number that is kept beside, which a stranger made less', () => {
    const counts = (s: Story, skewMs = 0) => s.command(0.9995, 'r1', 'lua', ['INCR', `{${KEY}}:taken`], skewMs);
    const first = (s: Story) =>
      counts(s.command(0.9995, 'r1', 'lua', ['ZADD', KEY, String(shows(0.9995) + LEASE_MS), 'p1']));
    const less = (s: Story) => s.command(2.5, 'r1', 'stranger', ['DECR', `{${KEY}}:taken`], JUMP_MS);
    expect(name({ first, between: less })).toBe('unexplained');
    const asks = [
      ['ZCARD', KEY],
      ['INCR', `{${KEY}}:taken`],
    ];
    expect(name({ asks, between: less })).toBe('unexplained');
  });

  it('where a renewal had stored it under another name, and a stranger took out that of another', () => {
    const anew = (s: Story) => script(s, 2.4, 'c1', ['ZADD', KEY, String(shows(2.4, JUMP_MS) + 5_000), 'p1-anew']);
    const another = (s: Story) => s.command(2.8, 'r1', 'stranger', ['ZREM', KEY, 'p2'], JUMP_MS);
    expect(name({ between: out })).toBe('clock-jumped');
    expect(name({ between: (s) => another(anew(out(s))) })).toBe('released-by-other');
  });

  it('where its own client gave it back after that, or anybody else took it out by its name, though it was gone', () => {
    const given = (by: string, member = 'p1') =>
      name({ between: (s) => out(s).command(2.5, 'r1', by, ['ZREM', KEY, member], JUMP_MS) });
    expect(given('c1')).toBe('unexplained');
    expect(given('stranger')).toBe('unexplained');
    expect(given('c1', 'p0')).toBe('clock-jumped');
  });

  it('where another took out all up to a time after that which the clock did not show', () => {
    const upTo = (bound: string) =>
      name({ between: (s) => script(out(s), 2.5, 'c2', ['ZREMRANGEBYSCORE', KEY, '-inf', bound]) });
    expect(upTo(String(shows(2.5, JUMP_MS)))).toBe('clock-jumped');
    expect(upTo(String(shows(2.5, JUMP_MS) + 500))).toBe('unexplained');
    expect(upTo('p9')).toBe('unexplained');
  });

  it('where commands may have been missed', () => {
    expect(name({ between: (s) => s.watch(1.8, 'r1', false).watch(1.9, 'r1') })).toBe('unexplained');
  });
});
