/**
 * How a lock reaches Redis: clients for what a `TopologyDescription` describes, set so that an operation that is lost
 * is *known* to be lost. Nothing is queued while offline, nothing is sent twice, everything is bounded in time.
 *
 * It excludes clients that a lock makes itself (`new Redis(...)`): those are neither stamped nor bounded.
 */
import { randomBytes } from 'node:crypto';
import type { Redis, RedisOptions } from 'ioredis';
import { nowNs, sleep, wallMs } from '../runtimes/process-time.js';
import { createRandom } from '../runtimes/random.js';
import type { LockHold, TopologyAccess } from '../vocabulary/lock.js';
import type { NodeRedis } from '../vocabulary/node-redis.js';
import type { ClientOptions } from '../vocabulary/protocol.js';
import type { Endpoint, OtherService, TopologyDescription } from '../vocabulary/topology.js';
import { CommandLog } from './command-log.js';
import { Listening } from './listening.js';
import { openNodeRedis } from './node-redis/clients.js';
import { type LoadNodeRedis, notHere } from './node-redis/package.js';
import { StampedCluster, type StampedClusterOptions } from './stamped-cluster.js';
import { StampedRedis } from './stamped-redis.js';

const READY_WITHIN_MS = 5_000;
/** Once a majority of independent nodes is up, the others get this long before the lock starts without them. */
const STRAGGLERS_MS = 300;
const POLL_MS = 5;
/** connect() to a cut host hangs; every host of a run answers in well under a millisecond. */
const CONNECT_TIMEOUT_MS = 250;

/** What a lock tells the harness through its access. */
export interface LockNotices {
  step(name: string): Promise<void>;
  renewed(hold: LockHold, sentNs: number, leaseMs: number): void;
}

