import { type TortureOptions, torture } from 'lock-torture';
import { expect, test } from 'vitest';
import 'lock-torture/vitest';

// Work that outlives its lease: its client comes late to release what another one may have been granted since.
const late: TortureOptions = {
  topology: 'single',
  nemesis: 'none',
  careless: true,
  lease: '1s',
  hold: '0.5x..1.5x',
  timeLimit: '8s',
  failOn: 'lock',
};

test('my lock gives back only what is its own', async ({ signal }) => {
  const lock = new URL('./my-lock.ts', import.meta.url);
  expect(await torture({ ...late, lock, signal })).toHaveNoLockMistakes();
});

test('a lock that deletes whatever is there is found out', async ({ signal }) => {
  const lock = new URL('./blind-delete.ts', import.meta.url);
  expect(await torture({ ...late, lock, signal, stopAtFirst: true })).toBreak({ cause: 'released-by-other' });
});
