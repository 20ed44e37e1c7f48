/**
 * Whom a fault strikes, resolved at the moment it fires: roles are asked of the servers and of the clients' holds, never
 * remembered. What cannot be resolved is refused with the reason.
 */
import type { ClientTarget, PlanStep, Target, TargetRole } from '../../harness/vocabulary/faults.js';
import type { Host, HostProcess } from '../../harness/vocabulary/host.js';
import type { ServerNode, Shard } from '../../harness/vocabulary/topology.js';
import { minorityOf, Refusal, waitFor, words } from '../levers/basics.js';
import type { NemesisContext, PlanTopology } from './context.js';
import { isSettled } from './grants.js';
import { weighted } from './weighted.js';

export type Struck = StruckNode | StruckClient;

export interface StruckNode {
  kind: 'node';
  name: string;
  host: Host;
  node: ServerNode;
}

export interface StruckClient {
  kind: 'client';
  name: string;
  host: Host;
  client: ClientTarget;
}

/** An election is over long before this. */
const PRIMARY_TIMEOUT_MS = 3_000;
/** A client that died is replaced long before this. */
const CLIENT_TIMEOUT_MS = 3_000;
const POLL_MS = 10;

/** Why the role means nothing on this topology, or undefined. */
export function unfitRole(role: TargetRole, topology: PlanTopology): string | undefined {
  const { name, nodes } = topology;
  switch (role) {
    case 'primary':
      return topology.replicated || nodes.length === 1 ? undefined : `${name} has no primary`;
    case 'replica':
      return topology.replicated ? undefined : `${name} has no replicas`;
    case 'minority':
      return minorityOf(nodes.length) > 0
        ? undefined
        : `${nodes.length} node${nodes.length === 1 ? ' has' : 's have'} no minority`;
    case 'sentinel':
      return minorityOf(topology.sentinels.length) > 0 ? undefined : `${name} has no minority of Sentinels`;
    default:
      return undefined;
  }
}

export function hostProcess(struck: Struck): HostProcess {
  return struck.kind === 'node' ? struck.node.process : struck.client.process;
}

export function namesOf(struck: readonly Struck[]): string[] {
  return struck.map(({ name }) => name);
}

export function isNode(struck: Struck): struck is StruckNode {
  return struck.kind === 'node';
}

export function isClient(struck: Struck): struck is StruckClient {
  return struck.kind === 'client';
}

/** Resolves a step's target. Rejects with a Refusal when nothing fits it now. */
export async function resolveTarget(step: Pick<PlanStep, 'target'>, context: NemesisContext): Promise<Struck[]> {
  const { target } = step;
  return typeof target === 'string' ? resolveRole(target, context) : resolveNames(target.names, context);
}

/**
 * The shard that matters most: the one that serves most of the run's keys, any of them if there are several. Waits for a
 * running election to end.
 */
export async function findShard(context: NemesisContext): Promise<Shard> {
  const { topology, keys, keyName, random } = context;
  if (!topology.replicated && topology.nodes.length > 1) throw new Refusal(`${topology.name} has no primary`);
  const served = (shard: Shard) => keys.filter((key) => shard.serves(keyName(key))).length;
  const shards = await waitFor(
    async () => {
      const agreed = await topology.shards();
      return agreed.some((shard) => served(shard) > 0) ? agreed : undefined;
    },
    { timeoutMs: PRIMARY_TIMEOUT_MS, pollMs: 50, doing: 'while the servers named no primary', context },
  );
  if (!shards) throw new Refusal(`the servers named no primary for ${PRIMARY_TIMEOUT_MS} ms`);
  const most = Math.max(...shards.map(served));
  return random.pick(shards.filter((shard) => served(shard) === most));
}

/** The primary that serves most of the run's keys, as the servers say. */
export async function findPrimary(context: NemesisContext): Promise<ServerNode> {
  return (await findShard(context)).primary;
}

/** Who has taken the place of the shard's primary, as the servers say; undefined while none has. */
export async function successorOf(
  shard: Shard,
  context: Pick<NemesisContext, 'topology'>,
): Promise<ServerNode | undefined> {
  const now = await context.topology.shards();
  return now.find(({ primary }) => shard.replicas.includes(primary))?.primary;
}

