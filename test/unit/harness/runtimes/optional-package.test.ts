import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageFolder } from '../../../../harness/machine/package-folder.js';
import { loadOptional, OLDEST } from '../../../../harness/runtimes/optional-package.js';

let folder: string;

beforeAll(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'optional-package-test-')), 'pg');
  mkdirSync(folder);
});
afterAll(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const version = (text: string) => writeFileSync(join(folder, 'package.json'), JSON.stringify({ version: text }));

it.each(['8.10.0', '8.16.3', '9.0.0-beta.1', '10.0.0'])('takes version %s', async (text) => {
  version(text);
  expect(await loadOptional('pg', async () => 'loaded', folder)).toBe('loaded');
});

it.each(['8.9.0', '8.0.3', '7.18.2'])('says of version %s that it is too old, and loads nothing', async (text) => {
  version(text);
  const loading = loadOptional('pg', async () => expect.fail('it is not to be loaded'), folder);
  await expect(loading).rejects.toMatchObject({
    name: 'OptionalPackageError',
    message: `the npm package pg is ${text} (${folder}), and 8.10 or newer is needed: npm install --save-dev pg@latest`,
  });
});

it('says that it is not installed, and what to type', async () => {
  const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  await expect(loadOptional('pg', () => Promise.reject(missing), undefined)).rejects.toMatchObject({
    message: 'the npm package pg is needed and not installed: npm install --save-dev pg',
  });
});

it('finds those that this clone is tried with, and takes them', async () => {
  for (const name of Object.keys(OLDEST) as (keyof typeof OLDEST)[]) {
    expect(packageFolder(name)).toContain(`node_modules/${name}`);
    expect(await loadOptional(name, async () => name)).toBe(name);
  }
});
