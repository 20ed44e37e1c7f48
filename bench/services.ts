/**
 * `npm run bench -- services`: what locks on Redis and on other services cost, side by side. A round makes three runs of each lock, one
 * lock after the other, so that what else the machine does weighs on all of them; ratios are formed within a round.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { torturedServer } from '../cli/batches/tortured-server.js';
import { wholeNumberIn } from '../cli/common/values.js';
import {
  COSTS,
  COSTS_FILE,
  type CostName,
  type CostRun,
  type Costs,
  costsSchema,
  costsTable,
  ratios,
} from '../cli/docs/costs.js';
import { PROJECT } from '../harness/machine/project-files.js';
import { comparedPlaces } from '../matrix/index.js';
import { benchCommand } from './command.js';
import { benchDeaths } from './deaths.js';
import { print } from './print.js';
import { eventsIn, MEASURES, runFor } from './runs-for-costs.js';

interface Flags {
  rounds: number;
  deaths?: number;
  keep?: true;
  locks?: string;
}

export async function benchServices(argv: string[]): Promise<void> {
  const command = benchCommand('services')
    .option('--rounds <n>', 'of three runs of each lock', wholeNumberIn(1, 100), 3)
    .option('--locks <names>', 'only these and the first, with commas between them')
    .option(
      '--deaths <n>',
      'only how long nobody holds after the death of a leader by majority: so often, beside when the service says that it has a new one',
      wholeNumberIn(1, 100),
    )
    .option('--keep', `write it to ${COSTS_FILE}, for the published table`);
  command.parse(argv, { from: 'user' });
  const { rounds, deaths, locks, keep } = command.opts<Flags>();
  if (deaths !== undefined) return benchDeaths(deaths, locks?.split(','));
  const columns = comparedPlaces.filter(({ lock }, n) => n === 0 || (locks?.split(',').includes(lock) ?? true));
  const servers = new Set<string>();
  const all: Costs['rounds'] = [];
  for (let n = 1; n <= rounds; n++) {
    const load = loadavg()[0]!;
    print(`round ${n} of ${rounds}, load ${load.toFixed(1)}`);
    const runs: CostRun[] = [];
    for (const column of columns) runs.push(await costsOf(column, servers));
    all.push({ load, runs });
    for (const run of runs) print(lineOf(run, { rounds: [{ load, runs }] }));
  }
  const measured: Costs = {
    day: new Date().toISOString().slice(0, 'YYYY-MM-DD'.length),
    servers: [...servers].sort(),
    machine: `${availableParallelism()} processors`,
    rounds: all,
  };
  print(`\n${costsTable(measured, ({ lock, topology }) => `${lock} on ${topology}`)}`);
  if (!keep) return;
  writeFileSync(join(PROJECT, COSTS_FILE), `${JSON.stringify(costsSchema.parse(measured), undefined, 2)}\n`);
  print(`kept in ${COSTS_FILE}; now: npm run docs`);
}

/** Makes its runs; what could not be measured is said. */
async function costsOf(column: Pick<CostRun, 'lock' | 'topology'>, servers: Set<string>): Promise<CostRun> {
  const run: CostRun = { ...column, missing: {}, values: {} };
  for (const [name, { of }] of Object.entries(MEASURES) as [CostName, (typeof MEASURES)[CostName]][]) {
    if (name === 'withoutHolderMs' && column.topology === 'redlock') {
      run.missing[name] = 'no node leads';
      continue;
    }
    const made = await runFor(name, column, (folder) => {
      const server = torturedServer(folder);
      if (server !== undefined) servers.add(server);
      return of(eventsIn(folder));
    });
    if ('missing' in made) run.missing[name] = made.missing;
    else run.values[name] = made.value;
  }
  return run;
}

function lineOf(run: CostRun, round: Pick<Costs, 'rounds'>): string {
  const texts = (Object.keys(COSTS) as CostName[]).map((name) => {
    const value = run.values[name];
    if (value === undefined) return `${name} ${run.missing[name]}`;
    const [ratio] = ratios(round, run, name);
    return `${name} ${value.toFixed(2)}${ratio === undefined ? '' : ` (x${ratio.toFixed(1)})`}`;
  });
  return `  ${`${run.lock} on ${run.topology}`.padEnd(30)} ${texts.join(', ')}`;
}
