/**
 * What this machine can do for a run, and the remedy for what it cannot. Every finding comes from doing the thing for
 * real, in namespaces of its own that end with the probe; nothing is guessed from versions or settings, and nothing on
 * the machine is changed. Excludes Docker: that is its runtime's own probe.
 */
import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Capability } from '../vocabulary/host.js';
import type { Service } from '../vocabulary/topology.js';
import { buildClockShim, tryClockShim } from './clock-shim.js';
import { findOnPath, runProgram } from './command.js';
import { haveDebianPackages } from './debian-packages.js';
import { buildDurableShim, preloadTrouble, tryDurableShim } from './durable-shim.js';
import { buildLinkShaper, linkShaperTrouble } from './link-shaper.js';
import { inNamespaces, isRoot, namespaceTrouble } from './namespaces.js';
import { NETWORK_PROBE } from './network-probe.js';
import { packageFolder } from './package-folder.js';
import { temporaryFolder } from './private-folder.js';
import { inProject, isClone, PROJECT } from './project-files.js';
import { findRedis, findRedisHere, RedisNotFoundError } from './redis-binary.js';
import { inspectServer, SLOTS_AT_ONCE } from './server-commands.js';
import { ServerNotFoundError } from './service-program.js';
import { buildSimShim, trySimShim } from './sim-shim.js';

export interface Diagnosis {
  what: string;
  /** `limited`: a run works, with less; the detail says with what less. */
  ok: boolean | 'limited';
  detail: string;
  remedy?: string;
  /** The runs' capability that is missing unless `ok`. */
  capability?: Capability;
}

export interface DiagnoseOptions {
  cacheFolder: string;
  /** The user's `--server`. */
  server?: string | undefined;
  /** Whether to download redis-server now if there is none. */
  fetch?: boolean;
  /** Where runs are written. */
  runsFolder?: string;
  /** Services beside Redis. */
  services?: readonly Service[];
}

const PYTHON_MINOR_MIN = 7;
const MB = 1024 * 1024;
/** A long run with all its logs. */
const DISK_MB_COMFORTABLE = 1024;
const DISK_MB_MIN = 100;
const INSTALL_UTIL_LINUX = 'install util-linux (Debian, Ubuntu: apt-get install util-linux)';
const INSTALL_IPROUTE = 'install iproute2 (Debian, Ubuntu: apt-get install iproute2)';

/** All findings, in the order in which they should be mended. */
export async function diagnose(options: DiagnoseOptions): Promise<Diagnosis[]> {
  const findings: Diagnosis[] = [
    // One that is too old never comes here: the command ends with that (bin/node-version.mjs).
    { what: 'Node.js', ok: true, detail: process.version },
    npmPackages(),
    await redisServer(options),
    await slotsAtOnce(options),
    await tool('unshare', INSTALL_UTIL_LINUX),
    await tool('nsenter', INSTALL_UTIL_LINUX),
    await tool('hostname', 'install hostname (Debian, Ubuntu: apt-get install hostname)'),
    await setpriv(),
    await tool('ip', INSTALL_IPROUTE, '-V'),
  ];
  const namespaces = await privateNamespaces();
  findings.push(namespaces, await privateNetwork(namespaces));
  findings.push(
    await clockShim(options.cacheFolder),
    await durableShim(options),
    await linkShaper(options.cacheFolder, namespaces),
    await simulation(options.cacheFolder, namespaces),
    await python(),
    ...(await Promise.all((options.services ?? []).map((service) => otherServer(service, options.cacheFolder)))),
    await diskSpace(options.runsFolder ?? process.cwd()),
  );
  return findings;
}

/** Findings for people, one a line, each remedy on a line of its own. */
export function formatFindings(findings: readonly Diagnosis[]): string {
  const width = Math.max(...findings.map(({ what }) => what.length));
  return findings
    .flatMap(({ what, ok, detail, remedy }) => {
      const mark = ok === true ? 'ok' : ok === 'limited' ? 'limited' : 'missing';
      const lines = [`${mark.padEnd(7)}  ${what.padEnd(width)}  ${detail}`];
      return remedy === undefined ? lines : [...lines, `${' '.repeat(width + 11)}→ ${remedy}`];
    })
    .join('\n');
}

// ------------------------------------------------------------------------------------------------- the tool's own needs

/** Whether every package that the tool imports is there: in a clone, in the version of the lockfile. */
function npmPackages(): Diagnosis {
  const what = 'npm packages';
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
  const names = Object.keys(read(inProject('package.json')).dependencies);
  const locked = isClone ? read(inProject('package-lock.json')).packages : undefined;
  const wrong = names.filter((name) => {
    const installed = packageFolder(name);
    return (
      installed === undefined ||
      (locked && read(join(installed, 'package.json')).version !== locked[`node_modules/${name}`].version)
    );
  });
  const as = isClone ? 'as in package-lock.json' : 'as package.json asks for';
  if (wrong.length === 0) return { what, ok: true, detail: `${names.length} ${as}` };
  const remedy = isClone ? `run npm ci in ${PROJECT}` : 'install lock-torture again';
  return { what, ok: false, detail: `not ${as}: ${wrong.join(', ')}`, remedy };
}

