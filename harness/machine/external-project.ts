/**
 * Builds lock clients of other languages from the sources that come with the tool: once for each state of sources and
 * toolchain, in the cache folder, from which they then run without the network.
 *
 * A project is built where it stays, because some of what is made (a Python environment, a JVM's archive of classes) knows
 * its own path. A stamp is written last: a folder without one is what a killed build left, and the next one begins anew.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ExternalProject, LibraryVersion } from '../vocabulary/external.js';
import { findOnPath, runProgram } from './command.js';
import { exclusively } from './exclusively.js';
import { privateFolder } from './private-folder.js';
import { inProject } from './project-files.js';

/** A cold build downloads libraries and compiles them, perhaps on a machine that has much else to do. */
const BUILD_TIMEOUT_MS = 15 * 60_000;
const STAMP = '.built';

/** A project that cannot be built here. The message is one line, with the remedy. */
export class ExternalBuildError extends Error {
  override name = 'ExternalBuildError';
}

/** The registry was asked, and has no such version. */
export class NoSuchVersionError extends ExternalBuildError {}

export interface ExternalBuildOptions {
  cacheFolder: string;
  say: (line: string) => void;
  /** Where the projects' sources are; absent: the tool's own. */
  sources?: string;
  /** A version that is to take the place of the one that the project pins. */
  takes?: LibraryVersion;
}

/** Resolves with the argv that starts a client, but for the variant. Rejects as `externalFolder`. */
export async function externalProgram(project: ExternalProject, options: ExternalBuildOptions): Promise<string[]> {
  const folder = await externalFolder(project, options);
  const [program, ...args] = project.start.map((word) => placed(word, { built: folder }));
  return [findOnPath(program!)!, ...args];
}

/**
 * Resolves with the folder that has the project, built. Two processes that want the same build it one after the other. Rejects with an
 * ExternalBuildError, or a CacheFolderError.
 */
export async function externalFolder(project: ExternalProject, options: ExternalBuildOptions): Promise<string> {
  const all = options.sources ?? inProject('lock-impl/external');
  const sources = [project.shared, project.folder].flatMap((name) => (name === undefined ? [] : [join(all, name)]));
  const key = await keyOf(project, sources, options.takes);
  const folder = join(options.cacheFolder, 'external', `${basename(project.folder)}-${key}`);
  const isBuilt = () => existsSync(join(folder, STAMP));
  if (!isBuilt()) {
    const waiting = () => options.say(`waiting for another lock-torture to build the ${named(project, options)}…`);
    await exclusively(`build of ${folder}`, waiting, async () => {
      if (!isBuilt()) await build(project, sources, folder, options);
    });
  }
  return folder;
}

/** For people, as in "Redisson adapters with org.redisson:redisson 3.16.4". */
function named({ what }: ExternalProject, { takes }: ExternalBuildOptions): string {
  return takes ? `${what} with ${takes.library} ${takes.version}` : what;
}

async function build(
  project: ExternalProject,
  sources: readonly string[],
  folder: string,
  options: ExternalBuildOptions,
): Promise<void> {
  const { cacheFolder, say, takes } = options;
  // Says in one line where nothing can be kept there.
  privateFolder(join(cacheFolder, 'external'))[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
  say(`building the ${named(project, options)} (first run; libraries are downloaded)…`);
  for (const one of sources) cpSync(one, folder, { recursive: true });
  try {
    for (const argv of [...(takes ? (project.takeVersion ?? []) : []), ...project.build]) {
      const placedArgv = argv.map((word) => placed(word, { built: folder, ...takes }));
      const { exitCode, stdout, stderr } = await runProgram(placedArgv, { cwd: folder, timeoutMs: BUILD_TIMEOUT_MS });
      if (exitCode === 0) continue;
      const output = `${stdout}\n${stderr}`;
      if (takes && isNoVersion(project, takes, output))
        throw new NoSuchVersionError(`the registry of its packages has no ${takes.library} ${takes.version}`);
      throw new ExternalBuildError(
        `the ${named(project, options)} cannot be built (${basename(argv[0]!)}: ${complaint(output, exitCode)}): ` +
          `check that the package registry can be reached, or mend ${sources.at(-1)}, then run the same command again`,
      );
    }
    writeFileSync(join(folder, STAMP), '');
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Whether that is what the package manager says: anything else may be the network's doing. */
function isNoVersion({ noSuchVersion }: ExternalProject, takes: LibraryVersion, output: string): boolean {
  if (noSuchVersion === undefined) return false;
  const [library, version] = [takes.library, takes.version].map((text) => text.replace(/[^\w]/g, '\\$&'));
  return new RegExp(placed(noSuchVersion, { library: library!, version: version! })).test(output);
}

/** Of all that a build tool printed, the line that says most. */
function complaint(output: string, exitCode: number): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const said = lines.find((line) => /error|fail|cannot|no such|took longer/i.test(line)) ?? lines.at(-1);
  return said?.trim().slice(0, 300) ?? `exit status ${exitCode}`;
}

function placed(word: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, () => value), word);
}

async function keyOf(project: ExternalProject, sources: readonly string[], takes?: LibraryVersion): Promise<string> {
  const { build, start, takeVersion } = project;
  const hash = createHash('sha256').update(JSON.stringify([build, start, ...(takes ? [takes, takeVersion] : [])]));
  for (const argv of project.needs) {
    if (!findOnPath(argv[0]))
      throw new ExternalBuildError(`the ${project.what} need ${argv[0]}, which is not on PATH: ${project.remedy}`);
    if (argv.length === 1) continue;
    const { exitCode, stdout, stderr } = await runProgram(argv);
    if (exitCode !== 0)
      throw new ExternalBuildError(
        `the ${project.what} need ${argv[0]}, which does not run (${stderr.split('\n')[0]}): ${project.remedy}`,
      );
    hash.update(`${stdout}\0${stderr}\0`);
  }
  for (const folder of sources)
    for (const file of filesBelow(folder)) hash.update(`${file}\0`).update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, 16);
}

/** What is written for people does not change what is built. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
