/** Flags that several commands share, with what they ask for. */
import { Option } from 'commander';
import { OF_WHAT, RUNS_FOLDER } from '../common/standing.js';
import { wholeNumberIn, workShard } from '../common/values.js';

/** Flags about what is printed, and where folders go. */
export interface OutputFlags {
  out: string;
  json: boolean;
}

/** Which config file to begin with; false: none. */
export interface ConfigFlags {
  config?: string | false;
}

/** How often to run. `times` and `until`: what --help says of the two flags. */
export function repetition(times: string, until: string): Option[] {
  return [
    value('--times <n>', times, wholeNumberIn(1, 100_000)),
    new Option('--until-violation', `${until}: within --times, else on and on until Ctrl-C`).default(false, 'no'),
  ];
}

/** `of`: what there are parts of; absent: of all that the command does. */
export function shardOption(of = 'of it'): Option {
  return new Option(
    '--shard <i/n>',
    `only the ith of n parts ${of}, for several machines; \`merge\` makes one of them`,
  ).argParser(workShard);
}

/**
 * A switch that a config file or a workload may have on, with what takes it back: `--no-` and its name, which --help tells
 * once, of all of them. `off`: what --help says of it where it is not given.
 */
export function switchOptions(name: string, description: string, off = 'no'): Option[] {
  return [new Option(`--${name}`, description).default(false, off), new Option(`--no-${name}`).hideHelp()];
}

/** For whoever takes it. */
export function knownOkOptions(): Option[] {
  return switchOptions('known-ok', 'findings that were known before fail nothing (the report shows them)');
}

/** Which settings a command begins with. */
export function configOptions(): Option[] {
  return [
    new Option('--config <file>', 'settings to begin with (default: lock-torture.config.ts of your project)'),
    new Option(
      '--no-config',
      'without it and LOCK_TORTURE_… of the environment; --no-auth and the like take back one switch',
    ),
  ];
}

/** Where run folders go, and what is printed. */
export function outputOptions(): Option[] {
  return [
    new Option('--out <folder>', 'where run folders go').default(RUNS_FOLDER, `runs/ ${OF_WHAT}`),
    new Option('--json', 'progress, verdict and summary as JSON lines').default(false, 'text'),
  ];
}

/** Whether the report is opened at the end. */
export function openOption(): Option {
  return new Option('--open', 'open the report in your browser at the end').default(false, 'no');
}

/** An option whose text `parse` reads; `shown`: how --help writes `fallback`. */
export function value<T>(
  flags: string,
  text: string,
  parse: (text: string, before: T) => T,
  fallback?: T,
  shown?: string,
): Option {
  const option = new Option(flags, text).argParser(parse);
  return fallback === undefined ? option : option.default(fallback, shown);
}