/** A server could not be reached while the lock was being connected. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

export function topologyAccess(
  description: TopologyDescription,
  options: ClientOptions,
  log: CommandLog,
  notices: LockNotices,
  loadNodeRedis?: LoadNodeRedis,
): TopologyAccess {
  const open = (node: string, target: RedisOptions, into = log) => {
    const stamping = { log: into, nowNs, node };
    const client = new StampedRedis({ ...clientOptions(options.commandTimeoutMs), ...target }, stamping);
    const watched: WatchedClient = { client, node, lastError: 'no answer' };
    // Without a listener ioredis prints; every failure reaches the lock through the command that it failed.
    client.on('error', (error: Error) => {
      watched.lastError = error.message;
    });
    return watched;
  };

  const openCluster = (target: Extract<TopologyDescription, { kind: 'cluster' }>, into = log): WatchedCluster => {
    const stamping = { log: into, nowNs, node: 'cluster' };
    const client = new StampedCluster(target.nodes, clusterOptions(target, options.commandTimeoutMs), stamping);
    const watched: WatchedCluster = { client, lastError: 'no answer' };
    for (const event of ['error', 'node error']) {
      client.on(event, (error: Error) => {
        watched.lastError = error.message;
      });
    }
    return watched;
  };

  const openLogical = (description: OneServer, into = log): WatchedClient | WatchedCluster => {
    switch (description.kind) {
      case 'single':
      case 'replica':
        return open(description.node.name, endpointOptions(description.node, description), into);
      case 'sentinel':
        return open('primary', sentinelOptions(description, options.commandTimeoutMs), into);
      case 'cluster':
        return openCluster(description, into);
    }
  };

  /** The one logical server, or why `what` has no meaning here. */
  const oneServer = (what: string): OneServer => {
    if (description.kind === 'redlock' || description.kind === 'redlock-sentinel')
      throw new Error(`${what} has no meaning on ${description.kind}, whose nodes are independent: use nodes()`);
    if ('nodes' in description && description.kind !== 'cluster')
      throw new Error(`${what} has no meaning on ${description.kind}: connect to description.nodes`);
    return description;
  };

  const openOne = async (): Promise<Redis> => {
    const description = oneServer('redis()');
    const one = openLogical(description);
    // A Cluster client takes the same commands, and differs in nothing that a lock should have to know.
    if (await isReady(one, READY_WITHIN_MS)) return one.client as Redis;
    one.client.disconnect();
    throw notReady(description, one.lastError);
  };

  const openNode = async (): Promise<NodeRedis> => {
    const description = oneServer('nodeRedis()');
    if (!loadNodeRedis) throw notHere();
    const opened = openNodeRedis(await loadNodeRedis(), description, { log, nowNs }, options);
    if (await opened.connected(READY_WITHIN_MS)) return opened.client as unknown as NodeRedis;
    throw notReady(description, opened.lastError);
  };

  const openAll = async (): Promise<Redis[]> => {
    if (description.kind === 'single') return [await access.redis()];
    if (description.kind !== 'redlock' && description.kind !== 'redlock-sentinel') {
      throw new Error(`nodes() has no meaning on ${description.kind}, which is one logical server: use redis()`);
    }
    const all =
      description.kind === 'redlock'
        ? description.nodes.map((node) => open(node.name, endpointOptions(node, description)))
        : description.nodes.map((node) =>
            open(node.masterName, sentinelOptions({ ...description, ...node }, options.commandTimeoutMs)),
          );
    const names = description.nodes.map((node) => ('host' in node ? where(node) : node.masterName));
    const majority = Math.floor(all.length / 2) + 1;
    const enough = await majorityReady(all, majority);
    if (enough) return all.map((one) => one.client);
    const missing = all.flatMap((one, i) => (one.client.status === 'ready' ? [] : [`${names[i]} (${one.lastError})`]));
    for (const one of all) one.client.disconnect();
    throw new UnreachableError(
      `no majority of the ${all.length} nodes was ready within ${READY_WITHIN_MS} ms; missing: ${missing.join(', ')}`,
    );
  };

  const openListening = (): Listening => {
    const description = oneServer('listen()');
    // A log of its own, which is never read: a subscription grants nothing, and one that is cut off must not put a grant in
    // doubt.
    const subscriber = openLogical(description, new CommandLog());
    return new Listening(subscriber.client, () => isReady(subscriber, options.commandTimeoutMs));
  };

  let one: Promise<Redis> | undefined;
  let node: Promise<NodeRedis> | undefined;
  let all: Promise<Redis[]> | undefined;
  let listening: Listening | undefined;
  const access: TopologyAccess = {
    description,
    options,
    redis: () => {
      one ??= openOne();
      return one;
    },
    nodeRedis: () => {
      node ??= openNode();
      return node;
    },
    nodes: () => {
      all ??= openAll();
      return all;
    },
    listen: async (channel, heard) => {
      listening ??= openListening();
      return listening.listen(channel, heard);
    },
    nowNs,
    wallMs,
    sleep,
    // By name, too: clients that an author starts by hand with one seed must not pause in step.
    random: createRandom(options.seed).fork(options.client),
    // From no seed: a run that is repeated on a server that was not emptied must not meet its own old owners.
    randomValue: () => randomBytes(20).toString('hex'),
    ownerValue: () => `${options.client}:${randomBytes(20).toString('hex')}`,
    step: notices.step,
    renewed: notices.renewed,
  };
  return access;
}

/** What clients take for one logical server. */
type OneServer = Exclude<TopologyDescription, { kind: 'redlock' | 'redlock-sentinel' | OtherService }>;

function notReady(description: OneServer, lastError: string): UnreachableError {
  return new UnreachableError(`${inWords(description)} was not ready within ${READY_WITHIN_MS} ms: ${lastError}`);
}

function inWords(description: OneServer): string {
  switch (description.kind) {
    case 'single':
      return `Redis at ${where(description.node)}`;
    case 'replica':
      return `the primary behind the virtual address ${description.node.host}:${description.node.port}`;
    case 'sentinel':
      return `the primary "${description.masterName}" through Sentinels ${description.sentinels.map(where).join(', ')}`;
    case 'cluster':
      return `a Cluster of ${description.nodes.map(where).join(', ')}`;
  }
}

interface WatchedClient {
  client: StampedRedis;
  node: string;
  lastError: string;
}

interface WatchedCluster {
  client: StampedCluster;
  lastError: string;
}

/** What every connection has, to whatever server. `docs/write-your-own-lock.md` describes it to authors. */
function connectionOptions(commandTimeoutMs: number) {
  return {
    // A resent SET NX that was applied the first time answers nil, a resent release answers 0: never resend.
    autoResendUnfulfilledCommands: false,
    // With 0, commands in flight are rejected as soon as their connection closes, not after some reconnects.
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    // A cut link swallows everything and never closes: without this the client would stay on the dead socket, also when
    // a failover has long made another server the primary. Destroys the socket when nothing at all came back in time.
    socketTimeout: commandTimeoutMs,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // How long a closed connection may linger before it is destroyed: a stopped server never answers our FIN.
    disconnectTimeout: 100,
    // Finds an idle dead connection within about ten seconds.
    keepAlive: 1_000,
    maxLoadingRetryTime: 50,
    disableClientInfo: true,
  } satisfies RedisOptions;
}

