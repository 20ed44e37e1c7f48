/** `init`: an adapter for the user's lock, a config, a test and a workflow, for the project where the user stands. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { insteadOf } from '../../harness/record/schemas/names.js';
import { topologies, topologiesOfService } from '../../harness/topologies/index.js';
import { UsageError } from '../common/errors.js';
import { installCommand, SOURCE } from '../common/package-source.js';
import { toolVersion } from '../common/standing.js';
import { quote } from '../common/values.js';
import { withEsbuild } from '../run/esbuild.js';
import { isOnesOwn, looksLikeFile, sourcesOf } from '../run/lock-source.js';
import { type Adapter, adapterFor, fixedLeaseMs } from './adapter.js';
import { NoAdapterError } from './adapter-client.js';
import { findLock } from './find-lock.js';
import { isInstalled, likelyLocks, majorOf, type Project, projectIn } from './project.js';
import { readModule } from './read-source.js';
import { commandsFor, EXAMPLE, filesFor, type NewFile, type Subject } from './templates.js';

export interface InitFlags {
  lock?: string;
  topology?: string;
  example: boolean;
  yes: boolean;
  force: boolean;
  dryRun: boolean;
}

/** Of the parts in C that this machine takes. */
const PLATFORM = `${process.platform}-${process.arch}`;
const CLIENT_MAIN = fileURLToPath(new URL('../../harness/client/main.js', import.meta.url));
/** An adapter for `redlock` is one for it, too. */
const TOPOLOGIES = topologiesOfService('redis').filter((name) => name !== 'redlock-sentinel');

export function addInitFlags(command: Command): Command {
  return command
    .option('--lock <file>', "your lock's file, such as ./src/lock.ts")
    .option('--topology <name>', `where it runs: ${TOPOLOGIES.join(' | ')} (default: single)`)
    .option('--example', 'write a lock that is wrong on purpose, in place of an adapter for yours', false)
    .option('--yes', 'write without asking', false)
    .option('--force', 'replace what is there', false)
    .option('--dry-run', 'only say what would be written', false);
}

/** Resolves with 0; throws one line for the user where nothing can be written. */
export async function initCommand(flags: InitFlags, folder: string): Promise<number> {
  const project = projectIn(folder);
  mustBeTopology(flags.topology);
  const asked = await answered(flags, folder);
  const { subject, checks } =
    asked.lock === undefined ? exampleOn(asked.topology) : await subjectFor(asked, project, folder);
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const files = filesFor(project, subject).map((file) => ({ ...file, isKept: isKept(file, flags.force, folder) }));
  for (const file of files) say(`${describe(file, folder)} ${file.path}${file.added ? ` (${file.added})` : ''}`);
  const missing = files.filter(({ isKept }) => !isKept);
  if (flags.dryRun || missing.length === 0) return 0;
  if (!flags.yes && !(await agreed(`write ${missing.length === 1 ? 'it' : 'them'} to ${folder}? [y/N] `))) {
    say('nothing was written');
    return 0;
  }
  for (const file of missing) write(join(folder, file.path), file, flags.force);
  if (checks.length > 0) {
    say(`\nCheck in ${files[0]!.path}:`);
    for (const check of checks) say(`- ${check}`);
  }
  for (const line of gettingIt(project, folder)) say(line);
  const example = asked.lock === undefined ? ' (which finds the mistake of the lock that was written)' : '';
  say(`\nThen try: ${commandsFor(project).join(', and ')}${example}`);
  return 0;
}

// ------------------------------------------------------------------------------------------------------------- asking

/** `lock` undefined: the example. */
interface Asked {
  lock?: string;
  topology: string;
}

