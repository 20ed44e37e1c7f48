// Promises: after `setUp` in a clone, the packages of package-lock.json are installed and dist/ is compiled from the
// sources as they are; of an installed package nothing is touched. Says in one line what it does and why; with nothing to do it is silent and takes milliseconds. Killed at
// any moment, the next start finishes the job; two starts at once take turns.
// Excludes: everything that the tool itself needs from the machine (Redis, a C compiler): see `doctor`.
//
// Plain JavaScript without dependencies: it runs before there is anything else.

import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { nodeTooOld } from './node-version.mjs';
import { signsOfLife } from './signs-of-life.mjs';

const PROJECT = realpathSync(fileURLToPath(new URL('..', import.meta.url)));
const NODE_MODULES = join(PROJECT, 'node_modules');
const DIST = join(PROJECT, 'dist');

/** A set-up that cannot be done, with what to do about it: one or more lines for people. */
export class SetUpError extends Error {}

/**
 * Installs and compiles what is missing or outdated.
 *
 * @param {{ say: (line: string) => void }} options
 */
export async function setUp({ say }) {
  const tooOld = nodeTooOld();
  if (tooOld) throw new SetUpError(tooOld);
  // npm never packs this file: an installed package has its packages beside it, and is compiled.
  if (!statIfThere(join(PROJECT, 'package-lock.json'))) return;
  if (!whyInstall() && !whyCompile()) return;
  if (!isWritable(PROJECT)) {
    throw new SetUpError(
      `${PROJECT} is not set up yet and cannot be written to: copy it to a folder of yours, or have its owner run the same command once`,
    );
  }

  const { exclusively } = await import('./exclusive.mjs');
  const waiting = () => say('waiting for another lock-torture to finish its set-up…');
  const setting = exclusively(`set-up of ${PROJECT}`, waiting, async (turn) => {
    // Asked again: the one that we waited for may have done it all.
    const install = whyInstall();
    if (install) {
      say(`installing packages (${install})…`);
      await showingLife(() => installPackages(turn));
    }
    const compile = whyCompile();
    if (compile) {
      say(`compiling (${compile})…`);
      await showingLife(() => compileSources(turn, { checksTypes: compile !== FIRST_RUN }));
    }
  });
  await setting.catch((error) => {
    throw error.syscall && NOT_WRITTEN[error.code] ? notWritten(error) : error;
  });
}

async function showingLife(work) {
  const signs = signsOfLife();
  try {
    await work();
  } finally {
    signs.stop();
  }
}

/**
 * Why there is nothing to run after `setUp`, in one line for people; undefined: there is. A package that was installed from git is
 * compiled when it is installed, by its script `prepare`, and cannot be afterwards: it has neither compiler nor all sources.
 */
export function notCompiled() {
  if (statIfThere(join(DIST, 'cli', 'main.js'))) return undefined;
  return `${PROJECT} has no dist/: it was installed from git while scripts were switched off (ignore-scripts, or a package manager that runs none from git); install it again with --ignore-scripts=false, or from the files that "npm run packages" makes in a clone`;
}

const OWNERSHIP = 'mend its ownership or copy the project to a folder of yours';
const NOT_WRITTEN = {
  EACCES: OWNERSHIP,
  EPERM: OWNERSHIP,
  EROFS: OWNERSHIP,
  ENOSPC: 'free about 300 MB',
};

/** Part of it may be another user's: who ran it first as root has left such a dist/ or node_modules/. */
function notWritten({ code, message }) {
  return new SetUpError(
    `${PROJECT} cannot be set up (${message}): ${NOT_WRITTEN[code]}, then run the same command again`,
  );
}

// ------------------------------------------------------------------------------------------------------------ packages

const INSTALLED_STAMP = join(NODE_MODULES, '.lock-torture-stamp');
/** npm's own record of what it installed, written when it is done. */
const NPM_RECORD = join(NODE_MODULES, '.package-lock.json');

function whyInstall() {
  const wanted = packagesStamp();
  const installed = readIfThere(INSTALLED_STAMP);
  if (installed === wanted) return undefined;
  // Also where a branch asks for other packages, and all of them are there: folders of several branches may share one node_modules.
  if ((installed === undefined || platformOf(installed) === platformOf(wanted)) && allInstalled()) {
    writeFileSync(INSTALLED_STAMP, wanted);
    return undefined;
  }
  if (installed !== undefined) return 'package-lock.json has changed';
  return readIfThere(NPM_RECORD) === undefined ? 'first run' : 'node_modules is not what package-lock.json says';
}

