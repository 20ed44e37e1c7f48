/** What a data node of any topology is configured with: what `TopologyOptions` says of it, and the topology's own. */
import type { Host } from '../vocabulary/host.js';
import type {
  Persistence,
  Setting,
  TopologyContext,
  TopologyDescription,
  TopologyOptions,
} from '../vocabulary/topology.js';
import { REDIS_PORT, RedisServer, type RedisServerOptions } from './redis-server.js';
import { serverTls } from './server-tls.js';

/** A data node of any topology, with everything that `TopologyOptions` says of it; `config` is the topology's own. */
export function dataNode(
  host: Host,
  options: TopologyOptions,
  context: DataNodeContext,
  config: readonly string[] = [],
  more: Pick<RedisServerOptions, 'clusterNode'> & { alsoAt?: readonly string[] } = {},
): RedisServer {
  const { alsoAt, ...own } = more;
  return new RedisServer({
    ...own,
    kind: 'redis',
    host,
    port: REDIS_PORT,
    config: [...dataConfig(options), ...config, ...userConfig(options.redisConf)],
    redis: context.redis,
    clock: context.clock,
    evicts: options.maxmemoryPolicy !== undefined,
    listensLate: true,
    ...passwordOf(options),
    ...serverTls(host, context, alsoAt),
  });
}

type DataNodeContext = Pick<TopologyContext, 'redis' | 'clock' | 'authority'>;

/** What clients need to reach such servers: a password, an authority. */
export function accessOf(
  options: TopologyOptions,
  { authority }: Pick<TopologyContext, 'authority'>,
): Pick<TopologyDescription, 'password' | 'tls'> {
  return { ...passwordOf(options), ...(authority && { tls: { ca: authority.ca } }) };
}

/** What every data node is started with beyond the server's defaults, for people. */
export function dataSettings(options: TopologyOptions): Setting[] {
  const { persistence, minReplicasToWrite, maxmemoryPolicy, password, tls, redisConf } = options;
  const setting = (name: string, value: string, why: string): Setting => ({ where: 'redis', name, value, why });
  return [
    setting('persistence', persistence, '--persistence'),
    ...(minReplicasToWrite > 0
      ? [setting('min-replicas-to-write', String(minReplicasToWrite), '--min-replicas-to-write')]
      : []),
    ...(maxmemoryPolicy
      ? [
          setting('maxmemory-policy', maxmemoryPolicy, '--maxmemory-policy'),
          setting('notify-keyspace-events', EVICTED_EVENTS, 'so that an eviction is seen when it happens'),
        ]
      : []),
    ...(password ? [setting('requirepass', '(set)', '--auth')] : []),
    ...(tls ? [setting('port', '0', '--tls: clients and servers reach it by tls-port only')] : []),
    ...redisConf.map(([name, value]) => setting(name, value, '--redis-conf')),
  ];
}

export function passwordOf(options: TopologyOptions): { password?: string } {
  return options.password ? { password: options.password } : {};
}

/** Published on `__keyevent@0__:evicted`. */
const EVICTED_EVENTS = 'Ee';

function dataConfig(options: TopologyOptions): string[] {
  const { minReplicasToWrite, maxmemoryPolicy, password } = options;
  return [
    ...persistenceConfig(options.persistence),
    ...(minReplicasToWrite > 0 ? [`min-replicas-to-write ${minReplicasToWrite}`] : []),
    ...(maxmemoryPolicy ? [`maxmemory-policy ${maxmemoryPolicy}`, `notify-keyspace-events ${EVICTED_EVENTS}`] : []),
    // A node may be the replica of any other one day.
    ...(password ? [`masterauth ${password}`] : []),
  ];
}

/** The persistence part of a configuration file. */
function persistenceConfig(persistence: Persistence): string[] {
  switch (persistence) {
    case 'none':
      return ['save ""', 'appendonly no'];
    case 'rdb':
      return ['save 3600 1', 'save 300 100', 'save 60 10000', 'appendonly no'];
    case 'aof-everysec':
      return ['save ""', 'appendonly yes', 'appendfsync everysec'];
    case 'aof-always':
      return ['save ""', 'appendonly yes', 'appendfsync always'];
  }
}

/** The user's own directives; Redis takes the last of two that contradict each other. */
function userConfig(redisConf: readonly (readonly [string, string])[]): string[] {
  return redisConf.map(([key, value]) => `${key} ${value}`);
}
