/**
 * The `docker` runtime: each host is a container on a network of the run's own that leads nowhere else.
 *
 * Containers of hosts have one power, NET_ADMIN in their own network namespace, publish no port and mount nothing of
 * the machine; those of servers that refuse to be root may change a process's user, and signal it, as well. What degrades a host's links needs raw sockets and a TUN device as well: it runs in a sidecar, a
 * container of its own in the host's network namespace, in which no lock and no server ever runs. They end with the
 * connection over which the harness talks to their agents, and the engine removes them; what a killed harness leaves, a
 * network at most, is removed at the next start.
 */
import { basename } from 'node:path';
import type { Capability, Host, Runtime } from '../harness/vocabulary/host.js';
import type { Clock } from '../harness/vocabulary/time.js';
import { type Container, ContainerError, type Engine, findEngine } from './engine.js';
import { DEVICE, DockerHost } from './host.js';
import { oneLine } from './images.js';
import type { DockerOptions } from './options.js';
import { labelsOf, removeLeftovers, removeNetwork } from './owner.js';

/** Where packets go that a program is to send on. */
const TUN = '/dev/net/tun';
/** The first whose engine takes settings of one device by a way of their own, and the only one that the last still take. */
const API_OF_ENDPOINT_SYSCTLS = [1, 46] as const;
/** A root without these may not start what is somebody else's, nor signal it. */
const TO_BE_NOBODY = ['SETUID', 'SETGID', 'KILL'];
/** The machine itself has no address in the network: even it cannot be reached from a container. */
const NO_GATEWAY = { 'com.docker.network.bridge.inhibit_ipv4': 'true' };

/** Makes the run's network. Rejects with a ContainerError where the engine cannot. */
export async function dockerRuntime(options: DockerOptions): Promise<Runtime> {
  const engine = await findEngine();
  await removeLeftovers(engine.docker);
  const labels = labelsOf(options.runId);
  const name = `lock-torture-${options.runId}`;
  const network = await engine.docker
    .createNetwork({
      Name: name,
      Driver: 'bridge',
      Internal: true,
      CheckDuplicate: true,
      Labels: labels,
      Options: NO_GATEWAY,
    })
    .catch((error) => {
      throw new ContainerError(
        `the container engine makes no network (${oneLine(error)})`,
        'where there are too many, docker network prune removes the unused ones',
      );
    });
  const { IPAM } = (await network.inspect()) as { IPAM: { Config: { Subnet: string }[] } };
  return new DockerRuntime(options, engine, network, labels, lastAddress(IPAM.Config[0]!.Subnet));
}

type Network = ReturnType<Engine['docker']['getNetwork']>;

class DockerRuntime implements Runtime {
  readonly name = 'docker';
  readonly clock: Clock;
  readonly unavailable: Partial<Record<Capability, string>>;
  private readonly hosts: DockerHost[] = [];
  private readonly made: Container[] = [];
  private sidecars = 0;

  constructor(
    private readonly options: DockerOptions,
    private readonly engine: Engine,
    private readonly network: Network,
    private readonly labels: Record<string, string>,
    readonly spareAddress: string,
  ) {
    this.clock = options.clock;
    this.unavailable = options.unavailable;
  }

  async createHosts(names: readonly string[]): Promise<Host[]> {
    // All of them, also where one fails: what is still being made could not be removed.
    const made = await Promise.allSettled(names.map((name) => this.createHost(name)));
    return made.map((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value;
    });
  }

  private async createHost(name: string): Promise<Host> {
    const { images, isServer, serversAreNobody, files } = this.options;
    const server = isServer(name);
    const powers = ['NET_ADMIN', ...(server && serversAreNobody ? TO_BE_NOBODY : [])];
    const own = await this.create(name, server ? images.server : images.client, {
      host: { NetworkMode: this.network.id, CapAdd: powers, Sysctls: this.sysctls() },
      Hostname: name,
      NetworkingConfig: { EndpointsConfig: { [this.network.id]: { DriverOpts: this.endpointSysctls() } } },
    });
    const host = new DockerHost(name, { own, makeSidecar: () => this.createSidecar(name, own) }, this.options);
    this.hosts.push(host);
    await host.start(server ? new Map() : files).catch((error) => {
      throw error instanceof ContainerError
        ? error
        : new ContainerError(`the container of ${name} does not start: ${oneLine(error)}`);
    });
    if (!server) await this.assertProgram(host);
    return host;
  }

