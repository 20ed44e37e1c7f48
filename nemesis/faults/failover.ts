/**
 * The fault that loses a lock: a primary grants locks that its replicas never hear of, and one of these replaces it.
 *
 * What has to come first depends on what a replaced primary does to its clients (`Topology.replacedPrimary`):
 *
 * - it `keeps` them (Sentinel): it is cut from replicas and Sentinels while clients still reach it; replaced; and then
 *   killed (`then: kill`), or left isolated with half of its clients until the cut is healed (`then: isolate`). The other
 *   half loses it, too, and finds the new one: a client that reaches the old primary has no reason to look for another.
 *   For `kill` the moment matters: when keys are held that the new primary does not know;
 * - they `leave` it (a virtual IP moves, a Cluster node that is cut off stops writing): so it is first cut from its
 *   replicas alone, which nothing else notices; when keys are held that these do not know, it is killed or cut from
 *   everybody who might replace it; and replaced.
 *
 * The hold should be a young one, for others have to find the new primary before it ends.
 * Where the promotion comes last, a hold is not lost unless it outlives that, and what the successor still knows
 * of the key, which ends with an older lease: so the right moment is when there is a young hold of which that can be hoped.
 *
 * Struck earlier, the new primary would mostly still refuse what was held when the cut was made, and the run would show
 * nothing. Fails unless the servers were seen to name another primary.
 */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { FaultEffect } from '../../harness/vocabulary/history.js';
import type { Host } from '../../harness/vocabulary/host.js';
import type { ServerNode, Shard } from '../../harness/vocabulary/topology.js';
import type { OpenHold } from '../../harness/vocabulary/verdict.js';
import { message, words } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import { bothWays, type Grip } from '../levers/network.js';
import { killForgets, type NemesisContext, type NemesisFault, type Shape } from '../striking/context.js';
import { GrantWatch } from '../striking/grants.js';
import { running, type Succession, shardOf, succeeded, wholeAgain } from '../striking/succession.js';
import { choose, struckNode } from '../striking/targets.js';
import { mustBeOneOf } from './args.js';
import { killDown } from './take-down.js';

/** How long to wait for a first grant after the cut; a lock that waits for replicas never gives one. */
const GRANT_TIMEOUT_MS = 2_000;
/** Time left at the end of `forMs` in which the primary is really missing. */
const DOWN_AT_LEAST_MS = 1_000;
/** A failover takes about as long, by a failover manager or within a Cluster. */
const USUAL_FAILOVER_MS = 1_700;
/** A hold that is to be lost should be younger than this part of its lease when somebody else can have the key. */
const YOUNG_PARTS = 0.48;
/** Where it can at once, but by clients that first have to find the new primary: younger than this, if there is one in time. */
const YOUNG_AT_THE_KILL_PARTS = 0.25;
/** So long before a primary is struck whatever is held, a hold will do that is not young. */
const ANY_HOLD_MS = 100;
/** Time left at the end of `forMs` when a primary is struck whatever is held; the promotion may take longer than that. */
const DECIDED_BEFORE_MS = 500;
const ASK_AGAIN_MS = 100;

export const failover: NemesisFault = {
  name: 'failover',
  summary: 'cut the primary from its replicas, let it grant locks, kill or isolate it, see it replaced',
  explained: {
    does:
      'Sentinel: the primary is cut from replicas and Sentinels, both ways, while clients still reach it; when another ' +
      'is primary it is killed (`then: kill`) at a moment when it has granted locks that the new one does not know, or ' +
      'left isolated with half of its clients, cut from the others (`then: isolate`). Replica and Cluster: once the ' +
      'servers are whole, the primary is ' +
      'cut from its replicas only, until a lock is held that these do not know and that may well outlive the failover; ' +
      'then it is killed, or cut from every other server.',
    proof:
      'The blackhole routes and the kill are read back from the kernel; the servers must name another primary, whose ' +
      'own `ROLE` agrees. Otherwise the strike is recorded as failed.',
    breaks:
      'Every lock that trusts one primary, on `sentinel`, `replica` and `cluster`: exclusion (`failover-lost-write`, with ' +
      'Sentinel also `split-brain`). It cannot break a lock on independent nodes.',
  },
  effects: ['cut', 'replaced', 'killed', 'forgot'],
  targets: ['primary'],
  strikes: ['node'],
  needs: ['network', 'process', 'roles', 'holds'],
  args: {
    // biome-ignore lint/suspicious/noThenProperty: a word in a plan file, never a function
    then: { means: 'what becomes of the old primary; kill if not given', check: mustBeOneOf(['kill', 'isolate']) },
  },
  unfit: ({ name, replicated }) => (replicated ? undefined : `${name} has nothing that could replace a node`),
  shape: ({ sentinels }, _target, leaseMs) => ({
    lane: 'servers',
    ...(sentinels.length > 0 ? clientsKept(leaseMs) : clientsLeave(leaseMs)),
  }),
  strike: (step, context) =>
    InForce.strike(async (inForce) => {
      if (context.topology.replacedPrimary === 'leave') await wholeAgain(context);
      const shard = await shardOf(step, context);
      const strike: Strike = { step, shard, sinceNs: context.clock.nowNs(), inForce, context };
      return context.topology.replacedPrimary === 'keeps' ? isolateFirst(strike) : lagFirst(strike);
    }),
};

