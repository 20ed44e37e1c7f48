/** Command lines that can be pasted. For display only: nothing here is ever given to a shell. */
import { relative, sep } from 'node:path';
import { TOOL } from './standing.js';
import { quote } from './values.js';

/** Options of `run` that say how often, from which seed on, or how it is told: what is left repeats one run once a seed is added. */
const OF_THE_SERIES = {
  valued: ['--seed', '--times', '--shard'],
  bare: ['--until-violation', '--json', '--watch', '--open'],
};

/** Options of `hunt` that say which schedules, and for how long. */
const OF_THE_HUNT = { valued: ['--seed', '--runs', '--for'], bare: [] };

/** The command that repeats one run of `argv` by itself, with the seed that it had. */
export function commandToReproduce(argv: readonly string[], seed: number): string {
  return commandLine([...without(argv, OF_THE_SERIES), '--seed', String(seed)]);
}

/** The hunt `argv` again, up to one of its schedules, for as long as that and shrinking take. */
export function huntUpTo(argv: readonly string[], seed: number, schedule: number): string {
  return commandLine([...without(argv, OF_THE_HUNT), '--seed', String(seed), '--runs', String(schedule)]);
}

function without(argv: readonly string[], { valued, bare }: { valued: string[]; bare: string[] }): string[] {
  return argv.filter(
    (argument, n) =>
      !bare.includes(argument) &&
      !valued.includes(argument) &&
      !valued.includes(argv[n - 1] ?? '') &&
      !valued.some((option) => argument.startsWith(`${option}=`)),
  );
}

export function commandLine(argv: readonly string[], tool = TOOL): string {
  return [tool, ...argv.map(quote)].join(' ');
}

/** How a command line that was made by `commandLine`, perhaps where the tool is called otherwise, calls the tool. */
export function toolOf(command: string): string {
  return /^(npx lock-torture|npm run torture --|node (?:'(?:[^']|'\\'')*'|[^\s']+))(?= |$)/.exec(command)?.[0] ?? TOOL;
}

/** A path as short as it can be named from where the user stands. */
export function shownPath(path: string, standing: string): string {
  const inside = relative(standing, path);
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`)) return path;
  // What begins like an option would be taken for one.
  return inside.startsWith('-') ? `.${sep}${inside}` : inside;
}

/** A command that is to be typed in `folder`, as it is typed by who stands elsewhere. */
export function commandIn(folder: string, command: string, standing: string): string {
  return folder === standing ? command : `cd ${quote(folder)} && ${command}`;
}
