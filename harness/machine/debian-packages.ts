/**
 * Fetches packages of the machine's own Debian or Ubuntu and unpacks them into a folder, without root and without
 * touching the machine: apt works with the machine's sources and trusted keys (so what arrives is signed by the
 * distribution), but keeps its lists and downloads in a folder of ours.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, runProgram } from './command.js';

const UPDATE_TIMEOUT_MS = 180_000;
const DOWNLOAD_TIMEOUT_MS = 180_000;
/** The keys of the distribution's archives, all suites'. */
const KEYRINGS = ['/usr/share/keyrings/debian-archive-keyring.gpg', '/usr/share/keyrings/ubuntu-archive-keyring.gpg'];

/** What went wrong, in one line. */
export class PackageError extends Error {}

export interface Unpacked {
  /** Below it lie usr/, lib/, ... */
  root: string;
  /** Folders of it with shared libraries. */
  libraryFolders: string[];
  /** The dynamic loader that came with it, if the program needs one of its own. */
  loader?: string;
}

/** A package as a suite has it. */
export interface PackageVersion {
  /** As Debian writes it: `5:8.0.2-3+deb13u2`. */
  version: string;
  /** What its authors call it: `8.0.2`. */
  upstream: string;
}

/** /etc/os-release, which names the distribution; empty where there is none. */
export function osRelease(): string {
  return existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
}

/** The release's own name, `bookworm`; empty where there is none. */
export function codename(): string {
  return /^VERSION_CODENAME=(\S+)/m.exec(osRelease())?.[1] ?? '';
}

/** Whether this machine has apt and dpkg at all. */
export function haveDebianPackages(): boolean {
  return ['apt-get', 'dpkg', 'dpkg-deb'].every((tool) => findOnPath(tool) !== undefined);
}

/**
 * Unpacks `packages` into `scratch`/root, and with them, package by package along their dependencies, those that bring
 * shared libraries which `program` (relative to the root) needs. Of the machine's own suite these are the libraries that the
 * machine lacks. Of another suite they are all of them, the C library and its loader too: a program runs with an older C
 * library than it was built with only by luck.
 */
export async function fetchProgram(
  apt: Apt,
  packages: readonly string[],
  program: string,
  scratch: string,
): Promise<Unpacked> {
  await apt.update();
  const root = join(scratch, 'root');
  mkdirSync(root, { recursive: true });
  const selfContained = apt.suite !== undefined;
  let wave = selfContained ? [...packages, 'libc6'] : [...packages];
  const fetched = new Set<string>();
  for (;;) {
    const archives = await apt.download(wave);
    for (const name of wave) fetched.add(name);
    for (const archive of archives) await mustRun(['dpkg', '-x', archive, root]);
    const unpacked: Unpacked = {
      root,
      libraryFolders: libraryFolders(root),
      ...(selfContained && { loader: loaderIn(root) }),
    };
    const missing = await missingLibraries(join(root, program), unpacked);
    if (missing.length === 0) return unpacked;
    wave = (await dependencies(archives)).filter((name) => !fetched.has(name));
    if (!selfContained) wave = await withoutInstalled(wave);
    if (wave.length === 0) throw new PackageError(`the unpacked ${program} lacks ${missing.join(', ')}`);
  }
}

export function libraryPath(unpacked: Unpacked): string {
  return unpacked.libraryFolders.join(':');
}

/** apt with lists and downloads in a folder of ours: of the machine's own suites, or of another `suite` of the same archive. */
export class Apt {
  private readonly configFile: string;
  private readonly options: string[];
  private updated: Promise<void> | undefined;
  private updateTrouble = '';
  private downloads = 0;

