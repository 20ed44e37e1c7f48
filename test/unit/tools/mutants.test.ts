/** Small changes of meaning, one by one: what is kept of them is about files that are there, and what is ignored has its reason. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../support/torture.js';

const TOOL = join(ROOT, 'tools/mutants');

it('what is ignored is in a file that is there, and has its reason', () => {
  const ignored: { file: string; within: string; reason?: string }[] = JSON.parse(
    readFileSync(join(TOOL, 'ignored.json'), 'utf8'),
  );
  for (const { file, within, reason } of ignored) {
    expect(readFileSync(join(ROOT, file), 'utf8')).toContain(within);
    expect(reason?.length ?? 0).toBeGreaterThan(20);
  }
});

it('each baseline is of a file that is there, and counts what it says is alive', () => {
  const names = readdirSync(join(TOOL, 'baseline'), { recursive: true, encoding: 'utf8' });
  const kept = names.filter((name) => name.endsWith('.json'));
  expect(kept.length).toBeGreaterThan(0);
  for (const name of kept) {
    expect(existsSync(join(ROOT, name.replace(/\.json$/, ''))), name).toBe(true);
    const { counts, alive } = JSON.parse(readFileSync(join(TOOL, 'baseline', name), 'utf8'));
    const { Killed: _killed, Ignored: _ignored, ...left } = counts as Record<string, number>;
    expect(Object.values(left).reduce((sum, count) => sum + count, 0)).toBe(alive.length);
  }
});

it.each([
  [[], 'no folder is given'],
  [['no/such'], /^there is no no\/such in /],
  [['checkers/worth', '--shard', '8/7'], '--shard 8/7 is not one like 2/7'],
  [['checkers/worth', '--shards', '1/7'], "Unknown option '--shards'"],
])('what it cannot do it says in one line: %j', (args, says) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(TOOL, 'run.mjs'), ...args], {
    encoding: 'utf8',
  });
  expect([status, stdout, stderr.split('\n').length]).toEqual([3, '', 2]);
  expect(stderr.replace('lock-torture: ', '')).toMatch(says);
});
