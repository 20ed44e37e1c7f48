/** The command line: parses, calls the command, turns every error into one line and an exit status. */
import { Command, CommanderError, Option } from 'commander';
import type { CellRow } from './batches/matrix-cells.js';
import { addMatrixFlags, type MatrixFlags, matrixCommand } from './batches/matrix-command.js';
import { addScenarioFlags, SCENARIO_HELP, type ScenarioFlags, scenarioCommand } from './batches/scenario-command.js';
import { addSelftestFlags, type SelftestFlags, selftestCommand } from './batches/selftest-command.js';
import {
  addTrackRecordFlags,
  TRACK_RECORD_HELP,
  type TrackRecordFlags,
  trackRecordCommand,
} from './batches/track-record-command.js';
import { watchScenarios } from './batches/watch-scenarios.js';
import { addCampaignFlags, type CampaignFlags, campaignCommand } from './campaign/campaign-command.js';
import { addMergeFlags, type MergeFlags, mergeCommand } from './campaign/merge-command.js';
import { drained } from './common/closed-output.js';
import { couldNotRun, EXIT_COULD_NOT_RUN } from './common/errors.js';
import { announcedIsOver } from './common/say.js';
import { asCalledHere, RUNS_FOLDER, STANDING, toolVersion } from './common/standing.js';
import { addConformFlags, type ConformFlags, conformCommand } from './conform/conform-command.js';
import { addDoctorFlags, type DoctorFlags, runDoctor, runList } from './docs/about-commands.js';
import {
  CAMPAIGN_HELP,
  CONFORM_HELP,
  DOCTOR_HELP,
  EXAMPLES,
  HUNT_HELP,
  INIT_HELP,
  LIST_HELP,
  MATRIX_HELP,
  MERGE_HELP,
  OPEN_HELP,
  REPETITION,
  REPLAY_HELP,
  SELFTEST_HELP,
} from './docs/help.js';
import { addHuntFlags, type HuntFlags } from './hunt/flags.js';
import { huntCommand } from './hunt/hunt-command.js';
import { addInitFlags, type InitFlags, initCommand } from './init/init-command.js';
import { addImportFlags, IMPORT_HELP, type ImportFlags } from './judge/check-import.js';
import { EXPORT_FORMATS, EXPORT_HELP } from './judge/export-history.js';
import { checkCommand, type ExportFlags, exportCommand, reportCommand } from './judge/judge-commands.js';
import { openCommand } from './judge/open-report.js';
import { replayCommand } from './replay/replay-command.js';
import { addReplayFlags, addRunFlags, type ReplayFlags, type RunFlags } from './run/flags.js';
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
  const [first] = argv;
  // Else the default command would complain of the flags behind it.
  if (first !== undefined && /^[^-]/.test(first) && !program.commands.some((command) => command.name() === first))
    throw noCommand(first, program.commands);
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
    .addHelpText('after', asCalledHere(REPLAY_HELP))
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
    .command('open')
    .description("open a run's report.html in your browser, and print where it is")
    .argument('[run]', 'a run folder, its id, or latest', 'latest')
    .addHelpText('after', asCalledHere(OPEN_HELP))
    .action(async (run: string) => {
      await ends(openCommand(run, { cwd, base: RUNS_FOLDER }));
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
    .addHelpText('after', asCalledHere(HUNT_HELP))
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
    .addHelpText('after', asCalledHere(SELFTEST_HELP))
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
    .addHelpText('after', asCalledHere(MATRIX_HELP))
    .action(async (flags: MatrixFlags) => {
      // Pages are made of much that no matrix needs.
      const keep = async (rows: readonly CellRow[]) => (await import('./docs/keep-cells.js')).keepCells(rows);
      await ends(matrixCommand(flags, { cwd, keep }));
    });
  addTrackRecordFlags(
    program
      .command('track-record')
      .description(
        'real bugs of published locks: is each found in the version that had it, and not in the one that mended it?',
      ),
  )
    .addHelpText('after', asCalledHere(TRACK_RECORD_HELP))
    .action(async (what: string, names: string[], flags: TrackRecordFlags) => {
      await ends(trackRecordCommand(what, names, flags, { cwd }));
    });
  addConformFlags(
    program
      .command('conform')
      .description('what is wrong with an adapter: holds what a lock client says against what the servers did'),
  )
    .addHelpText('after', asCalledHere(CONFORM_HELP))
    .action(async (flags: ConformFlags, command: Command) => {
      const given = (flag: string) => command.getOptionValueSource(flag) === 'cli';
      await ends(conformCommand(flags, { argv, cwd, given }));
    });
  addCampaignFlags(
    program
      .command('campaign')
      .description('seeds by locks, topologies, faults and workloads, for hours: what is found, told once and kept'),
  )
    .addHelpText('after', asCalledHere(CAMPAIGN_HELP))
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
  )
    .addHelpText('after', asCalledHere(MERGE_HELP))
    .action((folders: string[], flags: MergeFlags) => {
      return ends(mergeCommand(folders, flags, cwd));
    });
  addInitFlags(
    program
      .command('init')
      .description('write an adapter for your lock, a config, a test and a workflow, for the project where you stand'),
  )
    .addHelpText('after', asCalledHere(INIT_HELP))
    .action(async (flags: InitFlags) => {
      await ends(initCommand(flags, cwd));
    });
  program
    .command('list')
    .description('what there is: topologies, locks, faults, workloads, checkers')
    .argument('[kind]', 'all of one kind: topologies, locks, faults, workloads or checkers')
    .argument('[name]', 'one of them, such as: list lock redlock')
    .addHelpText('after', asCalledHere(LIST_HELP))
    .action((kind: string | undefined, name: string | undefined) => ends(runList(kind, name)));
  addDoctorFlags(program.command('doctor').description('what this machine can do, and the remedy for what it cannot'))
    .addHelpText('after', asCalledHere(DOCTOR_HELP))
    .action(async (flags: DoctorFlags) => {
      await ends(runDoctor(flags));
    });
  for (const command of program.commands) {
    command.exitOverride();
    // A program that reads JSON is told in one line.
    if (!argv.includes('--json')) command.showHelpAfterError('(--help lists every option)');
  }
  return program;
}
