/**
 * `npm run bench -- accept campaign`: a campaign of many short runs is killed ten times at moments that are drawn, and goes on each
 * time. At its end each seed, and so each cell's job, was made exactly once, and every run that was finished when it was killed is
 * there as it was then. Its runs, dealt to four folders and merged in several orders, make the same report byte by byte.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Option } from 'commander';
import { finishedIn, readCampaign, runsFolder } from '../cli/campaign/campaign-folder.js';
import { jobOf } from '../cli/campaign/grid.js';
import { wholeNumberIn } from '../cli/common/values.js';
import { writeJson } from '../harness/record/store.js';
import { createRandom } from '../harness/runtimes/random.js';
import type { Random } from '../harness/vocabulary/time.js';
import { benchCommand } from './command.js';
import { print } from './print.js';

interface Flags {
  runs: number;
  kills: number;
  seed: number;
  jobs: number;
  out: string;
}

const TOOL = fileURLToPath(new URL('../../bin/torture.mjs', import.meta.url));
/** Violated in nearly every run, and held in nearly every run. */
const CELLS = ['--locks', 'broken/blind-del,set-nx-px', '--topologies', 'single', '--faults', 'none,kill'];
const RUN = [
  ...['--lease', '300ms', '--hold', '0.5x..1.5x', '--careless', '--time-limit', '2s'],
  // What is asked is of the campaign, not of its locks: as little work as a run can be.
  ...['--clients', '2', '--keys', '1'],
];
const PARTS = 4;
const ORDERS = 6;
/** After a drawn number of finished runs it goes on for a drawn time: at any moment of a run, and between runs. */
const LONGEST_MS = 6_000;

