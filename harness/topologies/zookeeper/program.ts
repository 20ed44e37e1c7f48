/**
 * Finds ZooKeeper: the release or the jar that the user names by its path, else the one that the distribution has installed, else
 * its packages (Debian, Ubuntu) unpacked into the cache folder, without root. It is run by the machine's own `java`.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findOnPath, runProgram } from '../../machine/command.js';
import { haveDebianPackages, PackageError } from '../../machine/debian-packages.js';
import { type DownloadableProgram, downloadedProgram, downloadProgram } from '../../machine/downloaded-program.js';
import { downloadedNamed, downloadNamed, isNamed, type ServerName, serverName } from '../../machine/named-server.js';
import { ServerNotFoundError } from '../../machine/service-program.js';
import type { ExecResult, Host } from '../../vocabulary/host.js';
import type { FindServer, RedisBinary } from '../../vocabulary/topology.js';

/** Where Debian keeps it, below `/` or the root of unpacked packages. */
export const JAR = 'usr/share/java/zookeeper.jar';
/** What the server loads, as Debian names it. */
const COMPANIONS = ['zookeeper-jute', 'slf4j-api', 'slf4j-simple', 'metrics-core', 'snappy-java'];
/** Those that a release has beside, and that would log all that the server does. */
const LOGGERS = /^(logback-|slf4j-reload4j|slf4j-log4j12|reload4j|log4j)/;

/** Debian's. */
export const PACKAGED: DownloadableProgram = {
  name: 'zookeeper',
  packages: ['libzookeeper-java', 'libslf4j-java', 'libdropwizard-metrics-java', 'libsnappy-java'],
  program: JAR,
};

/** The first whose four-letter commands and log are as they are read here. */
const VERSION_MIN = [3, 6] as const;
const REMEDY = 'give --server PATH of an unpacked release of ZooKeeper 3.6 or newer';

/** As `findZookeeper`, but never downloads: undefined where that would. */
export async function findZookeeperHere({
  explicit,
  cacheFolder,
}: Omit<FindServer, 'say'>): Promise<RedisBinary | undefined> {
  const name = namedBy(explicit);
  if (name) return namedHere(name, cacheFolder);
  if (explicit !== undefined) return examined(resolve(explicit), '--server');
  if (existsSync(`/${JAR}`)) return examined(`/${JAR}`, 'installed');
  const downloaded = downloadedProgram(PACKAGED, cacheFolder);
  if (!downloaded) {
    javaOrThrow();
    return undefined;
  }
  return examined(downloaded.path, 'downloaded');
}

/** Rejects with a ServerNotFoundError where none is available. */
export async function findZookeeper({ say, ...options }: FindServer): Promise<RedisBinary> {
  const found = await findZookeeperHere(options);
  if (found) return found;
  const { cacheFolder } = options;
  const name = namedBy(options.explicit);
  const what = name ? askedAs(name) : 'ZooKeeper';
  if (!haveDebianPackages())
    throw new ServerNotFoundError(
      `${what} is not installed, and only on Debian and Ubuntu it can be downloaded: ${REMEDY}`,
    );
  say(`downloading ${what} from the distribution (${name ? 'once' : 'first run'})…`);
  const trial = async ({ path }: { path: string }) => void (await examined(path, 'downloaded'));
  try {
    const downloaded = name
      ? await downloadNamed(name, cacheFolder, trial)
      : await downloadProgram(PACKAGED, cacheFolder, trial);
    return { ...(await examined(downloaded.path, 'downloaded')), ...(name && { asked: what }) };
  } catch (error) {
    if (error instanceof PackageError)
      throw new ServerNotFoundError(`${what} could not be downloaded: ${error.message}: ${REMEDY}`);
    throw error;
  }
}

function namedBy(explicit: string | undefined): ServerName | undefined {
  const named = explicit === undefined ? undefined : serverName(explicit);
  if (named && named.product !== 'zookeeper') throw new ServerNotFoundError(`--server ${explicit} is no ZooKeeper`);
  return named;
}

async function namedHere(name: ServerName, cacheFolder: string): Promise<RedisBinary | undefined> {
  const jars = [
    ...(existsSync(`/${JAR}`) ? [{ path: `/${JAR}`, origin: 'installed' }] : []),
    ...[downloadedProgram(PACKAGED, cacheFolder), downloadedNamed(name, cacheFolder)].flatMap((program) =>
      program ? [{ path: program.path, origin: 'downloaded' }] : [],
    ),
  ];
  for (const { path, origin } of jars) {
    const found = await examined(path, origin);
    if (isNamed(name, found.version)) return { ...found, asked: askedAs(name) };
  }
  return undefined;
}