  /** `scratch` is a folder of its own. Throws a PackageError where another suite's archive is not known. */
  constructor(
    private readonly scratch: string,
    readonly suite?: string,
  ) {
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

  /** Fetches the lists, once. One unreachable source of several need not matter (to apt neither): reported only if a package is then missing. */
  update(): Promise<void> {
    this.updated ??= this.fetchLists();
    return this.updated;
  }

  /** What went wrong with its lists, in one line; empty if nothing did. */
  get trouble(): string {
    return this.updateTrouble;
  }

  /** Every version of a package that its lists have, the newest first. */
  async versions(name: string): Promise<PackageVersion[]> {
    await this.update();
    const { stdout } = await runProgram(['apt-cache', ...this.options, 'madison', name]);
    return stdout.split('\n').flatMap((line) => {
      const version = line.split('|')[1]?.trim();
      const [, upstream] = /^(?:\d+:)?(\d+(?:\.\d+)*)/.exec(version ?? '') ?? [];
      return version === undefined || upstream === undefined ? [] : [{ version, upstream }];
    });
  }

  private async fetchLists(): Promise<void> {
    if (this.suite !== undefined) await this.turnTo(this.suite);
    const result = await runProgram(['apt-get', ...this.options, 'update'], { timeoutMs: UPDATE_TIMEOUT_MS });
    const unreachable = /^W: (Failed to fetch .*)/m.exec(result.stderr)?.[1];
    this.updateTrouble = unreachable ?? (result.exitCode === 0 ? '' : complaint(result.stderr));
  }

  /** The machine's main archive with another suite, signed by the same keys, instead of the machine's own sources. */
  private async turnTo(suite: string): Promise<void> {
    const own = codename();
    const format = '$(CODENAME) $(COMPONENT) $(CREATED_BY) $(REPO_URI)';
    const { stdout } = await runProgram(['apt-get', 'indextargets', '--format', format]);
    const sources = stdout.split('\n').map((line) => line.split(' '));
    const main = sources.find(
      ([codename, component, kind]) => codename === own && component === 'main' && kind === 'Packages',
    );
    if (!main) throw new PackageError('the archive that this machine gets its packages from could not be determined');
    const keys = KEYRINGS.find((path) => existsSync(path));
    const source = join(this.scratch, 'sources.list');
    writeFileSync(source, `deb ${keys === undefined ? '' : `[signed-by=${keys}] `}${main[3]} ${suite} main\n`);
    // Nothing counts as installed: all that the program needs is to come from this suite.
    const settings = ['Dir::Etc::sourceparts=-', `Dir::Etc::sourcelist=${source}`, 'Dir::State::status=/dev/null'];
    this.options.push(...settings.flatMap((setting) => ['-o', setting]));
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
      // Only these bring shared libraries (`lua-cjson` and `zlib1g` do too); the others are for an installation.
      if (name && /^(lib|lua|zlib)/.test(name) && name !== 'libc6') names.add(name);
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

/** What is not there; for a program with a loader of its own, also what only the machine has. */
async function missingLibraries(program: string, unpacked: Unpacked): Promise<string[]> {
  // What a Java program loads, Java loads: who wants it names the packages.
  if (program.endsWith('.jar')) return [];
  const { loader, root } = unpacked;
  if (loader === undefined) {
    const { stdout } = await mustRun(['ldd', program], { LD_LIBRARY_PATH: libraryPath(unpacked) });
    return [...new Set([...stdout.matchAll(/^\s*(\S+) => not found/gm)].map((match) => match[1]!))];
  }
  // By `env`, for the loader's ears only: whatever else is run first would be listed instead.
  const listing = ['env', 'LD_TRACE_LOADED_OBJECTS=1', loader, '--library-path', libraryPath(unpacked), program];
  const { stdout } = await runProgram(listing);
  const missing = [...stdout.matchAll(/^\s*(\S+) => (.*)/gm)].filter(([, , where]) => !where!.startsWith(root));
  return [...new Set(missing.map((match) => match[1]!))];
}

function loaderIn(root: string): string {
  const found = readdirSync(root, { recursive: true, withFileTypes: true }).find(
    (entry) => !entry.isDirectory() && /^ld-linux.*\.so\.\d+$/.test(entry.name),
  );
  if (!found) throw new PackageError('libc6 came without a dynamic loader');
  return join(found.parentPath ?? found.path, found.name);
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
