/** Makes of what `--lock` names the one CommonJS module that the simulated world loads for every client anew. */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clientProgram } from '../../harness/client/program.js';
import { externalLock } from '../../lock-impl/external/index.js';
import { builtinLock, locks } from '../../lock-impl/index.js';
import type { Say } from '../common/say.js';
import { BUNDLE } from './bundle.js';
import { withEsbuild } from './esbuild.js';
import { loadOnce } from './load-once.js';
import { isOnesOwn, resolveLock } from './lock-source.js';
import { NotSimulatedError } from './not-simulated.js';
import { fetchedLibrary } from './published-library.js';

/** What a lock is that is none in JavaScript. */
export function foreignProgramOf(lock: string): string {
  const project = externalLock(lock)?.project;
  return project ? `a program in another language (${project.what})` : 'a program that is no lock in JavaScript';
}

const CLIENT_MAIN = fileURLToPath(new URL('../../harness/client/main.js', import.meta.url));

/** As `putLockModule`, of a lock that can be loaded and is one: rejects where that of a file of the user's is not so. */
export async function putLoadedLock(
  lock: string,
  cwd: string,
  folder: string,
  options: PutOptions = {},
): Promise<string> {
  const path = await putLockModule(lock, cwd, folder, options);
  if (isOnesOwn(lock)) {
    const clientArgv = clientProgram([process.execPath, '--enable-source-maps', CLIENT_MAIN, join(folder, BUNDLE)]);
    await loadOnce({ clientArgv, spec: lock, cwd, folder });
  }
  return path;
}

export interface PutOptions {
  /** What to do about a lock that cannot be played. */
  remedy?: string;
  /** Gets what the user should know of it. */
  say?: Say;
}

/** Resolves with the module's path, below `folder`. Rejects, with one line for the user, where there is no such lock. */
export async function putLockModule(
  lock: string,
  cwd: string,
  folder: string,
  { remedy = 'torture it with `run`', say = () => {} }: PutOptions = {},
): Promise<string> {
  const refused = () =>
    new NotSimulatedError(
      `--lock ${lock}: a program cannot be played in virtual time, only a lock in JavaScript or TypeScript; ${remedy}`,
      foreignProgramOf(lock),
    );
  const source = await resolveLock(lock, {
    cwd,
    outFolder: folder,
    builtin: builtinLock,
    builtinNames: Object.keys(locks),
    fetched: (takes) => fetchedLibrary(takes, say),
    async external(name) {
      if (externalLock(name)) throw refused();
      return undefined;
    },
    clientMain: CLIENT_MAIN,
    node: process.execPath,
    // Every client has them for itself, too, as processes have; and their clocks are to be the world's.
    withPackages: true,
    addOnsCannot: `be played in virtual time: what it does besides JavaScript happens in real time; ${remedy}`,
  });
  if (source.kind === 'command') throw refused();
  if (source.note !== undefined) say(source.note);
  const path = join(folder, 'lock.cjs');
  const entry = source.clientArgv.at(-1)!;
  const { outputFiles } = await withEsbuild((esbuild) =>
    esbuild.build({
      entryPoints: [entry],
      // It writes paths into the module, from here on. From where the tool stands they would name `folder`, which is another one each
      // time, and the same lock would be another module.
      absWorkingDir: dirname(entry),
      bundle: true,
      write: false,
      outfile: path,
      // Apart: the module is the same wherever its author keeps it.
      sourcemap: 'external',
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      logLevel: 'silent',
      // One for all clients: it keeps nothing of theirs, and it is what takes longest to load.
      external: ['ioredis'],
    }),
  );
  for (const { path: to, contents } of outputFiles) await writeFile(to, contents);
  return path;
}