async function redisServer({ cacheFolder, server, fetch }: DiagnoseOptions): Promise<Diagnosis> {
  const what = 'redis-server';
  const search = { explicit: server, cacheFolder };
  try {
    const found = fetch ? await findRedis({ ...search, say: () => {} }) : await findRedisHere(search);
    if (found) return { what, ok: true, detail: `${found.version}, ${found.path} (${found.origin})` };
  } catch (error) {
    if (!(error instanceof RedisNotFoundError)) throw error;
    return { what, ok: false, detail: error.problem, remedy: error.remedy };
  }
  if (haveDebianPackages()) {
    return { what, ok: 'limited', detail: 'not on PATH: will be downloaded from the distribution on the first run' };
  }
  const remedy = 'install Redis 6.2 or newer, or give --server PATH';
  return { what, ok: false, detail: 'not on PATH, and this machine has no apt-get to download it with', remedy };
}

/** Only the fault `migrate-slots` wants it. */
async function slotsAtOnce({ cacheFolder, server }: DiagnoseOptions): Promise<Diagnosis> {
  const what = 'slots at once';
  const lacking = { what, ok: 'limited', capability: 'slots-at-once' } as const;
  const remedy = 'choose another one with --server valkey@9';
  // What is wrong with the server itself has a line of its own.
  const found = await findRedisHere({ explicit: server, cacheFolder }).catch(() => undefined);
  const inspected = found && (await inspectServer(found, [SLOTS_AT_ONCE]).catch(() => undefined));
  if (!inspected) return { ...lacking, detail: 'not tried: it needs redis-server' };
  if (inspected.commands.length > 0)
    return { what, ok: true, detail: 'the server knows CLUSTER MIGRATESLOTS (migrate-slots)' };
  return { ...lacking, detail: 'no migrate-slots: this server has no CLUSTER MIGRATESLOTS (Valkey 9)', remedy };
}

/** Only `--service` with its name wants it. */
async function otherServer({ name, title, findHere }: Service, cacheFolder: string): Promise<Diagnosis> {
  const what = title;
  const lacking = { what, ok: 'limited' } as const;
  try {
    const found = await findHere({ cacheFolder });
    if (found) return { what, ok: true, detail: `${found.version}, ${found.path} (${found.origin})` };
  } catch (error) {
    if (!(error instanceof ServerNotFoundError)) throw error;
    return { ...lacking, detail: error.message };
  }
  const detail = haveDebianPackages()
    ? `not on PATH: --service ${name} downloads it from the distribution`
    : `not on PATH, and this machine has no apt-get to download it with: no --service ${name}`;
  return { ...lacking, detail };
}

async function clockShim(cacheFolder: string): Promise<Diagnosis> {
  const what = 'clock shim';
  const lacking = { what, ok: 'limited', capability: 'clock' } as const;
  const shim = await buildClockShim({ cacheFolder, say: () => {} });
  if ('unavailable' in shim) return { ...lacking, detail: shim.problem, remedy: shim.remedy };
  using scratch = temporaryFolder();
  const trouble = await tryClockShim(shim.path, scratch.path);
  return trouble ? { ...lacking, detail: trouble } : { what, ok: true, detail: 'a moved clock was read back' };
}

/** What a process synced, and whether the server that runs would be given would be seen to. */
async function durableShim({ cacheFolder, server }: DiagnoseOptions): Promise<Diagnosis> {
  const what = 'durable shim';
  const lacking = { what, ok: 'limited', capability: 'disk' } as const;
  const shim = await buildDurableShim({ cacheFolder, say: () => {} });
  if ('unavailable' in shim) return { ...lacking, detail: shim.problem, remedy: shim.remedy };
  using scratch = temporaryFolder();
  const trouble = await tryDurableShim(shim.path, scratch.path);
  if (trouble) return { ...lacking, detail: trouble };
  // What is wrong with the server itself has a line of its own.
  const redis = await findRedisHere({ explicit: server, cacheFolder }).catch(() => undefined);
  const refused = redis && (await preloadTrouble(redis, shim.path, scratch.path));
  return refused ? { ...lacking, detail: refused } : { what, ok: true, detail: 'what was synced was recorded' };
}

/** A datagram that is delayed, on a network of its own. */
async function linkShaper(cacheFolder: string, namespaces: Diagnosis): Promise<Diagnosis> {
  const what = 'link shaper';
  const lacking = { what, ok: 'limited', capability: 'link' } as const;
  if (namespaces.ok !== true) return { ...lacking, detail: 'not tried: it needs the namespaces' };
  const built = await buildLinkShaper({ cacheFolder, say: () => {} });
  if ('unavailable' in built) return { ...lacking, detail: built.problem, remedy: built.remedy };
  const trouble = await linkShaperTrouble(built.path);
  return trouble
    ? { ...lacking, detail: trouble.problem, remedy: trouble.remedy }
    : { what, ok: true, detail: 'what was to be late was late' };
}

