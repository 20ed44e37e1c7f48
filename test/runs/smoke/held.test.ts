/**
 * A run that holds, what it prints as JSON, and what becomes of its record when that is damaged.
 *
 * @module-tag namespaces
 */
import {
  appendFileSync,
  cpSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Ended, freshFolder, QUIET, RUN_FILES, torture } from '../../support/torture.js';

let run: Ended;
beforeAll(async () => {
  run = await torture(['--json', ...QUIET, '--time-limit', '5s']);
});

test('no fault, no accusation: it holds, and leaves every file', () => {
  expect(run.results, run.output + run.errors).toMatchObject({ verdict: 'held', violations: [] });
  expect(run.status).toBe(0);
  expect(RUN_FILES.filter((file) => !existsSync(join(run.folder, file)))).toEqual([]);
});

test('--json: every line is an object, the last one the verdict', () => {
  const lines = run.output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.at(-1)).toMatchObject({ verdict: run.results.verdict, exitStatus: run.status });
  expect(lines.slice(0, -1).every((line) => line.type !== undefined)).toBe(true);
});

test('a torn last line of what was recorded is mentioned, other damage is reported with its line', async () => {
  const folder = freshFolder();
  cpSync(run.folder, folder, { recursive: true, dereference: true });
  const history = join(folder, 'history.jsonl');
  const whole = readFileSync(history, 'utf8');

  truncateSync(history, statSync(history).size - 20);
  const torn = await torture([folder], { command: 'check' });
  expect(torn.status).toBe(2);
  expect(torn.output).toContain('torn');

  const lines = whole.split('\n');
  lines[10] = 'garbage';
  writeFileSync(history, lines.join('\n'));
  const damaged = await torture([folder], { command: 'check' });
  expect(damaged.status).toBe(3);
  expect(damaged.errors.trim().split('\n')).toHaveLength(1);
  expect(damaged.errors).toMatch(/history\.jsonl.*line 11/);

  rmSync(history);
  const nothing = await torture([folder], { command: 'check' });
  expect(nothing.status).toBe(3);
  expect(nothing.errors.trim().split('\n')).toHaveLength(1);
  expect(nothing.errors).toContain('nothing was recorded');

  writeFileSync(history, whole);
  appendFileSync(history, '');
  expect((await torture([folder], { command: 'check' })).status).toBe(0);
});