  private createSidecar(name: string, own: Container): Promise<Container> {
    return this.create(`${name}-links-${this.sidecars++}`, this.options.images.client, {
      host: {
        NetworkMode: `container:${own.id}`,
        CapAdd: ['NET_ADMIN', 'NET_RAW'],
        Devices: [{ PathOnHost: TUN, PathInContainer: TUN, CgroupPermissions: 'rw' }],
      },
    });
  }

  private async create(
    name: string,
    image: string,
    { host, ...settings }: { host: object } & Record<string, unknown>,
  ): Promise<Container> {
    const container = await this.engine.docker
      .createContainer({
        ...settings,
        name: `lock-torture-${this.options.runId}-${name}`,
        Image: image,
        Labels: this.labels,
        // Ended with the one connection that is ever attached.
        OpenStdin: true,
        StdinOnce: true,
        AttachStdin: true,
        AttachStdout: true,
        AttachStderr: true,
        HostConfig: {
          ...host,
          AutoRemove: true,
          CapDrop: ['ALL'],
          SecurityOpt: ['no-new-privileges'],
          // Its output is the harness's channel: it does not belong in a file of the engine's.
          LogConfig: { Type: 'none', Config: {} },
        },
      })
      .catch((error) => {
        throw new ContainerError(`the container engine makes no container for ${name}: ${oneLine(error)}`);
      });
    this.made.push(container);
    return container;
  }

  private async assertProgram(host: Host): Promise<void> {
    const { program } = this.options;
    if (program === undefined) return;
    const { exitCode } = await host.exec(['sh', '-c', 'command -v "$1"', 'sh', basename(program)]);
    if (exitCode === 0) return;
    throw new ContainerError(
      `${basename(program)}, which the lock client is started with, is not in the image of lock clients`,
      'name one that has it, and Node.js, with --client-image',
    );
  }

  /**
   * Many machines filter by reverse path: a cut of one direction would drop both. And an address that moves is announced.
   * A container may not set these itself.
   */
  private sysctls(): Record<string, string> {
    return {
      'net.ipv4.conf.all.rp_filter': '0',
      'net.ipv4.conf.default.rp_filter': '0',
      'net.ipv4.conf.all.arp_notify': '1',
      ...(this.hasEndpointSysctls() ? {} : { [`net.ipv4.conf.${DEVICE}.rp_filter`]: '0' }),
    };
  }

  private endpointSysctls(): Record<string, string> {
    if (!this.hasEndpointSysctls()) return {};
    return { 'com.docker.network.endpoint.sysctls': 'net.ipv4.conf.IFNAME.rp_filter=0' };
  }

  private hasEndpointSysctls(): boolean {
    const [major, minor] = this.engine.api;
    return major > API_OF_ENDPOINT_SYSCTLS[0] || minor >= API_OF_ENDPOINT_SYSCTLS[1];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.hosts.splice(0).map((host) => host.close()));
    // Agents may be stuck, or never have run.
    await Promise.all(
      this.made.splice(0).map((container) => container.remove({ force: true, v: true }).catch(unlessGone)),
    );
    await removeNetwork(this.network);
  }
}

/** 404: it is gone. 409: the engine is removing it already. */
function unlessGone(error: { statusCode?: number }): void {
  if (error.statusCode !== 404 && error.statusCode !== 409) throw error;
}

/** The last address of a subnet that a host may have; engines give theirs from the first on. */
export function lastAddress(subnet: string): string {
  const [base, bits] = subnet.split('/');
  const start = base!.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const last = start + 2 ** (32 - Number(bits)) - 2;
  return [24, 16, 8, 0].map((shift) => Math.floor(last / 2 ** shift) % 256).join('.');
}