/** Only `hunt` needs it. */
async function simulation(cacheFolder: string, namespaces: Diagnosis): Promise<Diagnosis> {
  const what = 'simulation';
  const lacking = { what, ok: 'limited' } as const;
  const shim = await buildSimShim({ cacheFolder, say: () => {} });
  if ('unavailable' in shim) return { ...lacking, detail: `no hunts: ${shim.problem}`, remedy: shim.remedy };
  const trouble = await trySimShim(shim.path);
  if (trouble !== undefined) return { ...lacking, detail: `no hunts: ${trouble}` };
  if (!findOnPath('mkfifo'))
    return { ...lacking, detail: 'no hunts: mkfifo is not on PATH', remedy: 'install coreutils' };
  const uses = namespaces.ok === true ? 'hunt; run --runtime sim' : 'hunt; and runs, where no engine answers either';
  const untried = process.arch === 'arm64' ? '; hunts on arm64 were tried under emulation only' : '';
  return { what, ok: true, detail: `a program was seen to live in virtual time (${uses})${untried}` };
}

async function python(): Promise<Diagnosis> {
  const what = 'Python';
  const remedy = `only for the example lock in Python: install python3 (3.${PYTHON_MINOR_MIN} or newer)`;
  const { exitCode, stdout, stderr } = await runProgram([
    'python3',
    '-c',
    'import sys, time; time.monotonic_ns(); print(sys.version.split()[0])',
  ]);
  const version = stdout.trim();
  if (exitCode !== 0) return { what, ok: 'limited', detail: `python3 does not run (${lastLine(stderr)})`, remedy };
  const [major, minor] = version.split('.').map(Number);
  const ok = major === 3 && minor! >= PYTHON_MINOR_MIN;
  return ok ? { what, ok, detail: version } : { what, ok: 'limited', detail: `${version} is too old`, remedy };
}

async function diskSpace(folder: string): Promise<Diagnosis> {
  const what = 'disk space';
  const { bavail, bsize } = await statfs(folder);
  const freeMb = Math.floor((bavail * bsize) / MB);
  const detail = `${freeMb} MB free in ${folder}`;
  if (freeMb >= DISK_MB_COMFORTABLE) return { what, ok: true, detail };
  const remedy = `free space: a long run writes up to ${DISK_MB_COMFORTABLE} MB`;
  return { what, ok: freeMb >= DISK_MB_MIN ? 'limited' : false, detail, remedy };
}

// ------------------------------------------------------------------------------------------------ the `netns` runtime

/** An executable that answers when asked for its version. BusyBox's namesakes do not. */
async function tool(name: string, remedy: string, versionFlag = '--version'): Promise<Diagnosis> {
  const path = findOnPath(name);
  if (!path) return { what: name, ok: false, detail: 'not on PATH', remedy, capability: 'network' };
  const { exitCode, stdout, stderr } = await runProgram([path, versionFlag]);
  if (exitCode !== 0)
    return {
      what: name,
      ok: false,
      detail: `${path} does not run (${lastLine(stderr)})`,
      remedy,
      capability: 'network',
    };
  return { what: name, ok: true, detail: `${stdout.trim()} (${path})` };
}

async function setpriv(): Promise<Diagnosis> {
  const what = 'setpriv';
  const { exitCode, stderr } = await runProgram(['setpriv', '--pdeathsig', 'KILL', 'true']);
  if (exitCode === 0) return { what, ok: true, detail: 'a child can be made to end with its parent' };
  const detail = `${lastLine(stderr)}: a killed run may leave processes behind for a moment`;
  return { what, ok: 'limited', detail, remedy: INSTALL_UTIL_LINUX };
}

/** The namespaces in which a whole run lives. */
async function privateNamespaces(): Promise<Diagnosis> {
  const what = isRoot() ? 'namespaces (as root)' : 'namespaces (as an ordinary user)';
  if (!findOnPath('unshare')) return { what, ok: false, detail: 'not tried: it needs unshare', capability: 'network' };
  const trouble = await namespaceTrouble();
  if (!trouble) return { what, ok: true, detail: 'a run can have a network and a process tree of its own' };
  return { what, ok: false, ...trouble, capability: 'network' };
}

/** Two hosts on a bridge, and a cut between them that the kernel confirms and that heals. */
async function privateNetwork(namespaces: Diagnosis): Promise<Diagnosis> {
  const what = 'virtual network';
  if (namespaces.ok !== true)
    return { what, ok: false, detail: 'not tried: it needs the namespaces', capability: 'network' };
  const { exitCode, stderr } = await runProgram([...inNamespaces(), 'sh', '-c', NETWORK_PROBE]);
  if (exitCode === 0)
    return { what, ok: true, detail: 'bridge, veth and blackhole routes work: hosts can be cut off and healed' };
  const remedy = 'the kernel must have bridge and veth (as root on the machine itself: modprobe -a bridge veth)';
  return { what, ok: false, detail: stderr.trim().split('\n').join('; '), remedy, capability: 'network' };
}

// --------------------------------------------------------------------------------------------------------------- words

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) || 'it said nothing';
}
