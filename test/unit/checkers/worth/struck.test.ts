/** How many holds each fault of a plan struck, by how long they were held, and in how many strikes. */
import { expect, it } from 'vitest';
import { struckByFault } from '../../../../checkers/worth/struck.js';
import { Story } from '../build.js';

const none = { brief: 0, short: 0, long: 0, over: 0 };
/** A lease is two seconds; they hold for a twentieth of it, a fifth, half, and more than all. */
const holding = () => {
  const story = new Story().configured({ leaseMs: 2_000 });
  return story
    .grant('c1', 1, { leaseMs: 2_000 })
    .release('c1', 1.1)
    .grant('c2', 2, { leaseMs: 2_000 })
    .release('c2', 2.4)
    .grant('c1', 3, { leaseMs: 2_000 })
    .release('c1', 4)
    .grant('c2', 5, { leaseMs: 2_000 })
    .release('c2', 8);
};
const struck = (story: Story, step: number, fault: string, from: number, until: number, targets: string[]) =>
  story.fault(from, step, fault, 'strike', { targets }).fault(until, step, fault, 'heal', { targets });

it('counts holds by their length, all of them and those that each fault of the plan struck', () => {
  const story = holding().planned('kill', 'pause', 'clock');
  struck(story, 0, 'kill', 2.2, 3.5, ['r1']);
  struck(story, 1, 'pause', 1.05, 5.5, ['c2']);
  expect(struckByFault(story.input())).toEqual({
    holds: { brief: 1, short: 1, long: 1, over: 1 },
    faults: [
      { fault: 'clock', struck: none, strikes: none },
      { fault: 'kill', struck: { ...none, short: 1, long: 1 }, strikes: { ...none, short: 1, long: 1 } },
      { fault: 'pause', struck: { ...none, short: 1, over: 1 }, strikes: { ...none, short: 1, over: 1 } },
    ],
  });
});

it('tells a fault on clients from the same on servers', () => {
  const story = struck(holding().planned('pause', 'pause', 'pause'), 0, 'pause', 1.05, 1.06, ['c1']);
  const input = story.input();
  const on = (target: 'holder' | 'client' | 'primary') => ({ ...input.plan.steps[0]!, target });
  const steps = [on('holder'), on('client'), on('primary')];
  expect(struckByFault({ ...input, plan: { ...input.plan, steps } })?.faults).toEqual([
    { fault: 'pause', struck: none, strikes: none },
    { fault: 'pause:client', struck: { ...none, brief: 1 }, strikes: { ...none, brief: 1 } },
  ]);
});

it('counts a hold that a long fault struck, whatever short ones began and ended during it', () => {
  const story = holding().planned('kill', 'kill');
  struck(story, 0, 'kill', 0.5, 5.5, ['r1']);
  struck(story, 1, 'kill', 1.5, 1.6, ['r2']);
  expect(struckByFault(story.input())?.faults).toEqual([
    {
      fault: 'kill',
      struck: { brief: 1, short: 1, long: 1, over: 1 },
      strikes: { brief: 1, short: 1, long: 1, over: 1 },
    },
  ]);
});

it('counts by strikes: one that met several holds once, several at one hold each, what overlaps in time once', () => {
  const story = new Story().configured({ leaseMs: 2_000 }).planned('kill', 'kill', 'kill', 'pause');
  for (const at of [1, 1.2, 1.4, 5]) story.grant('c1', at, { leaseMs: 2_000 }).release('c1', at + 0.1);
  struck(story, 0, 'kill', 0.9, 1.6, ['r1']);
  struck(story, 1, 'kill', 5.01, 5.02, ['r1']);
  struck(story, 2, 'kill', 5.04, 5.05, ['r1']);
  // It makes one strike of the last two.
  struck(story, 3, 'pause', 5.015, 5.045, ['r1']);
  expect(struckByFault(story.input())?.faults).toEqual([
    { fault: 'kill', struck: { ...none, brief: 4 }, strikes: { ...none, brief: 2 } },
    { fault: 'pause', struck: { ...none, brief: 1 }, strikes: { ...none, brief: 1 } },
  ]);
});

it('says nothing where nothing was planned', () => {
  expect(struckByFault(holding().input())).toBeUndefined();
});
