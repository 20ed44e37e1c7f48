/** The command line: parses, calls the command, turns every error into one line and an exit status. */
import { Command, CommanderError, Option } from 'commander';
import { addMatrixFlags, type MatrixFlags, matrixCommand } from './batches/matrix-command.js';
import { addScenarioFlags, SCENARIO_HELP, type ScenarioFlags, scenarioCommand } from './batches/scenario-command.js';
import { addSelftestFlags, type SelftestFlags, selftestCommand } from './batches/selftest-command.js';
import { watchScenarios } from './batches/watch-scenarios.js';
import { addCampaignFlags, type CampaignFlags, campaignCommand } from './campaign/campaign-command.js';
import { addMergeFlags, type MergeFlags, mergeCommand } from './campaign/merge-command.js';
import { drained } from './common/closed-output.js';
import { couldNotRun, EXIT_COULD_NOT_RUN } from './common/errors.js';
import { announcedIsOver } from './common/say.js';
import { asCalledHere, RUNS_FOLDER, STANDING, toolVersion } from './common/standing.js';
import { addConformFlags, type ConformFlags, conformCommand } from './conform/conform-command.js';
import { runDoctor, runList } from './docs/about-commands.js';
import { addHuntFlags, type HuntFlags } from './hunt/flags.js';
import { huntCommand } from './hunt/hunt-command.js';
import { addInitFlags, type InitFlags, initCommand } from './init/init-command.js';
import { addImportFlags, IMPORT_HELP, type ImportFlags } from './judge/check-import.js';
import { EXPORT_FORMATS, EXPORT_HELP } from './judge/export-history.js';
import { checkCommand, type ExportFlags, exportCommand, reportCommand } from './judge/judge-commands.js';
import { replayCommand } from './replay/replay-command.js';
import { addReplayFlags, addRunFlags, type ReplayFlags, type RunFlags } from './run/flags.js';
import { type ServerFlags, serverOptions } from './run/machine-flags.js';
import { configuredRun, runCommand } from './run/run-command.js';
import { noCommand } from './run/stray-argument.js';
import { watchCommand } from './run/watch.js';

