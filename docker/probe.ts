/**
 * One container, made, used and removed as a run's are: what its server is, and whether faults are possible in it. Nothing
 * is guessed from the engine's version or settings.
 */
import { readFileSync } from 'node:fs';
import { NOT_IN_REAL_TIME } from '../harness/runtimes/provides.js';
import type { Capability, Host, HostProcess } from '../harness/vocabulary/host.js';
import type { Clock } from '../harness/vocabulary/time.js';
import type { RedisBinary, ServerImage } from '../harness/vocabulary/topology.js';
import { ContainerError } from './engine.js';
import { DockerHost } from './host.js';
import { INSIDE, oneLine } from './images.js';
import type { DockerOptions } from './options.js';
import { dockerRuntime } from './runtime.js';

export interface Probed {
  /** The server in the image. */
  binary: RedisBinary;
  unavailable: Partial<Record<Capability, string>>;
  /** Of Redis and Valkey. */
  server?: AskedServer;
}

interface AskedServer {
  kind: 'redis' | 'valkey';
  /** Those of the commands that were asked for which it has. */
  commands: string[];
}

const HOUR_MS = 3_600_000;
/** An address reserved for documentation: no machine has it. */
const UNUSED_ADDRESS = '192.0.2.1';
const HOST = 'r1';

/**
 * Rejects with a ContainerError where a run could not be made at all. `image` is the base, for messages; `redisCommands` are looked
 * for in its server, as `COMMAND INFO` names them: of a Redis or Valkey, and of no other.
 */
export async function probe(
  options: Pick<DockerOptions, 'folder' | 'runId' | 'clock' | 'encodeSkew' | 'images' | 'project'>,
  service: ServerImage,
  image: string,
  redisCommands?: readonly string[],
): Promise<Probed> {
  await using runtime = await dockerRuntime({
    ...options,
    unavailable: {},
    recordsDisk: redisCommands !== undefined,
    serversAreNobody: service.isNobody === true,
    isServer: (name) => name === HOST,
    files: new Map(),
  });
  const [host] = await runtime.createHosts([HOST]);
  if (!(host instanceof DockerHost)) throw new Error('the docker runtime makes other hosts than its own');
  assertSameKernel(host);
  const unavailable: Probed['unavailable'] = { ...NOT_IN_REAL_TIME };
  const network = await networkTrouble(host);
  const clock = await clockTrouble(host, options.clock);
  const disk = redisCommands && (await diskTrouble(host));
  const link = await linkTrouble(host);
  if (network)
    unavailable.network = `routes cannot be changed in a container (${network}): the engine must grant NET_ADMIN`;
  if (clock)
    unavailable.clock = `the clock shim does not work in ${image} (${clock}): use an image with the C library of Debian`;
  if (link)
    unavailable.link = `links cannot be degraded between these containers (${link}): the engine's machine must have /dev/net/tun (modprobe tun), and grant NET_ADMIN and NET_RAW; --runtime netns needs neither`;
  if (disk) unavailable.disk = `hosts cannot lose power with ${image}: ${disk}`;
  // Not to the end: some programs choose what they are by the name that they are called by (`redis-server` is such a link).
  const { stdout: path } = await host.exec(['readlink', INSIDE.server]);
  const binary = await service.find(host, path, image).catch((error) => {
    throw new ContainerError(oneLine(error));
  });
  return { binary, unavailable, ...(redisCommands && { server: await askServer(host, image, redisCommands) }) };
}

/** On a machine that is busy with other runs, too. */
const ASKED_WITHIN_MS = 60_000;

