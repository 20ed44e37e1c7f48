/** `torture()`, `scenario()` and `check()` in a program: what they resolve with, how they are stopped, what they refuse. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { check, scenario, torture } from '../../../cli/api/torture.js';
import { freshFolder, processesOf, ROOT, until } from '../../support/torture.js';

const quick = { topology: 'single', nemesis: 'none', runtime: 'netns', timeLimit: '3s' } as const;

it('resolves with a verdict, a report and the command that repeats it; check says the same of the record', async () => {
  const out = freshFolder();
  const lines: string[] = [];
  const result = await torture({ ...quick, out, seed: 7, onProgress: (line) => lines.push(line) });
  expect(result.runId).not.toBe('');
  expect(result.report).toBe(join(out, result.runId, 'report.html'));
  expect(existsSync(result.report!)).toBe(true);
  expect(result.reproduce).toMatch(/--topology=single .*--seed 7$/);
  expect(result.reproduce).not.toContain('--json');
  expect(lines.some((line) => line.startsWith('single ready after'))).toBe(true);
  const { verdict, violations } = await check(result.folder);
  expect({ verdict, violations }).toEqual({ verdict: result.verdict, violations: result.violations });
});

it('is not troubled by what a config prints', async () => {
  const folder = freshFolder();
  writeFileSync(
    join(folder, 'noisy.mjs'),
    "console.log('loud'); setTimeout(() => console.log('late'), 1); export default {};",
  );
  const lines: string[] = [];
  const config = join(folder, 'noisy.mjs');
  const result = await torture({ ...quick, config, out: folder, onProgress: (line) => lines.push(line) });
  expect(result.verdict).toMatch(/held|unknown/);
  expect(lines).toContain('late');
});

it('is stopped by its signal, after the run was healed and judged', async () => {
  const out = freshFolder();
  const enough = new AbortController();
  const stopped = torture({
    ...quick,
    timeLimit: '10m',
    out,
    signal: enough.signal,
    onProgress: (line) => line.includes('clients of lock') && enough.abort(new Error('enough')),
  });
  await expect(stopped).rejects.toThrow(/^enough$/);
  expect(existsSync(join(out, 'latest', 'results.json'))).toBe(true);
  await expect(torture({ ...quick, out, signal: enough.signal })).rejects.toThrow(/^enough$/);
});

it('plays a scenario with another lock', async () => {
  const played = await scenario('only-the-owner-releases', {
    lock: 'set-nx-px-del',
    runtime: 'netns',
    out: freshFolder(),
  });
  expect(played).toMatchObject({ scenario: 'only-the-owner-releases', went: 'violated', verdict: 'violated' });
  const own = played.violations.filter(({ blame }) => blame?.on === 'lock');
  expect(own.map(({ cause }) => cause)).toContain('released-by-other');
});

it('rejects with one line what cannot run', async () => {
  await expect(torture({ ...quick, lock: './nowhere.ts' })).rejects.toThrow(
    /^--lock \.\/nowhere\.ts: .* does not exist$/,
  );
  await expect(torture({ ...quick, lock: {} as URL })).rejects.toThrow(/^lock: expected a file, .*, got an object$/);
  await expect(torture({ ...quick, cwd: '/nowhere' })).rejects.toThrow(/^cwd: \/nowhere is no folder$/);
  await expect(torture({ ...quick, seed: -1 })).rejects.toThrow(
    /^option '--seed <n>' argument '-1' is invalid\. [^\n]*$/,
  );
  await expect(check('nowhere')).rejects.toThrow(/^[^\n]*nowhere[^\n]*$/);
});

it('calls wait for each other, on the whole machine; who is called off while waiting does not wait', async () => {
  const out = freshFolder();
  const told: string[] = [];
  const tell = (name: string) => (line: string) => {
    if (/ready after|waiting for/.test(line)) told.push(`${name} ${line.split(' ')[0]}`);
  };
  const one = torture({ ...quick, out, onProgress: tell('one') }).then(() => told.push('one ended'));
  const enough = new AbortController();
  const two = torture({ ...quick, out, onProgress: tell('two') });
  const three = torture({ ...quick, out, signal: enough.signal });
  enough.abort(new Error('enough'));
  await expect(three).rejects.toThrow(/^enough$/);
  await Promise.all([one, two]);
  expect(told).toEqual(['two waiting', 'one single', 'one ended', 'two single']);
});

it('fake timers of a test do not reach it', async () => {
  vi.useFakeTimers();
  try {
    const { verdict } = await torture({ ...quick, out: freshFolder() });
    expect(['held', 'unknown']).toContain(verdict);
  } finally {
    vi.useRealTimers();
  }
});

it('a process that dies in the middle of a call leaves nothing', async () => {
  const mark = randomUUID();
  const program = `import { torture } from ${JSON.stringify(join(ROOT, 'dist/cli/api/index.js'))};
    const onProgress = (line) => line.includes('clients of lock') && process.kill(process.pid, 'SIGKILL');
    await torture({ ...${JSON.stringify({ ...quick, timeLimit: '10m', out: freshFolder() })}, onProgress });`;
  const env = { ...process.env, LOCK_TORTURE_TEST_MARK: mark };
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { env, stdio: 'ignore' });
  const signal = await new Promise((resolve) => child.once('exit', (_, by) => resolve(by)));
  expect(signal).toBe('SIGKILL');
  await until('the end of all that it started', () => processesOf(mark).length === 0);
});

it('refuses a lock whose file is a test', async () => {
  const lock = join(freshFolder(), 'a.test.ts');
  writeFileSync(lock, "import { test } from 'vitest';\ntest('x', () => {});\nexport default {};\n");
  await expect(torture({ ...quick, lock })).rejects.toThrow(
    /a\.test\.ts:1:\d+: a lock cannot import vitest: every client loads it in a process of its own, [^\n]*$/,
  );
});