/** Packages are compiled for a platform, so a tree that is shared with a container of another kind is outdated there. */
function packagesStamp() {
  const lock = readFileSync(join(PROJECT, 'package-lock.json'));
  return `${createHash('sha256').update(lock).digest('hex')} ${process.platform} ${process.arch}\n`;
}

function platformOf(stamp) {
  return stamp.slice(stamp.indexOf(' '));
}

/** Whether npm's record of what it installed names every package of the lockfile in the same version. */
function allInstalled() {
  const record = readIfThere(NPM_RECORD);
  if (record === undefined) return false;
  const installed = JSON.parse(record).packages;
  const locked = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(locked).every(([path, wanted]) => {
    if (path === '') return true;
    const found = installed[path];
    return found ? found.version === wanted.version : wanted.optional === true;
  });
}

async function installPackages(turn) {
  // First of all, so that an installation that is killed half-way is not taken for a whole one.
  rmSync(INSTALLED_STAMP, { force: true });
  rmSync(NPM_RECORD, { force: true });
  // No package here needs its install script. `--include=dev`: the compiler is needed under NODE_ENV=production too.
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--include=dev'];
  const npm = process.env.npm_execpath;
  const argv = npm && /npm-cli\.[cm]?js$/.test(npm) ? [process.execPath, npm, ...args] : ['npm', ...args];
  const { status, output } = await run(argv, turn).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
    throw new SetUpError(
      'npm was not found, and the packages have to be installed: install npm (it comes with Node.js; on Debian also as the package "npm"), then run the same command again',
    );
  });
  if (status !== 0) throw new SetUpError(installFailure(output));
  writeFileSync(INSTALLED_STAMP, packagesStamp());
}

function installFailure(output) {
  const said = output
    .split('\n')
    .filter((line) => /^npm (error|ERR!)/.test(line) && !/complete log of this run|^npm \S+\s+at /i.test(line))
    .map((line) => `  ${line}`)
    .slice(0, 12)
    .join('\n');
  const detail = said || `  ${output.trim().split('\n').slice(-8).join('\n  ')}`;
  if (
    /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT)\b/.test(
      output,
    )
  ) {
    return `the packages could not be installed because the package registry cannot be reached: check the network (or npm's proxy settings), then run the same command again. npm said:\n${detail}`;
  }
  if (/\bENOSPC\b/.test(output)) {
    return `the packages could not be installed because the disk is full: ${NOT_WRITTEN.ENOSPC}, then run the same command again. npm said:\n${detail}`;
  }
  if (/\b(EACCES|EPERM|EROFS)\b/.test(output)) {
    return `the packages could not be installed because ${PROJECT} or npm's cache is not writable for this user: ${OWNERSHIP}, then run the same command again. npm said:\n${detail}`;
  }
  return `the packages could not be installed: "npm ci" in ${PROJECT} failed. npm said:\n${detail}`;
}

// ------------------------------------------------------------------------------------------------------------- compile

const BUNDLER = join(PROJECT, 'bin', 'bundle.mjs');
const COMPILED_STAMP = join(DIST, '.stamp');
/** Beside dist/, so that source maps made here point to the right place once it is renamed. */
const DIST_NEW = join(PROJECT, 'dist.new');
const DIST_OLD = join(PROJECT, 'dist.old');

function whyCompile() {
  const compiled = readIfThere(COMPILED_STAMP);
  if (compiled === sourcesStamp()) return undefined;
  return compiled === undefined ? FIRST_RUN : 'sources have changed';
}

const FIRST_RUN = 'first run';

/** Says what the compiler would read: path, time and size of every source, and the versions of all packages. */
function sourcesStamp() {
  const hash = createHash('sha256').update(packagesStamp());
  const note = (path) => {
    const { mtimeMs, size } = statSync(join(PROJECT, path));
    hash.update(`${path}\0${mtimeMs}\0${size}\n`);
  };
  const visit = (folder) => {
    for (const entry of entriesIfThere(join(PROJECT, folder))) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) visit(path);
      else if (/\.([cm]?ts|json|c)$/.test(entry.name)) note(path);
    }
  };
  note('package.json');
  note('bin/bundle.mjs');
  note('tsconfig.json');
  const { include } = JSON.parse(readFileSync(join(PROJECT, 'tsconfig.json'), 'utf8'));
  include.forEach(visit);
  return `${hash.digest('hex')}\n`;
}

