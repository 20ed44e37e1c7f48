import { expect, jest, test } from '@jest/globals';
import { torture } from 'lock-torture';
import { matchers } from 'lock-torture/jest';

expect.extend(matchers);
// A run takes its time limit and some seconds; jest gives a test five.
jest.setTimeout(300_000);

// Work that outlives its lease: its client comes late to release what another one may have been granted since.
const late = {
  topology: 'single',
  nemesis: 'none',
  careless: true,
  lease: '1s',
  hold: '0.5x..1.5x',
  timeLimit: '8s',
  failOn: 'lock',
};

test('my lock gives back only what is its own', async () => {
  const lock = new URL('./my-lock.ts', import.meta.url);
  expect(await torture({ ...late, lock })).toHaveNoLockMistakes();
});

test('a lock that deletes whatever is there is found out', async () => {
  const lock = new URL('./blind-delete.ts', import.meta.url);
  expect(await torture({ ...late, lock, stopAtFirst: true })).toBreak({ cause: 'released-by-other' });
});
