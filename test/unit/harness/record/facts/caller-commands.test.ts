/** Several callers in one process: whose a command was that the process sent. */
import { describe, expect, test } from 'vitest';
import { namedByCallers } from '../../../../../harness/record/facts/caller-commands.js';
import { historyOf } from '../../../../../harness/record/history-table.js';
import { observationsOf } from '../../../../../harness/record/observations.js';
import type { HistoryBody, HistoryEvent, Observation } from '../../../../../harness/vocabulary/history.js';

const MS = 1e6;
const A = 'value-of-a';
const B = 'value-of-b';

/** Milliseconds; the second one tells the operation's id. */
type Step = [atMs: number, body: HistoryBody];

const up = (client: string, process?: string): Step => [
  0,
  {
    type: 'client-up',
    client,
    slot: client,
    ...(process && { process }),
    host: 'c1',
    address: '10.0.0.9',
    lock: 'a-lock',
    features: ['callers'],
  },
];

const asked = (atMs: number, client: string, id: number): Step => [
  atMs,
  { type: 'invoke', client, id, op: 'acquire', key: 'lock:0', leaseMs: 5_000, waitMs: 1_000 },
];

const granted = (atMs: number, client: string, id: number, sentMs = atMs - 1): Step => [
  atMs,
  {
    type: 'ok',
    client,
    id,
    op: 'acquire',
    key: 'lock:0',
    beganNs: sentMs * MS,
    endedNs: atMs * MS,
    grantSentNs: sentMs * MS,
  },
];

const refused = (atMs: number, client: string, id: number): Step => [
  atMs,
  {
    type: 'fail',
    client,
    id,
    op: 'acquire',
    key: 'lock:0',
    reason: 'held',
    beganNs: atMs * MS - 1,
    endedNs: atMs * MS,
  },
];

const released = (atMs: number, client: string, hold: number, id = hold + 100): Step[] => [
  [atMs, { type: 'invoke', client, id, op: 'release', key: 'lock:0', hold }],
  [
    atMs + 2,
    { type: 'ok', client, id, op: 'release', key: 'lock:0', hold, beganNs: atMs * MS, endedNs: (atMs + 2) * MS },
  ],
];

function sendersOf(steps: Step[], sent: [atMs: number, ...argv: string[]][], samples: Observation[] = []) {
  const events = steps.map(([atMs, body], n): HistoryEvent => ({ i: n + 1, atNs: atMs * MS, ...body }));
  const run = { i: 0, atNs: 0, type: 'run', version: 2, runId: 'x', seed: 1, epochWallMs: 1_000_000 } as const;
  const commands = sent.map(
    ([atMs, ...argv]): Observation => ({
      atNs: atMs * MS,
      node: 'r1',
      type: 'command',
      serverWallMs: 1_000_000 + atMs,
      source: '10.0.0.9:1',
      client: 'c1',
      argv,
    }),
  );
  const all = [...commands, ...samples].sort((a, b) => a.atNs - b.atNs);
  const named = namedByCallers(observationsOf(all), historyOf([run, ...events]));
  return [...named.commands(0, Number.POSITIVE_INFINITY)].map(([, { client }]) => client);
}

const callers = [up('c1-a', 'c1'), up('c1-b', 'c1')];

test('a process with one caller sends what it sends', () => {
  expect(sendersOf([up('c1'), asked(10, 'c1', 1), granted(20, 'c1', 1)], [[19, 'SET', 'lock:0', A, 'NX']])).toEqual([
    'c1',
  ]);
});