function clientsKept(leaseMs: number): Omit<Shape, 'lane'> {
  return {
    // One lease after the cut the new primary has forgotten, by expiry, every key that it knew.
    forMs: { min: leaseMs + 900, max: leaseMs + 1_300 },
    leastMs: Math.min(leaseMs + 900, 4_000),
    settleMs: 2_000,
    // biome-ignore lint/suspicious/noThenProperty: a word in a plan file, never a function
    args: { then: ['kill', 'isolate'] },
  };
}

/** There a hold has to outlast the whole failover, which hardly every other one does: so more strikes, not longer ones. */
function clientsLeave(leaseMs: number): Omit<Shape, 'lane'> {
  return {
    forMs: { min: 0.6 * leaseMs, max: 0.66 * leaseMs },
    leastMs: Math.min(0.6 * leaseMs, 4_000),
    settleMs: 1_000,
    // biome-ignore lint/suspicious/noThenProperty: a word in a plan file, never a function
    args: { then: ['kill', 'isolate'] },
  };
}

/** One strike: everything that its stages need. */
interface Strike {
  step: PlanStep;
  shard: Shard;
  sinceNs: number;
  inForce: InForce;
  context: NemesisContext;
}

async function isolateFirst(strike: Strike) {
  const { step, shard, sinceNs, inForce, context } = strike;
  const old = shard.primary;
  const cut = await cutFrom(others(old, context), strike);
  using grants = new GrantWatch(context, context.clock.nowNs());
  const granted = await grants.next(GRANT_TIMEOUT_MS);
  const promotion = await promoted(strike);
  const story = [
    granted ? `${granted.client} was granted ${granted.key} after the cut` : 'no lock was granted after the cut',
    promotion.proof,
  ];
  const effects = [...cut.effects, ...promotion.effects];
  const record = { targets: [old.name] };
  if (step.args?.then === 'isolate') {
    const leaving = choose(context.clientHosts, Math.floor(context.clientHosts.length / 2), context);
    // Of a single client nobody leaves, and nothing is cut.
    const pairs = bothWays([old.host], leaving);
    const rest = pairs.length > 0 ? await inForce.add(context.levers.network.cut(pairs)) : undefined;
    const staying = context.clientHosts.filter((host) => !leaving.includes(host));
    return {
      sinceNs,
      record: {
        ...record,
        did: `${old.name} left isolated with ${words(staying.map((host) => host.name))}`,
        proof: [...story, ...(rest ? [rest.proof] : [])].join('; '),
        effects: [...effects, ...(rest?.effects ?? [])],
      },
      heal: () => inForce.heal(),
    };
  }
  const killByNs = sinceNs + (step.forMs - DOWN_AT_LEAST_MS) * 1e6;
  story.push(await rightMoment([promotion.primary], grants, { byNs: killByNs, promotionMs: 0 }, strike));
  const down = await killOld(strike);
  return {
    sinceNs,
    record: {
      ...record,
      did: `SIGKILL to ${old.name}, which had been replaced by ${promotion.primary.name}`,
      proof: [...story, down.proof].join('; '),
      effects: [...effects, ...down.effects],
    },
    // The cut is healed only with the kill: a dead node that is reachable again refuses connections, as it should.
    heal: () => inForce.heal(),
  };
}

async function lagFirst(strike: Strike) {
  const { step, shard, sinceNs, inForce, context } = strike;
  const old = shard.primary;
  const replicas = running(shard, context);
  const replicaHosts = replicas.map((node) => node.host);
  const lagging = await cutFrom(replicaHosts, strike);
  using grants = new GrantWatch(context, context.clock.nowNs());
  const byNs = sinceNs + (step.forMs - DECIDED_BEFORE_MS) * 1e6;
  const story = [await rightMoment(replicas, grants, { byNs, promotionMs: USUAL_FAILOVER_MS }, strike)];
  let record: { did: string; effects: FaultEffect[] };
  if (step.args?.then === 'isolate') {
    const rest = await cutFrom(
      others(old, context).filter((host) => !replicaHosts.includes(host)),
      strike,
    );
    record = { did: `${old.name} left isolated with its clients`, effects: [...lagging.effects, ...rest.effects] };
  } else {
    const down = await killOld(strike);
    story.push(down.proof);
    record = { did: `SIGKILL to ${old.name}`, effects: [...lagging.effects, ...down.effects] };
  }
  const promotion = await promoted(strike);
  return {
    sinceNs,
    record: {
      ...record,
      targets: [old.name],
      did: `${record.did}; ${promotion.primary.name} replaced it`,
      proof: [...story, promotion.proof].join('; '),
      effects: [...record.effects, ...promotion.effects],
    },
    heal: async () => {
      // A server that is started while it cannot reach its new primary tries again only after a second. What goes wrong
      // here is reported below.
      await lagging.heal().catch(() => {});
      return inForce.heal();
    },
  };
}

