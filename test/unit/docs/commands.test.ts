/** Every command of every page is one that the real command line takes. Those that end soon are run, in `test/redis/docs`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { benchmarks } from '../../../bench/benchmarks.js';
import { askHunt, type HuntFlags } from '../../../cli/hunt/flags.js';
import { toolCommands } from '../../../cli/main.js';
import { askRun } from '../../../cli/run/ask-run.js';
import type { RunFlags } from '../../../cli/run/flags.js';
import { scenarios } from '../../../scenarios/index.js';
import { commandsIn, type PageCommand, pageCommands, wordsForTool } from '../../support/page-commands.js';
import { RUN_HERE, whyNotRun } from '../../support/page-commands-run.js';
import { ROOT } from '../../support/torture.js';

const all = pageCommands();
const ofTool = all.flatMap((one) => {
  const argv = wordsForTool(one);
  return argv ? [{ ...one, argv }] : [];
});
const named = (commands: readonly PageCommand[]) => [
  ...new Map(commands.map((one) => [`${one.page}: ${one.text}`, one])),
];

/** Throws what a user would be told. */
function parse(argv: readonly string[]): void {
  const program = toolCommands(argv, () => {});
  for (const command of program.commands) {
    command.configureOutput({ writeOut() {}, outputError() {} });
    command.action(() => {
      const given = (flag: string) => command.getOptionValueSource(flag) === 'cli';
      const where = { argv, cwd: ROOT, given };
      const name = command.name();
      if (name === 'run') expect(command.args).toEqual([]);
      if (name === 'run') askRun(command.opts<RunFlags>(), where);
      if (name === 'hunt') askHunt(command.opts<HuntFlags>(), where);
      if (name === 'scenario') for (const scenario of command.args) expect(Object.keys(scenarios)).toContain(scenario);
    });
  }
  try {
    program.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
  }
}

describe('the commands of the pages', () => {
  it('are found, wherever they stand', () => {
    const markdown = [
      '    npx lock-torture a    what it is',
      '```sh',
      'npx lock-torture b \\',
      '  --c # why',
      '```',
      '```ts',
      'npx lock-torture none',
      '```',
      'With `npx lock-torture',
      'd` and `npx lock-torture`.',
    ].join('\n');
    expect(commandsIn(markdown)).toEqual(['npx lock-torture a', 'npx lock-torture b --c', 'npx lock-torture d']);
    expect(ofTool.length).toBeGreaterThan(60);
  });

  it.each(named(ofTool))('%s', (_name, one) => {
    const argv = wordsForTool(one)!;
    expect(() => parse(argv)).not.toThrow();
    const isRun = RUN_HERE.some((command) => command.argv.join(' ') === argv.join(' '));
    expect(isRun || whyNotRun(argv) !== undefined, 'it is run, or it is said why not').toBe(true);
  });

  it('would be told where the command line takes them no more', () => {
    for (const argv of [['--topologie', 'single'], ['scenario', 'none-such'], ['--topology', 'none'], ['ceck']])
      expect(() => parse(argv), argv.join(' ')).toThrow();
  });

  it('that are run are on a page', () => {
    const typed = new Set(ofTool.map(({ argv }) => argv.join(' ')));
    expect(RUN_HERE.map(({ argv }) => argv.join(' ')).filter((command) => !typed.has(command))).toEqual([]);
  });

  it.each(named(all.filter(({ words }) => words[0] === 'npm' && words[1] === 'run')))('%s', (_name, { words }) => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(Object.keys(scripts)).toContain(words[2]);
    if (words[2] === 'bench' && words[4] !== undefined)
      expect([...Object.keys(benchmarks), '--help']).toContain(words[4]);
  });

  it('that build in Go name the file, for a folder may have its name', () => {
    const builds = all.filter(({ words }) => words[0] === 'go' && words.includes('build'));
    expect(builds.length).toBeGreaterThan(1);
    for (const { words, page } of builds) expect(words, page).toContain('-o');
  });
});
