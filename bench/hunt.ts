/**
 * `npm run bench -- hunt`: schedules in virtual time per second that the processors spend on them, Node's and the servers' together;
 * and how many of them are the same, byte by byte, in another process and folder. Of each topology with its own lock.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Command } from 'commander';
import { type AskedHunt, addHuntFlags, askHunt, type HuntFlags } from '../cli/hunt/flags.js';
import { generationOf, type HuntSchedule } from '../cli/hunt/hunt.js';
import { configOf, scheduling } from '../cli/hunt/hunt-command.js';
import { putLockModule } from '../cli/hunt/lock-module.js';
import { provideSimulation, type Simulation } from '../cli/hunt/simulation.js';
import { coresOfThisProcess, WorldProcess } from '../cli/hunt/world-process.js';
import { topologiesOfService } from '../harness/topologies/index.js';
import { print } from './print.js';

/** The kernel counts the time of processes in these. */
const TICK_MS = 10;

interface Played {
  digests: string[];
  virtualMs: number;
  /** Of the schedules after the warm-up. */
  cpuMs: number;
  wallMs: number;
}

export async function benchHunt(argv: string[]): Promise<void> {
  const { values } = parseArgs({
    args: argv,
    options: {
      topology: { type: 'string', default: topologiesOfService('redis').join(',') },
      schedules: { type: 'string', default: '50' },
      warm: { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
    },
  });
  const [schedules, warm] = [Number(values.schedules), Number(values.warm)];
  const simulation = await provideSimulation(undefined, print);
  print(`${schedules} schedules after ${warm} that warm up, one process; then the same in another`);
  print(columns('topology', 'per CPU s', 'per second', 'virtual s', 'identical'));
  for (const topology of values.topology.split(',')) {
    const asked = askedFor(topology);
    const numbers = schedulesOf(asked, Number(values.seed), warm + schedules);
    const one = await played(asked, numbers, warm, simulation);
    const other = await played(asked, numbers, warm, simulation);
    const identical = one.digests.filter((digest, n) => digest === other.digests[n]).length;
    print(
      columns(
        topology,
        ((schedules * 1e3) / one.cpuMs).toFixed(1),
        ((schedules * 1e3) / one.wallMs).toFixed(1),
        (one.virtualMs / numbers.length / 1e3).toFixed(1),
        `${identical} of ${numbers.length}`,
      ),
    );
  }
}

function askedFor(topology: string): AskedHunt {
  const command = addHuntFlags(new Command());
  command.parse(['--topology', topology], { from: 'user' });
  const given = (flag: string) => command.getOptionValueSource(flag) === 'cli';
  return askHunt(command.opts<HuntFlags>(), { argv: [], cwd: process.cwd(), given });
}

function schedulesOf(asked: AskedHunt, seed: number, count: number): HuntSchedule[] {
  const { leaseMs } = asked.run.settings;
  const options = { ...scheduling(asked), seed, shard: asked.shard, runs: count, config: { leaseMs } };
  const all: HuntSchedule[] = [];
  for (let generation = 0; all.length < count; generation++) all.push(...generationOf(generation, options, new Set()));
  return all;
}

async function played(
  asked: AskedHunt,
  schedules: readonly HuntSchedule[],
  warm: number,
  { shim, redis }: Simulation,
): Promise<Played> {
  const workFolder = mkdtempSync(join(tmpdir(), 'lock-torture-bench-hunt-'));
  const lock = await putLockModule(asked.run.settings.lock, process.cwd(), workFolder);
  const world = new WorldProcess({ workFolder, shim, lock, core: coresOfThisProcess()[0]! });
  try {
    const config = configOf(asked, redis, 'bench', 'npm run bench -- hunt');
    const digests: string[] = [];
    let virtualMs = 0;
    let [cpuMs, wallMs] = [0, 0];
    for (const [n, { seed, steps }] of schedules.entries()) {
      if (n === warm) [cpuMs, wallMs] = [cpuMsOfChildren(), performance.now()];
      const result = await world.play({ ...config, seed }, { version: 1, seed, steps });
      digests.push(result.digest);
      virtualMs += result.virtualMs;
    }
    return { digests, virtualMs, cpuMs: cpuMsOfChildren() - cpuMs, wallMs: performance.now() - wallMs };
  } finally {
    await world.close();
    rmSync(workFolder, { recursive: true, force: true });
  }
}

/** What this process's children have used, and theirs, those included that have ended and were waited for. */
function cpuMsOfChildren(): number {
  const children = new Map<number, { pid: number; ticks: number }[]>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const [, fields] = statOf(pid)?.split(') ') ?? [];
    if (fields === undefined) continue;
    // After the name: state, parent, ...; the 12th to 15th are its own and its children's time.
    const numbers = fields.split(' ').map(Number);
    const known = children.get(numbers[1]!) ?? [];
    children.set(numbers[1]!, [...known, { pid: Number(pid), ticks: numbers.slice(11, 15).reduce((a, b) => a + b) }]);
  }
  const below = (pid: number): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + child.ticks + below(child.pid), 0);
  return below(process.pid) * TICK_MS;
}

function statOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined; // it has ended meanwhile
  }
}

function columns(first: string, ...others: string[]): string {
  return `${first.padEnd(10)}${others.map((text) => text.padStart(14)).join('')}`;
}
