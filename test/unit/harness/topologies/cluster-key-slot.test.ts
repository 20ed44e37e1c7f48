import keySlot from 'cluster-key-slot';
import { expect, it } from 'vitest';

it('is what CLUSTER KEYSLOT answers', () => {
  expect(keySlot('123456789')).toBe(0x31c3);
  expect(keySlot('foo')).toBe(12_182);
  expect(keySlot('lock:0')).toBe(7_495);
});

it('is that of the hash tag, if there is one that is not empty', () => {
  expect(keySlot('{lock:0}:fence')).toBe(keySlot('lock:0'));
  expect(keySlot('app:{lock:0}')).toBe(keySlot('lock:0'));
  expect(keySlot('foo{}{bar}')).not.toBe(keySlot('bar'));
  expect(keySlot('foo{{bar}}zap')).toBe(keySlot('{bar'));
});
