/**
 * `npm run bench -- aims`: in which schedule a lock's own mistake is first found with aimed faults, and without; of each seed the same
 * faults of the same hosts, drawn, not made of others. Faults that have moments of their own (`gc`, `priorities`, `preempt`) are left out of
 * both. Nothing is shrunk.
 */
import { wholeNumberIn } from '../cli/common/values.js';
import { playInWorld } from '../cli/hunt/hunt.js';
import { provideSimulation, type Simulation } from '../cli/hunt/simulation.js';
import { coresOfThisProcess } from '../cli/hunt/world-process.js';
import { faults, SEARCHED_BY_DEFAULT } from '../nemesis/index.js';
import { benchCommand } from './command.js';
import { print } from './print.js';
import { askedFor, inWorlds, schedulesOf } from './simulated.js';

/** Each is wrong for a moment: between GET and DEL, between SETNX and EXPIRE, when a lease ends. */
const LOCKS: readonly (readonly string[])[] = [
  ['--lock', 'set-nx-px-get-del'],
  ['--lock', 'setnx-expire'],
  [
    ...['--lock', 'broken/extend-expired', '--workload', 'renewal', '--careless'],
    ...['--hold', '5x..8x', '--keys', '2', '--wait', '3s'],
  ],
];
const ORDINARY = SEARCHED_BY_DEFAULT.filter((name) => !faults[name]!.needs.includes('turns')).join(',');

interface Flags {
  seeds: number;
  schedules: number;
  lock?: string;
}

interface Hunted {
  argv: readonly string[];
  seed: number;
  unaimed?: true;
}

/** Prints a line for each lock, with and without. */
export async function benchAims(argv: string[]): Promise<void> {
  const command = benchCommand('aims')
    .option('--seeds <n>', 'from 1 on', wholeNumberIn(1, 1_000), 10)
    .option('--schedules <n>', 'of a seed at the most', wholeNumberIn(1, 10_000), 60)
    .option('--lock <name>', 'of these locks only the one');
  command.parse(argv, { from: 'user' });
  const { seeds, schedules, lock } = command.opts<Flags>();
  const simulation = await provideSimulation(undefined, print);
  for (const flags of LOCKS.filter(([, name]) => lock === undefined || name === lock)) {
    for (const unaimed of [undefined, true] as const) {
      const left = Array.from(
        { length: seeds },
        (_, n): Hunted => ({ argv: flags, seed: n + 1, ...(unaimed && { unaimed }) }),
      );
      const all = [...left];
      const at = new Map<number, number | undefined>();
      const works = async () => {
        for (let one = left.shift(); one; one = left.shift())
          at.set(one.seed, await foundAt(one, schedules, simulation));
      };
      await Promise.all(coresOfThisProcess().map(works));
      const told = all.map(({ seed }) => at.get(seed));
      const played = told.reduce<number>((sum, one) => sum + (one ?? schedules), 0);
      const found = told.filter((one) => one !== undefined).length;
      print(
        `${flags[1]!.padEnd(24)}${unaimed ? 'without' : 'aimed  '}  ${found} of ${seeds} seeds in ${played} schedules: ${told.map((one) => one ?? '–').join(', ')}`,
      );
    }
  }
}

/** Undefined: not in so many. */
function foundAt({ argv, seed, unaimed }: Hunted, most: number, simulation: Simulation): Promise<number | undefined> {
  const asked = askedFor([...argv, '--faults', ORDINARY, '--seed', String(seed)]);
  return inWorlds(asked, { workers: 1, by: 'aims' }, simulation, async ([world], config) => {
    for (const schedule of schedulesOf(asked, seed, most, undefined, unaimed)) {
      const result = await playInWorld(world!, schedule, config);
      if ('found' in result && result.found.some(({ blame }) => blame === 'lock')) return schedule.number;
    }
    return undefined;
  });
}