/** Everybody who decides on a failover. */
function others(old: ServerNode, { topology }: NemesisContext): Host[] {
  return [...topology.nodes.filter((node) => node !== old).map((node) => node.host), ...topology.watchers];
}

/** Cuts the primary from these, both ways; clients still reach it. */
async function cutFrom(hosts: readonly Host[], { shard, inForce, context }: Strike): Promise<Grip> {
  const old = shard.primary;
  running(shard, context);
  const pairs = bothWays([old.host], hosts);
  const cut = await inForce.add(context.levers.network.cut(pairs));
  context.note({
    state: 'phase',
    targets: [old.name],
    did: `cut ${old.name} -x- ${words(hosts.map((host) => host.name))}`,
    proof: cut.proof,
    effects: [...cut.effects],
  });
  return cut;
}

/** Recorded as a phase: the cut counts from the strike's beginning. */
function promoted({ shard, sinceNs, context }: Strike): Promise<Succession> {
  return succeeded(shard, { what: 'the cut', befell: 'was cut off', sinceNs }, context);
}

function killOld({ shard, inForce, context }: Strike): Promise<Grip> {
  return inForce.add(killDown([struckNode(shard.primary)], killForgets(context.persistence), context));
}

interface Moment {
  /** Struck then, whatever is held. */
  byNs: number;
  /** How long it takes from the strike until there is a new primary; 0: there is one. */
  promotionMs: number;
}

/** Waits until the old primary's grants include keys that the others do not know, or soon will not; says what was found. */
async function rightMoment(
  next: readonly ServerNode[],
  grants: GrantWatch,
  { byNs, promotionMs }: Moment,
  { shard, context }: Strike,
): Promise<string> {
  const { clock, leaseMs, keyName } = context;
  const asked = new Map<string, { atNs: number; goneNs: number }>();
  /** When the last of the others will have forgotten the key. */
  const goneNs = async (key: string) => {
    const last = asked.get(key);
    // Once it is gone, only the cut primary knows it; until then there is no need to ask all the time.
    if (last && (last.goneNs < last.atNs || clock.nowNs() - last.atNs < ASK_AGAIN_MS * 1e6)) return last.goneNs;
    const leftMs = Math.max(...(await Promise.all(next.map((node) => lifetimeMs(node, keyName(key))))));
    const atNs = clock.nowNs();
    const answer = { atNs, goneNs: atNs + leftMs * 1e6 };
    asked.set(key, answer);
    return answer.goneNs;
  };
  const losing = async ({ key, grantedNs }: OpenHold) => {
    if (!shard.serves(keyName(key))) return false;
    const leftNs = (await goneNs(key)) - clock.nowNs();
    if (promotionMs === 0) {
      const isYoung = clock.nowNs() - grantedNs <= YOUNG_AT_THE_KILL_PARTS * leaseMs * 1e6;
      return leftNs < 0 && (isYoung || clock.nowNs() >= byNs - ANY_HOLD_MS * 1e6);
    }
    const grantableNs = clock.nowNs() + Math.max(promotionMs * 1e6, leftNs);
    return grantableNs - grantedNs <= YOUNG_PARTS * leaseMs * 1e6;
  };
  const lost = await grants.settled(byNs, losing, { atOnce: promotionMs > 0 });
  const names = words(next.map((node) => node.name));
  if (lost.length === 0) return `no key was held in time that ${names} did not know`;
  const held = lost.map(({ client, key }) => `${client} holds ${key}`).join(', ');
  const [first] = await Promise.all(lost.map(({ key }) => goneNs(key)));
  const still = first! < clock.nowNs() ? '' : `, which still know${next.length === 1 ? 's' : ''} of an older grant`;
  return `${held}, granted after the cut and unknown to ${names}${still}`;
}

/** How long the node will have the key: below 0 if it has none, Infinity if for ever or if it does not say. */
async function lifetimeMs(node: ServerNode, key: string): Promise<number> {
  if (node.lifetimeMs) return node.lifetimeMs(key);
  try {
    if (Number(await node.command('EXISTS', key)) === 0) return -1;
    const leftMs = Number(await node.command('PTTL', key));
    // -2: gone meanwhile; -1: it never ends.
    return leftMs === -1 ? Number.POSITIVE_INFINITY : Math.max(-1, leftMs);
  } catch (error) {
    // A part of the slots has no primary for the moment.
    if (message(error).startsWith('CLUSTERDOWN')) return Number.POSITIVE_INFINITY;
    throw error;
  }
}