/** Prints a line for each kill and what came of it all; the process's exit status is 1 where anything was otherwise. */
export async function acceptCampaign(argv: string[]): Promise<void> {
  const flags = flagsOf(argv);
  const { runs, kills, seed, jobs } = flags;
  const random = createRandom(seed);
  const out = resolve(flags.out);
  mkdirSync(out, { recursive: true });
  if (readdirSync(out).length > 0) throw new Error(`--out ${out}: it is not empty`);
  print(
    `${runs} runs, ${kills} kills, seed ${seed}, ${jobs} at once; load ${loadavg()[0]!.toFixed(1)} on ${availableParallelism()}`,
  );
  const wrong: string[] = [];

  const machine = ['--runtime', 'netns', '--jobs', String(jobs)];
  const asked = ['--runs', String(runs), '--seed', String(seed), ...CELLS, '--no-config', '--out', out, '--', ...RUN];
  let tool = start(['campaign', ...machine, ...asked]);
  const folder = await until(tool, () => foldersIn(out)[0]);
  const kept = new Map<string, string>();
  for (const [n, after] of killsAt(random, runs, kills).entries()) {
    await until(tool, () => countFinished(folder) >= after || undefined);
    await sleep(random.int(0, LONGEST_MS));
    tool.child.kill('SIGKILL');
    await tool.ended;
    for (const [id, state] of statesIn(folder)) {
      if ((kept.get(id) ?? state) !== state) wrong.push(`run ${id} is another than it was at an earlier kill`);
      kept.set(id, state);
    }
    const begun = foldersIn(runsFolder(folder)).length - kept.size;
    print(`kill ${n + 1}: ${kept.size} runs were finished, ${begun} were not`);
    tool = start(['campaign', ...machine, '--no-config', '--resume', folder]);
  }
  const status = await tool.ended;

  const made = finishedIn(runsFolder(folder));
  const campaign = readCampaign(folder);
  const states = statesIn(folder);
  for (const [id, state] of kept)
    if (states.get(id) !== state)
      wrong.push(`run ${id} was finished at a kill, and is ${states.has(id) ? 'another' : 'gone'}`);
  const seeds = made.map((run) => run.seed).sort((a, b) => a - b);
  const wanted = Array.from({ length: runs }, (_, n) => seed + n);
  if (String(seeds) !== String(wanted))
    wrong.push(`its seeds are not ${seed} to ${seed + runs - 1}, each once: ${seeds}`);
  if (foldersIn(runsFolder(folder)).length !== runs) wrong.push('folders of runs that were not finished are left');
  const cells = campaign.cells.map((_, cell) => made.filter((run) => jobOf(campaign, run.seed)?.cell === cell).length);
  const { headline, exitStatus } = JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8'));
  if (!String(headline).startsWith(`${runs} of ${runs} runs made`)) wrong.push(`it says: ${headline}`);
  if (status !== exitStatus) wrong.push(`it ended with ${status}, and its summary says ${exitStatus}`);
  print(
    `${made.length} runs of ${new Set(seeds).size} seeds, cells of ${cells.join(', ')}; ${kept.size} were there at the last kill`,
  );

  const reports = new Set<string>();
  const parts = dealt(folder, join(out, 'parts'));
  for (let n = 0; n < ORDERS; n++) {
    const target = join(out, `merged-${n}`);
    const merging = start(['merge', ...shuffled(parts, random), '--out', target]);
    const mergedStatus = await merging.ended;
    if (mergedStatus !== exitStatus) wrong.push(`merged, it ends with ${mergedStatus}: ${merging.errors()}`);
    else
      reports.add(
        ['summary.json', 'summary.md', 'report.html']
          .map((name) => readFileSync(join(target, name), 'utf8'))
          .join('\n'),
      );
  }
  print(`merged in ${ORDERS} orders: ${reports.size === 1 ? 'the same report' : `${reports.size} reports`}`);
  if (reports.size !== 1) wrong.push('the order of the parts changes the report');
  for (const line of wrong) print(`WRONG: ${line}`);
  print(wrong.length === 0 ? 'as it must be' : `${wrong.length} things are not as they must be`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}

function flagsOf(argv: readonly string[]): Flags {
  const number = (flags: string, text: string, least: number) =>
    new Option(flags, text).argParser(wholeNumberIn(least, 1_000_000));
  const command = benchCommand('accept campaign')
    .addOption(number('--runs <n>', 'how many', 8).default(200))
    .addOption(number('--kills <n>', 'how often it is killed', 0).default(10))
    .addOption(number('--seed <n>', 'of the first run, and of when it is killed', 0).default(1))
    .addOption(number('--jobs <n>', 'runs at once', 1).default(2))
    .requiredOption('--out <folder>', 'an empty one, or one that is not there');
  command.parse([...argv], { from: 'user' });
  return command.opts<Flags>();
}

/** After how many finished runs, in their order: spread over the whole campaign, and twice at the same number now and then. */
function killsAt(random: Random, runs: number, kills: number): number[] {
  return Array.from({ length: kills }, () => random.int(0, runs - 5)).sort((a, b) => a - b);
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, place: random.float() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

interface Started {
  child: ChildProcess;
  errors(): string;
  /** The exit status; undefined: it was killed. */
  ended: Promise<number | undefined>;
}

function start(argv: readonly string[]): Started {
  const child = spawn(process.execPath, [TOOL, ...argv], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors = `${errors}${chunk}`.slice(-2_000);
  });
  const ended = new Promise<number | undefined>((done) => child.once('close', (code) => done(code ?? undefined)));
  return { child, errors: () => errors, ended };
}

/** Throws where the tool has ended before. */
async function until<T>({ child, errors }: Started, look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (child.exitCode !== null) throw new Error(`the campaign ended by itself with ${child.exitCode}: ${errors()}`);
    await sleep(20);
  }
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((one) => one.isDirectory()).map(({ name }) => join(folder, name));
}

function countFinished(folder: string): number {
  return foldersIn(runsFolder(folder)).filter((run) => existsSync(join(run, 'results.json'))).length;
}

/** Of each finished run, what it would be told apart by from one that was made again or judged again. */
function statesIn(folder: string): Map<string, string> {
  const state = (run: string) =>
    ['config.json', 'history.jsonl', 'results.json'].map((name) => statSync(join(run, name)).mtimeMs).join(' ');
  return new Map(finishedIn(runsFolder(folder)).map(({ runId, folder: run }) => [runId, state(run)]));
}

/** The campaign as if several machines had made it: its runs are moved to as many folders, each with a part's `campaign.json`. */
function dealt(folder: string, to: string): string[] {
  const campaign = readCampaign(folder);
  const parts = Array.from({ length: PARTS }, (_, n) => join(to, String(n + 1)));
  for (const [n, part] of parts.entries()) {
    mkdirSync(runsFolder(part), { recursive: true });
    writeJson(part, 'campaign.json', { ...campaign, shard: { index: n + 1, of: PARTS } });
  }
  for (const run of finishedIn(runsFolder(folder))) {
    const n = (run.seed - campaign.seed) % PARTS;
    renameSync(run.folder, join(runsFolder(parts[n]!), run.runId));
  }
  return parts;
}
