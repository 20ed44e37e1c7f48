/** What deployments share whose nodes replicate from one primary. */
import type { ServerNode, Setting, Shard } from '../vocabulary/topology.js';

/** Directives of every node that replicates or is replicated from. */
export const REPLICATION = ['repl-diskless-sync no'];

export const REPLICATION_SETTINGS: readonly Setting[] = [
  {
    where: 'redis',
    name: 'repl-diskless-sync',
    value: 'no',
    why: 'a replica that has its copy is sent every write at once, instead of after 5 s of gathering and its next report (1 s)',
  },
];

/** The one shard of a deployment that is not divided. */
export function oneShard(primary: ServerNode, nodes: readonly ServerNode[]): Shard {
  return { primary, replicas: nodes.filter((node) => node !== primary), serves: () => true };
}

/** What keeps `node` from being a replica of `primary` that is up to date, in words; undefined if nothing does. */
export async function replicaTrouble(node: ServerNode, primary: ServerNode): Promise<string | undefined> {
  const role = await node.command('ROLE').catch((error: Error) => [error.message]);
  if (!Array.isArray(role) || role[0] !== 'slave') return `${node.name} is not a replica yet`;
  if (role[1] !== primary.host.address) return `${node.name} replicates from ${role[1]}, not from ${primary.name}`;
  return role[3] === 'connected' ? undefined : `${node.name}'s link to ${primary.name} is "${role[3]}"`;
}
