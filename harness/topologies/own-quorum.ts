/** Services whose servers agree on a leader among themselves, by majority: one server, or a quorum of three. */
import type { Capability, Host } from '../vocabulary/host.js';
import type {
  OtherService,
  ServerNode,
  Setting,
  Shard,
  Topology,
  TopologyContext,
  TopologyKind,
} from '../vocabulary/topology.js';
import { agreedOutlook } from './outlooks.js';
import { startedOrThrow } from './ready.js';
import type { ServiceServer } from './service-server.js';

export interface OwnQuorum<Server extends ServiceServer, Answer> {
  service: OtherService;
  /** One of its servers, and several: "etcd member", "etcd members". */
  called: { one: string; many: string };
  /** What their names begin with. */
  letter: string;
  defaultLock: string;
  unavailable: Partial<Record<Capability, string>>;
  settings: readonly Setting[];
  servers(hosts: readonly Host[], context: TopologyContext): Server[];
  /** What each of them says of itself. */
  answers(servers: readonly Server[]): Promise<Answer[]>;
  /** The leader with those that follow it; empty while there is none. */
  shards(nodes: readonly ServerNode[], answers: readonly Answer[]): Shard[];
  /** What keeps them from being one deployment, in words. */
  missing(nodes: readonly ServerNode[], answers: readonly Answer[]): string[];
}

const CLIENT_FAULTS = ['pause:holder', 'partition:client', 'kill:client'];
/** The leader is the primary. */
const QUORUM_FAULTS = ['kill:primary', ...CLIENT_FAULTS, 'partition:primary', '?pause:primary', '?partition:minority'];

const [LEAST_COMMAND_MS, MOST_COMMAND_MS] = [500, 1_500];

/**
 * A write waits for a majority's disks, and on a busy machine for longer than Redis ever takes: who gives up at once has ended the
 * session that its lock lives by. A third of the lease leaves time for another of three servers before that is over, and is how
 * ZooKeeper's own client divides it.
 */
function commandTimeoutMs(leaseMs: number): number {
  return Math.round(Math.min(MOST_COMMAND_MS, Math.max(LEAST_COMMAND_MS, leaseMs / 3)));
}

/** Its two topologies. */
export function ownQuorum<Server extends ServiceServer, Answer>(
  of: OwnQuorum<Server, Answer>,
): Record<'quorum' | 'single', TopologyKind> {
  const { service, called, letter, defaultLock, unavailable } = of;
  const kind = (
    name: string,
    summary: string,
    nodes: readonly string[],
    defaultFaults: readonly string[],
  ): TopologyKind => {
    const replicated = nodes.length > 1;
    return {
      ...{ name, service, summary, defaultLock, defaultFaults, unavailable, replicated },
      ...(replicated && { outlook: agreedOutlook }),
      quorum: 'primary',
      commandTimeoutMs,
      hosts: () => ({ nodes: [...nodes], sentinels: [], managers: [] }),
      start: (hosts, _options, context) => start(of, { name, replicated }, hosts, context),
    };
  };
  const three = [1, 2, 3].map((n) => `${letter}${n}`);
  return {
    quorum: kind(service, `three ${called.many}, of which two make a quorum`, three, QUORUM_FAULTS),
    single: kind(`${service}-single`, `one ${called.one}`, three.slice(0, 1), ['kill', ...CLIENT_FAULTS]),
  };
}

async function start<Server extends ServiceServer, Answer>(
  { service, settings, servers, answers, shards, missing }: OwnQuorum<Server, Answer>,
  kind: Pick<Topology, 'name' | 'replicated'>,
  hosts: readonly Host[],
  context: TopologyContext,
): Promise<Topology> {
  const nodes = servers(hosts, context);
  await Promise.all(nodes.map((node) => node.start()));
  const topology: Topology = {
    ...kind,
    ...{ nodes, settings, sentinels: [], watchers: [] },
    quorum: { kind: 'primary' },
    // A leader that hears of no majority answers nobody any more.
    replacedPrimary: 'leave',
    describe: () => ({
      kind: service,
      nodes: nodes.map(({ name, host, port }) => ({ name, host: host.address, port })),
    }),
    shards: async () => shards(nodes, await answers(nodes)),
    missing: async () => missing(nodes, await answers(nodes)),
    [Symbol.asyncDispose]: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  };
  return startedOrThrow(topology, context.clock, context.readyTimeoutMs);
}
