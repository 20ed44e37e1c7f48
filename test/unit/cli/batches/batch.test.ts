/** What repeats one run of a batch: typed where the user stands, it asks for the same machine and for nothing else. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type BatchOptions, decideByFlags } from '../../../../cli/batches/batch.js';
import { freshFolder } from '../../../support/torture.js';

const redis = { path: '/usr/bin/redis-server', env: {}, version: '7.0.15', origin: 'PATH' };
const machine: BatchOptions['machine'] = { runtime: 'netns', redis, unavailable: {} };

function again(argv: readonly string[], { naming = [] as string[], cwd = process.cwd() } = {}): string {
  return decideByFlags({ machine, naming }, cwd)({ argv }, 7).request.reproduce.replace(/^.*? -- /, '');
}

test('says the machine that was asked for', () => {
  const naming = ['--server', 'valkey@9', '--runtime', 'netns'];
  expect(again(['--nemesis', 'none'], { naming })).toBe('--nemesis none --server valkey@9 --runtime netns --seed 7');
});

test('names files that are of another folder by their path', () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, 'plan.json'), '{"version":1,"seed":1,"steps":[]}');
  writeFileSync(join(cwd, 'mine.ts'), '');
  expect(again(['--plan', 'plan.json', '--lock', './mine.ts'], { cwd })).toBe(
    `--plan ${cwd}/plan.json --lock ${cwd}/mine.ts --seed 7`,
  );
  expect(again(['--lock', 'set-nx-px'], { cwd })).toBe('--lock set-nx-px --seed 7');
});

test('has no config where there is something that it would begin with', () => {
  vi.stubEnv('LOCK_TORTURE_LEASE', '9s');
  try {
    expect(again(['--nemesis', 'none'])).toBe('--nemesis none --no-config --seed 7');
  } finally {
    vi.unstubAllEnvs();
  }
});
