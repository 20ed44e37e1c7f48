/**
 * `lock-torture.config.ts`: settings that nobody wants to type. It is code that is run, so it is looked for only in
 * the user's own project, and one that somebody else may have written is refused.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { privateFolder } from '../../harness/machine/private-folder.js';
import { cacheFolder } from '../../harness/machine/redis-binary.js';
import type { Settings } from '../../harness/vocabulary/settings.js';
import { EXIT_COULD_NOT_RUN, UsageError } from '../common/errors.js';
import { flagsOf, SETTINGS } from '../common/settings.js';
import type { Invocation } from './ask-run.js';
import { bundle } from './bundle.js';
import { type ConfigFlags, parseFlags } from './flags.js';
import { looksLikeFile } from './lock-source.js';

const NAMES = ['ts', 'mts', 'js', 'mjs'].map((extension) => `lock-torture.config.${extension}`);

export interface ConfigFile {
  path: string;
  settings: Settings;
}

/**
 * The config that is meant: the one that is named, none where `--no-config` was typed (`false`), else the one of the project
 * that the user stands in, if it has one. Throws one line where it cannot be used.
 */
export async function readConfigFile(named: string | false | undefined, cwd: string): Promise<ConfigFile | undefined> {
  if (named === false) return undefined;
  const path = named === undefined ? findConfig(cwd) : resolve(cwd, named);
  if (path === undefined) return undefined;
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`--config ${named}: ${path} is no file`);
  // Who names a file means it.
  const distrust = named === undefined ? whyNotTrusted(path) : undefined;
  if (distrust !== undefined)
    throw new UsageError(`${path} ${distrust}: mend that, name it with --config, or leave it out with --no-config`);
  return { path, settings: inPlace(await load(path), dirname(path)) };
}

/** A command that a config file has settings for. */
export interface Configurable {
  name: string;
  /** Gives it its options. */
  add(command: Command): Command;
  /** The settings that mean for it what they mean for `run`, of which it leaves out the others; absent: all. */
  takes?: readonly (keyof Settings)[];
}

/** A command line that begins with the settings of a config file. */
export interface Configured<Flags> {
  flags: Flags;
  invocation: Invocation;
  /** The config file that was read. */
  config?: string;
  /** All that it says, with its paths in place. */
  settings?: Settings;
}

/** Puts the settings of the config file, if there is one, before what was typed. Throws one line where it cannot be used. */
export async function withConfig<Flags extends ConfigFlags>(
  { name, add, takes }: Configurable,
  flags: Flags,
  invocation: Invocation,
): Promise<Configured<Flags>> {
  const config = await readConfigFile(flags.config, invocation.cwd);
  if (!config) return { flags, invocation };
  const { argv, cwd } = invocation;
  const typed = argv[0] === name ? argv.slice(1) : argv;
  // What repeats it says all of it: by then the file may say something else. The last of the two flags counts.
  const end = typed.includes('--') ? typed.indexOf('--') : typed.length;
  const all = [
    ...flagsOfConfig(config, invocation.given, takes),
    ...typed.slice(0, end),
    '--no-config',
    ...typed.slice(end),
  ];
  try {
    const { flags: merged, given } = parseFlags<Flags>(add, all);
    return {
      flags: merged,
      invocation: { argv: name === 'run' ? all : [name, ...all], cwd, given },
      config: config.path,
      settings: config.settings,
    };
  } catch (error) {
    // What was typed could be parsed by itself: whatever is wrong stands in the file.
    throw new UsageError(`${config.path}: ${(error as Error).message.replace(/^error: /, '')}`);
  }
}

