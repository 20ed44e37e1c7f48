/** `init`: a lock, a config, a test and a workflow for the project where the user stands. It overwrites nothing, whatever is there. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { UsageError } from '../common/errors.js';
import { installCommand, SOURCE } from '../common/package-source.js';
import { toolVersion } from '../common/standing.js';
import { quote } from '../common/values.js';
import { isInstalled, projectIn } from './project.js';
import { commandsFor, filesFor } from './templates.js';

/** Of the parts in C that this machine takes. */
const PLATFORM = `${process.platform}-${process.arch}`;

export interface InitFlags {
  yes: boolean;
  dryRun: boolean;
}

export function addInitFlags(command: Command): Command {
  return command
    .option('--yes', 'write without asking', false)
    .option('--dry-run', 'only say what would be written', false);
}

/** Resolves with 0; throws one line for the user where nothing can be written. */
export async function initCommand({ yes, dryRun }: InitFlags, folder: string): Promise<number> {
  const project = projectIn(folder);
  const files = filesFor(project);
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const isThere = ({ path }: { path: string }) => existsSync(join(folder, path));
  for (const file of files) say(`${isThere(file) ? 'kept, for it is there:' : 'to be written:        '} ${file.path}`);
  const missing = files.filter((file) => !isThere(file));
  if (dryRun || missing.length === 0) return 0;
  if (!yes && !(await agreed(`write ${missing.length === 1 ? 'it' : 'them'} to ${folder}? [y/N] `))) {
    say('nothing was written');
    return 0;
  }
  for (const { path, text } of missing) write(join(folder, path), text);
  if (!isInstalled(folder)) {
    const install = installCommand(project.manager, { version: toolVersion(), platform: PLATFORM });
    if (SOURCE.kind === 'files')
      say(
        `the files import it, so first, in a clone of lock-torture: npm run packages -- ${quote(join(folder, SOURCE.folder))}`,
      );
    say(`${SOURCE.kind === 'files' ? 'and then here' : 'the files import it, so first'}: ${install}`);
  }
  say(`then try: ${commandsFor(project).join(', and ')} (which finds the mistake of the lock that was written)`);
  return 0;
}

async function agreed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError('nobody can be asked here: say --yes to write, or --dry-run to look');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}

/** Fails where the file has appeared meanwhile. */
function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${(error as Error).message}`);
  }
}