describe('a value', () => {
  test('is its caller’s, in whose granted attempt it was the only one, wherever it stands', () => {
    const steps = [
      ...callers,
      asked(10, 'c1-a', 1),
      granted(20, 'c1-a', 1),
      asked(100, 'c1-b', 2),
      ...released(200, 'c1-a', 1),
      granted(250, 'c1-b', 2),
    ];
    const sent: [number, ...string[]][] = [
      [19.5, 'SET', 'lock:0', A, 'NX'],
      [120, 'SET', 'lock:0', 'another-try', 'NX'],
      [201, 'EVAL', 'the script', '1', 'lock:0', A],
      [249.5, 'SET', 'lock:0', B, 'NX'],
    ];
    expect(sendersOf(steps, sent)).toEqual(['c1-a', undefined, 'c1-a', 'c1-b']);
  });

  test('is nobody’s that both were granted by: the lock knows one owner in a process', () => {
    const steps = [
      ...callers,
      asked(10, 'c1-a', 1),
      granted(20, 'c1-a', 1),
      ...released(100, 'c1-a', 1),
      asked(200, 'c1-b', 2),
      granted(210, 'c1-b', 2),
    ];
    expect(
      sendersOf(steps, [
        [19.5, 'SET', 'lock:0', A, 'NX'],
        [209.5, 'SET', 'lock:0', A, 'NX'],
      ]),
    ).toEqual([undefined, undefined]);
  });

  test('is nobody’s where another caller was granted the key and sent no value but that', () => {
    const steps = [
      ...callers,
      asked(10, 'c1-a', 1),
      granted(20, 'c1-a', 1),
      asked(40, 'c1-b', 2),
      // In its attempt two values were sent, both of them others' by what came before.
      granted(60, 'c1-b', 2, 50),
    ];
    const sent: [number, ...string[]][] = [
      [19.5, 'SET', 'lock:0', A, 'NX'],
      [55, 'EVAL', 'extend', '1', 'lock:0', A],
    ];
    expect(sendersOf(steps, sent)).toEqual([undefined, undefined]);
  });

  test('is nobody’s that was sent when its caller had nothing to do with the key', () => {
    const steps = [...callers, asked(5_000, 'c1-a', 1), granted(5_020, 'c1-a', 1)];
    expect(
      sendersOf(steps, [
        [10, 'GET', 'lock:0', A],
        [5_019.5, 'SET', 'lock:0', A, 'NX'],
      ]),
    ).toEqual([undefined, undefined]);
  });

  test('of two in one attempt is his whose release names it', () => {
    const steps = [
      ...callers,
      asked(10, 'c1-a', 1),
      asked(10, 'c1-b', 2),
      granted(20, 'c1-a', 1, 12),
      refused(30, 'c1-b', 2),
      ...released(100, 'c1-a', 1),
    ];
    const sent: [number, ...string[]][] = [
      [13, 'SET', 'lock:0', A, 'NX'],
      [13.5, 'SET', 'lock:0', B, 'NX'],
      [101, 'EVAL', 'the script', '1', 'lock:0', A],
    ];
    expect(sendersOf(steps, sent)).toEqual(['c1-a', undefined, 'c1-a']);
  });

  test('of two in one attempt is his during whose hold the server had it', () => {
    const steps: Step[] = [
      ...callers,
      asked(10, 'c1-a', 1),
      asked(10, 'c1-b', 2),
      granted(20, 'c1-a', 1, 12),
      refused(30, 'c1-b', 2),
      [2_000, { type: 'phase', phase: 'end' }],
    ];
    const seen: Observation = {
      atNs: 600 * MS,
      node: 'r1',
      type: 'sample',
      role: 'primary',
      offset: 0,
      runId: 'r',
      skewMs: 0,
      keys: { 'lock:0': { owner: A, pttlMs: 4_000 } },
    };
    const sent: [number, ...string[]][] = [
      [13, 'SET', 'lock:0', A, 'NX'],
      [13.5, 'SET', 'lock:0', B, 'NX'],
    ];
    expect(sendersOf(steps, sent, [seen])).toEqual(['c1-a', undefined]);
    expect(sendersOf(steps, sent)).toEqual([undefined, undefined]);
  });
});

describe('a command without a value', () => {
  test('is his who alone had to do with the key', () => {
    const steps = [...callers, asked(10, 'c1-a', 1), granted(20, 'c1-a', 1), asked(3_000, 'c1-b', 2)];
    expect(
      sendersOf(steps, [
        [19.5, 'SET', 'lock:0', '1', 'NX'],
        [3_500, 'DEL', 'lock:0'],
      ]),
    ).toEqual(['c1-a', undefined]);
  });
});