/** Its flags, to begin a command line with: without those that were typed, unless they add up. Throws one line that names the file. */
function flagsOfConfig(
  { path, settings }: ConfigFile,
  typed: Invocation['given'],
  takes: Configurable['takes'],
): string[] {
  // They exclude each other, and what was typed comes first.
  const { plan, nemesis, ...others } = settings;
  const both = { ...others, ...(!typed('nemesis') && { plan }), ...(!typed('plan') && { nemesis }) };
  try {
    // Of what it does not take, too, it is said where that is wrong.
    flagsOf(both);
    const isTaken = (name: keyof Settings) =>
      (takes?.includes(name) ?? true) && (SETTINGS[name] === 'pairs' || !typed(name));
    return flagsOf(Object.fromEntries(Object.entries(both).filter(([name]) => isTaken(name as keyof Settings))));
  } catch (error) {
    throw new UsageError(`${path}: ${(error as Error).message}`);
  }
}

/** From `cwd` up to the root of its workspace or repository; without one, of its package; else nowhere but in `cwd`. */
function findConfig(cwd: string): string | undefined {
  const above: string[] = [];
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    above.push(folder);
    if (folder === dirname(folder)) break;
  }
  const end = [isRoot, isPackage].map((is) => above.findIndex(is)).find((at) => at >= 0) ?? 0;
  const places = above.slice(0, end + 1).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return places.find((path) => existsSync(path));
}

function isRoot(folder: string): boolean {
  if (['.git', 'pnpm-workspace.yaml'].some((name) => existsSync(join(folder, name)))) return true;
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).workspaces !== undefined;
  } catch {
    return false; // there is none, or none that can be read
  }
}

function isPackage(folder: string): boolean {
  return existsSync(join(folder, 'package.json'));
}

/** In words; undefined: only this user, or root, can have written it. */
function whyNotTrusted(path: string): string | undefined {
  const { uid, mode } = statSync(path);
  if (uid !== 0 && uid !== process.geteuid?.()) return 'belongs to another user';
  return (mode & 0o002) === 0 ? undefined : 'may be written by everybody (chmod o-w)';
}

async function load(path: string): Promise<Settings> {
  using folder = privateFolder(join(cacheFolder(), 'config'));
  const module = await bundle(path, {
    cwd: dirname(path),
    outFolder: folder.path,
    clientMain: fileURLToPath(new URL('../../harness/client/main.js', import.meta.url)),
    own: fileURLToPath(new URL('../api/define-config.js', import.meta.url)),
  });
  const { default: settings } = await loaded(path, module);
  if (typeof settings !== 'object' || settings === null)
    throw new UsageError(`${path}: expected \`export default defineConfig({ ... })\``);
  return settings as Settings;
}

/**
 * The module `bundled` of the config at `path`. What it prints goes to standard error, for standard output is the tool's; and where
 * it ends the process, or never comes to its end, that is no verdict.
 */
async function loaded(path: string, bundled: string): Promise<{ default?: unknown }> {
  const { stdout, stderr } = process;
  const { write } = stdout;
  const ended = () => {
    stderr.write(
      `lock-torture: ${path}: the program ended while this was loaded (it called exit, or waits for nothing)\n`,
    );
    process.exitCode = EXIT_COULD_NOT_RUN;
  };
  stdout.write = stderr.write.bind(stderr) as typeof write;
  process.once('exit', ended);
  try {
    return await import(pathToFileURL(bundled).href);
  } catch (error) {
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : error}`);
  } finally {
    process.off('exit', ended);
    stdout.write = write;
  }
}

/** Paths in it start from its folder. */
function inPlace(settings: Settings, folder: string): Settings {
  const placed = { ...settings };
  const { lock, server, plan, known, out } = settings;
  if (typeof lock === 'string' && looksLikeFile(lock)) placed.lock = resolve(folder, lock);
  if (typeof server === 'string' && server.startsWith('.')) placed.server = resolve(folder, server);
  if (typeof plan === 'string') placed.plan = resolve(folder, plan);
  if (typeof known === 'string') placed.known = resolve(folder, known);
  if (typeof out === 'string') placed.out = resolve(folder, out);
  return placed;
}
