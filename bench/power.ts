/**
 * `npm run bench -- power`: within how many schedules a hunt finds the mistake of each canary, by its checker and cause, and
 * how many schedules of mended twins and sound locks accuse the lock. Nothing is shrunk, and nothing left out.
 *
 * `--record` keeps a line for each lock that was played: what the file has already is not played again, but for what was not found in
 * fewer `--schedules`. A schedule depends on what was learned from those before, so that is played from the first one on.
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Option } from 'commander';
import { UsageError } from '../cli/common/errors.js';
import { wholeNumberIn } from '../cli/common/values.js';
import { Corpus } from '../cli/hunt/corpus.js';
import { configOf } from '../cli/hunt/hunt-command.js';
import { playInWorld } from '../cli/hunt/play-all.js';
import { fingerprintOf } from '../cli/hunt/schedule.js';
import { coresOfThisProcess, EndlessScheduleError, WorldProcess } from '../cli/hunt/world-process.js';
import { putLockModule } from '../cli/run/lock-module.js';
import { provideSimulation, type Simulation } from '../cli/run/simulation.js';
import { RedisNotFoundError } from '../harness/machine/redis-binary.js';
import { benchCommand } from './command.js';
import { caseId, type PowerCase, powerCases, showsMistake, tellsCause } from './power-cases.js';
import { print } from './print.js';
import { askedFor, schedulesOf } from './simulated.js';

interface PowerFlags {
  schedules: number;
  seed: number;
  only?: string;
  roles: string;
  workers?: number;
  record?: string;
  topology?: string;
  on?: string;
}

/** Of one lock. */
interface Counted {
  /** The case, and how it was played: with another it counts anew. */
  id: string;
  lock: string;
  role: PowerCase['role'];
  /** Absent: played. Why it was not, or not to the end. */
  refused?: string;
  schedules: number;
  endless: number;
  struckHolds: number;
  /** Of a canary: the first schedule that found its mistake, from 1 on; and the first that told its cause. */
  foundAt?: number;
  blamedAt?: number;
  /** In how many schedules each thing was found, by fingerprint. */
  findings: Record<string, number>;
}

/** Prints a line for each lock as it is done, and how many there are of each kind. */
export async function benchPower(argv: string[]): Promise<void> {
  const flags = flagsOf(argv);
  const cases = powerCases(flags.roles.split(','), flags.on).filter(
    ({ lock, argv }) =>
      (flags.only === undefined || lock.includes(flags.only)) &&
      (flags.topology === undefined || flags.topology.split(',').includes(argv[1]!)),
  );
  const simulation = await provideSimulation(undefined, print);
  const known = recordedIn(flags.record);
  const all: Counted[] = [];
  const left = [...cases];
  const works = async (core: number) => {
    await using player = new Player(simulation, core);
    for (let one = left.shift(); one; one = left.shift()) {
      const id = `${caseId(one)} ${flags.seed}`;
      const before = known.get(id);
      const isKnown = before !== undefined && isDone(before, flags);
      const counted = isKnown ? before : await player.count(id, one, flags);
      if (flags.record !== undefined && !isKnown) appendFileSync(flags.record, `${JSON.stringify(counted)}\n`);
      all.push(counted);
      print(lineOf(counted));
    }
  };
  const cores = coresOfThisProcess();
  await Promise.all(Array.from({ length: flags.workers ?? cores.length }, (_, n) => works(cores[n % cores.length]!)));
  print(`\n${totalsOf(all, flags.schedules)}`);
}

function flagsOf(argv: string[]): PowerFlags {
  const command = benchCommand('power')
    .addOption(new Option('--schedules <n>', 'for each lock').argParser(wholeNumberIn(1, 100_000)).default(200))
    .addOption(new Option('--seed <n>').argParser(wholeNumberIn(0, 2 ** 31)).default(1))
    .addOption(new Option('--only <text>', 'locks with this in their name'))
    .addOption(new Option('--topology <list>', 'locks on these only'))
    .addOption(new Option('--on <topology>', 'on another topology than their trials, those that can'))
    .addOption(new Option('--roles <list>', 'canary, twin, sound').default('canary,twin,sound'))
    .addOption(new Option('--workers <n>', 'locks at once (default: one a core)').argParser(wholeNumberIn(1, 256)))
    .addOption(new Option('--record <file>', 'where what is done is kept, and is not done again'));
  command.parse(argv, { from: 'user' });
  return command.opts<PowerFlags>();
}