/** Asks for what no flag says, where there is a terminal. */
async function answered(flags: InitFlags, folder: string): Promise<Asked> {
  const { lock, example, topology } = flags;
  if (example && lock !== undefined) throw new UsageError('--example writes a lock of its own: leave out --lock');
  if (example) return { topology: topology ?? 'single' };
  if (lock !== undefined && (topology !== undefined || flags.yes || flags.dryRun))
    return { lock, topology: topology ?? 'single' };
  const [likely] = likelyLocks(folder);
  if (!process.stdin.isTTY) {
    if (lock !== undefined) throw new UsageError(NOBODY_TO_ASK);
    throw new UsageError(
      `no terminal to ask in: name your lock (--lock ${likely ?? './src/lock.ts'} --yes), or write an example (--example --yes)`,
    );
  }
  const file =
    lock ??
    (await answer(
      `Where is your lock? ${likely ? `[${likely}]` : '(a file; empty: write an example)'} `,
      likely ?? '',
    ));
  const where = topology ?? (await answer(`Where does it run? ${TOPOLOGIES.join(', ')} [single] `, 'single'));
  mustBeTopology(where);
  return { ...(file !== '' && { lock: file }), topology: where };
}

const NOBODY_TO_ASK = 'no terminal to ask in: pass --yes to write, or --dry-run to look';

async function answer(question: string, otherwise: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await terminal.question(question)).trim() || otherwise;
  } finally {
    terminal.close();
  }
}

async function agreed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError(NOBODY_TO_ASK);
  return /^y(es)?$/i.test(await answer(question, ''));
}

function mustBeTopology(name: string | undefined): void {
  if (name === undefined || TOPOLOGIES.includes(name)) return;
  throw new UsageError(`--topology: "${name}" is none that init knows; ${insteadOf(name, TOPOLOGIES)}`);
}

// ------------------------------------------------------------------------------------------------------------ writing

interface Written {
  subject: Subject;
  checks: string[];
}

function exampleOn(topology: string): Written {
  if (topology === 'redlock')
    throw new UsageError('--example: the lock that is written takes one server: name another --topology');
  const adapter = { name: 'my-lock', text: EXAMPLE };
  return { subject: { adapter, topology, loses: whyLost(topology), leaseMs: undefined }, checks: [] };
}

