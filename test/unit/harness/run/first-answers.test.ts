/** Whether a lock can work at all, decided on a few events. */
import { expect, it, test } from 'vitest';
import { endsFirstAnswers, FirstAnswers } from '../../../../harness/run/first-answers.js';
import type { HistoryBody, HistoryEvent } from '../../../../harness/vocabulary/history.js';

const THROWN = 'bug: TypeError: r.sett is not a function (/u/lock.ts:14:9)';

/** A run of so many clients, to which these events came. */
function after(clients: number, ...bodies: HistoryBody[]): FirstAnswers {
  const answers = new FirstAnswers(clients);
  for (const body of bodies) answers.event({ i: 0, atNs: 0, ...body } as HistoryEvent);
  return answers;
}

const up = (client: string): HistoryBody => ({
  type: 'client-up',
  client,
  slot: client.split('.')[0]!,
  host: client.split('.')[0]!,
  address: '10.0.0.1',
  lock: 'mine',
  features: [],
});
const answer = (type: 'ok' | 'fail' | 'info', client: string, reason?: string, op: 'acquire' | 'release' = 'acquire') =>
  ({ type, client, id: 1, op, key: 'lock:0', ...(reason !== undefined && { reason }) }) as const;
const fault = (effects: object[]) =>
  ({
    type: 'fault',
    step: 0,
    fault: 'pause',
    state: 'strike',
    targets: ['c1'],
    did: 'SIGSTOP',
    effects,
  }) as HistoryBody;
const clients = [up('c1'), up('c2')];

test('each client has met a mistake in the program: hopeless, with how often and where', () => {
  const answers = after(2, ...clients, answer('info', 'c1', THROWN), answer('info', 'c2', THROWN));
  expect(answers.hopeless.reason.message).toBe(
    'your lock threw in 2 of 2 acquires: TypeError: r.sett is not a function (/u/lock.ts:14:9)',
  );
  expect(answers.hopeless.reason.name).toBe('LockBugError');
});

it.each<[string, ...HistoryBody[]]>([
  ['one client only', answer('info', 'c1', THROWN), answer('fail', 'c2', 'held')],
  [
    'the same place twice, under another name',
    answer('info', 'c1', THROWN),
    up('c1.2'),
    answer('info', 'c1.2', THROWN),
  ],
  ['after a grant', answer('ok', 'c1'), answer('info', 'c1', THROWN), answer('info', 'c2', THROWN)],
  [
    'after a fault',
    fault([{ kind: 'stopped', who: ['c1'] }]),
    answer('info', 'c1', THROWN),
    answer('info', 'c2', THROWN),
  ],
  ['time-outs', answer('info', 'c1', 'Command timed out'), answer('info', 'c2', 'Command timed out')],
  ['refused connections', answer('fail', 'c1', 'unreachable'), answer('fail', 'c2', 'unreachable')],
  ['releases', answer('info', 'c1', THROWN, 'release'), answer('info', 'c2', THROWN, 'release')],
])('goes on: %s', (_, ...events) => {
  expect(after(2, ...clients, ...events).hopeless.aborted).toBe(false);
});

test('a fault that could not strike is none', () => {
  const events = [fault([]), answer('info', 'c1', THROWN), answer('info', 'c2', THROWN)];
  expect(after(2, ...clients, ...events).hopeless.aborted).toBe(true);
});

test('callers of one process are one client', () => {
  const caller = (name: string): HistoryBody =>
    ({ ...up('c1'), client: name, slot: name, process: 'c1' }) as HistoryBody;
  const events = [caller('c1-a'), caller('c1-b'), answer('info', 'c1-a', THROWN), answer('info', 'c1-b', THROWN)];
  expect(after(2, ...events).hopeless.aborted).toBe(false);
});

test('what is thrown besides is told with it, and what an acquire returned that is no hold is no throw', () => {
  const events = [
    answer('info', 'c1', THROWN),
    answer('fail', 'c1', 'held'),
    answer('info', 'c2', 'bug: NameError: x'),
  ];
  const answers = after(2, ...clients, answer('info', 'c1', THROWN), ...events);
  expect(answers.mistake!.message).toMatch(/^your lock threw in 3 of 4 acquires: TypeError: .*; also NameError: x$/);
  const returned = answer('info', 'c1', 'bug: acquire returned undefined, not a hold or null');
  expect(after(1, up('c1'), returned).mistake!.message).toBe(
    'your lock failed in 1 of 1 acquires: acquire returned undefined, not a hold or null',
  );
});

test('a process that ends by itself is a mistake of the program, one that a signal ends is not', () => {
  const crashed = answer('info', 'c1', 'client exited (1)');
  const { mistake } = after(1, up('c1'), crashed);
  expect(mistake!.message).toBe('your lock failed in 1 of 1 acquires: its process ended by itself, with exit status 1');
  expect(mistake!.diedOn).toBe('c1');
  expect(after(1, up('c1'), answer('info', 'c1', 'client exited (SIGKILL)')).hopeless.aborted).toBe(false);
});

test('tells when each client was answered, and what', () => {
  const answers = after(2, ...clients, answer('fail', 'c1', 'held'));
  expect([answers.allAnswered, answers.inWords(false)]).toEqual([false, 'acquire returned null in 1 of 1 calls']);
  answers.event({ i: 9, atNs: 9, ...answer('info', 'c2', 'Command timed out') });
  answers.event({ i: 9, atNs: 9, ...answer('fail', 'c1', 'held') });
  expect(answers.allAnswered).toBe(true);
  expect(answers.inWords(true)).toBe('acquire answered "held" in 2 of 3 calls and answered "Command timed out" in 1');
});

test('ends with the first grant, or the first fault that did something', () => {
  const at = { i: 0, atNs: 0 };
  expect(endsFirstAnswers({ ...at, ...answer('ok', 'c1') } as HistoryEvent)).toBe(true);
  expect(endsFirstAnswers({ ...at, ...answer('ok', 'c1', undefined, 'release') } as HistoryEvent)).toBe(false);
  expect(endsFirstAnswers({ ...at, ...fault([]) } as HistoryEvent)).toBe(false);
});
