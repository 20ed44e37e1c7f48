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
import { whyNotTrusted } from '../../harness/machine/trusted.js';
import type { Settings } from '../../harness/vocabulary/settings.js';
import { EXIT_COULD_NOT_RUN, UsageError } from '../common/errors.js';
import { flagsOf, SETTINGS } from '../common/settings.js';
import type { Invocation } from './ask-run.js';
import { bundle } from './bundle.js';
import { settingsOfEnvironment, variableOf } from './environment.js';
import { parseFlags } from './flags.js';
import { looksLikeFile } from './lock-source.js';
import type { ConfigFlags } from './shared-flags.js';

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

/** A command that a config file, and the environment, have settings for. */
export interface Configurable {
  name: string;
  /** Gives it its options. */
  add(command: Command): Command;
  /** The settings that mean for it what they mean for `run`, of which it leaves out the others; absent: all. */
  takes?: readonly (keyof Settings)[];
}

/** A command line that begins with the settings of a config file and of the environment. */
export interface Configured<Flags> {
  flags: Flags;
  invocation: Invocation;
  /** Where the settings come from: lines for the user. */
  origin: string[];
  /** The config file that was read. */
  config?: string;
  /** All that both say, with the file's paths in place. */
  settings?: Settings;
}

/**
 * Puts the settings of the config file, if there is one, before what was typed, and those of the environment between them; where
 * `--no-config` was typed, neither. Throws one line where they cannot be used.
 */
export async function withConfig<Flags extends ConfigFlags>(
  command: Configurable,
  flags: Flags,
  invocation: Invocation,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Configured<Flags>> {
  if (flags.config === false) return { flags, invocation, origin: [] };
  const config = await readConfigFile(flags.config, invocation.cwd);
  const set = settingsOfEnvironment(env);
  const variables = Object.keys(set) as (keyof Settings)[];
  if (!config && variables.length === 0) return { flags, invocation, origin: [] };
  const { name, add, takes } = command;
  const { argv, cwd } = invocation;
  const typed = argv[0] === name ? argv.slice(1) : argv;
  // What repeats it says all of it: by then the file may say something else. The last of the two flags counts.
  const end = typed.includes('--') ? typed.indexOf('--') : typed.length;
  const all = [
    ...(config ? flagsOfConfig(config, (flag) => invocation.given(flag) || overrides(set, flag), takes) : []),
    ...variables.flatMap((key) => flagsOfVariable(command, key, set, invocation.given)),
    ...typed.slice(0, end),
    '--no-config',
    ...typed.slice(end),
  ];
  try {
    const { flags: merged, given } = parseFlags<Flags>(add, all);
    return {
      flags: merged,
      invocation: { argv: name === 'run' ? all : [name, ...all], cwd, given },
      config: config?.path,
      origin: [
        ...(config ? [`config ${config.path}`] : []),
        ...(variables.length > 0 ? [`environment ${variables.map(variableOf).join(', ')}`] : []),
      ],
      settings: { ...config?.settings, ...set },
    };
  } catch (error) {
    // What was typed could be parsed by itself, and so could each variable: whatever is wrong stands in the file.
    throw new UsageError(`${config?.path ?? 'environment'}: ${complaintOf(error)}`);
  }
}

/**
 * What a command line says that is to have nothing but its own flags, where a config or the environment would have it begin with
 * others.
 */
export function ignoringConfig(standing: string, env: NodeJS.ProcessEnv = process.env): string[] {
  return findConfig(standing) !== undefined || setsSomething(env) ? ['--no-config'] : [];
}

function setsSomething(env: NodeJS.ProcessEnv): boolean {
  try {
    return Object.keys(settingsOfEnvironment(env)).length > 0;
  } catch {
    return true; // what cannot be used would be refused
  }
}

/** Whether what the environment sets is that flag, or excludes it. */
function overrides({ plan, nemesis, ...others }: Settings, flag: string): boolean {
  if (flag === 'plan' || flag === 'nemesis') return plan !== undefined || nemesis !== undefined;
  return Object.hasOwn(others, flag);
}

/** One variable's flags. Throws one line that names it. */
function flagsOfVariable(
  { add, takes }: Configurable,
  key: keyof Settings,
  set: Settings,
  typed: Invocation['given'],
): string[] {
  const isTyped = key === 'plan' || key === 'nemesis' ? typed('plan') || typed('nemesis') : typed(key);
  if ((isTyped && SETTINGS[key] !== 'pairs') || takes?.includes(key) === false) return [];
  const flags = flagsOf({ [key]: set[key] });
  try {
    parseFlags(add, flags);
  } catch (error) {
    throw new UsageError(`${variableOf(key)}: ${complaintOf(error)}`);
  }
  return flags;
}

function complaintOf(error: unknown): string {
  return (error as Error).message.replace(/^error: /, '');
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
  // What it throws later, too, is told by its own lines.
  process.setSourceMapsEnabled(true);
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
