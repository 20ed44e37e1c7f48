/** The rules of the protected resource. Its program over a real connection: test/redis/harness/resource. */
import { describe, expect, test } from 'vitest';
import { Register } from '../../../../harness/resource/register.js';

describe('a register', () => {
  test('begins at 0, stores what is written, and counts the writes of each key', () => {
    const register = new Register('trusting');
    expect(register.answer({ id: 1, op: 'read', key: 'a' })).toEqual({ id: 1, value: 0, version: 0 });
    expect(register.answer({ id: 2, op: 'write', key: 'a', value: 7 })).toEqual({ id: 2, value: 7, version: 1 });
    expect(register.answer({ id: 3, op: 'write', key: 'a', value: 7, token: 1 })).toMatchObject({ version: 2 });
    expect(register.answer({ id: 4, op: 'read', key: 'b' })).toEqual({ id: 4, value: 0, version: 0 });
  });

  test('that trusts takes an older token, one that checks refuses it, also after a mere read with a newer one', () => {
    const trusting = new Register('trusting');
    trusting.answer({ id: 1, op: 'write', key: 'a', value: 1, token: 34 });
    expect(trusting.answer({ id: 2, op: 'write', key: 'a', value: 2, token: 33 })).toMatchObject({ value: 2 });

    const checking = new Register('checking');
    checking.answer({ id: 1, op: 'write', key: 'a', value: 1, token: 33 });
    checking.answer({ id: 2, op: 'read', key: 'a', token: 34 });
    expect(checking.answer({ id: 3, op: 'write', key: 'a', value: 2, token: 33 })).toEqual({
      id: 3,
      refused: 'stale-token: 33 is older than 34',
    });
    expect(checking.answer({ id: 4, op: 'write', key: 'a', value: 2, token: 34 })).toMatchObject({ version: 2 });
    expect(checking.answer({ id: 5, op: 'write', key: 'b', value: 2, token: 1 })).toMatchObject({ version: 1 });
  });

  test('that checks refuses a client without a token', () => {
    expect(new Register('checking').answer({ id: 1, op: 'read', key: 'a' })).toEqual({ id: 1, refused: 'no-token' });
  });
});
