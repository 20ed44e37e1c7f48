import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dropServersFolders } from '../../../../cli/run/kept-files.js';

test('what servers stored goes, what clients left and what was recorded stays', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-kept-'));
  try {
    dropServersFolders(folder);
    for (const host of ['e1', 'r2', 's1', 'resource', 'c1', 'c12']) {
      mkdirSync(join(folder, 'hosts', host, 'data'), { recursive: true });
      writeFileSync(join(folder, 'hosts', host, 'data', '0.wal'), 'x');
    }
    mkdirSync(join(folder, 'logs'));
    writeFileSync(join(folder, 'logs', 'e1.log'), 'x');
    dropServersFolders(folder);
    expect(readdirSync(join(folder, 'hosts')).sort()).toEqual(['c1', 'c12']);
    expect(existsSync(join(folder, 'hosts', 'c12', 'data', '0.wal'))).toBe(true);
    expect(existsSync(join(folder, 'logs', 'e1.log'))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
