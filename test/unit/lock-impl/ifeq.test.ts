/** Which commands `ifeq` sends, by what the server says that it has. */
import { expect, test } from 'vitest';
import ifeq from '../../../lock-impl/ifeq.js';
import { FakeAccess, type FakeReply, named, node, options } from './fake-access.js';

const [DELIFEQ, DELEX] = [
  ['delifeq', 3],
  ['delex', -2],
];

/** A grant from a server that answers COMMAND INFO like this, and SET and what deletes if it is equal like that. */
async function grantedBy(info: FakeReply[], answers: { set?: unknown; deleted?: unknown } = {}) {
  let asked = 0;
  const one = node((name, nth) => {
    if (name === 'COMMAND') return info[Math.min(asked++, info.length - 1)]!;
    if (name === 'SET') return { reply: answers.set ?? null };
    return { reply: name === 'set' && nth === 0 ? 'OK' : (answers.deleted ?? 0) };
  });
  const fake = new FakeAccess([one]);
  const client = await ifeq.connect(fake.access);
  const hold = await fake.run(client.acquire('k', options(1_000)));
  const owner = one.commands[0]![2];
  return { hold: hold!, owner, sent: () => one.commands.slice(1) };
}

const INFO = ['COMMAND', 'INFO', 'DELIFEQ', 'DELEX'];

test.each([
  ['DELIFEQ', [DELIFEQ, null], (owner: unknown) => ['DELIFEQ', 'k', owner]],
  ['DELEX', [null, DELEX], (owner: unknown) => ['DELEX', 'k', 'IFEQ', owner]],
])('by %s where there is one, asked for once; renewed by SET IFEQ, with its expiry', async (_, infos, release) => {
  const { hold, owner, sent } = await grantedBy([{ reply: infos }], { set: 'OK', deleted: 1 });
  expect(await hold.extend!(2_000)).toMatchObject({ validForMs: expect.any(Number) });
  expect(await hold.release()).toBe(true);
  expect(sent()).toEqual([INFO, ['SET', 'k', owner, 'IFEQ', owner, 'PX', 2_000], release(owner)]);
});

test('by scripts where there is neither', async () => {
  const { hold, owner, sent } = await grantedBy([{ reply: [null, null] }], { deleted: 1 });
  expect(await hold.release()).toBe(true);
  expect(sent()).toEqual([INFO, ['eval', expect.stringContaining('del'), 1, 'k', owner]]);
});

test("what is another's by now is neither released nor extended", async () => {
  const { hold } = await grantedBy([{ reply: [DELIFEQ, null] }], { set: null, deleted: 0 });
  expect(await hold.extend!(2_000)).toBeNull();
  expect(await hold.release()).toBe(false);
});

test('a server that could not be asked was certainly not told to release, and is asked again', async () => {
  const unreachable = { error: named('NeverSentError', 'not sent') };
  const { hold, sent } = await grantedBy([unreachable, { reply: [DELIFEQ, null] }], { deleted: 1 });
  await expect(hold.release()).rejects.toThrow('refused: unreachable');
  expect(sent()).toEqual([INFO]);
  expect(await hold.release()).toBe(true);
});
