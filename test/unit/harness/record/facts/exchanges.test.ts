import { expect, test } from 'vitest';
import { exchangesOf } from '../../../../../harness/record/facts/exchanges.js';
import { RespReader } from '../../../../../harness/record/facts/resp.js';
import type { Message } from '../../../../../harness/record/messages.js';

const message = (isBack: boolean, sentNs: number, bytes: string | undefined, connection = 0): Message => ({
  connection,
  from: isBack ? 'r1' : 'c1',
  to: isBack ? 'c1' : 'r1',
  port: 6379,
  isBack,
  sentNs,
  arrivedNs: sentNs + 1,
  ...(bytes !== undefined && { bytes }),
});
const asked = (...argv: string[]) =>
  `*${argv.length}\r\n${argv.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`).join('')}`;
const isClient = (host: string) => host.startsWith('c');

test('values of both versions of the protocol are read, whatever they are cut into', () => {
  const text =
    '+OK\r\n-ERR no\r\n:12\r\n$-1\r\n_\r\n*-1\r\n$4\r\na\r\nb\r\n*2\r\n:1\r\n*1\r\n+x\r\n%1\r\n+k\r\n#t\r\n|1\r\n+a\r\n+b\r\n,1.5\r\n>2\r\n+p\r\n+q\r\n';
  const whole = new RespReader().read(text);
  expect(whole).toEqual([
    { type: 'simple', text: 'OK' },
    { type: 'error', text: 'ERR no' },
    { type: 'number', text: '12' },
    { type: 'null' },
    { type: 'null' },
    { type: 'null' },
    { type: 'bulk', text: 'a\r\nb' },
    {
      type: 'list',
      items: [
        { type: 'number', text: '1' },
        { type: 'list', items: [{ type: 'simple', text: 'x' }] },
      ],
    },
    {
      type: 'list',
      items: [
        { type: 'simple', text: 'k' },
        { type: 'number', text: 't' },
      ],
    },
    { type: 'number', text: '1.5' },
    {
      type: 'push',
      items: [
        { type: 'simple', text: 'p' },
        { type: 'simple', text: 'q' },
      ],
    },
  ]);
  const piecemeal = new RespReader();
  expect([...text].flatMap((byte) => piecemeal.read(byte))).toEqual(whole);
});

test('what is no RESP is not read, nor anything after it', () => {
  const reader = new RespReader();
  expect(reader.read('GET x\r\n')).toEqual([]);
  expect(reader.read('+OK\r\n')).toEqual([]);
  expect(reader.isBroken).toBe(true);
});

test('answers belong to requests in order, connection by connection', () => {
  const one = message(false, 1, asked('get', 'a') + asked('get', 'b'));
  const other = message(false, 2, asked('get', 'c'), 1);
  const answers = [message(true, 3, '+C\r\n', 1), message(true, 4, '+A\r\n'), message(true, 5, undefined)];
  const exchanges = exchangesOf([one, other, ...answers], isClient);
  expect(exchanges.map(({ argv, request, answer }) => [argv[1], request.sentNs, answer?.message.sentNs])).toEqual([
    ['a', 1, 4],
    ['b', 1, undefined],
    ['c', 2, 3],
  ]);
});

test('what servers say to each other is no exchange of a client', () => {
  expect(exchangesOf([{ ...message(false, 1, asked('PING')), from: 'r2' }], isClient)).toEqual([]);
});

test('what a channel tells answers nothing; a subscription is answered channel by channel', () => {
  const told = '*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$2\r\nhi\r\n';
  const subscribed = (channel: string) => `*3\r\n$9\r\nsubscribe\r\n$1\r\n${channel}\r\n:1\r\n`;
  const exchanges = exchangesOf(
    [
      message(false, 1, asked('subscribe', 'x', 'y') + asked('ping')),
      message(true, 2, subscribed('x') + told),
      message(true, 3, subscribed('y')),
      message(true, 4, `${told}+PONG\r\n`),
    ],
    isClient,
  );
  expect(exchanges.map(({ argv, answer }) => [argv[0], answer?.message.sentNs])).toEqual([
    ['subscribe', 2],
    ['ping', 4],
  ]);
});
