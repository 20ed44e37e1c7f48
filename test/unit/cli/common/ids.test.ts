import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { createFreshFolder } from '../../../../cli/common/ids.js';

const scratch = mkdtempSync(join(tmpdir(), 'lock-torture-ids-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

it('two that draw the same digits within a second get a folder each', () => {
  vi.useFakeTimers({ now: new Date('2026-11-21T09:13:06Z') });
  const drawn = ['9bb2', '9bb2', '9bb2', '0000'];
  const ids = [1, 2].map(() => createFreshFolder(scratch, 'redlock', () => drawn.shift()!));
  expect(ids.map(({ id }) => id)).toEqual(['2026-11-21T09-13-06-redlock-9bb2', '2026-11-21T09-13-06-redlock-0000']);
  for (const { folder } of ids) expect(existsSync(folder), folder).toBe(true);
  vi.useRealTimers();
});

it('where no folder can be made, it says so', () => {
  const file = join(scratch, 'file');
  writeFileSync(file, '');
  expect(() => createFreshFolder(file, 'redlock')).toThrow(/^cannot create .*redlock.*: ENOTDIR/);
});
