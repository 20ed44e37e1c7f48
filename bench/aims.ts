/**
 * `npm run bench -- aims`: in how many schedules a lock's own mistake is found with aimed faults, and in how many without: the same faults of
 * the same hosts, drawn, not made of others. Faults that have moments of their own (`gc`, `priorities`, `preempt`) are left out of both.
 * Nothing is shrunk.
 */
import { wholeNumberIn } from '../cli/common/values.js';
import { playAll } from '../cli/hunt/play-all.js';
import { coresOfThisProcess } from '../cli/hunt/world-process.js';
import { provideSimulation } from '../cli/run/simulation.js';
import { faults, SEARCHED_BY_DEFAULT } from '../nemesis/index.js';
import { benchCommand } from './command.js';
import { print } from './print.js';
import { askedFor, inWorlds, schedulesOf } from './simulated.js';

interface Case {
  lock: string;
  /** What its mistake is told as; absent: anything that is the lock's. */
  kind?: string;
  faults?: readonly string[];
  flags?: readonly string[];
}

const ORDINARY = SEARCHED_BY_DEFAULT.filter((name) => !faults[name]!.needs.includes('turns'));
const RENEWED_LATE = ['--workload', 'renewal', '--careless', '--hold', '5x..8x', '--keys', '2', '--wait', '3s'];

/**
 * Each is wrong for a moment: between GET and DEL, between SETNX and EXPIRE, when a lease has ended. With the one fault that must come just
 * then, and with all, of which others make that moment longer.
 */
const CASES: readonly Case[] = [
  { lock: 'set-nx-px-get-del', faults: ['pause'] },
  { lock: 'setnx-expire', faults: ['kill'], kind: 'deadlock' },
  { lock: 'set-nx-px-get-del' },
  { lock: 'setnx-expire', kind: 'deadlock' },
  { lock: 'broken/extend-expired', flags: RENEWED_LATE },
];

interface Flags {
  seed: number;
  schedules: number;
  lock?: string;
}

/** Prints two lines for each lock. */
export async function benchAims(argv: string[]): Promise<void> {
  const command = benchCommand('aims')
    .option('--seed <n>', 'of the schedules', wholeNumberIn(0, 1_000_000), 1)
    .option('--schedules <n>', 'how many of each', wholeNumberIn(1, 100_000), 200)
    .option('--lock <name>', 'of these locks only the one');
  command.parse(argv, { from: 'user' });
  const { seed, schedules, lock: only } = command.opts<Flags>();
  const simulation = await provideSimulation(undefined, print);
  const workers = coresOfThisProcess().length;
  for (const { lock, kind, faults: names, flags = [] } of CASES) {
    if (only !== undefined && only !== lock) continue;
    const of = ['--lock', lock, '--faults', (names ?? ORDINARY).join(',')];
    const asked = askedFor([...of, ...flags, '--seed', String(seed)]);
    await inWorlds(asked, { workers, by: 'aims' }, simulation, async (worlds, config) => {
      for (const unaimed of [undefined, true] as const) {
        const all = [...schedulesOf(asked, seed, schedules, undefined, unaimed)];
        const results = await playAll(worlds, all, config);
        const found = all.filter((_, n) => {
          const result = results[n]!;
          if (!('found' in result)) return false;
          return result.found.some((one) => one.blame === 'lock' && (kind ?? one.kind) === one.kind);
        });
        const how = unaimed ? 'at their times' : 'aimed';
        const first = found.length > 0 ? `, first in the ${found[0]!.number}.` : '';
        const name = `${lock}, ${names?.join(', ') ?? 'all'}`;
        print(`${name.padEnd(32)}${how.padEnd(16)}${found.length} of ${schedules} schedules${first}`);
      }
    });
  }
}
