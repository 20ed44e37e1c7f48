import { expect, it } from 'vitest';
import { turnover } from '../../../../checkers/measures/turnover.js';
import { MIXED_HOLDS } from '../../../../workloads/hold-times.js';
import { Story } from '../build.js';

const PHASES = { warmUp: 1, heal: 21 };

/** So many holds of `lastingMs`, evenly between the beginning of the warm-up and the healing. */
function granted(times: number, lastingMs = 1): Story {
  const story = new Story().event(PHASES.warmUp, { type: 'phase', phase: 'warm-up' });
  const everyS = (PHASES.heal - PHASES.warmUp) / times;
  for (let n = 0; n < times; n++) {
    const at = PHASES.warmUp + (n + 0.5) * everyS;
    story.grant(n % 2 ? 'c1' : 'c2', at).release(n % 2 ? 'c1' : 'c2', at + lastingMs / 1e3);
  }
  return story.event(PHASES.heal, { type: 'phase', phase: 'heal' });
}

const notes = (story: Story) => turnover.check(story.input()).notes.join();

it('a run that was to hammer and did not says so, with how often the lock was granted', () => {
  expect(notes(granted(300).configured({ hold: MIXED_HOLDS }))).toMatch(
    /^granted only 300 times in 20 s: too rarely .* race of milliseconds/,
  );
  expect(notes(granted(999).configured({ hold: MIXED_HOLDS }))).toMatch(/^granted only 999 times in 20 s/);
  expect(notes(granted(1_000).configured({ hold: MIXED_HOLDS }))).toBe('');
});

it('one that was told how long to hold was not to hammer', () => {
  expect(notes(granted(300).configured({ hold: { min: 0.1, max: 0.5 } }))).toBe('');
});

it('grants of the last probe do not count', () => {
  const story = granted(999).configured({ hold: MIXED_HOLDS });
  story.grant('c1', PHASES.heal + 1).release('c1', PHASES.heal + 2);
  expect(notes(story)).toMatch(/^granted only 999 times/);
});

it('says how evenly grants were shared out, also among those that got none, and how many commands each took', () => {
  const story = granted(200).up('c1').up('c2').up('c3').up('c4').grant('c3', 20).release('c3', 20.5);
  // A client's next process is its own, and what servers do among themselves was sent by no client.
  story.event(0.05, {
    type: 'client-up',
    client: 'c3.2',
    slot: 'c3',
    host: 'c3',
    address: '10.77.0.9',
    lock: 'l',
    features: [],
  });
  story.grant('c3.2', 20.6).release('c3.2', 20.7);
  for (let n = 0; n < 606; n++) story.command(2 + n / 100, 'r1', 'c1', ['SET', 'lock:0', 'x']);
  story.command(0.5, 'r1', 'c1', ['SET', 'lock:0', 'x']).command(22, 'r1', 'c1', ['GET', 'lock:0']);
  const { measurements } = turnover.check(story.input());
  expect(measurements!.map(({ of, values }) => [of, values])).toEqual([
    ['grants of each client', { clients: 4, perSecond: 10.1, least: 0, median: 100, greatest: 100 }],
    ['commands that clients sent', { commands: 606, forEachGrant: 3 }],
  ]);
});

it('where nothing was granted, or no command was seen, there is nothing to say of that', () => {
  expect(turnover.check(granted(0).input()).measurements).toEqual([]);
  expect(turnover.check(granted(4).up('c1').up('c2').input()).measurements).toHaveLength(1);
});

it('counts holds that lasted for more than a third of the lease', () => {
  const long = (lastingMs: number) =>
    turnover.check(granted(4, lastingMs).configured({ leaseMs: 3_000 }).input()).stats;
  expect(long(900)).toEqual({ longHolds: 0 });
  expect(long(1_100)).toEqual({ longHolds: 4 });
});
