/** That servers certainly kept all that they stored between two instants: what is missing from the record may have been any loss. */
import { expect, it } from 'vitest';
import { blameFor } from '../../../../checkers/causes/blame.js';
import { serversKeptAll } from '../../../../checkers/causes/kept.js';
import { fencing } from '../../../../checkers/harm/fencing.js';
import { KEY, ns, Story } from '../build.js';
import { COUNTER, count, fencedStory } from './fenced-story.js';

const keptBy = (story: Story, fromNs = ns(2), untilNs = ns(4)) =>
  serversKeptAll(story.input(), { fromNs, untilNs }, false);
const kept = (story: Story) => keptBy(story.watch(0, 'r1'));
const looked = () => new Story().looks(0.5, 6, 'r1');

it('needs looks at every server, all about the time in question', () => {
  expect(kept(looked())).toBe(true);
  expect(kept(new Story())).toBe(false);
  expect(kept(looked().sample(3, 'r1', { role: 'replica' }))).toBe(false);
  expect(kept(looked().sample(3.01, 'r1', { runId: 'run-2' }))).toBe(false);
  // What a server says that it is, unasked, is no look.
  expect(kept(new Story().role(1, 'r1', 'primary').role(5, 'r1', 'primary'))).toBe(false);
});

it('does not mind what was lost before or after', () => {
  expect(kept(looked().evicted(3, 'r1'))).toBe(false);
  expect(kept(looked().evicted(1, 'r1'))).toBe(true);
  expect(kept(looked().evicted(5, 'r1'))).toBe(true);
});

it('minds what a stranger did in that time, though its line was read later', () => {
  const deleted = (ranMs: number) => looked().command(4.6, 'r1', 'stranger', ['DEL', KEY], ranMs);
  expect(kept(deleted(-700))).toBe(false);
  expect(kept(looked().command(5.1, 'r1', 'stranger', ['DEL', KEY]))).toBe(true);
});

it('is not known of a server that was out of sight at first, or all the time', () => {
  expect(keptBy(looked())).toBe(false);
  expect(keptBy(looked().watch(3, 'r1'))).toBe(false);
  expect(keptBy(looked().watch(1.9, 'r1'))).toBe(true);
  expect(kept(looked().looks(0.5, 6, 'r2'))).toBe(false);
  // From the beginning on: from when somebody asked for something.
  const asked = (at: number) => looked().watch(1, 'r1').grant('c1', at);
  expect(keptBy(asked(1.1), Number.NEGATIVE_INFINITY)).toBe(true);
  expect(keptBy(asked(0.9), Number.NEGATIVE_INFINITY)).toBe(false);
});

it('is not known of a server at which nobody looked after that', () => {
  expect(kept(new Story().looks(0.5, 4, 'r1'))).toBe(false);
  expect(kept(new Story().looks(0.5, 4.15, 'r1'))).toBe(true);
});

it('is not known of what the record lacks', () => {
  const cut = (observations: number) => looked().replicated().event(7, { type: 'closed', observations });
  expect(kept(cut(56))).toBe(true);
  expect(kept(cut(57))).toBe(false);
});

/** Whose mistake it is that a counter that lasts for an hour was counted up to 2 for c1, and to 1 for c2 2 s later. */
function tokenBlame(also: (story: Story) => Story): string {
  const story = fencedStory({ kind: 'primary' }).watch(0.05, 'r1').looks(0.06, 6, 'r1');
  story.grant('c1', 1, { token: 2 }).release('c1', 1.2).grant('c2', 3, { token: 1 }).release('c2', 4);
  count(count(also(story), 0.9, 'c3'), 0.9995, 'c1').command(0.9996, 'r1', 'c1', ['PEXPIRE', COUNTER, '3600000']);
  const input = count(story, 2.9995, 'c2').input();
  const [found] = fencing.check(input).violations;
  return blameFor(found!, fencing.properties[0]!.kinds[found!.kind], input).on;
}

it('is not known where the clock of the machine was stepped, by which a key may have ended early', () => {
  expect(tokenBlame((story) => story)).toBe('lock');
  expect(tokenBlame((story) => story.disturbed(0.5, 'wall-clock-step', 7_200_000))).toBe('lock');
  expect(tokenBlame((story) => story.disturbed(1.5, 'wall-clock-step', 40))).toBe('lock');
  expect(tokenBlame((story) => story.disturbed(1.5, 'wall-clock-step', 7_200_000))).toBe('unexplained');
});

it('is not known where a stranger sent a command before the end, of which the line was read 1.9 s late', () => {
  const removed = (at: number, read: number) =>
    tokenBlame((s) => s.command(read, 'r1', 'stranger', ['DEL', COUNTER], (at - read) * 1_000));
  expect(removed(2.95, 2.95)).toBe('unexplained');
  expect(removed(2.95, 4.85)).toBe('unexplained');
  expect(removed(4.1, 4.85)).toBe('lock');
});
