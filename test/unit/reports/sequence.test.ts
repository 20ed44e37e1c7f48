import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { holdsOf } from '../../../harness/record/facts/holds.js';
import { historyOf } from '../../../harness/record/history-table.js';
import type { Message } from '../../../harness/record/messages.js';
import { observationsOf } from '../../../harness/record/observations.js';
import type { HistoryBody } from '../../../harness/vocabulary/history.js';
import type { Violation } from '../../../harness/vocabulary/verdict.js';
import { htmlReport } from '../../../reports/html.js';
import type { ReportInput } from '../../../reports/input.js';
import { sequenceOf } from '../../../reports/sequence/sequence.js';
import { messagesText } from '../../../reports/sequence/text.js';
import { storyOf } from '../../../reports/story/story.js';
import { sampleConfig, sampleInput } from './sample.js';

const MS = 1e6;
const EPOCH_WALL_MS = 1_700_000_000_000;
const [MINE, THEIRS] = ['1111aaaabbbb', '2222ccccdddd'];

const asked = (...argv: string[]) => `*${argv.length}\r\n${argv.map((arg) => `$${arg.length}\r\n${arg}\r\n`).join('')}`;
const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;
const sent = (way: string, atMs: number, bytes: string, more: Partial<Message> = {}): Message => {
  const [from, to] = way.split('>') as [string, string];
  const client = from === 'r1' ? to : from;
  return {
    connection: Number(client.slice(1)),
    from,
    to,
    port: 6379,
    isBack: from === 'r1',
    sentNs: atMs * MS,
    arrivedNs: (atMs + 0.1) * MS,
    bytes,
    ...more,
  };
};

/** c1's DEL comes after its lease and takes the lock from c2, which lets c3 have it; c3's release is lost. */
const messages: Message[] = [
  sent('c1>r1', 100, asked('SET', 'lock:0', MINE, 'PX', '100', 'NX')),
  sent('r1>c1', 100.1, '+OK\r\n'),
  sent('c2>r1', 120, asked('SET', 'lock:0', '9999zzzzyyyy', 'PX', '100', 'NX')),
  sent('r1>c2', 120.1, '$-1\r\n'),
  sent('c1>r1', 150, asked('EVAL', 'return 1', '1', 'lock:0', MINE), { arrivedNs: 230 * MS }),
  sent('c2>r1', 210, asked('SET', 'lock:0', THEIRS, 'PX', '100', 'NX')),
  sent('r1>c2', 210.1, '+OK\r\n'),
  sent('r1>c1', 230, ':1\r\n'),
  sent('c3>r1', 240, asked('SET', 'lock:0', '3333eeeeffff', 'PX', '100', 'NX')),
  sent('r1>c3', 240.1, '+OK\r\n'),
  sent('c3>r1', 245, asked('GET', 'lock:0')),
  sent('r1>c3', 245.1, bulk('3333eeeeffff'), { arrivedNs: undefined, isLost: true }),
];

const client = (name: string): HistoryBody => ({
  type: 'client-up',
  client: name,
  slot: name,
  host: name,
  address: '',
  lock: 'x',
  features: [],
});
const acquired = (name: string, fromMs: number, sentMs: number, untilMs: number): [number, HistoryBody][] => [
  [fromMs, { type: 'invoke', client: name, id: 1, op: 'acquire', key: 'lock:0', leaseMs: 100, waitMs: 500 }],
  [
    untilMs,
    {
      type: 'ok',
      client: name,
      id: 1,
      op: 'acquire',
      key: 'lock:0',
      beganNs: fromMs * MS,
      endedNs: untilMs * MS,
      grantSentNs: sentMs * MS,
    },
  ],
];
const released = (name: string, fromMs: number, untilMs?: number): [number, HistoryBody][] => [
  [fromMs, { type: 'invoke', client: name, id: 2, op: 'release', key: 'lock:0', hold: 1 }],
  ...(untilMs === undefined
    ? []
    : ([
        [
          untilMs,
          {
            type: 'ok',
            client: name,
            id: 2,
            op: 'release',
            key: 'lock:0',
            hold: 1,
            beganNs: fromMs * MS,
            endedNs: untilMs * MS,
          },
        ],
      ] as [number, HistoryBody][])),
];
const events: [number, HistoryBody][] = [
  [0, { type: 'run', version: 2, runId: 'x', seed: 1, epochWallMs: EPOCH_WALL_MS }],
  [1, client('c1')],
  [1, client('c2')],
  [1, client('c3')],
  ...acquired('c1', 99, 100, 100.3),
  ...acquired('c2', 119, 210, 210.3),
  ...acquired('c3', 235, 240, 240.3),
  ...released('c1', 150, 230.3),
  ...released('c3', 245),
  [300, { type: 'closed', observations: 1 }],
];
const history = historyOf(
  events.sort((a, b) => a[0] - b[0]).map(([atMs, body], i) => ({ i, atNs: atMs * MS, ...body })),
);
const [, second, third] = [...holdsOf(history)];
const violation: Violation = {
  class: 'exclusion',
  kind: 'overlap',
  key: 'lock:0',
  fromNs: 240.3 * MS,
  untilNs: 245 * MS,
  holds: [second!, third!],
  evidence: [],
  proof: '',
  cause: {
    name: 'released-by-other',
    sentence: '',
    chain: [{ atNs: 230 * MS, text: 'c1 removed it' }],
  },
};
const sample = sampleInput();
const input: ReportInput = {
  ...sample,
  config: { ...sampleConfig, clients: 3, keys: ['lock:0'], leaseMs: 100 },
  plan: { version: 1, seed: 1, steps: [] },
  history,
  observations: observationsOf([
    {
      atNs: 231 * MS,
      node: 'r1',
      type: 'command',
      serverWallMs: EPOCH_WALL_MS + 230,
      source: 'lua',
      client: 'c1',
      argv: ['del', 'lock:0'],
    },
  ]),
  results: { ...sample.results, violations: [violation] },
  holds: holdsOf(history),
  messages,
};

