/**
 * Fetches packages of the machine's own Debian or Ubuntu and unpacks them into a folder, without root and without
 * touching the machine: apt works with the machine's sources and trusted keys (so what arrives is signed by the
 * distribution), but keeps its lists and downloads in a folder of ours.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, runProgram } from './command.js';

const UPDATE_TIMEOUT_MS = 180_000;
const DOWNLOAD_TIMEOUT_MS = 180_000;

/** What went wrong, in one line. */
export class PackageError extends Error {}

export interface Unpacked {
  /** Below it lie usr/, lib/, ... */
  root: string;
  /** Folders of it with shared libraries. */
  libraryFolders: string[];
}

/** Whether this machine has apt and dpkg at all. */
export function haveDebianPackages(): boolean {
  return ['apt-get', 'dpkg', 'dpkg-deb'].every((tool) => findOnPath(tool) !== undefined);
}

/**
 * Unpacks `packages` into `scratch`/root, and with them, package by package along their dependencies, those that bring
 * shared libraries which `program` (relative to the root) needs and the machine lacks.
 */
export async function fetchProgram(packages: readonly string[], program: string, scratch: string): Promise<Unpacked> {
  const apt = new Apt(scratch);
  await apt.update();
  const root = join(scratch, 'root');
  mkdirSync(root, { recursive: true });
  let wave = [...packages];
  const fetched = new Set<string>();
  for (;;) {
    const archives = await apt.download(wave);
    for (const name of wave) fetched.add(name);
    for (const archive of archives) await mustRun(['dpkg', '-x', archive, root]);
    const unpacked = { root, libraryFolders: libraryFolders(root) };
    const missing = await missingLibraries(join(root, program), unpacked);
    if (missing.length === 0) return unpacked;
    wave = (await dependencies(archives)).filter((name) => !fetched.has(name));
    wave = await withoutInstalled(wave);
    if (wave.length === 0) throw new PackageError(`the unpacked ${program} lacks ${missing.join(', ')}`);
  }
}

export function libraryPath(unpacked: Unpacked): string {
  return unpacked.libraryFolders.join(':');
}

class Apt {
  private readonly configFile: string;
  private readonly options: string[];
  private updateTrouble = '';
  private downloads = 0;

  constructor(private readonly scratch: string) {
    const lists = join(scratch, 'lists');
    const cache = join(scratch, 'cache');
    for (const folder of [join(lists, 'partial'), join(cache, 'archives', 'partial')])
      mkdirSync(folder, { recursive: true });
    // Hooks of the machine tidy up folders that are root's, and fail for others. Only a file read after the machine's
    // own configuration can clear a list.
    this.configFile = join(scratch, 'apt.conf');
    const hooks = [
      'APT::Update::Pre-Invoke',
      'APT::Update::Post-Invoke',
      'APT::Update::Post-Invoke-Success',
      'DPkg::Post-Invoke',
    ];
    writeFileSync(this.configFile, hooks.map((hook) => `#clear ${hook};\n`).join(''));
    const settings = {
      'Dir::State::lists': lists,
      'Dir::Cache': cache,
      // As root, apt would download as a user who may not write to our folder.
      'APT::Sandbox::User': '',
      'Acquire::Retries': '2',
      'Acquire::http::Timeout': '20',
      'Acquire::https::Timeout': '20',
      // Only lists of binary packages: a fifth of what else would come.
      'Acquire::Languages': 'none',
      'Acquire::IndexTargets::deb-src::Sources::DefaultEnabled': 'false',
      'Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled': 'false',
      'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
    };
    this.options = [
      '-q',
      '-c',
      this.configFile,
      ...Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]),
    ];
  }

  /** One unreachable source of several need not matter (to apt neither): reported only if a package is then missing. */
  async update(): Promise<void> {
    const result = await runProgram(['apt-get', ...this.options, 'update'], { timeoutMs: UPDATE_TIMEOUT_MS });
    const unreachable = /^W: (Failed to fetch .*)/m.exec(result.stderr)?.[1];
    this.updateTrouble = unreachable ?? (result.exitCode === 0 ? '' : complaint(result.stderr));
  }

  /** The downloaded archives' paths. */
  async download(packages: readonly string[]): Promise<string[]> {
    const folder = join(this.scratch, `archives-${++this.downloads}`);
    mkdirSync(folder);
    const result = await runProgram(['apt-get', ...this.options, 'download', ...packages], {
      cwd: folder,
      timeoutMs: DOWNLOAD_TIMEOUT_MS,
    });
    if (result.exitCode !== 0) {
      const trouble = [this.updateTrouble, complaint(result.stderr)].filter(Boolean).join('; ');
      throw new PackageError(`apt-get cannot download ${packages.join(', ')} (${trouble})`);
    }
    return readdirSync(folder)
      .filter((name) => name.endsWith('.deb'))
      .map((name) => join(folder, name));
  }
}

/** Names from the archives' Depends, first alternatives; not the C library, which must be the loader's own. */
async function dependencies(archives: readonly string[]): Promise<string[]> {
  const names = new Set<string>();
  for (const archive of archives) {
    const { stdout } = await mustRun(['dpkg-deb', '-f', archive, 'Depends']);
    for (const clause of stdout.split(',')) {
      const [name] = /^[a-z0-9][a-z0-9.+-]+/.exec(clause.trim()) ?? [];
      // Only these bring shared libraries (`lua-cjson` does too); the others are for an installation.
      if (name && /^(lib|lua)/.test(name) && name !== 'libc6') names.add(name);
    }
  }
  return [...names];
}

async function withoutInstalled(names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  // Exit status 1: some of them are unknown to dpkg; then they are not installed.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders
  const { stdout } = await runProgram(['dpkg-query', '-W', '-f', '${Package} ${db:Status-Status}\\n', ...names]);
  const installed = new Set(
    stdout.split('\n').flatMap((line) => (line.endsWith(' installed') ? [line.split(' ')[0]] : [])),
  );
  return names.filter((name) => !installed.has(name));
}

async function missingLibraries(program: string, unpacked: Unpacked): Promise<string[]> {
  const { stdout } = await mustRun(['ldd', program], { LD_LIBRARY_PATH: libraryPath(unpacked) });
  return [...new Set([...stdout.matchAll(/^\s*(\S+) => not found/gm)].map((match) => match[1]!))];
}

function libraryFolders(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => /^lib.*\.so(\.|$)/.test(entry.name))
    .map((entry) => entry.parentPath ?? entry.path)
    .filter((folder, index, all) => all.indexOf(folder) === index);
}

async function mustRun(argv: readonly string[], env: Record<string, string> = {}) {
  const result = await runProgram(argv, { env });
  if (result.exitCode === 0) return result;
  throw new PackageError(`${argv[0]} failed with exit status ${result.exitCode} (${complaint(result.stderr)})`);
}

/** apt's errors without its warnings, in one line. */
function complaint(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const errors = lines.filter((line) => line.startsWith('E: ')).map((line) => line.slice(3));
  return (errors.length > 0 ? errors : lines.slice(-1)).slice(0, 2).join('; ') || 'it said nothing';
}
