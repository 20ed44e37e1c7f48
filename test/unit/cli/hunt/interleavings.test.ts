import { expect, test } from 'vitest';
import { interleavingsOf } from '../../../../cli/hunt/interleavings.js';
import type { Message } from '../../../../harness/record/messages.js';

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;
const command = (...argv: string[]) => `*${argv.length}\r\n${argv.map(bulk).join('')}`;

/** What r1 carries out, one after the other: client, command, answer. */
function carriedOut(...told: [client: string, argv: string[], answer: string][]): Message[] {
  const connections = new Map<string, number>();
  return told.flatMap(([client, argv, answer], n): Message[] => {
    const connection = connections.get(client) ?? connections.size;
    connections.set(client, connection);
    const common = { connection, port: 6379 };
    return [
      { ...common, from: client, to: 'r1', isBack: false, sentNs: 10 * n, bytes: command(...argv) },
      { ...common, from: 'r1', to: client, isBack: true, sentNs: 10 * n + 5, bytes: answer },
    ];
  });
}

const isClient = (host: string) => host.startsWith('c');

test('a command of one client between two of another’s counts, with what each was answered', () => {
  const messages = carriedOut(
    ['c1', ['GET', 'lock:0'], bulk('mine')],
    ['c2', ['SET', 'lock:0', 'x', 'NX'], '+OK\r\n'],
    ['c1', ['DEL', 'lock:0'], ':1\r\n'],
    ['c2', ['DEL', 'lock:0'], ':0\r\n'],
  );
  expect(interleavingsOf(messages, isClient)).toEqual(['GET=bulk < SET=OK < DEL=1', 'SET=OK < DEL=1 < DEL=0']);
});

test('who it was, and what was random in it, does not count: it is the same order', () => {
  const of = (one: string, other: string, value: string) =>
    interleavingsOf(
      carriedOut(
        [one, ['GET', 'k'], bulk(value)],
        [other, ['INCR', 'n'], ':17\r\n'],
        [one, ['PEXPIRE', 'k', '5'], ':1\r\n'],
      ),
      isClient,
    );
  expect(of('c1', 'c2', 'a')).toEqual(['GET=bulk < INCR=more < PEXPIRE=1']);
  expect(of('c3', 'c1', 'b')).toEqual(of('c1', 'c2', 'a'));
});

test('a script is the same by EVAL and by its hash; what was never answered was not carried out; servers are not clients', () => {
  const script = 'return 1';
  const hash = 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db';
  const told = (argv: string[]) =>
    carriedOut(['c1', argv, ':1\r\n'], ['r2', ['PING'], '+PONG\r\n'], ['c2', argv, '$-1\r\n'], ['c1', argv, ':1\r\n']);
  const expected = [`EVAL ${hash.slice(0, 6)}=1 < EVAL ${hash.slice(0, 6)}=null < EVAL ${hash.slice(0, 6)}=1`];
  expect(interleavingsOf(told(['EVAL', script, '0']), isClient)).toEqual(expected);
  expect(interleavingsOf(told(['EVALSHA', hash, '0']), isClient)).toEqual(expected);
  expect(interleavingsOf(told(['EVAL', script, '0']).slice(0, -1), isClient)).toEqual([]);
});
