/** That a failover lost the count of the tokens is said where it is proven, and each link of that is taken away once. */
import { describe, expect, it } from 'vitest';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import type { Quorum } from '../../../../harness/vocabulary/topology.js';
import { ns, type Story } from '../build.js';
import { COUNTER, fencedStory, tokenCause } from './fenced-story.js';

interface Telling {
  tokens?: readonly [number, number];
  /** When r1 counted for c1, in seconds; r2 is seen as primary from 2 s on. */
  at?: number;
  quorum?: Quorum;
  /** r2 in its looks, from 0.3 s on, every 0.3 s. */
  role?: (at: number) => 'primary' | 'replica';
  /** When r2 is not looked at. */
  blind?: (at: number) => boolean;
  /** The process that is r2. */
  runId?: (at: number) => string;
  /** r1 in its looks. */
  old?: (at: number) => 'primary' | 'replica';
  oldRunId?: (at: number) => string;
  effects?: FaultEffect[];
  /** What of that came to r2. */
  copied?: (story: Story) => Story;
  also?: (story: Story) => Story;
  /** Who counts for c2 on r2. */
  counts?: (story: Story) => Story;
}

const incr = (story: Story, at: number, node: string, by: string) => story.command(at, node, by, ['INCR', COUNTER]);

/** r1 counts up to 2 for c1, and 1 of it came to r2, which replaces r1 and counts up for c2 at 4 s. */
function told({
  tokens: [higher, lower] = [2, 2],
  at = 1,
  quorum = { kind: 'primary' },
  role = (sampled) => (sampled < 2 ? 'replica' : 'primary'),
  blind = () => false,
  runId = () => 'run-2',
  old = () => 'primary',
  oldRunId = () => 'run-1',
  effects,
  copied = (s) => incr(s, 0.5005, 'r2', 'link'),
  also = (s) => s,
  counts = (s) => incr(s, 3.9995, 'r2', 'c2'),
}: Telling = {}) {
  const story = fencedStory(quorum).watch(0.1, 'r1').watch(0.1, 'r2');
  for (let sampled = 0.3; sampled < 6; sampled += 0.3) {
    story.sample(sampled, 'r1', { role: old(sampled), runId: oldRunId(sampled) });
    if (!blind(sampled)) story.sample(sampled, 'r2', { role: role(sampled), runId: runId(sampled) });
  }
  incr(story, 0.5, 'r1', 'c3');
  copied(story);
  incr(story.grant('c1', at, { token: higher }), at - 0.0005, 'r1', 'c1').release('c1', at + 0.2);
  also(effects ? story.fault(1.6, 0, 'kill', 'strike', { targets: ['r1'], effects }) : story);
  counts(story.grant('c2', 4, { token: lower })).release('c2', 4.2);
  return tokenCause(story);
}

const name = (telling: Telling) => told(telling).name;

describe('named', () => {
  it('where the count had not come to the one that replaced its server', () => {
    expect(told()).toMatchObject({
      name: 'failover-lost-write',
      sentence:
        'r2 replaced r1 as primary without its count: r1 had counted {lock:0}:fence up to 2 for c1, and when r2 counted it up for c2 it came to 2.',
      chain: [
        { text: 'r1 counted {lock:0}:fence up to 2 for c1' },
        { text: 'c1 was granted lock:0 with token 2' },
        { text: 'r2 was a replica' },
        { text: 'r2 was primary' },
        { text: 'r2 counted {lock:0}:fence up for c2' },
        { text: 'c2 was granted lock:0 with token 2' },
      ],
    });
  });

  it('where the old primary counted on when it had been replaced, whatever befell it', () => {
    expect(name({ at: 3 })).toBe('failover-lost-write');
    const effects: FaultEffect[] = [{ kind: 'forgot', who: ['r1'], sinceNs: ns(1.5) }];
    expect(name({ at: 3, effects })).toBe('failover-lost-write');
  });
});

it('is named by its last time as a replica, where it was one twice', () => {
  expect(name({ role: (at) => (at < 2 || (at > 3 && at < 3.4) ? 'replica' : 'primary') })).toBe('failover-lost-write');
});