test('a violation is told message by message, back to the grant whose release did it', () => {
  expect(messagesText(input, [violation])!.trimEnd().split('\n').slice(1)).toEqual([
    '    100.000 c1 → r1  SET lock:0 c1:1111aa… PX 100 NX',
    '    100.100 r1 → c1  OK',
    '    100.300 c1       is granted lock:0, lease until 200 ms',
    '            … 49.7 ms',
    '    150.000 c1       begins to release lock:0',
    '    150.000 c1 → r1  EVAL (runs DEL) 1 lock:0 c1:1111aa…  [80 ms on its way]',
    '            … 60 ms',
    '    210.000 c2 → r1  SET lock:0 c2:2222cc… PX 100 NX',
    '    210.100 r1 → c2  OK',
    '    210.300 c2       is granted lock:0, lease until 310 ms',
    '            … 19.7 ms',
    '    230.000 c1 ⇢ r1  comes: EVAL (runs DEL) 1 lock:0 c1:1111aa…',
    '    230.000 r1 → c1  1  (ran DEL lock:0)',
    '    230.300 c1       release: done',
    '            … 9.7 ms',
    '    240.000 c3 → r1  SET lock:0 c3:3333ee… PX 100 NX',
    '    240.100 r1 → c3  OK',
    '!   240.300 c3       is granted lock:0, lease until 340 ms',
    '!   245.000 c3       begins to release lock:0',
    '    245.000 c3 → r1  GET lock:0'.replace(' ', '!'),
    '    245.100 r1 ✕ c3  "c3:3333ee…"  [lost, and its connection with it]',
  ]);
});

const linesOf = (of: ReportInput) => messagesText(of, [violation])!.trimEnd().split('\n').slice(1);

test('both grants are told, also where one needed no message about the key', () => {
  const silent = messages.filter((one) => one.connection !== 2);
  const told = linesOf({ ...input, messages: silent });
  expect(told).toContain('    210.300 c2       is granted lock:0, lease until 310 ms');
  expect(told).toContain('!   240.300 c3       is granted lock:0, lease until 340 ms');
  // Nor where so much is said after it that the first lines are left out.
  const many = Array.from({ length: 200 }, (_, n) => [
    sent('c3>r1', 240.5 + n / 100, asked('GET', 'lock:0')),
    sent('r1>c3', 240.5 + n / 100, bulk('3333eeeeffff')),
  ]).flat();
  const cut = linesOf({ ...input, messages: [...messages.slice(0, 10), ...many] });
  expect(cut[0]).toBe('    210.300 c2       is granted lock:0, lease until 310 ms');
  expect(cut).toContain('!   240.300 c3       is granted lock:0, lease until 340 ms');
  expect(cut.at(-1)).toMatch(/^ {2}left out: .*the first \d+ lines$/);
});

test('a script is told by the commands that it ran, else by its first words, and where these are unknown by its hash', () => {
  const text = "-- Releases.\nif redis.call('get', KEYS[1]) == ARGV[1] then\n  return redis.call('del', KEYS[1])\nend";
  const hash = createHash('sha1').update(text).digest('hex');
  const requests = (of: Message[], observations = observationsOf([])) =>
    linesOf({ ...input, observations, messages: of }).filter((line) => line.includes('→ r1  EVAL'));
  const by = (...argv: string[]) => messages.with(4, sent('c1>r1', 150, asked(...argv, '1', 'lock:0', MINE)));
  const words = `EVAL ("if redis.call('get', KEYS[1]) == ARGV[1] then r…") 1 lock:0 c1:1111aa…`;
  expect(requests(by('EVAL', text))).toEqual([`    150.000 c1 → r1  ${words}`]);
  const loaded = [sent('c2>r1', 90, asked('SCRIPT', 'LOAD', text)), sent('r1>c2', 90.1, bulk(hash))];
  const short = words.replace('EVAL', 'EVALSHA');
  expect(requests([...loaded, ...by('EVALSHA', hash)])).toEqual([`    150.000 c1 → r1  ${short}`]);
  expect(requests(by('EVALSHA', hash))).toEqual([
    `    150.000 c1 → r1  EVALSHA (${hash.slice(0, 6)}) 1 lock:0 c1:1111aa…`,
  ]);
  const ran = observationsOf(
    ['get', 'pttl', 'get', 'exists', 'del'].map((name) => ({
      ...{ atNs: 231 * MS, node: 'r1', type: 'command', serverWallMs: EPOCH_WALL_MS + 230, source: 'lua' },
      ...{ client: 'c1', argv: [name, 'lock:0'] },
    })),
  );
  expect(requests(messages, ran)[0]).toContain('EVAL (runs GET, PTTL, GET, EXISTS, and 1 more) 1 lock:0');
});

test('a try that was refused is counted, not told', () => {
  const near = { ...violation, fromNs: 119 * MS };
  expect(sequenceOf(input, storyOf(input), near)!.leftOut).toBe('1 try that was refused at once');
});

test('the page draws it, whatever the messages say, and only where they were kept', () => {
  const evil = messages.map((one) => ({ ...one, bytes: one.bytes!.replace('9999zzzzyyyy', '<b>&amp;"x"') }));
  const page = htmlReport({ ...input, messages: evil });
  expect(page).toContain('<h4>Message by message</h4>');
  expect(page).toContain('c2 and c3 both hold lock:0');
  expect(page).not.toContain('<b>&amp;"x"');
  expect(htmlReport({ ...input, messages: undefined })).not.toContain('Message by message');
});