/** Runs one command; resolves with the process's exit status once all is printed, and never rejects. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    return await parseAndRun(argv);
  } catch (error) {
    announcedIsOver();
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_COULD_NOT_RUN;
    return couldNotRun(error);
  } finally {
    await drained();
  }
}

async function parseAndRun(argv: readonly string[]): Promise<number> {
  let status = 0;
  const program = toolCommands(argv, async (ends) => {
    status = await ends;
  });
  await program.parseAsync([...argv], { from: 'user' });
  return status;
}

/** All commands with their options. The one that is named calls `ends` with its exit status. Excludes parsing: whoever parses decides what is done. */
export function toolCommands(
  argv: readonly string[],
  ends: (status: number | Promise<number>) => void | Promise<void>,
): Command {
  const cwd = STANDING;
  const program = new Command('lock-torture')
    .description(
      'Tortures a distributed lock on real Redis and says, with evidence, whether two clients ever held it at once.\n`run --help` lists every option of a run.',
    )
    .version(toolVersion(), '-V, --version', 'print which version this is')
    .exitOverride()
    .configureOutput({
      outputError: (text, write) =>
        write(
          `lock-torture: ${text
            .replace(/^error: /, '')
            .trim()
            .replaceAll('\n', ' ')}\n`,
        ),
    })
    .helpCommand(false)
    .enablePositionalOptions()
    .addHelpText('after', asCalledHere(EXAMPLES));

  addRunFlags(program.command('run', { isDefault: true }).description('run a torture (the default command)'))
    .addHelpText('after', asCalledHere(REPETITION + EXAMPLES))
    .allowExcessArguments()
    .action(async (flags: RunFlags, command: Command) => {
      const [stray] = command.args;
      if (stray !== undefined) throw noCommand(stray, program.commands);
      const given = (flag: string) => command.getOptionValueSource(flag) === 'cli';
      const invocation = { argv, cwd, given };
      await ends(flags.watch ? watchCommand(flags, invocation) : runCommand(await configuredRun(flags, invocation)));
    });
  addReplayFlags(
    program
      .command('replay')
      .description('repeat a run, and say whether the same was found again')
      .argument('[run]', 'a run folder, its id, or latest', 'latest'),
  )
    .addHelpText('after', asCalledHere(REPLAY))
    .action(async (run: string, flags: ReplayFlags) => {
      await ends(replayCommand(run, flags, { cwd, base: RUNS_FOLDER }));
    });
  addImportFlags(
    program
      .command('check')
      .description(
        "judge a recorded run again, or a lock history from elsewhere: a history.edn of Jepsen's, or the same as JSON",
      )
      .argument('[run]', 'a run folder, its id, or latest; or a history, or a folder that it is in', 'latest')
      .option('--json', 'print the verdict as one JSON object', false),
  )
    .addHelpText('after', asCalledHere(IMPORT_HELP))
    .action(async (run: string, flags: ImportFlags & { json: boolean }) => {
      await ends(checkCommand(run, { ...flags, cwd, base: RUNS_FOLDER }));
    });
  program
    .command('report')
    .description('write the reports of a run again (report.html, summary.md, junit.xml, ...) and print where they are')
    .argument('[run]', 'a run folder, its id, or latest', 'latest')
    .action(async (run: string) => {
      await ends(reportCommand(run, { cwd, base: RUNS_FOLDER }));
    });
  program
    .command('export')
    .description('print the history of a run for other checkers (Knossos, Porcupine), as Jepsen writes one')
    .argument('[run]', 'a run folder, its id, or latest', 'latest')
    .addOption(new Option('--format <format>', 'EDN, or JSON lines').choices(EXPORT_FORMATS).default('edn'))
    .option('--key <key>', 'only of this lock: what knows no keys decides one at a time (default: all)')
    .addHelpText('after', asCalledHere(EXPORT_HELP))
    .action(async (run: string, flags: ExportFlags) => {
      await ends(exportCommand(run, flags, { cwd, base: RUNS_FOLDER }));
    });
  addHuntFlags(
    program
      .command('hunt')
      .description(
        'search in virtual time: thousands of schedules against real Redis, exact replay, the smallest that finds each thing',
      ),
  )
    .addHelpText('after', asCalledHere(HUNT))
    .action(async (flags: HuntFlags, command: Command) => {
      const given = (flag: string) => command.getOptionValueSource(flag) === 'cli';
      await ends(huntCommand(flags, { argv, cwd, given }));
    });
  addSelftestFlags(
    program
      .command('selftest')
      .description(
        'torture locks with known mistakes, and sound ones: are the mistakes caught, and are the sound locks not accused?',
      ),
  )
    .addHelpText('after', asCalledHere(SELFTEST))
    .action(async (flags: SelftestFlags) => {
      await ends(selftestCommand(flags, { cwd }));
    });
  addScenarioFlags(
    program
      .command('scenario')
      .description('play claims about locks on real servers: the well-known counter-examples, step by step'),
  )
    .addHelpText('after', asCalledHere(SCENARIO_HELP))
    .action(async (names: string[], flags: ScenarioFlags) => {
      await ends((flags.watch ? watchScenarios : scenarioCommand)(names, flags, { cwd }));
    });
  addMatrixFlags(
    program
      .command('matrix')
      .description('which lock survives which fault: runs every cell and compares its result with the expected one'),
  )
    .addHelpText('after', asCalledHere(MATRIX))
    .action(async (flags: MatrixFlags) => {
      await ends(matrixCommand(flags, { cwd }));
    });
  addConformFlags(
    program
      .command('conform')
      .description('what is wrong with an adapter: holds what a lock client says against what the servers did'),
  )
    .addHelpText('after', asCalledHere(CONFORM))
    .action(async (flags: ConformFlags, command: Command) => {
      const given = (flag: string) => command.getOptionValueSource(flag) === 'cli';
      await ends(conformCommand(flags, { argv, cwd, given }));
    });
  addCampaignFlags(
    program
      .command('campaign')
      .description('seeds by locks, topologies, faults and workloads, for hours: what is found, told once and kept'),
  )
    .addHelpText('after', asCalledHere(CAMPAIGN))
    .action(async (extra: string[], flags: CampaignFlags, command: Command) => {
      const given = (flag: string) => command.getOptionValueSource(flag) === 'cli';
      await ends(campaignCommand(extra, flags, { argv, cwd, given }));
    });
  addMergeFlags(
    program
      .command('merge')
      .description(
        'one report of what several machines did of the same: parts of a campaign, a series, scenarios, ...',
      ),
  ).action((folders: string[], flags: MergeFlags) => {
    return ends(mergeCommand(folders, flags, cwd));
  });
  addInitFlags(
    program
      .command('init')
      .description('write a lock, a config, a test and a workflow to begin with, for the project where you stand'),
  ).action(async (flags: InitFlags) => {
    await ends(initCommand(flags, cwd));
  });
  program
    .command('list')
    .description('what there is: topologies, locks, faults, workloads, checkers')
    .argument('[kind]', 'all of one kind: topologies, locks, faults, workloads or checkers')
    .argument('[name]', 'one of them, such as: list lock redlock')
    .action((kind: string | undefined, name: string | undefined) => ends(runList(kind, name)));
  const doctor = program
    .command('doctor')
    .description('what this machine can do, and the remedy for what it cannot')
    .action(async (flags: ServerFlags) => {
      await ends(runDoctor(flags));
    });
  for (const option of serverOptions('a server to look at')) doctor.addOption(option);
  for (const command of program.commands) {
    command.exitOverride();
    // A program that reads JSON is told in one line.
    if (!argv.includes('--json')) command.showHelpAfterError('(--help lists every option)');
  }
  return program;
}

