import { describe, expect, test } from 'vitest';
import type { CommandRecord, CommandState } from '../../../../harness/client/command-log.js';
import { callOutcome, firstLine, type Settled } from '../../../../harness/client/outcome.js';
import { refused } from '../../../../lock-impl/define-lock.js';

const commands = (...states: CommandState[]): CommandRecord[] =>
  states.map((state) => ({ node: 'r1', name: 'SET', args: ['k'], state }));
const nullIsHeld = (value: string | null) => (value === null ? 'held' : undefined);
const granted: Settled<string | null> = { returned: 'hold' };
const nothing: Settled<string | null> = { returned: null };
const clusterDown: Settled<string | null> = {
  threw: Object.assign(new Error('CLUSTERDOWN The cluster is down'), { name: 'ReplyError' }),
};
const threw: Settled<string | null> = { threw: new Error('Command timed out\n  at somewhere') };

describe('judge', () => {
  test.each<[string, Settled<string | null>, CommandState[], object]>([
    ['granted', granted, ['answered'], { type: 'ok', value: 'hold' }],
    ['refused', nothing, ['answered'], { type: 'fail', reason: 'held' }],
    ['threw', threw, ['answered'], { type: 'info', reason: 'Command timed out' }],
    ['threw, unanswered', threw, ['in-flight'], { type: 'info', reason: 'Command timed out' }],
    ['threw without any command', threw, [], { type: 'info', reason: 'Command timed out' }],
    ['threw, nothing left', threw, ['unsent', 'unsent'], { type: 'fail', reason: 'unreachable' }],
    ['threw, one of two left', threw, ['unsent', 'answered'], { type: 'info', reason: 'Command timed out' }],
    ['threw, may still leave', threw, ['queued'], { type: 'info', reason: 'Command timed out' }],
    ['threw, refused by the server', clusterDown, ['refused'], { type: 'fail', reason: 'clusterdown' }],
    ['threw something else, refused', threw, ['refused', 'unsent'], { type: 'fail', reason: 'Command timed out' }],
    ['threw, one of two refused', clusterDown, ['refused', 'answered'], { type: 'info', reason: expect.any(String) }],
    ['refused, nothing left', nothing, ['unsent'], { type: 'fail', reason: 'unreachable' }],
    ['refused with a reason', { threw: refused('no-quorum') }, ['answered'], { type: 'fail', reason: 'no-quorum' }],
    ['granted over a lost connection', granted, ['answered', 'cut-off'], { type: 'info', reason: 'reconnect' }],
    ['refused over a lost connection', nothing, ['cut-off'], { type: 'info', reason: 'reconnect' }],
    ['refused with a reason over one', { threw: refused('x') }, ['cut-off'], { type: 'info', reason: 'reconnect' }],
  ])('%s', (_case, settled, states, expected) => {
    expect(callOutcome(settled, commands(...states), nullIsHeld)).toEqual(expected);
  });
});

test.each([
  [new Error('one\ntwo'), 'one'],
  [new TypeError(''), 'TypeError'],
  ['text', 'text'],
  [undefined, 'undefined'],
  [new Error('x'.repeat(9_999)), 'x'.repeat(500)],
])('first line of %s', (thrown, expected) => {
  expect(firstLine(thrown)).toBe(expected);
});
