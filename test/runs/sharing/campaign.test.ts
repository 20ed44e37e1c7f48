/** A campaign that is killed loses no finished run and makes none twice; its parts give one report, in whatever order. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { endAll, freshFolder, start, type Torture, until } from '../../support/torture.js';

const begun: Torture[] = [];
afterEach(() => begun.splice(0).forEach(endAll));
const command = (name: string, args: readonly string[]) => {
  const one = start(args, { command: name });
  begun.push(one);
  return one;
};

const json = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));
const foldersIn = (folder: string) =>
  existsSync(folder) ? readdirSync(folder).flatMap((id) => (id === 'latest' ? [] : [join(folder, id)])) : [];
const begunIn = (folder: string) =>
  foldersIn(join(folder, 'runs')).filter((run) => existsSync(join(run, 'config.json')));
const finishedIn = (folder: string) =>
  foldersIn(join(folder, 'runs')).filter((run) => existsSync(join(run, 'results.json')));
const seedsIn = (folder: string) =>
  finishedIn(folder)
    .map((run): number => json(run, 'config.json').seed)
    .sort((a, b) => a - b);
const statusOf = (...campaigns: string[]) => {
  const all = campaigns.flatMap(finishedIn).map((run): number => json(run, 'results.json').exitStatus);
  return [1, 2].find((status) => all.includes(status)) ?? 0;
};

// Careless holders outlive their lease and delete what is somebody else's by then: violated in nearly every run.
const LATE = ['--lease', '300ms', '--hold', '0.5x..1.5x', '--careless'];
const RUNS = [...LATE, '--time-limit', '2s', '--clients', '3', '--keys', '1'];
const part = (out: string, shard: string) =>
  command('campaign', [
    ...['--runtime', 'netns', '--out', out, '--runs', '3', '--seed', '7', '--shard', shard, '--jobs', '1'],
    ...['--locks', 'broken/blind-del', '--faults', 'none,kill', '--', ...RUNS],
  ]);

test('killed twice and gone on with, in two parts that are merged', async () => {
  const [out, other] = [freshFolder(), freshFolder()];
  const rest = part(other, '2/2');
  const first = part(out, '1/2');
  const folder = await until('a campaign', () => foldersIn(out)[0]);
  const [whole] = await until(`a finished run: ${first.output()} ${first.errors()}`, () => {
    const done = finishedIn(folder);
    return done.length > 0 && done;
  });
  const before = statSync(join(whole!, 'results.json')).mtimeMs;
  first.child.kill('SIGKILL');
  await first.ended;

  expect(json(folder, 'campaign.json').machine).toEqual({ runtime: 'netns' });
  // As of one that is killed between a verdict and its pages.
  for (const page of [join(whole!, 'report.html'), join(folder, 'runs', 'index.html')]) rmSync(page, { force: true });

  const second = command('campaign', ['--resume', folder, '--jobs', '1']);
  const left = finishedIn(folder).length;
  await until(`another run: ${second.errors()}`, () => begunIn(folder).length > left || left === 2);
  second.child.kill('SIGKILL');
  await second.ended;

  const third = command('campaign', ['--resume', folder, '--jobs', '1']);
  const { code } = await third.ended;
  expect([code, third.errors()]).toEqual([statusOf(folder), '']);
  expect(seedsIn(folder)).toEqual([7, 9]);
  expect(begunIn(folder).length).toBe(2);
  expect(begunIn(folder).filter((run) => !existsSync(join(run, 'report.html')))).toEqual([]);
  expect(readFileSync(join(folder, 'runs', 'index.html'), 'utf8')).toContain(basename(whole!));
  expect(statSync(join(whole!, 'results.json')).mtimeMs).toBe(before);
  expect(json(folder, 'summary.json').headline).toMatch(/^2 of 2 runs made, \d+ new finding/);
  const known = foldersIn(join(folder, 'known')).map((path) => json(path));
  const found = new Set(json(folder, 'summary.json').findings.map((one: { fingerprint: string }) => one.fingerprint));
  expect(new Set(known.map(({ fingerprint }) => fingerprint))).toEqual(found);

  await rest.ended;
  const parts = [folder, foldersIn(other)[0]!];
  expect(parts.map(seedsIn)).toEqual([[7, 9], [8]]);
  const merged = freshFolder();
  const inEachOrder = Object.entries({ a: parts, b: [...parts].reverse() });
  const reports = await Promise.all(
    inEachOrder.map(async ([name, folders]) => {
      const merging = command('merge', [...folders, '--out', join(merged, name)]);
      expect([(await merging.ended).code, merging.errors()]).toEqual([statusOf(...parts), '']);
      return ['summary.json', 'report.html', 'summary.md']
        .map((file) => readFileSync(join(merged, name, file), 'utf8'))
        .join();
    }),
  );
  expect(reports[0]).toBe(reports[1]);
  expect(json(merged, 'a', 'summary.json').headline).toMatch(/^3 of 3 runs made/);
});

test('merging what is no campaign: one line with the remedy, exit status 3, and nothing is written', async () => {
  const out = join(freshFolder(), 'merged');
  const merging = command('merge', [freshFolder(), '--out', out]);
  expect((await merging.ended).code).toBe(3);
  expect(merging.errors().trim()).toMatch(
    /^lock-torture: \S+: nothing to merge: neither a campaign's folder nor one of a series, /,
  );
  expect(existsSync(out)).toBe(false);
});
