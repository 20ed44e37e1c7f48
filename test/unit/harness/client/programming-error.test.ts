/** Which errors are mistakes in a lock's program, whatever befalls servers and network, and where they were made. */
import { expect, it, test } from 'vitest';
import { callOutcome } from '../../../../harness/client/outcome.js';
import { programmingError } from '../../../../harness/client/programming-error.js';
import { thrownAt } from '../../../../harness/client/thrown-at.js';

const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });
const fetchFailed = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:2379') });

it.each([
  new TypeError('r.sett is not a function'),
  new ReferenceError('token is not defined'),
  new SyntaxError('Unexpected token'),
  new RangeError('Maximum call stack size exceeded'),
  reply("ERR unknown command 'SETT', with args beginning with: 'lock:0' "),
  reply("ERR wrong number of arguments for 'set' command"),
  reply('ERR syntax error'),
  reply('ERR value is not an integer or out of range'),
  reply("ERR invalid expire time in 'set' command"),
  reply("ERR Error compiling script (new function): user_script:1: ')' expected near 'KEYS'"),
  reply("ERR user_script:1: attempt to call field 'cal' (a nil value) script: 6b1bf486, on @user_script:1."),
  reply('ERR Error running script (call to f_1): @user_script:1: user_script:1: attempt to index a nil value'),
  reply(
    "ERR user_script:1: Script attempted to access nonexistent global variable 'KEY' script: 6b1b, on @user_script:1.",
  ),
  reply('ERR Unknown Redis command called from script script: 6b1b, on @user_script:1.'),
  reply("CROSSSLOT Keys in request don't hash to the same slot"),
  reply('WRONGTYPE Operation against a key holding the wrong kind of value'),
  new AggregateError([new TypeError('x is not a function'), new TypeError('x is not a function')]),
])('is one: %s', (error) => {
  expect(programmingError(error)).toBeDefined();
});

it.each([
  undefined,
  'text',
  new Error('Command timed out'),
  new Error('connect ECONNREFUSED 10.0.0.1:6379'),
  new Error('Connection is closed.'),
  fetchFailed,
  ...[
    'NOSCRIPT No matching script. Please use EVAL.',
    'LOADING Redis is loading the dataset in memory',
    "READONLY You can't write against a read only replica.",
    'MOVED 3999 127.0.0.1:6381',
    'ASK 3999 127.0.0.1:6381',
    'TRYAGAIN Multiple keys request during rehashing of slot',
    'CLUSTERDOWN The cluster is down',
    'MASTERDOWN Link with MASTER is down',
    'NOREPLICAS Not enough good replicas to write.',
    'MISCONF Redis is configured to save RDB snapshots',
    "OOM command not allowed when used memory > 'maxmemory'.",
    'BUSY Redis is busy running a script.',
    'NOAUTH Authentication required.',
    'NOPERM this user has no permissions',
    'EXECABORT Transaction discarded because of previous errors.',
    'ERR Error running script (call to f_1): @user_script:1: Script killed by user with SCRIPT KILL...',
    "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica.",
  ].map(reply),
  new AggregateError([new TypeError('x is not a function'), new Error('Command timed out')]),
])('need not be one: %s', (error) => {
  expect(programmingError(error)).toBeUndefined();
});

test('an answer says so, and is certain only where nothing was done; what never left is unreachable all the same', () => {
  const threw = { threw: new TypeError('x is not a function'), bug: 'TypeError: x is not a function' };
  const outcome = (...states: ('answered' | 'refused' | 'unsent')[]) =>
    callOutcome(
      threw,
      states.map((state) => ({ node: 'r1', name: 'SET', args: [], state })),
      () => undefined,
    );
  const reason = 'bug: TypeError: x is not a function';
  expect(outcome('answered')).toEqual({ type: 'info', reason });
  expect(outcome()).toEqual({ type: 'info', reason });
  expect(outcome('refused')).toEqual({ type: 'fail', reason });
  expect(outcome('unsent')).toEqual({ type: 'fail', reason: 'unreachable' });
});

it.each([
  ['at Object.acquire (/u/src/lock.ts:14:9)', '/u/src/lock.ts:14:9'],
  ['at async file:///u/a b/lock.mjs:3:1', '/u/a b/lock.mjs:3:1'],
  ['at node:internal/x:1:1\n    at f (/u/node_modules/p/i.js:1:1)\n    at /u/lock.ts:2:3', '/u/lock.ts:2:3'],
  ['at Session.run (/tool/dist/harness/client/main.js:1:1)', undefined],
  ['at JSON.parse (<anonymous>)', undefined],
])('the place in a stack: %s', (frames, place) => {
  const error = Object.assign(new Error('x'), { stack: `Error: x\n    ${frames}` });
  expect(thrownAt(error, (at) => at.startsWith('/tool/'))).toBe(place);
});
