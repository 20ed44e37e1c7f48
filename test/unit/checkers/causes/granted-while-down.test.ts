/** Two that are granted while their one server is down: the lock takes an error for a grant. Each link of it is taken away once. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { KEY, Story } from '../build.js';

const KILLED: FaultEffect[] = [{ kind: 'killed', who: ['r1'] }];
const STOPPED: FaultEffect[] = [{ kind: 'stopped', who: ['r1'] }];

interface Told {
  /** When the two attempts left. */
  readonly sent?: readonly [number, number];
  readonly clients?: readonly [string, string];
  readonly effects?: FaultEffect[];
  readonly healed?: number;
  readonly about?: (story: Story) => Story;
}

/** r1 is dead from 10 s until 11 s; c1 and c2 try meanwhile, have their answers 5 ms later, and hold until 0.4 s after they left. */
function told({ sent = [10.2, 10.3], clients = ['c1', 'c2'], effects = KILLED, healed = 11, about }: Told = {}): Story {
  const story = new Story();
  for (const client of new Set(clients)) story.up(client);
  story.watch(0, 'r1').looks(0.05, 9.95, 'r1');
  about?.(story);
  story.fault(10, 0, 'kill', 'strike', { effects, beganNs: 9.99e9, did: 'SIGKILL to r1' }).watch(10.01, 'r1', false);
  for (const [n, client] of clients.entries()) story.grant(client, sent[n]! + 0.005, { grantSent: sent[n]! });
  for (const [n, client] of clients.entries()) story.release(client, sent[n]! + 0.4);
  story.fault(healed, 0, 'kill', 'heal', { beganNs: healed * 1e9 });
  return story.watch(healed + 0.01, 'r1').looks(healed + 0.02, 15, 'r1', { runId: '2' });
}

const causesOf = (story: Story) => mutualExclusion.check(story.input()).violations.map(({ cause }) => cause);
const namesOf = (story: Story) => causesOf(story).map(({ name }) => name);