/** Starts the server for a moment and prints what it says of itself: a line for each command that it has, and INFO. */
const ASK = `
const { spawn } = require('node:child_process');
const [server, ...names] = process.argv.slice(1);
const child = spawn(server, ['--port', '0', '--unixsocket', 'asked.sock', '--save', ''], { stdio: 'ignore' });
let over = false;
const end = (status, text) => {
  if (over) return;
  over = true;
  child.kill('SIGKILL');
  process.stdout.write(text, () => process.exit(status));
};
child.on('exit', () => end(1, 'it ends at once'));
setTimeout(end, ${ASKED_WITHIN_MS}, 1, 'it does not answer');
const ask = (line, isWhole) => new Promise((resolve) => {
  let said = '';
  const socket = require('node:net').connect('asked.sock');
  socket.on('error', () => setTimeout(() => ask(line, isWhole).then(resolve), 20));
  socket.on('connect', () => socket.write(line + '\\r\\n'));
  socket.on('data', (data) => { said += data; if (isWhole(said)) { socket.destroy(); resolve(said); } });
});
(async () => {
  const lines = [];
  // What it does not know is nil, in either form; what it knows is an array in the array.
  for (const name of names)
    if (/^\\*1\\r\\n\\*[1-9]/.test(await ask('COMMAND INFO ' + name, (said) => said.length > 5))) lines.push('has ' + name);
  lines.push(await ask('INFO server', (said) => said.includes('redis_mode') || said.includes('server_mode')));
  end(0, lines.join('\\n'));
})();
`;

async function askServer(host: Host, image: string, names: readonly string[]): Promise<AskedServer> {
  const { exitCode, stdout } = await host.exec([INSIDE.node, '-e', ASK, INSIDE.server, ...names], {
    timeoutMs: 2 * ASKED_WITHIN_MS,
  });
  if (exitCode !== 0) throw new ContainerError(`the server in ${image} cannot be asked what it has: ${stdout.trim()}`);
  return {
    kind: /^valkey_version:/m.test(stdout) ? 'valkey' : 'redis',
    commands: names.filter((name) => stdout.split('\n').includes(`has ${name}`)),
  };
}

/** Clients stamp with CLOCK_MONOTONIC of the engine's kernel, and the harness with that of its own. */
function assertSameKernel(host: DockerHost): void {
  let own = '';
  try {
    own = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // Not Linux: another kernel than any container's.
  }
  if (own === host.prepared.bootId) return;
  throw new ContainerError(
    "the container engine runs on another kernel (Docker Desktop, or another machine), so the lock clients' clock cannot be compared with the harness's",
    "run lock-torture on the engine's own machine",
  );
}

async function networkTrouble(host: Host): Promise<string | undefined> {
  const script = `ip route add blackhole ${UNUSED_ADDRESS} && ip route show type blackhole && ip route del blackhole ${UNUSED_ADDRESS}`;
  const { exitCode, stdout, stderr } = await host.exec(['sh', '-c', script]);
  return exitCode === 0 && stdout.includes(UNUSED_ADDRESS) ? undefined : stderr || `exit status ${exitCode}`;
}

async function clockTrouble(host: Host, clock: Clock): Promise<string | undefined> {
  await host.setClock({ offsetMs: HOUR_MS, ratePpm: 0 });
  const reader = host.spawn([INSIDE.node, '-e', 'console.log(Date.now())']);
  let told = '';
  reader.stdout.on('data', (chunk) => {
    told += chunk;
  });
  await reader.exited;
  const offMs = Number(told) - clock.wallMs() - HOUR_MS;
  return Math.abs(offMs) < HOUR_MS / 2
    ? undefined
    : `set forward by an hour, a process said ${told.trim() || 'nothing'}`;
}

async function diskTrouble(host: Host): Promise<string | undefined> {
  const server = host.spawn([INSIDE.server, '--version'], { disk: true, logStdout: true });
  await server.exited;
  return host.diskTrouble(server.pid);
}

/** The program that shapes links, for a moment. */
async function linkTrouble(host: Host): Promise<string | undefined> {
  try {
    const shaper = await host.startLinkShaper('lt0', 0);
    const said = (await readAll(shaper)).trim();
    return said.startsWith('{"ready":true') ? undefined : said || 'it does not start';
  } catch (error) {
    return oneLine(error);
  }
}

/** What a program says that ends with its standard input. */
async function readAll({ stdin, stdout, exited }: HostProcess): Promise<string> {
  let said = '';
  stdout.on('data', (chunk) => {
    said += chunk;
  });
  stdin.end();
  await exited;
  return said;
}
