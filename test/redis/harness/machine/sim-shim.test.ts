/** The library under which servers live in virtual time, tried for real. */
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { privateFolder } from '../../../../harness/machine/private-folder.js';
import { buildSimShim, trySimShim } from '../../../../harness/machine/sim-shim.js';

/** Node 20 itself needs 2.28; the shim is content with less. */
const OLDEST_GLIBC = [2, 17];

test('it works, and needs no symbol that an old C library lacks', { tags: ['native'] }, async () => {
  using cache = privateFolder(join(tmpdir(), 'lock-torture-sim-shim'));
  const built = await buildSimShim({ cacheFolder: cache.path, say: () => {} });
  if (!('path' in built)) throw new Error(built.unavailable);
  expect(await trySimShim(built.path)).toBeUndefined();

  const asked = readFileSync(built.path, 'latin1').matchAll(/GLIBC_(\d+)\.(\d+)/g);
  const versions = [...asked].map(([, major, minor]) => [Number(major), Number(minor)]);
  expect(versions.length).toBeGreaterThan(0);
  const tooNew = versions.filter(([major, minor]) => major! > OLDEST_GLIBC[0]! || minor! > OLDEST_GLIBC[1]!);
  expect(tooNew).toEqual([]);
});

test('what is no such library is said to have no effect', async () => {
  expect(await trySimShim('/nowhere/shim.so')).toMatch(
    /has no effect: .* should see its clock at 1700000000 read "\d+"/,
  );
});
