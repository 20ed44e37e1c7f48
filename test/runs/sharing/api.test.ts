/** `torture()`, `scenario()` and `check()` in a program: what they resolve with, how they are stopped, what they refuse. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { check, scenario, type TortureResult, torture } from '../../../cli/api/torture.js';
import { freshFolder, processesOf, ROOT, until } from '../../support/torture.js';

const quick = { topology: 'single', nemesis: 'none', runtime: 'netns', timeLimit: '2s', clients: 2, keys: 1 } as const;
/** For what ends before it would begin. */
const unqueued = { ...quick, queue: false } as const;

describe('a call that waits for nobody', () => {
  const out = freshFolder();
  const lines: string[] = [];
  let result: TortureResult;
  // In a test whose timers are fake, with a config that prints: one run shows all of it.
  beforeAll(async () => {
    const config = join(out, 'noisy.mjs');
    writeFileSync(config, "console.log('loud'); setTimeout(() => console.log('late'), 1); export default {};");
    vi.useFakeTimers();
    try {
      result = await torture({ ...quick, config, out, seed: 7, onProgress: (line) => lines.push(line) });
    } finally {
      vi.useRealTimers();
    }
  });

  it('resolves with a verdict, a report and the command that repeats it; check says the same of the record', async () => {
    expect(result.runId).not.toBe('');
    expect(result.report).toBe(join(out, result.runId, 'report.html'));
    expect(existsSync(result.report!)).toBe(true);
    expect(result.reproduce).toMatch(/--topology=single .*--seed 7$/);
    expect(result.reproduce).not.toContain('--json');
    expect(lines.some((line) => line.startsWith('single ready after'))).toBe(true);
    const { verdict, violations } = await check(result.folder);
    expect({ verdict, violations }).toEqual({ verdict: result.verdict, violations: result.violations });
  });

  it('is not troubled by what a config prints', () => {
    expect(result.verdict).toMatch(/held|unknown/);
    expect(lines).toContain('late');
  });

  it('is not reached by fake timers of a test', () => {
    expect(['held', 'unknown']).toContain(result.verdict);
  });
});

it('calls wait for each other, on the whole machine; who is called off while waiting does not wait; the signal of one that runs stops it, after it was healed and judged', async () => {
  const out = freshFolder();
  const told: string[] = [];
  const tell = (name: string) => (line: string) => {
    if (/ready after|waiting for/.test(line)) told.push(`${name} ${line.split(' ')[0]}`);
  };
  const one = torture({ ...quick, out: freshFolder(), onProgress: tell('one') }).then(() => told.push('one ended'));
  const [stop, callOff] = [new AbortController(), new AbortController()];
  const two = torture({
    ...{ ...quick, timeLimit: '10m', out, signal: stop.signal },
    onProgress: (line) => {
      tell('two')(line);
      if (line.includes('clients of lock')) stop.abort(new Error('enough'));
    },
  });
  const three = torture({ ...quick, out, signal: callOff.signal });
  callOff.abort(new Error('called off'));
  await expect(three).rejects.toThrow(/^called off$/);
  const stopped = expect(two).rejects.toThrow(/^enough$/);
  await Promise.all([one, stopped.then(() => told.push('two ended'))]);
  // Another file's call may have had its turn meanwhile: then either of them comes first, and both have waited.
  expect(told).toContain('two waiting');
  const turns = told.filter((line) => !line.endsWith('waiting'));
  const turnOf = (name: string) => [`${name} single`, `${name} ended`];
  expect([
    [...turnOf('one'), ...turnOf('two')],
    [...turnOf('two'), ...turnOf('one')],
  ]).toContainEqual(turns);
  expect(existsSync(join(out, 'latest', 'results.json'))).toBe(true);
  await expect(torture({ ...quick, out, signal: stop.signal })).rejects.toThrow(/^enough$/);
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
  const refused: [Promise<unknown>, RegExp][] = [
    [torture({ ...unqueued, lock: './nowhere.ts' }), /^--lock \.\/nowhere\.ts: .* does not exist$/],
    [torture({ ...unqueued, lock: {} as URL }), /^lock: expected a file, .*, got an object$/],
    [torture({ ...unqueued, cwd: '/nowhere' }), /^cwd: \/nowhere is no folder$/],
    [torture({ ...unqueued, seed: -1 }), /^option '--seed <n>' argument '-1' is invalid\. [^\n]*$/],
    [check('nowhere'), /^[^\n]*nowhere[^\n]*$/],
  ];
  await Promise.all(refused.map(([call, line]) => expect(call).rejects.toThrow(line)));
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
  await expect(torture({ ...unqueued, lock })).rejects.toThrow(
    /a\.test\.ts:1:\d+: a lock cannot import vitest: every client loads it in a process of its own, [^\n]*$/,
  );
});