describe('never-granted, while the one server was down', () => {
  it('is told of both, with what took the server down', () => {
    const [cause, ...others] = causesOf(told());
    expect(others).toEqual([]);
    expect(cause).toMatchObject({
      name: 'never-granted',
      sentence: `c1 and c2 said that they hold ${KEY}, by attempts that left and were answered while r1 could answer nobody (SIGKILL to r1): no server can have granted either.`,
    });
    expect(cause!.chain.map(({ text }) => text)).toEqual([
      'SIGKILL to r1',
      "c1's attempt left",
      'c1 said at 10.205 s that it holds the lock',
      "c2's attempt left",
      'c2 said at 10.305 s that it holds the lock',
    ]);
    expect(cause!.chain.every(({ history }) => history !== undefined)).toBe(true);
  });

  it('is told where the server was stopped', () => {
    expect(namesOf(told({ effects: STOPPED }))).toEqual(['never-granted']);
  });

  it('is the lock of one of them where that one had asked before, or was answered after', () => {
    expect(namesOf(told({ sent: [9.999, 10.3] }))).toEqual(['unexplained']);
    expect(namesOf(told({ sent: [10.001, 10.3] }))).toEqual(['never-granted']);
    expect(namesOf(told({ healed: 10.304 }))).toEqual(['unexplained']);
    expect(namesOf(told({ healed: 10.306 }))).toEqual(['never-granted']);
  });

  it('is not told where the server ran in between', () => {
    const twice = told({ healed: 10.25, sent: [10.2, 10.4] });
    twice.fault(10.35, 1, 'kill', 'strike', { effects: KILLED }).fault(12, 1, 'kill', 'heal', { beganNs: 12e9 });
    expect(namesOf(twice)).toEqual(['unexplained']);
  });

  it('is not told where the server had been started again, by another fault that was healed first', () => {
    /** Another kill is healed at 10.1 s; the first one's heal comes when all is over. */
    const again = (about: (story: Story) => Story) => {
      const story = about(told());
      story.fault(10.05, 1, 'kill', 'strike', { effects: KILLED, beganNs: 10.04e9 });
      return namesOf(story.fault(10.1, 1, 'kill', 'heal', { beganNs: 10.08e9 }).watch(10.11, 'r1'));
    };
    const granted = (story: Story) =>
      story.take(10.204, 'r1', 'c1').command(10.25, 'r1', 'stranger', ['DEL', KEY]).take(10.304, 'r1', 'c2');
    expect(again(granted)).not.toContain('never-granted');
    expect(again((story) => story.looks(10.12, 10.9, 'r1', { runId: '2' }))).not.toContain('never-granted');
    // What it ran before it was killed is read later.
    const late = told({ about: (story) => story.command(10.2, 'r1', 'c3', ['GET', KEY], -300) });
    expect(namesOf(late)).toEqual(['never-granted']);
  });

  it('is not told where what one of them had stored may have been lost', () => {
    const lost = (about: Told['about']) => namesOf(told({ about: about! }));
    const jump: FaultEffect[] = [{ kind: 'clock-jumped', who: ['r1'], offsetMs: 9_000 }];
    const earlier = (at: number) =>
      lost((story) =>
        story
          .fault(at, 2, 'kill', 'strike', { effects: KILLED })
          .fault(at + 0.1, 2, 'kill', 'heal', { beganNs: at * 1e9 }),
      );
    expect(earlier(6)).toEqual(['unexplained']);
    expect(earlier(4)).toEqual(['never-granted']);
    expect(lost((story) => story.fault(7, 2, 'clock-jump', 'strike', { effects: jump }))).toEqual(['unexplained']);
    expect(lost((story) => story.evicted(7, 'r1'))).toEqual(['unexplained']);
    expect(lost((story) => story.watch(7, 'r1', false).watch(7.1, 'r1'))).toEqual(['unexplained']);
    expect(lost((story) => story.command(7, 'r1', 'stranger', ['FLUSHALL']))).toEqual(['unexplained']);
    expect(lost((story) => story.sample(7, 'r1', { runId: '0' }))).toEqual(['unexplained']);
  });

  it('is not told where what one of them had been granted before, for longer, may have been lost', () => {
    /** c1 is granted at 1 s, for so long; the server forgets that at 3 s, grants c2, and both remember when it is down. */
    const remembered = (leaseMs: number) =>
      namesOf(
        told({
          about: (story) =>
            story
              .grant('c1', 1, { leaseMs })
              .take(0.999, 'r1', 'c1', 'value-of-c1', 0, leaseMs)
              .release('c1', 2, { reason: 'timeout' })
              .fault(3, 2, 'kill', 'strike', { effects: [...KILLED, { kind: 'forgot', who: ['r1'] }] })
              .fault(3.1, 2, 'kill', 'heal', { beganNs: 3e9 }),
        }),
      );
    expect(remembered(5_000)).toEqual(['never-granted']);
    expect(remembered(60_000)).toEqual(['unexplained']);
  });

  it('is not told of two callers of one process, of a process and the next in its place, or of one of many servers', () => {
    const process = { process: 'c1', slot: 'c1', host: 'c1', address: '10.77.0.9', lock: 'any', features: [] };
    const called = (story: Story) => {
      for (const client of ['c1.1', 'c1.2']) story.event(0.1, { type: 'client-up', client, ...process });
      return story;
    };
    expect(namesOf(told({ clients: ['c1.1', 'c1.2'], about: called }))).toEqual(['unexplained']);
    expect(namesOf(told({ clients: ['c1', 'c1.2'] }))).toEqual(['unexplained']);
    expect(namesOf(told({ about: (story) => story.watch(0, 'r2').looks(0.05, 15, 'r2') }))).toEqual(['unexplained']);
    expect(namesOf(told({ about: (story) => story.independent(1) }))).toEqual(['unexplained']);
  });

  it('is not told of permits, nor of a hold within another', () => {
    expect(namesOf(told().promised({ kind: 'semaphore', permits: 1 }))).toEqual(['unexplained']);
    const nested = told({ about: (story) => story.grant('c1', 9) }).promised({ kind: 'reentrant', depth: 3 });
    expect(namesOf(nested)).not.toContain('never-granted');
    expect(namesOf(told().promised({ kind: 'reentrant', depth: 3 }))).toEqual(['never-granted']);
  });
});