/**
 * Compiles beside dist/ and swaps when done: sources that are gone leave nothing behind, and a killed compiler no half. Without
 * checking types it takes a third of the time, and makes the same: for sources as they were committed, whose types were checked then.
 */
async function compileSources(turn, { checksTypes }) {
  rmSync(DIST_NEW, { recursive: true, force: true });
  // Before compiling: a source that is saved meanwhile makes the result stale, as it should.
  const stamp = sourcesStamp();
  const flags = ['-p', 'tsconfig.json', '--outDir', DIST_NEW, ...(checksTypes ? [] : ['--noCheck'])];
  const { status, output } = await run([...(await compiler()), ...flags], turn);
  if (status !== 0) {
    rmSync(DIST_NEW, { recursive: true, force: true });
    throw new SetUpError(`the sources do not compile; mend this, then run the same command again:\n${output.trim()}`);
  }
  await bundlePrograms(turn);
  writeFileSync(join(DIST_NEW, '.stamp'), stamp);
  if (statIfThere(DIST)) renameSync(DIST, DIST_OLD);
  rmSync(DIST_OLD, { recursive: true, force: true });
  renameSync(DIST_NEW, DIST);
}

/** In a process of its own, which loads what was only just installed. */
async function bundlePrograms(turn) {
  const { bundledPrograms } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  if (bundledPrograms === undefined) return;
  const { status, output } = await run([process.execPath, BUNDLER, DIST_NEW], turn);
  if (status !== 0) {
    throw new SetUpError(`the compiled programs cannot be bundled; esbuild said:\n${output.trim()}`);
  }
}

/** The compiler itself where its package tells the way, not the script that starts it: that one would outlive a kill. */
async function compiler() {
  const locator = join(NODE_MODULES, 'typescript', 'lib', 'getExePath.js');
  if (statIfThere(locator)) return [(await import(pathToFileURL(locator).href)).default()];
  return [process.execPath, join(NODE_MODULES, 'typescript', 'bin', 'tsc')];
}

// ----------------------------------------------------------------------------------------------------------- processes

/**
 * Runs a command in the project's folder. The child dies with this process, and as long as it lives it has our turn.
 *
 * @param {string[]} argv
 * @param {number | undefined} turn
 * @returns {Promise<{ status: number, output: string }>}
 */
async function run(argv, turn) {
  const { spawn, spawnSync } = await import('node:child_process');
  if (!onPath(argv[0])) throw Object.assign(new Error(`${argv[0]} was not found`), { code: 'ENOENT' });
  const setpriv = ['setpriv', '--pdeathsig', 'KILL'];
  // Not everybody has it, and BusyBox's has no such option.
  const canBind = spawnSync(setpriv[0], [...setpriv.slice(1), 'true']).status === 0;
  const [command, ...args] = canBind ? [...setpriv, ...argv] : argv;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: PROJECT, stdio: ['ignore', 'pipe', 'pipe', turn ?? 'ignore'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve(
        code === null
          ? { status: 1, output: `${output}\n${argv[0]} was ended by ${signal}` }
          : { status: code, output },
      );
    });
  });
}

function onPath(command) {
  if (command.includes('/')) return true;
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false; // not in this folder
    }
  });
}

// --------------------------------------------------------------------------------------------------------------- files

function readIfThere(path) {
  return ifThere(() => readFileSync(path, 'utf8'));
}

function isWritable(path) {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false; // no permission, or a read-only file system
  }
}

function statIfThere(path) {
  return ifThere(() => statSync(path));
}

function entriesIfThere(path) {
  return ifThere(() => readdirSync(path, { withFileTypes: true })) ?? [];
}

function ifThere(look) {
  try {
    return look();
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}

// -------------------------------------------------------------------------------------------------------- command line

/** `setUp` for a command: its lines go to standard error, and a failure ends the process with status 3. */
export async function setUpOrExit() {
  try {
    await setUp({ say: (line) => process.stderr.write(`lock-torture: ${line}\n`) });
  } catch (error) {
    const text = error instanceof SetUpError || error.code ? error.message : error.stack;
    process.stderr.write(`lock-torture: ${text}\n`);
    process.exit(3);
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await setUpOrExit();