const REPETITION = `
Several runs: --times 20 makes 20 runs, each with its own seed and folder. It prints one line for each as it ends, and a
summary at the end (also in runs/<time>-series-<id>/summary.md and .json): which seeds are violated, by what, and why. With
--plan all runs carry out the same plan, and only what the clients do differs. runs/latest is then the first violated run,
or the last one if none is. Ctrl-C ends the current run and sums up; a second Ctrl-C ends everything at once.
The exit status is the gravest: 1, then 3, then 2, then 0.
`;

const REPLAY = `
A replay has the original's topology, options, seed and plan. The lock's file is read as it is now, so you can fix your
lock and see whether the violation is gone. Redis is located again, unless the original named one with --server; passwords
are drawn again. On real servers the timing is never quite the same twice, so one replay that finds
nothing proves little: --times 10 says in how many of ten a violation of the original's gravest class was found again
for the same cause (if the original found nothing: how many came to the same verdict).

Examples:
  npm run torture -- replay                              the last run, once more
  npm run torture -- replay 2026-11-21T09-13-06-sentinel-9bb2 --times 10
  npm run torture -- replay latest --until-violation     until it is found again

Exit status: that of the replays themselves; 0 if all of them held, 1 if one was violated, 2 cannot tell,
3 could not run. Reproduced or not does not change it.
`;

const HUNT = `
redis-server runs unmodified, in virtual time: every clock, message and random number comes from one seed, so a schedule of some
virtual seconds takes a fraction of one, and is the same whenever it is played again. Your lock runs with its own imports, in
JavaScript or TypeScript; what the simulated world does not have (files, threads, programs, fetch) is refused in one line.

A finding is shrunk to the fewest faults that still find it, kept in hunts/<time>-<topology>-<id>/<n>/ with its report, and told
once. What breaks every lock on this topology is told once too, and then left out. docs/simulation.md says how it works and what it
cannot find; a finding is a finding in simulation until a run on real servers has shown it.

Examples:
  npm run torture -- hunt --lock ./my-lock.ts                          a minute on a single server
  npm run torture -- hunt --lock ./my-lock.ts --topology redlock --for 5m
  npm run torture -- hunt --lock ./my-lock.ts --runs 500 --seed 7      the same 500 schedules again
  npm run torture -- hunt --faults pause,delay --lease 1s
  npm run torture -- replay hunts/2026-.../1                           exactly what was found, once more

Exit status: 1 found, 0 nothing was found and the search was strong enough, 2 nothing was found in too little, 3 could not run.
`;

