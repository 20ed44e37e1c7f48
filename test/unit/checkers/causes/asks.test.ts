/** Which of the commands of an acquire are how its lock asks for the key, and what each ask looked at. */
import { expect, it } from 'vitest';
import { asksOf } from '../../../../checkers/causes/asks.js';
import { KEY, ns, Story } from '../build.js';

const begun = () => new Story().up('c1').up('c2').watch(0.1, 'r1');
const asked = (story: Story) =>
  asksOf(story.input(), KEY, ns(0), ns(10)).map(({ atNs, looks }) => [atNs / 1e9, looks.map(({ argv }) => argv[0])]);
const script = (story: Story, at: number) => story.command(at, 'r1', 'c1', ['EVALSHA', 'abc', '1', KEY]);

it('a script looked at what it called that names the key, or one with its name, and at no other key', () => {
  const story = script(begun().refused('c1', 1, 1.2), 1.1)
    .command(1.1, 'r1', 'lua', ['get', KEY])
    .command(1.1, 'r1', 'lua', ['get', 'limits'])
    .command(1.1, 'r1', 'lua', ['lindex', `${KEY}:queue`, '0']);
  expect(asked(story)).toEqual([[1.1, ['get', 'lindex']]]);
});

it('what a script called of which nothing else was seen is no look of the command before it', () => {
  const set = begun().refused('c1', 1, 1.4).take(1.1, 'r1', 'c1');
  const missed = set.watch(1.15, 'r1', false).watch(1.2, 'r1').command(1.3, 'r1', 'lua', ['get', KEY]);
  expect(asked(missed)).toEqual([[1.1, ['SET']]]);
});

it('an ask is what an acquire sends first, though it sends something else last', () => {
  const queued = (client: string, at: number, story: Story) =>
    story
      .refused(client, at, at + 0.5)
      .take(at + 0.1, 'r1', client)
      .command(at + 0.2, 'r1', client, ['RPUSH', `${KEY}:queue`, `ticket-of-${client}`]);
  const story = queued('c2', 2, queued('c1', 1, begun()));
  expect(asked(story)).toEqual([
    [1.1, ['SET', 'RPUSH']],
    [2.1, ['SET', 'RPUSH']],
  ]);
});