async function resolveRole(role: Exclude<Target, object>, context: NemesisContext): Promise<Struck[]> {
  const { topology } = context;
  const nodes = topology.nodes.filter((node) => !context.levers.kill.isDown(node));
  switch (role) {
    case 'primary':
      return [struckNode(await findPrimary(context))];
    case 'replica': {
      const { replicas } = await findShard(context);
      return [
        struckNode(
          pickFrom(
            nodes.filter((node) => replicas.includes(node)),
            'running replica',
            context,
          ),
        ),
      ];
    }
    case 'one':
      return [struckNode(pickFrom(nodes, 'running node', context))];
    case 'minority':
      return (await minority(nodes, context)).map(struckNode);
    case 'majority':
      return sample(nodes, Math.floor(topology.nodes.length / 2) + 1, 'majority of running nodes', context).map(
        struckNode,
      );
    case 'all':
      return sample(nodes, nodes.length, 'running node', context).map(struckNode);
    case 'sentinel':
      // A Sentinel that was stopped for over 2 s distrusts its clock for half a minute: never a quorum of them.
      return sample(topology.sentinels, minorityOf(topology.sentinels.length), 'minority of Sentinels', context).map(
        struckNode,
      );
    case 'client':
      return [struckClient(await findClient(context))];
    case 'holder':
      return [struckClient(await findHolder(context))];
  }
}

async function resolveNames(names: readonly string[], context: NemesisContext): Promise<Struck[]> {
  return Promise.all(names.map((name) => resolveName(name, context)));
}

async function resolveName(name: string, context: NemesisContext): Promise<Struck> {
  const { topology, hosts } = context;
  const node = [...topology.nodes, ...topology.sentinels].find((candidate) => candidate.name === name);
  if (node) return struckNode(node);
  if (!hosts.some((host) => host.name === name)) {
    throw new Refusal(`there is no "${name}"; there are ${words(hosts.map((host) => host.name))}`);
  }
  const client = await waitFor(async () => (await living(context, ({ slot }) => slot === name))[0], {
    timeoutMs: CLIENT_TIMEOUT_MS,
    pollMs: POLL_MS,
    doing: `before ${name} had a running client`,
    context,
  });
  if (!client) throw new Refusal(`${name} has had no running client for ${CLIENT_TIMEOUT_MS} ms`);
  return struckClient(client);
}

/** Of several shards a minority is struck, each in one node: a shard of two that lost both would be lost itself. */
async function minority(nodes: readonly ServerNode[], context: NemesisContext): Promise<ServerNode[]> {
  const shards = await context.topology.shards();
  if (shards.length < 2) return sample(nodes, minorityOf(context.topology.nodes.length), 'minority of nodes', context);
  const running = shards.map(({ primary, replicas }) =>
    nodes.filter((node) => node === primary || replicas.includes(node)),
  );
  const struck = choose(
    running.filter((ofShard) => ofShard.length > 0),
    minorityOf(shards.length),
    context,
  );
  if (struck.length === 0) throw new Refusal('there is no minority of shards now');
  return struck.map((ofShard) => context.random.pick(ofShard));
}

/**
 * A client that holds a lock now, rather one that has for a while: where most holds last for milliseconds, who has just got
 * one has released it before it is struck. The longer it has held, up to a lease, the likelier it is struck: of those that renew
 * or extend what they hold most is to be learned. None that gives back all that it holds: it may hold nothing any more. Waits up to
 * one lease for one.
 */
