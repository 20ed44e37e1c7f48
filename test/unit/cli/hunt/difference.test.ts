/** What a replay says of its course of events: nothing where every byte is the same, else where it differs first, and why that may be. */
import { expect, it } from 'vitest';
import { comparePlays, courseWords, differenceLines, differenceWords } from '../../../../cli/hunt/difference.js';
import type { Message } from '../../../../harness/record/messages.js';

const pins = { node: 'v20', ioredis: '5', lock: 'a', server: 's', shim: 'x', harness: 'h' };
const message = (sentMs: number, bytes: string, over: Partial<Message> = {}): Message => ({
  ...{ connection: 0, from: 'c1', to: 'r1', port: 6379, isBack: false },
  ...{ sentNs: sentMs * 1e6, arrivedNs: sentMs * 1e6 + 1e5, bytes },
  ...over,
});
const kept = (digest: string, ...messages: Message[]) => ({ digest, messages });
const [get, del] = ['*2\r\n$3\r\nGET\r\n$1\r\nk\r\n', '*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n'];

it('says nothing of what has changed where every byte came at the same time', () => {
  const course = comparePlays(kept('d', message(1, get)), kept('d', message(1, get)));
  expect(courseWords(course)).toBe('every byte at the same time');
  expect(differenceLines(course, pins, { ...pins, harness: 'another' })).toEqual([]);
});

it('says at which message it differs first, as it was and as it is, and what has changed', () => {
  const course = comparePlays(kept('d', message(1, get), message(2, get)), kept('e', message(1, get), message(2, del)));
  expect(courseWords(course)).toBe('another course of events from 2 ms on');
  expect(differenceLines(course, pins, { ...pins, lock: 'b', node: 'v22' })).toEqual([
    'then: c1 → r1 "*2 $3 GET $1 k", sent at 2 ms, comes at 2.1 ms',
    'now:  c1 → r1 "*2 $3 DEL $1 k", sent at 2 ms, comes at 2.1 ms',
    'not as it was when this was found: node (v20, now v22), lock (a, now b)',
  ]);
  expect(differenceWords(course, ['node', 'lock'])).toBe(
    'another course of events from 2 ms on, with another node and lock',
  );
  expect(differenceLines(course, pins, pins).at(-1)).toMatch(/^nothing that is pinned has changed: /);
});

it('says what may hang on addresses where they were not fixed, then or now, and nowhere else', () => {
  const course = comparePlays(kept('d', message(1, get)), kept('e', message(1, del)));
  const random = { ...pins, addressing: 'random' };
  const told = /^servers have other addresses in each start where a machine refuses to fix them: /;
  expect(differenceLines(course, random, random).at(-1)).toMatch(told);
  expect(differenceLines(course, { ...pins, addressing: 'fixed' }, random).slice(-2)).toEqual([
    'not as it was when this was found: addressing (fixed, now random)',
    expect.stringMatching(told),
  ]);
  expect(differenceLines(course, pins, pins).join()).not.toContain('addresses');
  expect(differenceLines({ is: 'same' }, random, random)).toEqual([]);
});

it.each([
  ['comes later', message(2, get, { arrivedNs: 9e6 })],
  ['never comes', message(2, get, { arrivedNs: undefined })],
  ['is to another host', message(2, get, { to: 'r2' })],
  ['is on another connection', message(2, get, { connection: 1 })],
  ['is the end of a connection', message(2, get, { bytes: undefined })],
])('takes for another course one whose message %s', (_, other) => {
  const course = comparePlays(kept('d', message(1, get), message(2, get)), kept('e', message(1, get), other));
  expect(course).toMatchObject({ is: 'messages', atNs: 2e6 });
});

it('tells one that ends sooner or goes on for longer by what the other has there', () => {
  const [less, more] = [kept('d', message(1, get)), kept('e', message(1, get), message(7, del))];
  expect(comparePlays(less, more)).toMatchObject({ is: 'messages', atNs: 7e6, before: 'nothing more' });
  expect(comparePlays(more, less)).toMatchObject({ is: 'messages', atNs: 7e6, after: 'nothing more' });
});

it('does not say that messages differ where they do not, and nothing of where if there are none', () => {
  const others = comparePlays(kept('d', message(1, get)), kept('e', message(1, get)));
  expect(courseWords(others)).toBe('every message to and from a server at the same time');
  expect(differenceLines(others, pins, pins)[0]).toBe(
    'only what lock clients and this tool said to each other is not the same',
  );
  const unknown = comparePlays({ digest: 'd', messages: undefined }, kept('e', message(1, get)));
  expect(courseWords(unknown)).toBe('another course of events');
  expect(differenceLines(unknown, pins, pins)[0]).toMatch(/^where it differs first is not known: /);
});
