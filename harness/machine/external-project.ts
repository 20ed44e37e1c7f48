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
import type { ExternalProject } from '../vocabulary/external.js';
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

export interface ExternalBuildOptions {
  cacheFolder: string;
  say: (line: string) => void;
  /** Where the projects' sources are; absent: the tool's own. */
  sources?: string;
}

/**
 * Resolves with the argv that starts a client, but for the variant. Two processes that want the same project build it one
 * after the other. Rejects with an ExternalBuildError, or a CacheFolderError.
 */
export async function externalProgram(project: ExternalProject, options: ExternalBuildOptions): Promise<string[]> {
  const all = options.sources ?? inProject('lock-impl/external');
  const sources = [project.shared, project.folder].flatMap((name) => (name === undefined ? [] : [join(all, name)]));
  const folder = join(options.cacheFolder, 'external', `${basename(project.folder)}-${await keyOf(project, sources)}`);
  const isBuilt = () => existsSync(join(folder, STAMP));
  if (!isBuilt()) {
    const waiting = () => options.say(`waiting for another lock-torture to build the ${project.what}…`);
    await exclusively(`build of ${folder}`, waiting, async () => {
      if (!isBuilt()) await build(project, sources, folder, options);
    });
  }
  const [program, ...args] = project.start.map((word) => placed(word, folder));
  return [findOnPath(program!)!, ...args];
}

async function build(
  project: ExternalProject,
  sources: readonly string[],
  folder: string,
  { cacheFolder, say }: ExternalBuildOptions,
): Promise<void> {
  // Says in one line where nothing can be kept there.
  privateFolder(join(cacheFolder, 'external'))[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
  say(`building the ${project.what} (first run; libraries are downloaded)…`);
  for (const one of sources) cpSync(one, folder, { recursive: true });
  try {
    for (const argv of project.build) {
      const placedArgv = argv.map((word) => placed(word, folder));
      const { exitCode, stdout, stderr } = await runProgram(placedArgv, { cwd: folder, timeoutMs: BUILD_TIMEOUT_MS });
      if (exitCode === 0) continue;
      throw new ExternalBuildError(
        `the ${project.what} cannot be built (${basename(argv[0]!)}: ${complaint(`${stdout}\n${stderr}`, exitCode)}): ` +
          `check that the package registry can be reached, or mend ${sources.at(-1)}, then run the same command again`,
      );
    }
    writeFileSync(join(folder, STAMP), '');
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Of all that a build tool printed, the line that says most. */
function complaint(output: string, exitCode: number): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const said = lines.find((line) => /error|fail|cannot|no such|took longer/i.test(line)) ?? lines.at(-1);
  return said?.trim().slice(0, 300) ?? `exit status ${exitCode}`;
}

function placed(word: string, folder: string): string {
  return word.replaceAll('{built}', folder);
}

async function keyOf(project: ExternalProject, sources: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([project.build, project.start]));
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
