import { expect, test } from 'vitest';
import { lockOf } from '../../../../harness/client/load-lock.js';

const lock = { name: 'x', connect: async () => ({ acquire: async () => null }) };

function makeLock() {
  return lock;
}

test('takes a default export, also that of a CommonJS module compiled from one', () => {
  expect(lockOf({ default: lock }, 'a.ts')).toBe(lock);
  expect(lockOf({ default: { default: lock } }, 'a.cjs')).toBe(lock);
});

test.each([
  [{}, 'there is no default export'],
  [{ lock }, 'there is no default export, only lock'],
  [{ default: class Lock {} }, 'the default export is the class Lock, not a lock'],
  [{ default: makeLock }, 'the default export is a function makeLock, not a lock'],
  [{ default: Promise.resolve(lock) }, 'the default export is a promise, not a lock: await it'],
  [{ default: null }, 'the default export is null, not a lock'],
  [{ default: () => lock }, 'the default export is a function, not a lock'],
  [{ default: { name: 'x' } }, 'the default export has no function `connect`'],
  [{ default: { ...lock, name: '' } }, 'the lock has no `name`'],
  [{ default: { ...lock, topologies: 'single' } }, '`topologies` is not an array of strings'],
  [{ default: { ...lock, features: [1] } }, '`features` is not an array of strings'],
])('%j', (module, wrong) => {
  expect(() => lockOf(module, 'a.ts')).toThrow(`a.ts: ${wrong}; a lock module ends in`);
});
