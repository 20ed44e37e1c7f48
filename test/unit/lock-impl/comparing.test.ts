/** Which commands `ifeq` and `delex` send, by what the server says that it has. */
import { describe, expect, test } from 'vitest';
import delex from '../../../lock-impl/delex.js';
import ifeq from '../../../lock-impl/ifeq.js';
import { FakeAccess, type FakeReply, named, node, options } from './fake-access.js';

type Owner = unknown;

describe.each([
  { lock: ifeq, command: 'DELIFEQ', release: (owner: Owner) => ['DELIFEQ', 'k', owner] },
  { lock: delex, command: 'DELEX', release: (owner: Owner) => ['DELEX', 'k', 'IFEQ', owner] },
])('$lock.name', ({ lock, command, release }) => {
  const INFO = ['COMMAND', 'INFO', command];
  const has: FakeReply = { reply: [[command.toLowerCase(), 3]] };
  const hasNot: FakeReply = { reply: [null] };

  /** A grant from a server that answers COMMAND INFO like this, and SET and what deletes if it is equal like that. */
  async function grantedBy(info: FakeReply[], answers: { set?: unknown; deleted?: unknown } = {}) {
    let asked = 0;
    const one = node((name, nth) => {
      if (name === 'COMMAND') return info[Math.min(asked++, info.length - 1)]!;
      if (name === 'SET') return { reply: answers.set ?? null };
      return { reply: name === 'set' && nth === 0 ? 'OK' : (answers.deleted ?? 0) };
    });
    const fake = new FakeAccess([one]);
    const client = await lock.connect(fake.access);
    const hold = await fake.run(client.acquire('k', options(1_000)));
    const owner = one.commands[0]![2];
    return { hold: hold!, owner, sent: () => one.commands.slice(1) };
  }

  test(`by ${command} where there is one, asked for once; renewed by SET IFEQ, with its expiry`, async () => {
    const { hold, owner, sent } = await grantedBy([has], { set: 'OK', deleted: 1 });
    expect(await hold.extend!(2_000)).toMatchObject({ validForMs: expect.any(Number) });
    expect(await hold.release()).toBe(true);
    expect(sent()).toEqual([INFO, ['SET', 'k', owner, 'IFEQ', owner, 'PX', 2_000], release(owner)]);
  });

  test('by scripts where there is none, asked for once', async () => {
    const { hold, owner, sent } = await grantedBy([hasNot], { deleted: 1 });
    expect(await hold.extend!(2_000)).toMatchObject({ validForMs: expect.any(Number) });
    expect(await hold.release()).toBe(true);
    expect(sent()).toEqual([
      INFO,
      ['eval', expect.stringContaining('pexpire'), 1, 'k', owner, 2_000],
      ['eval', expect.stringContaining('del'), 1, 'k', owner],
    ]);
  });

  test("what is another's by now is neither released nor extended", async () => {
    const { hold } = await grantedBy([has], { set: null, deleted: 0 });
    expect(await hold.extend!(2_000)).toBeNull();
    expect(await hold.release()).toBe(false);
  });

  test('a server that could not be asked was certainly not told to release, and is asked again', async () => {
    const unreachable = { error: named('NeverSentError', 'not sent') };
    const { hold, sent } = await grantedBy([unreachable, has], { deleted: 1 });
    await expect(hold.release()).rejects.toThrow('refused: unreachable');
    expect(sent()).toEqual([INFO]);
    expect(await hold.release()).toBe(true);
  });
});