/** Of a canary whose mistake is found nothing more is asked. */
function isDone({ schedules, blamedAt, refused }: Counted, asked: PowerFlags): boolean {
  return blamedAt !== undefined || refused !== undefined || schedules >= asked.schedules;
}

/** One process in which lock after lock is played: what it takes to start it is not to be taken for each. */
class Player implements AsyncDisposable {
  private readonly workFolder = mkdtempSync(join(tmpdir(), 'lock-torture-bench-power-'));
  private world: WorldProcess | undefined;

  constructor(
    private readonly simulation: Simulation,
    private readonly core: number,
  ) {}

  async count(id: string, one: PowerCase, { schedules, seed }: PowerFlags): Promise<Counted> {
    const { lock, role } = one;
    const counted: Counted = { id, lock, role, schedules: 0, endless: 0, struckHolds: 0, findings: {} };
    try {
      await this.play(counted, one, schedules, seed);
      return counted;
    } catch (error) {
      if (error instanceof UsageError || error instanceof RedisNotFoundError)
        return { ...counted, refused: error.message };
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world?.close();
    rmSync(this.workFolder, { recursive: true, force: true });
  }

  private async play(
    counted: Counted,
    { lock, role, argv, caught, server }: PowerCase,
    schedules: number,
    seed: number,
  ): Promise<void> {
    const { shim, redis } = server === undefined ? this.simulation : await provideSimulation(server, print);
    const asked = askedFor(['--lock', lock, ...argv]);
    const folder = mkdtempSync(join(this.workFolder, 'lock-'));
    const module = await putLockModule(lock, process.cwd(), folder);
    this.world ??= new WorldProcess({ workFolder: this.workFolder, shim, lock: module, core: this.core });
    this.world.take(module);
    const config = configOf(asked, redis, 'bench', 'npm run bench -- power');
    const corpus = new Corpus();
    for (const schedule of schedulesOf(asked, seed, schedules, corpus)) {
      const result = await playInWorld(this.world, schedule, config);
      counted.schedules++;
      if (result instanceof EndlessScheduleError) {
        counted.endless++;
        continue;
      }
      corpus.learn(schedule, result.shown);
      counted.struckHolds += result.struckHolds;
      for (const found of new Set(result.found.map(fingerprintOf)))
        counted.findings[found] = (counted.findings[found] ?? 0) + 1;
      if (role !== 'canary') continue;
      const caughtHere = result.found.filter((found) => showsMistake(found, caught!));
      if (caughtHere.length > 0) counted.foundAt ??= schedule.number;
      if (!caughtHere.some((found) => tellsCause(found, caught!))) continue;
      counted.blamedAt = schedule.number;
      break;
    }
  }
}

function recordedIn(file: string | undefined): Map<string, Counted> {
  if (file === undefined || !existsSync(file)) return new Map();
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return new Map(lines.map((line) => JSON.parse(line) as Counted).map((one) => [one.id, one]));
}

function lineOf(counted: Counted): string {
  const { lock, role, refused, schedules, findings, struckHolds, endless } = counted;
  const told = Object.entries(findings).map(([fingerprint, times]) => `${fingerprint} ${times}x`);
  const ended = endless === 0 ? '' : `, ${endless} without an end`;
  return [
    role.padEnd(7),
    lock.padEnd(38),
    stateOf(counted).padEnd(17),
    `${schedules} schedules, ${struckHolds} struck holds${ended}: ${refused ?? (told.join(', ') || 'nothing')}`,
  ].join('');
}

function stateOf({ role, refused, foundAt, blamedAt, findings }: Counted): string {
  if (refused !== undefined) return 'not simulated';
  if (role !== 'canary')
    return Object.keys(findings).some((one) => one.startsWith('lock/')) ? 'ACCUSED' : 'not accused';
  if (blamedAt !== undefined) return 'found';
  return foundAt === undefined ? 'MISSED' : 'without a cause';
}

function totalsOf(all: readonly Counted[], schedules: number): string {
  const states = (role: PowerCase['role']) => {
    const of = all.filter((one) => one.role === role);
    const counts = new Map<string, number>();
    for (const one of of) counts.set(stateOf(one), (counts.get(stateOf(one)) ?? 0) + 1);
    return [...counts].map(([state, times]) => `${times} ${state}`).join(', ');
  };
  const roles = ['canary', 'twin', 'sound'] as const;
  return [
    `within ${schedules} schedules:`,
    ...roles.map((role) => `${role.padEnd(7)}${states(role) || 'none played'}`),
  ].join('\n');
}
