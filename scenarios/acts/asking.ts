/** What plays ask of the servers, through the channel that no fault cuts. */
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import type { OperationOutcome, Stage, StageClient } from '../../harness/vocabulary/workload.js';

/** Whom the servers agree on as the primary for `key`, once they do; with `after`, another than that one. */
export function primaryFor(stage: Stage, key: string, after?: ServerNode): Promise<ServerNode> {
  return stage.until(`a primary${after ? ` instead of ${after.name}` : ''} for ${key}`, async () => {
    const shards = await stage.topology.shards();
    const primary = shards.find((shard) => shard.serves(key))?.primary;
    return primary !== after && primary;
  });
}

/** Those of `nodes` that have `key` now, be it with something before it: some locks put a prefix of their own. */
export async function havingKey(nodes: readonly ServerNode[], key: string): Promise<string[]> {
  const found = await Promise.all(
    nodes.map(async (node) => ((await node.command('KEYS', `*${key}`)) as string[]).length > 0),
  );
  return nodes.filter((_, nth) => found[nth]).map(({ name }) => name);
}

/** Of a request that ran sooner after the end of a lease the record does not tell for certain that it came after that. */
const CLEARLY_OVER_MS = 20;

/** Resolves when the lease of `key` is over on every data node, and whatever comes next came clearly after that. */
export async function leaseOver(stage: Stage, key: string): Promise<void> {
  await stage.until(`${key} is free`, async () => (await havingKey(stage.topology.nodes, key)).length === 0);
  await stage.sleep(CLEARLY_OVER_MS);
}

/** Resolves when all of `nodes` have `key`. */
export async function knownTo(stage: Stage, nodes: readonly ServerNode[], key: string): Promise<void> {
  await stage.until(
    `${nodes.map(({ name }) => name).join(' and ')} have ${key}`,
    async () => (await havingKey(nodes, key)).length === nodes.length,
  );
}

/** Resolves when somebody waits for the unlock of `key` to be published. */
export async function isListening(stage: Stage, key: string): Promise<void> {
  await stage.until(`somebody listens for ${key}`, async () => {
    const channels = await stage.topology.nodes[0]!.command('PUBSUB', 'CHANNELS', `*${key}*`);
    return Array.isArray(channels) && channels.length > 0;
  });
}

/** How many scripts, whole ones and by their digests, `node` was asked to run since it was started. */
export async function scriptsRun(node: ServerNode): Promise<number> {
  const told = String(await node.command('INFO', 'commandstats'));
  const asked = [...told.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].map(([, calls]) => Number(calls));
  return asked.reduce((sum, calls) => sum + calls, 0);
}

/**
 * Resolves with the grant once `client` has it. It asks again and again: while a server is away, and while the answer to a
 * question is lost with a connection that has died and of which the client had not heard yet.
 */
export function granted(stage: Stage, client: StageClient, key: string): Promise<OperationOutcome> {
  return stage.until(`${client.name} is granted ${key}`, async () => {
    const answer = await client.acquire(key, { waitMs: 500 });
    return answer.type === 'ok' && answer;
  });
}

/**
 * Resolves when `client` has noticed which servers are away, by way of another lock. What it asked before that of one that
 * is dead would be in doubt, and would stand for a lease on those that live.
 */
export async function hasNoticed(stage: Stage, client: StageClient, key = 'another lock'): Promise<void> {
  await stage.until(`${client.name} goes on with the servers that are left`, async () => {
    const answer = await client.acquire(key, { leaseMs: 300 });
    if (answer.type === 'ok') await client.release(answer);
    return answer.type === 'ok';
  });
}

/**
 * Resolves when `client` can ask `node` over a connection that it has made by itself: it finds within a second or two that the
 * other end of its old one is not there any more.
 */
export async function isConnected(stage: Stage, client: StageClient, node: ServerNode): Promise<void> {
  await stage.until(`${client.name} is connected to ${node.name}`, async () =>
    String(await node.command('CLIENT', 'LIST'))
      .split('\n')
      .some((line) => line.includes(` addr=${client.address}:`) && / flags=[^ P]* /.test(line)),
  );
}

/** Resolves when a node that was started again is watched again (MONITOR): what it does unseen cannot be explained. */
export async function isWatched(stage: Stage, node: ServerNode): Promise<void> {
  await stage.until(`${node.name} is watched`, async () =>
    /flags=\S*O/.test(String(await node.command('CLIENT', 'LIST'))),
  );
}

/** Resolves when a watched node has been looked at once more: then it is known what it had before anybody asks it. */
export async function isLookedAt(stage: Stage, node: ServerNode): Promise<void> {
  // The observer asks the time before each look and after it.
  const asked = async () =>
    Number(/cmdstat_time:calls=(\d+)/.exec(String(await node.command('INFO', 'commandstats')))?.[1] ?? 0);
  const before = await asked();
  await stage.until(`${node.name} is looked at`, async () => (await asked()) >= before + 4);
}
