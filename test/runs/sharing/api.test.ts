/** `torture()`, `scenario()` and `check()` in a program: what they resolve with, how they are stopped, what they refuse. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { check, scenario, torture } from '../../../cli/api/torture.js';
import { freshFolder } from '../../support/torture.js';

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
  await expect(check('nowhere')).rejects.toThrow(/^[^\n]*nowhere[^\n]*$/);
});
