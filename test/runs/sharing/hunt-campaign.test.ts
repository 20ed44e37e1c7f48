/**
 * A campaign in virtual time: killed and gone on with as often as may be, it plays each schedule once; and four parts of it, merged,
 * are to the byte what one machine made.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { endAll, freshFolder, start, type Torture, until } from '../../support/torture.js';

const RUNS = 4;
const KILLS = 3;
const PARTS = 4;

const begun: Torture[] = [];
afterEach(() => begun.splice(0).forEach(endAll));
const command = (name: string, args: readonly string[]) => {
  const one = start(args, { command: name });
  begun.push(one);
  return one;
};
/** Small schedules, which are soon shrunk: what is asked is whether all parts have the same. */
const SMALL = ['--time-limit', '2s'];
const campaign = (out: string, ...more: string[]) =>
  command('campaign', [
    ...['--hunt', '--runs', String(RUNS), '--seed', '7', '--locks', 'broken/blind-del,set-nx-px', '--faults', 'pause'],
    ...['--topologies', 'single', '--no-config', '--out', out, ...more, '--', ...SMALL],
  ]);
/** For all but the whole one: each job at once has a world for each cell. */
const ONE_AT_ONCE = ['--jobs', '1'];
const folderIn = (out: string) => readdirSync(out).map((name) => join(out, name))[0];
const linesOf = (folder: string) => {
  const path = join(folder, 'schedules.jsonl');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
};
const report = (folder: string) =>
  ['summary.json', 'summary.md', 'report.html'].map((name) => readFileSync(join(folder, name), 'utf8'));

test('killed again and again, and in four parts, it comes to the same', { timeout: 1_800_000 }, async () => {
  const [whole, out] = [freshFolder(), freshFolder()];
  const first = campaign(whole, '--jobs', '2');
  const killed = campaign(out, ...ONE_AT_ONCE);
  const folder = await until(`a campaign: ${killed.errors()}`, () => folderIn(out));
  let running = killed;
  for (let n = 1; n <= KILLS; n++) {
    const before = linesOf(folder).length;
    await until(
      `more schedules; ${running.output()} ${running.errors()}`,
      () => linesOf(folder).length > before || running.child.exitCode !== null,
      300_000,
    );
    running.child.kill('SIGKILL');
    await running.ended;
    running = command('campaign', ['--resume', folder, '--no-config', ...ONE_AT_ONCE, ...(n % 2 ? ['--json'] : [])]);
  }
  const { code } = await running.ended;
  expect([0, 1, 2], `${running.output()} ${running.errors()}`).toContain(code);
  const jobs = linesOf(folder).map((line): number => JSON.parse(line).job);
  expect(jobs.sort((a, b) => a - b)).toEqual(Array.from({ length: RUNS }, (_, n) => n));

  expect((await first.ended).code, `${first.output()} ${first.errors()}`).toBe(code);
  const made = report(folderIn(whole)!);
  expect(JSON.parse(made[0]!).headline).toMatch(/^4 of 4 schedules played in virtual time/);
  expect(report(folder)).toEqual(made);

  const parts = Array.from({ length: PARTS }, () => freshFolder());
  for (const [n, part] of parts.entries()) await campaign(part, ...ONE_AT_ONCE, '--shard', `${n + 1}/${PARTS}`).ended;
  const merged = join(freshFolder(), 'merged');
  const merging = command('merge', [...[...parts].reverse(), '--out', merged]);
  expect([(await merging.ended).code, merging.errors()]).toEqual([code, '']);
  expect(report(merged)).toEqual(made);
  // What was found can be played again from there.
  const { findings } = JSON.parse(made[0]!);
  expect(findings.length).toBeGreaterThan(0);
  for (const { replay } of findings) expect(existsSync(join(merged, replay, 'plan.json'))).toBe(true);
});
