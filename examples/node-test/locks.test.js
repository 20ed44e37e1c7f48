import assert from 'node:assert/strict';
import { test } from 'node:test';
import { story, torture } from 'lock-torture';

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

test('my lock gives back only what is its own', async ({ signal }) => {
  const lock = new URL('./my-lock.ts', import.meta.url);
  const result = await torture({ ...late, lock, signal });
  // Neither found nor such that it cannot be told.
  assert.equal(result.ownMistakes, 'none', story(result));
});

test('a lock that deletes whatever is there is found out', async ({ signal }) => {
  const lock = new URL('./blind-delete.ts', import.meta.url);
  const result = await torture({ ...late, lock, signal, stopAtFirst: true });
  const { violations } = result;
  assert.ok(
    violations.some(({ cause }) => cause === 'released-by-other'),
    story(result),
  );
});