async function subjectFor({ lock, topology }: Asked, project: Project, folder: string): Promise<Written> {
  const path = lock!;
  if (!looksLikeFile(path))
    throw new UsageError(
      isOnesOwn(path)
        ? `--lock ${path}: a program needs no adapter: run it by lock-torture --lock '${path}'`
        : `--lock ${path}: name your lock's file, such as ./src/lock.ts`,
    );
  const place = resolve(folder, path);
  const file = relative(folder, place).split(sep).join('/');
  const common = { topology, loses: whyLost(topology) };
  // It is written for this tool already.
  if (existsSync(place) && /\bdefineLock\(/.test(readFileSync(place, 'utf8')))
    return { subject: { ...common, file, leaseMs: undefined }, checks: [] };
  const sources = await sourcesOf(path, { cwd: folder, clientMain: CLIENT_MAIN });
  const source = readFileSync(place, 'utf8');
  const module = readModule(await withoutTypes(source, extname(path)));
  const found = findLock(module);
  if (!found) throw new UsageError(`${file} exports nothing: export your lock, or the function that makes it`);
  const code = sources.map((one) => readFileSync(one, 'utf8')).join('\n');
  const client = clientOf(source, code, project);
  const usesRedlock = isImported('redlock', code);
  const redlockMajor = usesRedlock ? (majorOf('redlock', folder) ?? 4) : undefined;
  const name = nameFor(file);
  try {
    const adapter: Adapter = adapterFor({
      ...{ lock: found, file, topology, client, typescript: project.typescript },
      importedAs: `../${file.replace(/\.([cm]?)ts$/, '.$1js')}`,
      ...(redlockMajor !== undefined && { redlockMajor }),
      environment: environmentIn(code),
    });
    return {
      subject: { ...common, adapter: { name, text: adapter.text }, leaseMs: fixedLeaseMs(found) },
      checks: adapter.checks,
    };
  } catch (error) {
    if (error instanceof NoAdapterError) throw new UsageError(error.message);
    throw error;
  }
}

/** `src/redis-lock.ts` is tortured as `redis-lock`. */
function nameFor(file: string): string {
  return basename(file, extname(file)).replace(/[^\w.-]+/g, '-');
}

/** Why no lock is safe there; undefined: the deployment loses no grant by itself. */
function whyLost(topology: string): string | undefined {
  const kind = topologies[topology]!;
  return kind.replicated ? kind.outlook?.({ persistence: 'rdb', bySession: false }).text : undefined;
}

async function withoutTypes(source: string, extension: string): Promise<string> {
  const loader = /ts$/.test(extension) ? 'ts' : 'js';
  // As a module of ES it would be wrapped where it is CommonJS.
  const isEsm = /^\s*export\b/m.test(source);
  const { code } = await withEsbuild((esbuild) =>
    esbuild.transform(source, {
      loader,
      target: 'esnext',
      logLevel: 'silent',
      ...(isEsm && { format: 'esm' as const }),
    }),
  );
  return code;
}

function isImported(name: string, code: string): boolean {
  return new RegExp(`\\b(?:from|import|require\\()\\s*\\(?['"]${name}['"]`).test(code);
}

/** By what it imports, else by how it asks for an expiry, else by what the project depends on. */
function clientOf(source: string, code: string, { packages }: Project): 'ioredis' | 'redis' {
  if (['ioredis', 'redlock', 'redis-semaphore'].some((name) => isImported(name, code))) return 'ioredis';
  if (isImported('redis', code)) return 'redis';
  if (/\{[^{}]*\b(PX|EX|NX|expiration|condition)\b\s*:|\beval\([^()]*\{\s*keys\b/.test(source)) return 'redis';
  return packages.includes('redis') && !packages.includes('ioredis') && !/['"](PX|EX)['"]/.test(source)
    ? 'redis'
    : 'ioredis';
}

/** Variables of the environment by which a lock that makes its own client finds Redis. */
function environmentIn(code: string): string[] {
  const names = [...code.matchAll(/process\.env(?:\.(\w+)|\[['"](\w+)['"]\])/g)].map(
    ([, one, other]) => (one ?? other)!,
  );
  return [...new Set(names)].filter(
    (name) => /redis|valkey|host|port|url/i.test(name) && !/password|user|tls/i.test(name),
  );
}

function isKept(file: NewFile, force: boolean, folder: string): boolean {
  return existsSync(join(folder, file.path)) && file.added === undefined && !(force && file.path !== 'package.json');
}

function describe(file: NewFile & { isKept: boolean }, folder: string): string {
  if (file.isKept) return 'kept, it is there:';
  if (file.added) return 'to be added to:   ';
  return existsSync(join(folder, file.path)) ? 'to be replaced:   ' : 'to be written:    ';
}

/** Fails where the file has appeared meanwhile. */
function write(path: string, { text, added }: NewFile, force: boolean): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: force || added !== undefined ? 'w' : 'wx' });
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${(error as Error).message}`);
  }
}

/** How to get the package, and what a job that runs `npm ci` needs. */
function gettingIt(project: Project, folder: string): string[] {
  const install = installCommand(project.manager, { version: toolVersion(), platform: PLATFORM });
  const commit = 'Commit package.json, its lockfile and packed/: the job in .github/workflows installs from them.';
  const isThere = isInstalled(folder);
  if (SOURCE.kind === 'release') return isThere ? [] : [`\nThe files import lock-torture, so first: ${install}`];
  const pack = `npm run packages -- ${quote(join(folder, SOURCE.folder))}`;
  if (!isThere)
    return [
      '\nThe files import lock-torture, so first',
      `  in a clone of lock-torture: ${pack}`,
      `  and then here: ${install}`,
      commit,
    ];
  if (project.foreignTarball === undefined) return [];
  return [
    `\nFor jobs: package.json names ${project.foreignTarball}, which no other machine has. Copy both tarballs to ${SOURCE.folder}/, and then: ${install}`,
    commit,
  ];
}