const CONFORM = `
Half a minute: first nothing fails, then links are slow, answers are lost, and a server forgets what it stored. What is found is
the adapter's, one line each with the remedy; of the lock itself it says nothing, \`run\` does. docs/adapters.md says how an
adapter is written.

Examples:
  npm run torture -- conform --lock 'cmd:./my-client'
  npm run torture -- conform --lock ./my-lock.ts --topology sentinel
  npm run torture -- conform --lock go/redsync --json

Exit status: 0 nothing is wrong (there may be advice), 1 mistakes were found, 2 cannot tell, 3 could not run.
`;

const MATRIX = `
Every cell is a lock under a fault, with the expected result and the reason for it (matrix/index.ts): safe, exclusion, stale,
harm or liveness; or refused, where a service cannot be asked for the fault. A cell that must break has --seeds runs to do so; if
it does not, the test lacks power, which proves nothing. The table links to the report of each cell's last run.

Examples:
  npm run torture -- matrix --faults eviction,client-paused --locks set-nx-px
  npm run torture -- matrix --services                            Redis beside etcd, ZooKeeper, PostgreSQL, MariaDB and MongoDB
  npm run torture -- matrix --shard 1/4                           the first quarter, on one of four machines
  npm run torture -- matrix --resume runs/2026-...-matrix-1a2b    continue where it was interrupted
  npm run torture -- matrix --resume shard1 --resume shard2       merge what several machines did; run what is missing

Exit status: 0 every cell as expected, 1 a cell came out otherwise, 2 some prove nothing or were not made, 3 could not run.
`;

const CAMPAIGN = `
A cell is a lock on a topology under faults with a workload; its runs have seeds of their own. Cells that lately found something
new come first, then those whose faults have struck the fewest holds. Two findings are the same where lock, topology, blame, class, kind
and cause are: each is told once, with the command that repeats its run of fewest faults. All of it lies in runs/<time>-campaign-<id>/:
end it however you like, and --resume goes on. Its known/ has a file for each new finding; copy those that you know of to a folder of
yours and give it as --known: they are tried again first, and with --known-ok they fail nothing.

Examples:
  npm run torture -- campaign --for 8h --locks ./my-lock.ts --topologies single,sentinel
  npm run torture -- campaign --runs 500 --faults pause,kill:client -- --time-limit 10s --clients 4
  npm run torture -- campaign --hunt --runs 5000 --locks ./my-lock.ts        in virtual time
  npm run torture -- campaign --resume runs/2026-...-campaign-1a2b
  npm run torture -- campaign --runs 500 --seed 7 --shard 1/4     a quarter of it, on one of four machines
  npm run torture -- merge part1 part2 part3 part4 --out whole    and their one report

Exit status: 1 something was found, 0 nothing was (or nothing but what is known, with --known-ok), 2 cannot tell or not all was made,
3 something could not run.
`;

const SELFTEST = `
Every canary (list locks: broken/...) is a lock with one realistic mistake. It is tortured until the checker that is named for it
finds that mistake. Its twin, in which the mistake is fixed, goes through the same and must not be accused of it. Sound locks go
through faults that they must survive. A run that could not be judged is "cannot tell", and one whose record shows that nothing
happened which would have shown the mistake "not provoked"; busy machines make both. The results are written to a folder below
--out, run by run.

Examples:
  npm run torture -- selftest --quick                    some minutes
  npm run torture -- selftest --only blind-del,redlock   one canary with its twin, and one sound lock

Exit status: 0 all canaries caught and nothing else accused, 1 otherwise, 2 some runs prove nothing or were not made, 3 could not run.
`;

const EXAMPLES = `
Examples:
  npm run torture -- --topology sentinel                 eight clients, failovers: does set-nx-px survive?
  npm run torture -- --topology redlock --nemesis kill --persistence aof-always
  npm run torture -- --lock ./my-lock.ts --nemesis pause:client --time-limit 30s
  npm run torture -- --lock 'cmd:python3 my_lock.py'     any program that speaks docs/protocol.md
  npm run torture -- --topology sentinel --times 20      20 seeds: how often, and in which?
  npm run torture -- --lock ./my-lock.ts --until-violation --time-limit 10s
  npm run torture -- --lock ./my-lock.ts --watch         again after each change, until you stop it
  npm run torture -- replay latest --times 5             is it reproduced?
  npm run torture -- check latest                        judge the last run again

Exit status: 0 the lock held, 1 a property was violated, 2 cannot tell, 3 could not run.
`;