async function findHolder(context: NemesisContext): Promise<ClientTarget> {
  const read = async () => {
    const nowNs = context.clock.nowNs();
    const open = context.holds.open();
    const holdsOf = ({ callers }: ClientTarget) => open.filter(({ client }) => callers.includes(client));
    const givesBack = (client: ClientTarget) =>
      client !== context.at?.client &&
      holdsOf(client).length > 0 &&
      holdsOf(client).every(({ releaseSentNs, lostNs }) => releaseSentNs !== undefined || lostNs !== undefined);
    const holders = await unstruck(context, (client) => client.holding.length > 0 && !givesBack(client));
    if (holders.length === 0) return undefined;
    const { leaseMs } = context;
    const settledMs = (client: ClientTarget) =>
      holdsOf(client).reduce(
        (ms, hold) => (isSettled(hold, nowNs, leaseMs) ? Math.max(ms, (nowNs - hold.grantedNs) / 1e6) : ms),
        0,
      );
    const lasting = weighted(holders, (one) => Math.ceil(Math.min(settledMs(one), leaseMs)), context);
    return pickClient(holders, context, lasting && [lasting]);
  };
  const waitMs = context.leaseMs;
  const holder = await waitFor(read, {
    timeoutMs: waitMs,
    pollMs: POLL_MS,
    doing: 'before anybody held a lock',
    context,
  });
  if (!holder) throw new Refusal(`no client held a lock within ${waitMs} ms`);
  return holder;
}

/** A client that no other fault has stopped. */
async function findClient(context: NemesisContext): Promise<ClientTarget> {
  const read = async () => {
    const clients = await unstruck(context, () => true);
    return clients.length > 0 ? pickClient(clients, context) : undefined;
  };
  const client = await waitFor(read, {
    timeoutMs: CLIENT_TIMEOUT_MS,
    pollMs: POLL_MS,
    doing: 'before a client ran',
    context,
  });
  if (!client) throw new Refusal(`there was no client that is not struck already for ${CLIENT_TIMEOUT_MS} ms`);
  return client;
}

/** The one that is at the step at which the fault strikes, if it is one of them; otherwise any, of the `best` if there are any. */
function pickClient(
  clients: readonly ClientTarget[],
  { at, random }: NemesisContext,
  best: readonly ClientTarget[] = [],
): ClientTarget {
  if (at?.client && clients.includes(at.client)) return at.client;
  return random.pick(best.length > 0 ? best : clients);
}

async function unstruck(context: NemesisContext, fits: (client: ClientTarget) => boolean): Promise<ClientTarget[]> {
  return living(context, (client) => !context.levers.pause.isPaused(client.process) && fits(client));
}

/** Clients whose process is not dead: one that died is listed until another has come up in its place. */
async function living(context: NemesisContext, fits: (client: ClientTarget) => boolean): Promise<ClientTarget[]> {
  const clients = context.clients().filter(fits);
  const states = await Promise.all(clients.map((client) => client.process.state()));
  return clients.filter((_, at) => states[at] !== 'dead');
}

function pickFrom(nodes: readonly ServerNode[], what: string, context: NemesisContext): ServerNode {
  if (nodes.length === 0) throw new Refusal(`there is no ${what} now`);
  return context.random.pick(nodes);
}

/** `count` different nodes, at random, in the deployment's own order. */
function sample(nodes: readonly ServerNode[], count: number, what: string, context: NemesisContext): ServerNode[] {
  if (count === 0 || nodes.length < count) throw new Refusal(`there is no ${what} now`);
  const chosen = choose(nodes, count, context);
  return nodes.filter((node) => chosen.includes(node));
}

/** Everybody whom the targets talk to: clients never talk to each other. */
export function peersOf(struck: readonly Struck[], context: Pick<NemesisContext, 'hosts' | 'clientHosts'>): Host[] {
  const targets = new Set(struck.map(({ host }) => host.name));
  const onlyClients = !struck.some(isNode);
  return context.hosts.filter(
    (host) => !targets.has(host.name) && (!onlyClients || !context.clientHosts.includes(host)),
  );
}

/** `count` different ones at random, fewer if there are not so many. */
export function choose<T>(from: readonly T[], count: number, context: Pick<NemesisContext, 'random'>): T[] {
  const left = [...from];
  const size = Math.max(0, Math.min(count, left.length));
  return Array.from({ length: size }, () => left.splice(context.random.int(0, left.length - 1), 1)[0]!);
}

export function struckNode(node: ServerNode): StruckNode {
  return { kind: 'node', name: node.name, host: node.host, node };
}

export function struckClient(client: ClientTarget): StruckClient {
  return { kind: 'client', name: client.name, host: client.host, client };
}
