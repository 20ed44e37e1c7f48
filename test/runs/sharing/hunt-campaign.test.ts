/**
 * A campaign in virtual time: four parts of it, merged, are to the byte what one machine made, though one was killed again and again;
 * gone on with, it plays each schedule once.
 */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { endAll, freshFolder, start, type Torture, until } from '../../support/torture.js';

const PARTS = 4;
/** The first part has two of them: what it has played when it is killed, and what it has not. */
const RUNS = 5;

const begun: Torture[] = [];
afterEach(() => begun.splice(0).forEach(endAll));
const command = (name: string, args: readonly string[]) => {
  const one = start(args, { command: name });
  begun.push(one);
  return one;
};
/**
 * Small schedules in which every hold outlives its lease, so that each finds something without a fault: then it is soon shrunk, for
 * no fault's place and length are to be made less. What is asked is whether all parts have the same.
 */
const SMALL = ['--time-limit', '2s', '--clients', '2', '--careless', '--lease', '500ms', '--hold', '1.1x..1.4x'];
const campaign = (out: string, ...more: string[]) =>
  command('campaign', [
    ...['--hunt', '--runs', String(RUNS), '--seed', '7', '--locks', 'reentrant,set-nx-px', '--faults', 'pause'],
    ...['--topologies', 'single', '--no-config', '--out', out, ...more, '--', ...SMALL],
  ]);
/** For all but the whole one: each job at once has a world for each cell. */
const ONE_AT_ONCE = ['--jobs', '1'];
const folderIn = (out: string) => readdirSync(out).map((name) => join(out, name))[0];
const linesOf = (folder: string) => {
  const path = join(folder, 'schedules.jsonl');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
};
/** But for where it lies, which the commands that replay something name. */
const report = (folder: string) =>
  ['summary.json', 'summary.md', 'report.html'].map((name) =>
    readFileSync(join(folder, name), 'utf8').replaceAll(realpathSync(folder), 'folder'),
  );

const partOf = (out: string, n: number) => campaign(out, ...ONE_AT_ONCE, '--shard', `${n}/${PARTS}`);
const resume = (folder: string, ...more: string[]) =>
  command('campaign', ['--resume', folder, '--no-config', ...ONE_AT_ONCE, ...more]);

async function killedAgainAndAgain(out: string) {
  let running = partOf(out, 1);
  const begins = running;
  const folder = await until(
    'a campaign',
    () => {
      if (begins.child.exitCode !== null) throw new Error(`it ended: ${begins.output()} ${begins.errors()}`);
      return folderIn(out);
    },
    300_000,
  );
  for (const kill of [1, 2]) {
    // At first within its second schedule, then when all are played and what was found is being shrunk.
    const isReached = () => linesOf(folder).length >= kill;
    const { output, errors, child, ended } = running;
    await until(`kill ${kill}; ${output()} ${errors()}`, () => isReached() || child.exitCode !== null, 300_000);
    child.kill('SIGKILL');
    await ended;
    running = resume(folder, ...(kill === 2 ? ['--json'] : []));
  }
  const { code } = await running.ended;
  expect([0, 1, 2], `${running.output()} ${running.errors()}`).toContain(code);
  const jobs = linesOf(folder).map((line): number => JSON.parse(line).job);
  expect(jobs.sort((a, b) => a - b)).toEqual([0, PARTS]);
}

test('in four parts, one killed again and again, it comes to the same', { timeout: 1_800_000 }, async () => {
  const whole = freshFolder();
  const first = campaign(whole, '--jobs', '2');
  const parts = Array.from({ length: PARTS }, () => freshFolder());
  const others = async () => {
    for (let n = 2; n <= PARTS; n++) await partOf(parts[n - 1]!, n).ended;
  };
  await Promise.all([killedAgainAndAgain(parts[0]!), others()]);

  const { code } = await first.ended;
  const made = report(folderIn(whole)!);
  expect(JSON.parse(made[0]!).headline, first.errors()).toMatch(/^5 of 5 schedules played in virtual time/);
  const merged = join(freshFolder(), 'merged');
  const merging = command('merge', [...[...parts].reverse(), '--out', merged]);
  expect([(await merging.ended).code, merging.errors()]).toEqual([code, '']);
  expect(report(merged)).toEqual(made);
  // What was found can be played again from there.
  const { findings } = JSON.parse(made[0]!);
  expect(findings.length).toBeGreaterThan(0);
  for (const { replay } of findings) expect(existsSync(join(merged, replay, 'plan.json'))).toBe(true);

  // And what is known by then is tried first, by a campaign that has one schedule besides.
  const later = freshFolder();
  const again = command('campaign', [
    ...[
      '--hunt',
      '--runs',
      '1',
      '--seed',
      '9',
      '--locks',
      'reentrant,set-nx-px',
      '--faults',
      'pause',
      '--topologies',
      'single',
    ],
    ...['--no-config', '--out', later, '--known', join(merged, 'known'), ...ONE_AT_ONCE, '--', ...SMALL],
  ]);
  await again.ended;
  const { known } = JSON.parse(report(folderIn(later)!)[0]!);
  expect(known, `${again.output()} ${again.errors()}`).toHaveLength(findings.length);
  for (const one of known) expect(one).toMatchObject({ seen: true, text: 'still there' });
});
