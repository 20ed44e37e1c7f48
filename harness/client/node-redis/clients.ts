/**
 * The clients of node-redis that locks are given: for one server, for the primary that Sentinels name, for a Cluster. As with those of
 * ioredis (`topology-access.ts`) nothing is queued while offline, nothing is sent twice, everything is bounded in time.
 */
import { after } from '../../runtimes/process-time.js';
import type { ClientOptions } from '../../vocabulary/protocol.js';
import type { Endpoint, TopologyDescription } from '../../vocabulary/topology.js';
import { CommandLog, errorCode } from '../command-log.js';
import { NeverSentError, type Stamping } from '../stamping.js';
import { carriedOutOnce, GUARDED, type Guarding, guardClients, noteAsked } from './guard.js';
import type { NodeRedisPackage, RawClient, RawCluster, RawSentinel } from './package.js';

/** connect() to a cut host hangs; every host of a run answers in well under a millisecond. */
const CONNECT_TIMEOUT_MS = 250;
/** Between two connections to Sentinels: node-redis asks them again at once for as long as the primary is not there. */
const SENTINEL_PACE_MS = 25;
/** Between two questions who serves what in a Cluster. */
const REDISCOVER_PACE_MS = 50;

/** A client, and what became of it last, for messages. */
export interface OpenedClient {
  /** All three take the same commands. */
  client: RawClient | RawSentinel | RawCluster;
  lastError: string;
}

type Named = Pick<ClientOptions, 'client' | 'commandTimeoutMs'>;
type Deployment<Kind> = Extract<TopologyDescription, { kind: Kind }>;
/** What has a client for one logical server. */
export type OneLogicalServer = Deployment<'single' | 'replica' | 'sentinel' | 'cluster'>;

/** Rejects when the client is not connected within `withinMs`; `opened` says what it is and why. */
export function openNodeRedis(
  redis: NodeRedisPackage,
  description: OneLogicalServer,
  stamping: Omit<Stamping, 'node'>,
  options: Named,
): OpenedClient & { connected(withinMs: number): Promise<boolean> } {
  guardClients(redis);
  const opened: OpenedClient = { client: undefined as never, lastError: 'no answer' };
  const open = () => {
    opened.client = unconnected(redis, description, stamping, options);
    // Without a listener an error would end the process; every failure reaches the lock through the command that it failed.
    opened.client.on('error', (error) => {
      opened.lastError = error.message ?? String(error);
    });
    return opened.client.connect();
  };
  return Object.assign(opened, { connected: (withinMs: number) => connectsWithin(withinMs, opened, open) });
}

async function connectsWithin(withinMs: number, opened: OpenedClient, open: () => Promise<unknown>): Promise<boolean> {
  let isOver = false;
  const tooLate = new Promise<false>((resolve) => {
    after(withinMs, () => {
      isOver = true;
      resolve(false);
    });
  });
  // One of Sentinel's gives up with the first failure, and one of a Cluster when no node answers.
  const tries = async () => {
    while (!isOver) {
      try {
        await open();
        return true;
      } catch (error) {
        opened.lastError = (error as Error).message;
        close(opened.client);
        await new Promise<void>((resolve) => void after(REDISCOVER_PACE_MS, resolve));
      }
    }
    return false;
  };
  const isConnected = await Promise.race([tries(), tooLate]);
  if (!isConnected) close(opened.client);
  return isConnected;
}

function close(client: OpenedClient['client']): void {
  // Version 5 throws for one that is not open.
  void (async () => client.destroy())().catch(() => {});
}

function unconnected(
  redis: NodeRedisPackage,
  description: OneLogicalServer,
  { log, nowNs }: Omit<Stamping, 'node'>,
  { client: name, commandTimeoutMs }: Named,
): OpenedClient['client'] {
  const guarding = (node: string): Guarding => ({ name, stamping: { log, nowNs, node }, commandTimeoutMs });
  switch (description.kind) {
    case 'single':
    case 'replica': {
      const { node } = description;
      return redis.createClient(clientOptions({ ...guarding(node.name), leavesReadOnly: true }, description, node));
    }
    case 'sentinel':
      return sentinelClient(redis, description, guarding('primary'));
    case 'cluster':
      return clusterClient(redis, description, guarding('cluster'));
  }
}

