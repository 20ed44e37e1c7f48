/** One server that is no Redis, without anybody who could take its place. */
import type { ServerNode, Topology, TopologyContext } from '../vocabulary/topology.js';
import { startedOrThrow } from './ready.js';
import { oneShard } from './replication.js';

/** Of a server that was started: resolves when the deployment is ready. Rejects as `startedOrThrow`. */
export function oneServer(
  node: ServerNode & { stop(): Promise<void> },
  own: Pick<Topology, 'name' | 'settings' | 'describe'>,
  { clock, readyTimeoutMs }: TopologyContext,
): Promise<Topology> {
  const topology: Topology = {
    ...own,
    nodes: [node],
    sentinels: [],
    watchers: [],
    replicated: false,
    quorum: { kind: 'primary' },
    replacedPrimary: 'leave',
    shards: async () => [oneShard(node, [node])],
    missing: () =>
      node.ping().then(
        () => [],
        (error: Error) => [`${node.name} does not answer (${error.message})`],
      ),
    [Symbol.asyncDispose]: () => node.stop(),
  };
  return startedOrThrow(topology, clock, readyTimeoutMs);
}
