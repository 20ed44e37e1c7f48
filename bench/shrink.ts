/**
 * `npm run bench -- shrink`: whether a planted mistake that takes one fault, or two, comes back with so many and no more, in how many
 * executions. Of each seed the first schedule that finds it with more faults than that is shrunk as a hunt does it, and what is left is
 * played once more. No case is repeated.
 */
import { fileURLToPath } from 'node:url';
import { wholeNumberIn } from '../cli/common/values.js';
import { scheduleText } from '../cli/hunt/kept-finding.js';
import { playInWorld } from '../cli/hunt/play-all.js';
import { fingerprintOf } from '../cli/hunt/schedule.js';
import { lessOf, shrinkFinding } from '../cli/hunt/shrink-finding.js';
import { coresOfThisProcess, EndlessScheduleError } from '../cli/hunt/world-process.js';
import { provideSimulation, type Simulation } from '../cli/run/simulation.js';
import { benchCommand } from './command.js';
import { print } from './print.js';
import { askedFor, inWorlds, schedulesOf } from './simulated.js';

interface Planted {
  lock: string;
  /** How many faults it takes. */
  takes: number;
}

const ALONE: readonly Planted[] = [
  { lock: 'after-a-lost-connection', takes: 1 },
  { lock: 'after-a-stop', takes: 1 },
];
const TOGETHER: Planted = { lock: 'after-both', takes: 2 };
/** Where shrinking ends, whatever is left (`cli/hunt/shrink.ts`). */
const MOST_EXECUTIONS = 300;
/** Schedules of one seed, until one finds it. */
const MOST_SCHEDULES = 2_000;

interface Flags {
  seeds: number;
}

interface Case extends Planted {
  seed: number;
}

interface Outcome {
  is: boolean;
  told: string;
}

/** Prints a line for each case, and how many came out as they must; the process's exit status is 1 where one did not. */
export async function benchShrink(argv: string[]): Promise<void> {
  const command = benchCommand('shrink').option(
    '--seeds <n>',
    'of the lock that takes two faults; of the others half as many',
    wholeNumberIn(1, 1_000),
    10,
  );
  command.parse(argv, { from: 'user' });
  const { seeds } = command.opts<Flags>();
  const simulation = await provideSimulation(undefined, print);
  const left = casesOf(seeds);
  const asMany = left.length;
  let good = 0;
  const works = async () => {
    for (let one = left.shift(); one; one = left.shift()) {
      const { is, told } = await outcomeOf(one, simulation);
      if (is) good++;
      print(`${is ? 'yes' : 'NO '} ${one.lock.padEnd(24)}seed ${String(one.seed).padEnd(4)}${told}`);
    }
  };
  await Promise.all(coresOfThisProcess().map(works));
  print(`\n${good} of ${asMany} came back with as many faults as they take, in ${MOST_EXECUTIONS} executions or fewer`);
  if (good < asMany) process.exitCode = 1;
}

function casesOf(seeds: number): Case[] {
  const of = (planted: Planted, count: number) =>
    Array.from({ length: count }, (_, n) => ({ ...planted, seed: n + 1 }));
  return [...ALONE.flatMap((planted) => of(planted, Math.ceil(seeds / 2))), ...of(TOGETHER, seeds)];
}

function outcomeOf({ lock, takes, seed }: Case, simulation: Simulation): Promise<Outcome> {
  const file = fileURLToPath(new URL(`./planted/${lock}.js`, import.meta.url));
  const asked = askedFor(['--lock', file, '--seed', String(seed)]);
  return inWorlds(asked, { workers: 1, by: 'shrink' }, simulation, async ([world], config) => {
    for (const schedule of schedulesOf(asked, seed, MOST_SCHEDULES)) {
      if (schedule.steps.length <= takes) continue;
      const result = await playInWorld(world!, schedule, config);
      if (result instanceof EndlessScheduleError) continue;
      const found = result.found.find(({ blame }) => blame === 'lock');
      if (!found) continue;
      const fingerprint = fingerprintOf(found);
      const uninterrupted = { onEndless: () => {}, isStopped: () => false };
      const { shrunk } = await shrinkFinding(world!, schedule, config, fingerprint, uninterrupted);
      const { seed: chance, steps, executions } = shrunk;
      const again = await playInWorld(
        world!,
        { ...schedule, seed: chance, steps },
        { ...config, ...lessOf(config, shrunk) },
      );
      const isFound = 'found' in again && again.found.some((one) => fingerprintOf(one) === fingerprint);
      return {
        is: isFound && steps.length === takes && executions <= MOST_EXECUTIONS && shrunk.isMinimal,
        told:
          `schedule ${schedule.number}: ${schedule.steps.length} faults to ${steps.length} in ${executions} executions, ${scheduleText(shrunk)}` +
          `${isFound ? '' : ', which do not find it'}`,
      };
    }
    return { is: false, told: `not found in ${MOST_SCHEDULES} schedules` };
  });
}
