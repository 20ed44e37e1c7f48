import { describe, expect, test } from 'vitest';
import setNxPx from '../../../lock-impl/set-nx-px.js';
import { FakeAccess, type FakeNode, named, node, options, silent, taken, unreachable } from './fake-access.js';

async function acquire(one: FakeNode, leaseMs = 1_000, waitMs = 0) {
  const fake = new FakeAccess([one]);
  const client = await setNxPx.connect(fake.access);
  const hold = await fake.run(client.acquire('k', options(leaseMs, waitMs)));
  return { fake, hold: hold! };
}

describe('set-nx-px', () => {
  test('a grant is good for the lease less what it took, 1 % and 2 ms', async () => {
    const { hold } = await acquire(node(() => ({ reply: 'OK', afterMs: 30 })));
    expect(hold.validForMs).toBeCloseTo(1_000 - 30 - 10 - 2, 6);
    expect(hold.grantSentNs).toBe(1_000e6);
  });

  test('certain refusals say why', async () => {
    await expect(acquire(taken())).rejects.toThrow('refused: held');
    await expect(acquire(unreachable())).rejects.toThrow('refused: unreachable');
    const readonly = node(() => ({
      error: named('ReplyError', "READONLY You can't write against a read only replica."),
    }));
    await expect(acquire(readonly)).rejects.toThrow('refused: readonly');
  });

  test('an unknown outcome is no refusal, and is not tried again', async () => {
    const lost = node(() => ({ error: new Error('Command timed out') }));
    await expect(acquire(lost, 1_000, 5_000)).rejects.toThrow(/^Command timed out$/);
    expect(lost.commands).toHaveLength(1);
  });

  test('a grant that comes too late is given back', async () => {
    const slow = node((name) => ({ reply: name === 'set' ? 'OK' : 1, afterMs: 990 }));
    await expect(acquire(slow)).rejects.toThrow('refused: granted-late');
    expect(slow.commands.map(([name]) => name)).toEqual(['set', 'eval']);
    expect(slow.commands[1]!.slice(3)).toEqual(['k', slow.commands[0]![2]]);
  });

  test('waits with pauses, and gives up when the wait is over', async () => {
    const freedLater = node((_name, nth) => ({ reply: nth < 5 ? null : 'OK' }));
    const { fake, hold } = await acquire(freedLater, 1_000, 10_000);
    expect(hold.grantSentNs).toBe(Math.round(fake.nowMs * 1e6));
    const held = taken();
    await expect(acquire(held, 1_000, 300)).rejects.toThrow('refused: held');
    expect(held.commands.length).toBeGreaterThan(300 / 30);
    expect(held.commands.length).toBeLessThan(300 / 10 + 3);
  });

  test('release and extend distinguish "no", "not done" and "unknown"', async () => {
    const answers = [
      { reply: 1 },
      { reply: 0 },
      { error: named('NeverSentError', '') },
      { error: new Error('closed') },
    ];
    const one = node((name, nth) => (name === 'set' ? { reply: 'OK' } : answers[nth % 4]!));
    const { hold } = await acquire(one);
    expect(await hold.release()).toBe(true);
    expect(await hold.release()).toBe(false);
    await expect(hold.release()).rejects.toThrow('refused: unreachable');
    await expect(hold.release()).rejects.toThrow(/^closed$/);
    expect(await hold.extend!(2_000)).toEqual({ validForMs: 2_000 - 20 - 2 });
    expect(await hold.extend!(2_000)).toBeNull();
    await expect(hold.extend!(2_000)).rejects.toThrow('refused: unreachable');
    await expect(hold.extend!(2_000)).rejects.toThrow(/^closed$/);
  });

  test('silence is not an answer', async () => {
    await expect(acquire(silent())).rejects.toThrow('everybody waits for nothing');
  });
});
