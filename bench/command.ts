/** The command line of a benchmark: each answers `--help`, and says in one line what is wrong with its flags. */
import { Command } from 'commander';

/**
 * `name`: as after `npm run bench --`. Parsing throws a CommanderError: with `exitCode` 0 where help was asked for, which is printed
 * then; else of what is wrong, which is left to whoever catches it (`main.ts`).
 */
export function benchCommand(name: string): Command {
  return new Command(`npm run bench -- ${name}`).exitOverride().configureOutput({ writeErr: () => {} });
}
