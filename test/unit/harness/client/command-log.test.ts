import { EventEmitter, once } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  CommandLog,
  type CommandRecord,
  grantSentNs,
  noneDone,
  noneLeft,
  spansReconnect,
  stateAfter,
} from '../../../../harness/client/command-log.js';

const command = (node: string, sentNs: number | undefined, name: string, ...args: string[]): CommandRecord => ({
  node,
  name,
  args,
  sentNs,
  state: sentNs === undefined ? 'unsent' : 'answered',
});

describe('grantSentNs', () => {
  test.each<[string, CommandRecord[], number | undefined]>([
    ['nothing sent', [], undefined],
    ['only reads', [command('r1', 10, 'GET', 'k'), command('r1', 20, 'PTTL', 'k')], undefined],
    ['never left', [command('r1', undefined, 'SET', 'k', 'me')], undefined],
    [
      'the last try, after refused ones',
      [command('r1', 10, 'SET', 'k', 'me'), command('r1', 30, 'SET', 'k', 'me')],
      30,
    ],
    ['the write, not what was read after it', [command('r1', 10, 'SET', 'k'), command('r1', 20, 'GET', 'k')], 10],
    ['a script with the key', [command('r1', 10, 'EVALSHA', 'abc', '1', 'k', 'me')], 10],
    ['not WAIT', [command('r1', 10, 'SET', 'k'), command('r1', 20, 'WAIT', '1', '100')], 10],
    ['the exact key before a longer one', [command('r1', 10, 'SET', 'k'), command('r1', 20, 'INCR', 'fence:k')], 10],
    ['a key in a prefix', [command('r1', 10, 'SET', 'app:k'), command('r1', 20, 'PUBLISH', 'news', 'hello')], 10],
    ['any write where no argument has the key', [command('r1', 10, 'SET', 'hash-of-it')], 10],
    [
      'the earliest node',
      [command('r1', 12, 'SET', 'k'), command('r2', 11, 'SET', 'k'), command('r3', 13, 'SET', 'k')],
      11,
    ],
    [
      'the earliest of the last tries',
      [
        command('r1', 1, 'SET', 'k'),
        command('r2', 2, 'SET', 'k'),
        command('r1', 3, 'DEL', 'other'),
        command('r1', 21, 'SET', 'k'),
        command('r2', 22, 'SET', 'k'),
      ],
      21,
    ],
  ])('%s', (_case, commands, expected) => {
    expect(grantSentNs(commands, 'k')).toBe(expected);
  });
});

test('commands belong to the operations that run when they are issued', () => {
  const log = new CommandLog();
  const first = log.begin();
  log.add(command('r1', 1, 'SET', 'a'));
  const second = log.begin();
  log.add(command('r1', 2, 'SET', 'b'));
  log.end(first);
  log.add(command('r1', 3, 'SET', 'c'));
  log.end(second);
  log.add(command('r1', 4, 'SET', 'd'));
  expect(first.map((one) => one.sentNs)).toEqual([1, 2]);
  expect(second.map((one) => one.sentNs)).toEqual([2, 3]);
});

test('none left: only if some were tried, and every one stayed', () => {
  const unsent = command('r1', undefined, 'SET', 'k');
  expect(noneLeft([])).toBe(false);
  expect(noneLeft([unsent, unsent])).toBe(true);
  expect(noneLeft([unsent, command('r2', 1, 'SET', 'k')])).toBe(false);
  expect(noneLeft([{ ...unsent, state: 'queued' }])).toBe(false);
});

test('spans a reconnect: one unanswered command is enough', () => {
  const answered = command('r1', 1, 'SET', 'k');
  expect(spansReconnect([answered, { ...answered, state: 'in-flight' }])).toBe(false);
  expect(spansReconnect([answered, { ...answered, state: 'cut-off' }])).toBe(true);
});

test('none done: every one stayed, or was refused by its receiver', () => {
  const unsent = command('cluster', undefined, 'SET', 'k');
  const refused: CommandRecord = { ...command('cluster', 1, 'SET', 'k'), state: 'refused' };
  expect(noneDone([])).toBe(false);
  expect(noneDone([unsent, refused])).toBe(true);
  expect(noneLeft([unsent, refused])).toBe(false);
  for (const state of ['answered', 'in-flight', 'cut-off', 'queued'] as const) {
    expect(noneDone([refused, { ...refused, state }])).toBe(false);
  }
});

test.each([
  ['CLUSTERDOWN The cluster is down', 'refused'],
  ["READONLY You can't write against a read only replica.", 'refused'],
  ['NOREPLICAS Not enough good replicas to write.', 'refused'],
  ['MOVED 42 10.77.0.2:6379', 'refused'],
  // The script may have written before it failed.
  ['ERR Error running script', 'answered'],
  ['WRONGTYPE Operation against a key holding the wrong kind of value', 'answered'],
])('after "%s" a command is %s', (message, state) => {
  expect(stateAfter(new Error(message))).toBe(state);
});

test('a command counts for the operation in whose code it is made, however that code was woken', async () => {
  const log = new CommandLog();
  const wakes = [
    () => Promise.resolve(),
    () => setTimeout(1),
    () => setImmediate(),
    () => new Promise<void>((resolve) => process.nextTick(resolve)),
    () => new Promise<void>((resolve) => queueMicrotask(resolve)),
    // As an answer does that comes over a connection which others use as well.
    () => once(answers, 'answer'),
  ];
  const answers = new EventEmitter();
  const operations = wakes.map((wake, n) => {
    const commands = log.begin();
    const code = async () => {
      log.add(command('r1', n, 'GET', 'k'));
      await wake();
      log.add(command('r1', n, 'SET', 'k'));
    };
    return { commands, done: log.within(commands, code) };
  });
  answers.emit('answer');
  await Promise.all(operations.map(({ done }) => done));
  expect(operations.map(({ commands }) => commands.map(({ name, sentNs }) => [name, sentNs]))).toEqual(
    wakes.map((_, n) => [
      ['GET', n],
      ['SET', n],
    ]),
  );
});

describe('several logs in one process, as in a simulated world', () => {
  test('each counts the commands of its own operations', () => {
    const [one, other] = [new CommandLog(), new CommandLog()];
    const [ofOne, ofOther] = [one.begin(), other.begin()];
    const made = command('r1', 10, 'SET', 'k');
    one.within(ofOne, () => other.add(made));
    expect([ofOne, ofOther]).toEqual([[], [made]]);
  });

  // Each storage that a log made would be copied to every promise of the process from then on. Two would show here: the first log's
  // would still say in whose code it is, where the second one has another operation.
  test('share what tells in whose code they are', () => {
    const [one, other] = [new CommandLog(), new CommandLog()];
    const [first, second] = [one.begin(), one.begin()];
    const made = command('r1', 10, 'SET', 'k');
    one.within(first, () => other.within(other.begin(), () => one.add(made)));
    expect([first, second]).toEqual([[made], [made]]);
  });
});
