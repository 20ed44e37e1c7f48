/** The command line: parses, calls the command, turns every error into one line and an exit status. */

import { fileURLToPath } from 'node:url';
import { Command, CommanderError, Option } from 'commander';
import type { Persistence } from '../api.js';
import { topologies } from '../topologies/index.js';
import { runDoctor, runList } from './about-commands.js';
import { couldNotRun, EXIT_COULD_NOT_RUN } from './errors.js';
import { checkCommand, reportCommand } from './judge-commands.js';
import { type RunFlags, runCommand } from './run-command.js';
import { runtimeNames } from './runtimes.js';
import { CLASSES, count, duration, failOn, holdRange, keyValue, oneOf, positiveDuration } from './values.js';

const PERSISTENCE: Persistence[] = ['none', 'rdb', 'aof-everysec', 'aof-always'];
const EVICTION = [
  'noeviction',
  'allkeys-lru',
  'allkeys-lfu',
  'allkeys-random',
  'volatile-lru',
  'volatile-lfu',
  'volatile-random',
  'volatile-ttl',
];
const PROJECT_RUNS = fileURLToPath(new URL('../../../runs', import.meta.url));

/** Runs one command; resolves with the process's exit status and never rejects. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    return await parseAndRun(argv);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_COULD_NOT_RUN;
    return couldNotRun(error);
  }
}

async function parseAndRun(argv: readonly string[]): Promise<number> {
  // npm changes into the project's folder; what a user types is relative to where they stood.
  const cwd = process.env.INIT_CWD ?? process.cwd();
  let status = 0;
  const program = new Command('lock-torture')
    .description(
      'Tortures a distributed lock on real Redis and says, with evidence, whether two clients ever held it at once.\n`run --help` lists every option of a run.',
    )
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`lock-torture: ${text.replace(/^error: /, '').trim()}\n`) })
    .helpCommand(false)
    .enablePositionalOptions()
    .addHelpText('after', EXAMPLES);

  addRunFlags(program.command('run', { isDefault: true }).description('run a torture (the default command)')).action(
    async (flags: RunFlags) => {
      status = await runCommand(flags, { argv, cwd });
    },
  );
  program
    .command('check')
    .description('judge a recorded run again, whatever became of it')
    .argument('[run]', 'a run folder, its id, or latest', 'latest')
    .option('--json', 'print the verdict as one JSON object', false)
    .action(async (run: string, flags: { json: boolean }) => {
      status = await checkCommand(run, { ...flags, cwd, base: PROJECT_RUNS });
    });
  program
    .command('report')
    .description('write report.html and junit.xml of a run again and print where they are')
    .argument('[run]', 'a run folder, its id, or latest', 'latest')
    .action(async (run: string) => {
      status = await reportCommand(run, { cwd, base: PROJECT_RUNS });
    });
  program
    .command('list')
    .description('what there is: topologies, locks, faults, workloads, checkers')
    .argument('[what]', 'only this: topologies, locks, faults, workloads or checkers')
    .action((what: string | undefined) => {
      status = runList(what);
    });
  program
    .command('doctor')
    .description('what this machine can do, and the remedy for what it cannot')
    .option('--redis <path>', 'a redis-server to look at')
    .action(async (flags: { redis?: string }) => {
      status = await runDoctor(flags);
    });
  for (const command of program.commands) command.exitOverride().showHelpAfterError('(--help lists every option)');
  await program.parseAsync([...argv], { from: 'user' });
  return status;
}

function addRunFlags(command: Command): Command {
  const value = <T>(
    flags: string,
    text: string,
    parse: (text: string, before: T) => T,
    fallback?: T,
    shown?: string,
  ) => {
    const option = new Option(flags, text).argParser(parse);
    return fallback === undefined ? option : option.default(fallback, shown);
  };
  const options = [
    value('--topology <name>', 'what to start', oneOf(Object.keys(topologies)), 'single'),
    new Option(
      '--lock <lock>',
      "a name from `list locks`, a file (./my-lock.ts), or 'cmd:./program args' (default: the topology's own)",
    ),
    new Option('--workload <name>', 'what the clients do').default('mutex'),
    value('--runtime <name>', 'where hosts live', oneOf(runtimeNames), 'auto'),
    new Option('--redis <path>', 'the redis-server to torture (default: from PATH, else downloaded)'),
    value('--clients <n>', 'lock clients, one process each', count(1, 200), 6),
    value('--keys <n>', 'locks they contend for', count(1, 1000), 3),
    value('--lease <duration>', 'lease of every lock', positiveDuration, 5_000, '5s'),
    value('--wait <duration>', 'how long an acquire waits for a lock that is held', duration, 1_000, '1s'),
    value(
      '--hold <range>',
      'work under the lock, in parts of the lease',
      holdRange,
      { min: 0.02, max: 0.7 },
      '0.02x..0.7x',
    ),
    new Option('--careless', 'clients ignore how long the lock says it is valid, and `lost`').default(false, 'careful'),
    value('--time-limit <duration>', 'how long to torture, warm-up included', positiveDuration, 20_000, '20s'),
    new Option('--nemesis <list>', 'faults, as in kill,pause:client; or default, all, none').default('default'),
    value('--nemesis-interval <duration>', 'mean time between the starts of two faults', positiveDuration),
    new Option('--plan <file>', 'a nemesis plan (plan.json of another run, say) instead of --nemesis'),
    value('--seed <n>', 'repeats the plan and the choices of another run (default: drawn)', count(0, 2 ** 31 - 1)),
    value('--nodes <n>', 'nodes of the redlock topology', count(1, 25), 5),
    value('--persistence <mode>', PERSISTENCE.join(' | '), oneOf(PERSISTENCE), 'rdb'),
    value('--min-replicas-to-write <n>', 'replicas that a primary must see to take a write', count(0, 5), 0),
    value('--maxmemory-policy <policy>', 'what a full server throws away (see --nemesis evict)', oneOf(EVICTION)),
    new Option('--auth', 'every node and Sentinel asks for a password').default(false, 'no password'),
    value('--redis-conf <key=value>', 'a directive for every Redis node (repeatable)', keyValue, [], 'none'),
    value(
      '--fail-on <classes>',
      `findings that fail a run: ${CLASSES.join(',')}; or none`,
      failOn,
      CLASSES,
      'all of them',
    ),
    new Option('--out <folder>', 'where run folders go').default(PROJECT_RUNS, 'runs/ of the project'),
    new Option('--json', 'progress and verdict as JSON lines').default(false, 'text'),
  ];
  for (const option of options) command.addOption(option);
  return command.addHelpText('after', EXAMPLES);
}

const EXAMPLES = `
Examples:
  npm run torture -- --topology sentinel                 six clients, failovers: does set-nx-px survive?
  npm run torture -- --topology redlock --nemesis kill --persistence aof-always
  npm run torture -- --lock ./my-lock.ts --nemesis pause:client --time-limit 30s
  npm run torture -- --lock 'cmd:python3 my_lock.py'     any program that speaks docs/protocol.md
  npm run torture -- check latest                        judge the last run again

Exit status: 0 the lock held, 1 a property was violated, 2 cannot tell, 3 could not run.
`;
