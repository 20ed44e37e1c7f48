/**
 * `npm run bench -- hunt`: schedules in virtual time per second that the processors spend on them, Node's and the servers' together;
 * and how many of them are the same, byte by byte, when they are played again: in another process, by two in another folder and
 * environment, by eight processes, beside twice as many busy loops as there are cores, and with all of this at once. Each process stays
 * on one core (`taskset`). Of each topology with its own lock. Beside the speed stands how long the first finding takes, and how long it takes runs in real time.
 */
import { spawn } from 'node:child_process';
import { wholeNumberIn } from '../cli/common/values.js';
import type { AskedHunt } from '../cli/hunt/flags.js';
import type { HuntSchedule } from '../cli/hunt/hunt-schedule.js';
import { playAll, playInWorld } from '../cli/hunt/play-all.js';
import { coresOfThisProcess, type WorldOptions } from '../cli/hunt/world-process.js';
import { SEEDS } from '../cli/run/flags.js';
import { provideSimulation, type Simulation } from '../cli/run/simulation.js';
import { topologiesOfService } from '../harness/topologies/index.js';
import { benchCommand } from './command.js';
import { firstInRealTime, firstInVirtualTime } from './first-finding.js';
import { print } from './print.js';
import { askedFor, inWorlds, schedulesOf } from './simulated.js';

interface Played {
  digests: string[];
  virtualMs: number;
  /** Of the schedules after the warm-up. */
  cpuMs: number;
  wallMs: number;
}

interface Flags {
  topology: string;
  schedules: number;
  warm: number;
  seed: number;
  lease?: string;
  again: string;
  first: boolean;
}

/** How what was played is played again. */
interface Repetition {
  name: string;
  workers: number;
  world?: Pick<WorldOptions, 'cwd' | 'env'>;
  busyLoops?: number;
}

const ELSEWHERE = {
  TZ: 'Asia/Kathmandu',
  LANG: 'tr_TR.UTF-8',
  LC_ALL: 'tr_TR.UTF-8',
  HOME: '/',
  SOMETHING: 'x'.repeat(999),
};
const BUSY = 'for (;;);';

const REPETITIONS: readonly Repetition[] = [
  { name: 'process', workers: 1 },
  { name: '2 elsewhere', workers: 2, world: { cwd: '/', env: ELSEWHERE } },
  { name: '8 workers', workers: 8 },
  { name: 'loaded', workers: 1, busyLoops: 2 * coresOfThisProcess().length },
  {
    name: 'all at once',
    workers: 8,
    world: { cwd: '/', env: ELSEWHERE },
    busyLoops: 2 * coresOfThisProcess().length,
  },
];

/** Prints a line for each topology: the speed, and how many were identical in each repetition. Sets the exit status where one was not. */
export async function benchHunt(argv: string[]): Promise<void> {
  const { schedules, warm, seed, lease, ...flags } = flagsOf(argv);
  const repetitions = REPETITIONS.filter(({ name }) => flags.again.split(',').includes(name));
  const simulation = await provideSimulation(undefined, print);
  print(`${schedules} schedules after ${warm} that warm up, one process; then all of them again`);
  const firsts = flags.first ? ['found first', 'in real time'] : [];
  print(columns('topology', 'per CPU s', 'per second', 'virtual s', ...repetitions.map(({ name }) => name), ...firsts));
  for (const topology of flags.topology.split(',')) {
    const asked = askedFor(['--topology', topology, ...(lease === undefined ? [] : ['--lease', lease])]);
    const numbers = [...schedulesOf(asked, seed, warm + schedules)];
    const one = await played(asked, numbers, warm, simulation);
    const speed = ((schedules * 1e3) / one.cpuMs).toFixed(1);
    print(`${topology}: played, ${speed} a second of the processors; now again`);
    const counts: string[] = [];
    for (const repetition of repetitions) {
      const digests = await repeated(asked, numbers, repetition, simulation);
      const identical = one.digests.filter((digest, n) => digest === digests[n]).length;
      if (identical < numbers.length) process.exitCode = 1;
      counts.push(`${identical} of ${numbers.length}`);
      print(`${topology}, ${repetition.name}: ${counts.at(-1)} identical`);
    }
    const found = flags.first
      ? [await firstInVirtualTime(asked, seed, simulation), await firstInRealTime(topology, seed)]
      : [];
    print(
      columns(
        topology,
        speed,
        ((schedules * 1e3) / one.wallMs).toFixed(1),
        (one.virtualMs / numbers.length / 1e3).toFixed(1),
        ...counts,
        ...found,
      ),
    );
  }
}

function flagsOf(argv: string[]): Flags {
  const again = REPETITIONS.map(({ name }) => name).join(',');
  const command = benchCommand('hunt')
    .option('--topology <list>', 'on which, with commas between them', topologiesOfService('redis').join(','))
    .option('--schedules <n>', 'that are timed', wholeNumberIn(1, 1_000_000), 50)
    .option('--warm <n>', 'that are played before them', wholeNumberIn(0, 1_000_000), 50)
    .option('--seed <n>', 'of the schedules', wholeNumberIn(0, SEEDS), 1)
    .option('--lease <duration>', 'as of hunt, whose schedules last for two at least (default: its own)')
    .option('--again <list>', `how all of them are played again: of ${again}; or none`, again)
    .option('--no-first', 'not how long the first finding takes, here and in real time');
  command.parse(argv, { from: 'user' });
  return command.opts<Flags>();
}

async function played(
  asked: AskedHunt,
  schedules: readonly HuntSchedule[],
  warm: number,
  simulation: Simulation,
): Promise<Played> {
  return inWorlds(asked, { workers: 1, by: 'hunt' }, simulation, async ([world], config) => {
    const digests: string[] = [];
    let virtualMs = 0;
    let [cpuMs, wallMs] = [0, 0];
    for (const [n, schedule] of schedules.entries()) {
      if (n === warm) [cpuMs, wallMs] = [world!.processorMs(), performance.now()];
      const result = await playInWorld(world!, schedule, config);
      digests.push(digestOf(result));
      virtualMs += 'virtualMs' in result ? result.virtualMs : 0;
    }
    return { digests, virtualMs, cpuMs: world!.processorMs() - cpuMs, wallMs: performance.now() - wallMs };
  });
}

async function repeated(
  asked: AskedHunt,
  schedules: readonly HuntSchedule[],
  repetition: Repetition,
  simulation: Simulation,
): Promise<string[]> {
  const busy = Array.from({ length: repetition.busyLoops ?? 0 }, () =>
    spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' }),
  );
  try {
    return await inWorlds(asked, { ...repetition, by: 'hunt' }, simulation, async (worlds, config) =>
      (await playAll(worlds, schedules, config)).map((played) => digestOf(played!)),
    );
  } finally {
    for (const one of busy) one.kill('SIGKILL');
  }
}

/** One that did not end is the same as another that did not. */
function digestOf(result: Awaited<ReturnType<typeof playInWorld>>): string {
  return 'digest' in result ? result.digest : 'endless';
}

function columns(first: string, ...others: string[]): string {
  return `${first.padEnd(10)}${others.map((text) => text.padStart(22)).join('')}`;
}
