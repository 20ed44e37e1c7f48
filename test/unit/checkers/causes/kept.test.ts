/** That servers certainly kept all that they stored between two instants: what is missing from the record may have been any loss. */
import { expect, it } from 'vitest';
import { serversKeptAll } from '../../../../checkers/causes/kept.js';
import { ns, Story } from '../build.js';

const kept = (story: Story, fromNs = ns(2), untilNs = ns(4)) =>
  serversKeptAll(story.watch(0, 'r1').input(), { fromNs, untilNs }, false);
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

it('is not known of what the record lacks', () => {
  const cut = (observations: number) => looked().replicated().event(7, { type: 'closed', observations });
  expect(kept(cut(56))).toBe(true);
  expect(kept(cut(57))).toBe(false);
});