/** A client of one server at a time: comes back when its server does, or another in its place. */
function clientOptions(commandTimeoutMs: number): RedisOptions {
  return {
    ...connectionOptions(commandTimeoutMs),
    // For the same reason as above: never queue.
    enableOfflineQueue: false,
    retryStrategy: (times) => Math.min(25 * times, 50),
    // A demoted primary answers READONLY: look for the new one, and let the lock see the error (2 would resend).
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  };
}

/** A client of a whole Cluster, which comes back to a lost node when it hears of it again. */
function clusterOptions(description: TopologyDescription, commandTimeoutMs: number): StampedClusterOptions {
  return {
    redisOptions: { ...connectionOptions(commandTimeoutMs), ...accessOptions(description) },
    enableOfflineQueue: false,
    // One node after the other is asked who serves what: one that was cut off must not hold up the answer for long.
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    // When not one node is left.
    clusterRetryStrategy: (times) => Math.min(25 * times, 50),
  };
}

function endpointOptions(endpoint: Endpoint, description: TopologyDescription): RedisOptions {
  return { host: endpoint.host, port: endpoint.port, ...accessOptions(description) };
}

/** What every server asks for. */
function accessOptions({
  password,
  tls,
}: Pick<TopologyDescription, 'password' | 'tls'>): Pick<RedisOptions, 'password' | 'tls'> {
  return { ...(password && { password }), ...(tls && { tls: { ca: tls.ca } }) };
}

function sentinelOptions(
  description: Pick<TopologyDescription, 'password' | 'tls'> & { masterName: string; sentinels: readonly Endpoint[] },
  commandTimeoutMs: number,
): RedisOptions {
  return {
    name: description.masterName,
    ...accessOptions(description),
    ...(description.password && { sentinelPassword: description.password }),
    ...(description.tls && { sentinelTLS: { ca: description.tls.ca }, enableTLSForSentinelMode: true }),
    role: 'master',
    sentinels: description.sentinels.map(({ host, port }) => ({ host, port })),
    // The harness knows all Sentinels. Asking each for the others costs a round trip with every reconnect.
    updateSentinels: false,
    sentinelRetryStrategy: (times) => Math.min(times * 10, 100),
    sentinelCommandTimeout: Math.min(commandTimeoutMs, 250),
    // Off, as it is by default and so in almost every application: a client then stays on an isolated old primary for
    // as long as that answers, which is the split brain that a run is to show.
    failoverDetector: false,
  };
}

async function isReady(
  watched: WatchedClient | WatchedCluster,
  withinMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const { client } = watched;
  if (client instanceof StampedCluster) return isUsable(client, withinMs);
  if (client.status === 'ready') return true;
  const settled = new AbortController();
  const settle = () => settled.abort();
  client.once('ready', settle);
  client.once('end', settle);
  await sleep(withinMs, signal ? AbortSignal.any([signal, settled.signal]) : settled.signal);
  client.off('ready', settle);
  client.off('end', settle);
  return (client.status as string) === 'ready';
}

async function isUsable(client: StampedCluster, withinMs: number): Promise<boolean> {
  const giveUpNs = nowNs() + withinMs * 1e6;
  while (!client.usable && nowNs() < giveUpNs) await sleep(POLL_MS);
  return client.usable;
}

/** True once all are ready, or a majority is and the rest had its chance; false when no majority came up in time. */
async function majorityReady(all: readonly WatchedClient[], majority: number): Promise<boolean> {
  const stop = new AbortController();
  let ready = 0;
  let enough = () => {};
  const majorityUp = new Promise<void>((resolve) => {
    enough = resolve;
  });
  const each = Promise.all(
    all.map(async (one) => {
      if (await isReady(one, READY_WITHIN_MS, stop.signal)) ready += 1;
      if (ready >= majority) enough();
    }),
  );
  await Promise.race([each, majorityUp.then(() => Promise.race([each, sleep(STRAGGLERS_MS, stop.signal)]))]);
  stop.abort();
  return all.filter((one) => one.client.status === 'ready').length >= majority;
}

function where(endpoint: Endpoint): string {
  return `${endpoint.name} ${endpoint.host}:${endpoint.port}`;
}
