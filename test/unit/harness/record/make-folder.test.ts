import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { downloadNamed } from '../../../../harness/machine/named-server.js';
import { CacheFolderError } from '../../../../harness/machine/private-folder.js';
import { makeFolder } from '../../../../harness/record/make-folder.js';

const scratch = mkdtempSync(join(tmpdir(), 'make-folder-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

it('makes a folder with its parents, and does nothing where it is there', () => {
  const folder = join(scratch, 'a', 'b', 'c');
  makeFolder(folder);
  makeFolder(folder);
  expect(existsSync(folder)).toBe(true);
});

it('says at once that none can be made below /proc, or in a file', () => {
  expect(() => makeFolder('/proc/none/of/these')).toThrow(/ENOENT/);
  writeFileSync(join(scratch, 'file'), '');
  expect(() => makeFolder(join(scratch, 'file', 'x'))).toThrow(/ENOTDIR/);
});

it('a server that is to be downloaded by its name into a cache below /proc is refused', async () => {
  const named = downloadNamed({ product: 'redis', version: '9.9' }, '/proc/none', async () => undefined as never);
  await expect(named).rejects.toThrow(CacheFolderError);
});
