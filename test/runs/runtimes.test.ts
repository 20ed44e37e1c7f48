/** Every runtime's hosts are what topologies, clients and faults take them for: the same tests, unchanged, for each. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type DockerOptions, dockerRuntime, findEngine, INSIDE, provideImages } from '../../docker/index.js';
import { buildClockShim, encodeSkew } from '../../harness/machine/clock-shim.js';
import { buildDurableShim } from '../../harness/machine/durable-shim.js';
import { inNamespaces } from '../../harness/machine/namespaces.js';
import { cacheFolder } from '../../harness/machine/redis-binary.js';
import { monotonicNs, realClock } from '../../harness/runtimes/real-clock.js';
import { services } from '../../harness/topologies/services.js';
import type { Host, Runtime } from '../../harness/vocabulary/host.js';
import { properties } from '../support/hosts/properties.js';
import { BUNDLED } from '../support/job-inside.js';
import { bases, containers } from '../support/needs-docker.js';
import { freshFolder, ROOT } from '../support/torture.js';

const AT_LAST = { timeout: 20_000, interval: 20 };
const say = (line: string) => process.stderr.write(`${line}\n`);

describe('netns', { tags: ['namespaces', 'native'] }, () => {
  let findings: { property: string; problem?: string }[] = [];
  beforeAll(async () => {
    const folder = freshFolder();
    const outfile = join(folder, 'inside.mjs');
    await build({
      ...BUNDLED,
      entryPoints: [join(import.meta.dirname, '../support/hosts/inside.ts')],
      outfile,
    });
    const shim = await buildClockShim({ cacheFolder: cacheFolder(), say });
    if (!('path' in shim)) throw new Error(shim.unavailable);
    const durable = await buildDurableShim({ cacheFolder: cacheFolder(), say });
    if (!('path' in durable)) throw new Error(durable.unavailable);
    const [command, ...args] = [...inNamespaces(), process.execPath, outfile];
    const child = spawn(command!, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(JSON.stringify({ folder: join(folder, 'run'), clockShim: shim.path, durableShim: durable.path }));
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    await new Promise((resolve) => child.once('close', resolve));
    findings = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  });

  it.each(Object.keys(properties))('%s', (property) => {
    const finding = findings.find((one) => one.property === property);
    expect(finding, 'it was not tried').toBeDefined();
    expect(finding!.problem).toBeUndefined();
  });
});

describe('docker', containers, () => {
  const folder = freshFolder();
  let options: DockerOptions;
  let runtime: Runtime;
  let hosts: Host[];
  beforeAll(async () => {
    const engine = await findEngine();
    const images = await provideImages(engine, bases, services.redis.inContainers, ROOT, say);
    options = {
      folder,
      runId: `test-${process.pid}`,
      clock: realClock(monotonicNs()),
      encodeSkew: (skew) => encodeSkew(skew, monotonicNs()),
      unavailable: {},
      recordsDisk: true,
      images,
      isServer: (host) => host === 'r1',
      serversAreNobody: false,
      project: ROOT,
      files: new Map(),
    };
    runtime = await dockerRuntime(options);
    hosts = await runtime.createHosts(['r1', 'c1']);
    // Images are pulled and built where they are not there yet.
  }, 600_000);
  afterAll(() => runtime?.[Symbol.asyncDispose]());

  const logOf = ({ name }: Host) => readFileSync(join(folder, 'logs', `${name}.log`), 'utf8');

  it('containers have one power, publish nothing and mount nothing of the machine', async () => {
    const { docker } = await findEngine();
    const filters = { label: [`lock-torture.run=test-${process.pid}`] };
    const [containers, networks] = [await docker.listContainers({ filters }), await docker.listNetworks({ filters })];
    expect(containers).toHaveLength(hosts.length);
    expect(networks.map(({ Internal }) => Internal)).toEqual([true]);
    for (const { Ports, Mounts } of containers) {
      expect(Ports).toEqual([]);
      expect(Mounts.filter(({ Type }) => Type !== 'volume')).toEqual([]);
    }
    for (const host of hosts) {
      const { stdout } = await host.exec(['grep', '-E', '^(CapBnd|NoNewPrivs)', '/proc/self/status']);
      const NET_ADMIN = (1 << 12).toString(16).padStart(16, '0');
      expect(stdout).toBe(`CapBnd:\t${NET_ADMIN}\nNoNewPrivs:\t1`);
    }
  });

  it('a server that refuses to be root is nobody, who writes to its folder and is struck as any other', async () => {
    await using another = await dockerRuntime({ ...options, runId: `${options.runId}-nobody`, serversAreNobody: true });
    const [host, client] = await another.createHosts(['r1', 'c1']);
    const powersOf = async (of: Host) => (await of.exec(['grep', 'CapBnd', '/proc/self/status'])).stdout.slice(-16);
    const [KILL, SETGID, SETUID, NET_ADMIN] = [5, 6, 7, 12].map((at) => 1 << at) as [number, number, number, number];
    expect(Number.parseInt(await powersOf(host!), 16)).toBe(KILL | SETGID | SETUID | NET_ADMIN);
    expect(Number.parseInt(await powersOf(client!), 16)).toBe(NET_ADMIN);
    const script = "require('fs').writeFileSync('mine', String(process.getuid())); setInterval(() => {}, 1_000)";
    const server = host!.spawn([...host!.asNobody, INSIDE.node, '-e', script], { family: true });
    await vi.waitFor(async () => expect((await host!.readFile('mine'))?.data.toString()).toBe('65534'), AT_LAST);
    server.signal('SIGSTOP');
    await vi.waitFor(async () => expect(await server.state()).toBe('stopped'), AT_LAST);
    server.signal('SIGKILL');
    expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it.each(Object.entries(properties))('%s', async (_property, holds) => {
    await holds({ runtime, hosts, node: INSIDE.node, logOf });
  });
});