function askedAs({ product, version }: ServerName): string {
  return `${product}@${version}`;
}

function javaOrThrow(): string {
  const java = findOnPath('java');
  if (java !== undefined) return java;
  throw new ServerNotFoundError(
    'ZooKeeper needs Java, and java is not on PATH: install a Java runtime 11 or newer (apt-get install default-jre-headless)',
  );
}

async function examined(path: string, origin: string): Promise<RedisBinary> {
  const java = javaOrThrow();
  const named = origin === '--server' ? `--server ${path}` : `${path} (${origin})`;
  const jars = jarsOf(path);
  if (jars.length === 0)
    throw new ServerNotFoundError(`${named} is not there, or no release of ZooKeeper and no zookeeper.jar: ${REMEDY}`);
  const env = { CLASSPATH: jars.join(':') };
  const version = versionIn(named, java, await runProgram([java, ...TELL_VERSION], { env }), REMEDY);
  return { path: java, env, version, origin };
}

const TELL_VERSION = ['-Xmx64m', '-XX:TieredStopAtLevel=1', 'org.apache.zookeeper.version.VersionInfoMain'];
const TELL_VERSION_WITHIN_MS = 60_000;
const OTHER_IMAGE = 'name an image of ZooKeeper 3.6 or newer with --image';

/** As `ServerImage.find`: `jar` is ZooKeeper's own. */
export async function findZookeeperInImage(
  host: Pick<Host, 'exec' | 'listFolder'>,
  jar: string,
  image: string,
): Promise<RedisBinary> {
  const named = `${jar} in the image ${image}`;
  const { stdout: java } = await host.exec(['sh', '-c', 'command -v java']);
  if (java === '') throw new ServerNotFoundError(`ZooKeeper needs Java, and ${image} has none: ${OTHER_IMAGE}`);
  const env = { CLASSPATH: jarsBeside(jar, await host.listFolder(dirname(jar))).join(':') };
  const asking = ['env', `CLASSPATH=${env.CLASSPATH}`, java, ...TELL_VERSION];
  const answer = await host.exec(asking, { timeoutMs: TELL_VERSION_WITHIN_MS });
  return { path: java, env, version: versionIn(named, java, answer, OTHER_IMAGE), origin: `image ${image}` };
}

/** Throws a ServerNotFoundError where it is none, or too old. */
function versionIn(named: string, java: string, { exitCode, stdout, stderr }: ExecResult, remedy: string): string {
  const [, version] = /version (\d+\.\d+\.\d+)/.exec(stdout) ?? [];
  if (exitCode !== 0 || version === undefined) {
    const [complaint = 'it said nothing'] = stderr.trim().split('\n').slice(-1);
    throw new ServerNotFoundError(`${named} is no ZooKeeper that ${java} runs (${complaint}): ${remedy}`);
  }
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < VERSION_MIN[0] || (major === VERSION_MIN[0] && minor < VERSION_MIN[1]))
    throw new ServerNotFoundError(`${named} is version ${version}, which is too old: ${remedy}`);
  return version;
}

/** The jars that run it: of a release (its folder, or its `lib`), or of Debian's folder of jars, of which it needs a few. */
export function jarsOf(path: string): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isDirectory()) {
    const folder = [join(path, 'lib'), path].find((one) => existsSync(one) && ownJar(one) !== undefined);
    return folder === undefined ? [] : jarsAmong(folder, readdirSync(folder));
  }
  const folder = dirname(path);
  if (!/^zookeeper(-\d[\w.]*)?\.jar$/.test(path.slice(folder.length + 1))) return [];
  return jarsBeside(path, readdirSync(folder));
}

/** Those that run it, of the files in its folder. */
export function jarsBeside(jar: string, files: readonly string[]): string[] {
  const folder = dirname(jar);
  const debian = COMPANIONS.map((name) => `${name}.jar`);
  if (debian.every((name) => files.includes(name))) return [jar, ...debian.map((name) => join(folder, name))];
  return jarsAmong(folder, files);
}

function ownJar(folder: string): string | undefined {
  return readdirSync(folder).find((name) => /^zookeeper(-\d[\w.]*)?\.jar$/.test(name));
}

function jarsAmong(folder: string, files: readonly string[]): string[] {
  return files
    .filter((name) => name.endsWith('.jar') && !LOGGERS.test(name))
    .sort()
    .map((name) => join(folder, name));
}