/** What every connection has, to whatever server. `docs/write-your-own-lock.md` describes it to authors. */
function clientOptions(
  guarding: Guarding,
  { password, tls }: Pick<TopologyDescription, 'password' | 'tls'>,
  endpoint?: Endpoint,
): object {
  return {
    socket: {
      ...(endpoint && addressOf(endpoint)),
      ...(tls && { tls: true, ca: tls.ca }),
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (times: number) => Math.min(25 * (times + 1), 50),
      // Finds an idle dead connection within about ten seconds.
      keepAlive: true,
      keepAliveInitialDelay: 1_000,
    },
    disableOfflineQueue: true,
    disableClientInfo: true,
    // Version 5 has nothing else to say that the server has to answer before the client counts as connected.
    name: guarding.name,
    // Moves commands from one connection to another.
    maintNotifications: 'disabled',
    ...NO_TIMEOUT,
    ...(password !== undefined && { password }),
    [GUARDED]: guarding,
  };
}

/** Version 6 has one by itself, which ends with the writing of a command. */
const NO_TIMEOUT = { commandOptions: { timeout: undefined } };

function addressOf({ host, port }: Endpoint) {
  return { host, port };
}

// --------------------------------------------------------------------------------------------------------- Sentinel

function sentinelClient(
  redis: NodeRedisPackage,
  { masterName, sentinels, ...access }: Deployment<'sentinel'>,
  guarding: Guarding,
): RawSentinel {
  const { commandTimeoutMs, stamping } = guarding;
  const toPrimary: Guarding = {
    ...guarding,
    leavesReadOnly: true,
    onGivenUp: () => rediscover(),
    onClient: (client) => void primaries.push(client),
  };
  // What Sentinels are asked belongs to no operation.
  const toSentinels: Guarding = {
    name: guarding.name,
    stamping: { ...stamping, log: new CommandLog() },
    commandTimeoutMs: Math.min(commandTimeoutMs, 250),
    paceMs: SENTINEL_PACE_MS,
  };
  const sentinel = redis.createSentinel({
    name: masterName,
    sentinelRootNodes: sentinels.map(addressOf),
    nodeClientOptions: clientOptions(toPrimary, access),
    sentinelClientOptions: clientOptions(toSentinels, access),
    // It would send a command again whose connection was lost, and one that was answered READONLY.
    maxCommandRediscovers: 0,
    ...NO_TIMEOUT,
  });
  const self = sentinel._self;
  const execute = self._execute.bind(self);
  const primaries: RawClient[] = [];
  let isRediscovering = false;
  // It asks the Sentinels for as long as it has no primary that is ready, and only where it has something to do.
  const rediscover = () => {
    if (isRediscovering) return;
    isRediscovering = true;
    execute(false, async () => {})
      .catch(() => {})
      .finally(() => {
        isRediscovering = false;
      });
  };
  self._execute = (_isReadonly, attempt) => {
    // By itself it sends nothing while it asks the Sentinels, which it does at every word of theirs, though the primary that it has
    // may answer.
    const primary = primaries.findLast(({ isReady, isPubSubActive }) => isReady && !isPubSubActive);
    if (primary) return attempt(primary);
    noteAsked(toPrimary);
    rediscover();
    return Promise.reject(new NeverSentError('not sent: no primary is connected'));
  };
  return sentinel;
}

// ---------------------------------------------------------------------------------------------------------- Cluster

function clusterClient(
  redis: NodeRedisPackage,
  { nodes, ...access }: Deployment<'cluster'>,
  guarding: Guarding,
): RawCluster {
  const cluster = redis.createCluster({
    rootNodes: nodes.map((node) => ({ socket: addressOf(node) })),
    defaults: clientOptions(guarding, access),
    ...NO_TIMEOUT,
  });
  guardCluster(cluster, guarding, { options: { socket: addressOf(nodes[0]!) } });
  return cluster;
}

/** `root`: a node that can be asked who serves what where no client is. */
function guardCluster(cluster: RawCluster, guarding: Guarding, root: Pick<RawClient, 'options'>): void {
  const self = cluster._self;
  const { _execute, duplicate } = self;
  let isRediscovering = false;
  // Version 5 looks nowhere else for a node that is gone; and neither version asks again who serves a slot that nobody served last time.
  const rediscover = (first: Pick<RawClient, 'options'>) => {
    if (isRediscovering) return;
    isRediscovering = true;
    self._slots
      .rediscover(first)
      .catch(() => {}) // 'error' tells
      .finally(() => after(REDISCOVER_PACE_MS, () => (isRediscovering = false)));
  };
  self._execute = (first, isReadonly, options, attempt, ...rest) =>
    carriedOutOnce(
      guarding,
      attempt,
      (once) => _execute.call(self, first, isReadonly, options, once, ...rest),
      (error, client) => {
        if (!client || error instanceof NeverSentError || errorCode(error) === 'CLUSTERDOWN')
          rediscover(client ?? root);
      },
    );
  self.duplicate = (overrides) => {
    const copy = duplicate.call(self, overrides);
    guardCluster(copy, guarding, root);
    return copy;
  };
}