describe('not named', () => {
  const not = (telling: Telling) => expect(name(telling)).toBe('unexplained');

  it('of a server that was no replica before, or is none that was seen as primary', () => {
    not({ role: () => 'primary' });
    not({ role: () => 'replica' });
    // Not seen for a second: it may have been made a replica and primary again.
    not({ role: (at) => (at < 2 ? 'replica' : 'primary'), blind: (at) => at > 2.5 && at < 3.5 });
  });

  it('where it ran as another process meanwhile: it may have forgotten', () => {
    not({ runId: (at) => (at < 3 ? 'run-2' : 'run-3') });
    not({ at: 3, runId: (at) => (at < 3.2 ? 'run-2' : 'run-3') });
  });

  it('where it had the count, and was killed and forgot it just before it counted, when nobody had looked at it again', () => {
    const copied = (s: Story) => incr(incr(s, 0.5005, 'r2', 'link'), 1.0005, 'r2', 'link');
    const killed = (s: Story) => s.watch(3.93, 'r2', false).watch(3.96, 'r2');
    const effects: FaultEffect[] = [
      { kind: 'killed', who: ['r2'], sinceNs: ns(3.92), untilNs: ns(3.95) },
      { kind: 'forgot', who: ['r2'], sinceNs: ns(3.92) },
    ];
    const runId = (at: number) => (at < 3.95 ? 'run-2' : 'run-3');
    not({ copied, also: killed, effects, runId, tokens: [2, 1] });
    // It is the same process, and was not watched for a moment.
    expect(name({ also: killed })).toBe('failover-lost-write');
  });

  it('where a server was killed, or emptied, that it may have loaded from', () => {
    not({ effects: [{ kind: 'killed', who: ['r1'], sinceNs: ns(1.5) }] });
    not({ effects: [{ kind: 'forgot', who: ['r1'], sinceNs: ns(1.5) }] });
    not({ oldRunId: (at) => (at < 1.5 ? 'run-1' : 'run-3') });
  });

  it('where the first one may have been made primary after the second', () => {
    not({ at: 3, old: (at) => (at < 2.5 ? 'replica' : 'primary') });
  });

  it('where anybody did something else with the counter, on any server', () => {
    not({ also: (s) => s.command(1.3, 'r1', 'c3', ['DEL', COUNTER]) });
    not({ also: (s) => s.command(2.3, 'r2', 'c3', ['SET', COUNTER, '1']) });
    not({ also: (s) => s.command(2.3, 'r2', 'c3', ['EXPIRE', COUNTER, '1']) });
    // All that r1 had counted had come to r2, where somebody counted down.
    const down = (s: Story) => incr(s, 1.0005, 'r2', 'link').command(2.3, 'r2', 'c3', ['INCRBY', COUNTER, '-2']);
    not({ also: down, tokens: [2, 1] });
  });

  it('where a count that may have come to the second server unseen was evicted there', () => {
    const unseen = (s: Story) => s.watch(0.95, 'r2', false).watch(1.9, 'r2');
    expect(name({ also: unseen })).toBe('failover-lost-write');
    not({ also: (s) => unseen(s).evicted(3, 'r2', COUNTER), tokens: [2, 1] });
  });

  it('where the count had come to the second server, or may have, which was short of memory and evicted it unseen', () => {
    const copied = (s: Story) => incr(incr(s, 0.5005, 'r2', 'link'), 1.0005, 'r2', 'link');
    const unseen = (s: Story) => s.watch(2.3, 'r2', false).watch(2.8, 'r2');
    expect(name({ also: unseen })).toBe('failover-lost-write');
    not({ copied, also: unseen, tokens: [2, 1] });
    const since = (s: Story) => s.watch(0.95, 'r2', false).watch(2.8, 'r2');
    const effects = (who: string): FaultEffect[] => [{ kind: 'short-of-memory', who: [who] }];
    expect(name({ also: since, effects: effects('r1') })).toBe('failover-lost-write');
    not({ also: since, effects: effects('r2'), tokens: [2, 1] });
  });

  it('where everything was removed from the second server, which nobody had asked for the counter yet', () => {
    const unseen = (s: Story) => s.watch(0.4, 'r2', false).watch(0.6, 'r2');
    const flushed = (s: Story) => s.command(3, 'r2', 'stranger', ['FLUSHALL']);
    expect(name({ copied: unseen })).toBe('failover-lost-write');
    expect(name({ copied: unseen, also: flushed, tokens: [2, 1] })).toBe('unexplained');
  });

  it('where the first count did not come to the token, or the second is known to have come to another', () => {
    not({ tokens: [3, 2] });
    not({ tokens: [2, 1] });
  });

  it('where the second was counted by nobody, by somebody else, twice but never to its token, or on the same server', () => {
    not({ counts: (s) => s });
    not({ counts: (s) => incr(s, 3.9995, 'r2', 'c3') });
    const twice = (s: Story) => incr(incr(s, 3.9992, 'r2', 'c2'), 3.9995, 'r2', 'c2');
    not({ counts: twice, tokens: [2, 1] });
    expect(name({ counts: twice })).toBe('failover-lost-write');
    // What it came to on r1 is not known.
    const gap = (s: Story) => s.watch(1.7, 'r1', false).watch(1.8, 'r1');
    not({ also: gap, counts: (s) => incr(incr(s, 3.9992, 'r1', 'c2'), 3.9995, 'r2', 'c2') });
    not({ counts: (s) => incr(s, 3.9995, 'r1', 'c2') });
    not({
      old: (at) => (at > 2 && at < 3 ? 'replica' : 'primary'),
      also: (s) => s.watch(1.7, 'r1', false).watch(1.8, 'r1'),
      counts: (s) => incr(s, 3.9995, 'r1', 'c2'),
    });
  });

  it('on independent nodes, nor in a cluster where a slot was moved', () => {
    not({ quorum: { kind: 'majority', nodes: ['r1', 'r2', 'r3'], majority: 2 } });
    not({ effects: [{ kind: 'slot-moves', who: ['r1', 'r2'], slot: 1 }] });
  });
});
