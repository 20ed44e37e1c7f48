/** Keys that a lock keeps under other names: what servers recorded is read as being about the keys. */
import { describe, expect, it, test } from 'vitest';
import { keyNamer, namedByKeys } from '../../../../harness/record/key-names.js';
import { observationsOf } from '../../../../harness/record/observations.js';
import { handshakeSchema } from '../../../../harness/record/schemas/protocol.js';
import type { Observation } from '../../../../harness/vocabulary/history.js';
import { checkInput, clientUp } from '../../checkers/literal.js';

test.each([
  [undefined, 'lock:1', 'lock:1'],
  [['mutex:{key}'], 'lock:1', 'mutex:lock:1'],
  [['{{key}}:lock', '{key}:signal'], 'lock:1', '{lock:1}:lock'],
  [['mutex:{key}'], '$&', 'mutex:$&'],
])('by %j, %s is called %s', (declared, key, name) => {
  expect(keyNamer(declared)(key)).toBe(name);
});

describe('what was recorded is read', () => {
  const command = (atNs: number, ...argv: string[]): Observation => ({
    atNs,
    node: 'r1',
    type: 'command',
    serverWallMs: 0,
    source: 'lua',
    argv,
  });
  const evicted: Observation = { atNs: 2, node: 'r1', type: 'evicted', key: 'mutex:lock:1' };
  const recorded = observationsOf([
    command(1, 'SET', 'mutex:lock:1', 'c1', 'NX'),
    evicted,
    command(3, 'DEL', 'mutex:lock:11', 'lock:1', 'a-mutex:lock:1'),
  ]);
  const up = clientUp('c1');
  const said = (keys?: string[]) =>
    checkInput([{ ...up, body: { ...up.body, ...(keys && { keys }) } as never }]).history;
  const argvs = (of: typeof recorded) => [...of.commands(0, 9)].map(([, { argv }]) => argv.join(' '));

  it('by the keys, where the lock says what it calls them', () => {
    const named = namedByKeys(recorded, said(['mutex:{key}']), ['lock:1']);
    expect(argvs(named)).toEqual(['SET lock:1 c1 NX', 'DEL mutex:lock:11 lock:1 a-mutex:lock:1']);
    expect(named.rare).toEqual([[1, { ...evicted, key: 'lock:1' }]]);
    expect([0, 1, 2, 3].map((line) => named.line(line)?.type)).toEqual(['command', 'evicted', 'command', undefined]);
    expect(named.line(0)).toMatchObject({ argv: ['SET', 'lock:1', 'c1', 'NX'] });
    expect([named.length, named.commandCount]).toEqual([3, 2]);
  });

  it('as it is, where it does not', () => {
    expect(namedByKeys(recorded, said(), ['lock:1'])).toBe(recorded);
  });
});

test.each([[[]], [['mutex']], [['{key}{key}']], [[`${'x'.repeat(201)}{key}`]], ['mutex:{key}'], [[1]]])(
  'a handshake cannot say %j',
  (keys) => {
    expect(handshakeSchema.safeParse({ lock: 'a', keys }).success).toBe(false);
  },
);

test('a handshake can say its names, or none', () => {
  expect(handshakeSchema.parse({ lock: 'a', keys: ['{key}:a', '{key}:b'] }).keys).toEqual(['{key}:a', '{key}:b']);
  expect(handshakeSchema.parse({ lock: 'a', keys: null }).keys).toBeUndefined();
});
