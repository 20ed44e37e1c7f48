/**
 * The fault that loses a lock: a primary grants locks that its replicas never hear of, and one of these replaces it.
 *
 * What has to come first depends on what a replaced primary does to its clients (`Topology.replacedPrimary`):
 *
 * - it `keeps` them (Sentinel): it is cut from replicas and Sentinels while clients still reach it; replaced; and then
 *   killed (`then: kill`), or left isolated with its clients until the cut is healed (`then: isolate`). For `kill` the
 *   moment matters: when keys are held that the new primary does not know;
 * - they `leave` it (a virtual IP moves, a Cluster node that is cut off stops writing): so it is first cut from its
 *   replicas alone, which nobody else notices; when keys are held that these do not know, it is killed or cut from
 *   everybody who might replace it; and replaced.
 *
 * Struck earlier, the new primary would mostly still refuse what was held when the cut was made, and the run would show
 * nothing. Fails unless the servers were seen to name another primary.
 */
import type { Host, PlanStep, RedisNode, Shard } from '../../harness/api.js';
import { killForgets, message, type NemesisContext, type NemesisFault, Refusal, waitFor, words } from '../context.js';
import { type Grant, GrantWatch } from '../grants.js';
import { InForce } from '../in-force.js';
import { bothWays, type Pair, pairNames } from '../levers/network.js';
import { findShard, isNode, resolveTarget, struckNode, successorOf } from '../targets.js';
import { oneOf } from './args.js';
import { killDown } from './take-down.js';

/** How long to wait for a first grant after the cut; a lock that waits for replicas never gives one. */
const GRANT_TIMEOUT_MS = 2_000;
/** An election, and another one if it was lost. */
const PROMOTION_TIMEOUT_MS = 8_000;
/** Time left at the end of `forMs` in which the primary is really missing. */
const DOWN_AT_LEAST_MS = 1_000;
const POLL_MS = 20;
const ASK_AGAIN_MS = 100;

export const failover: NemesisFault = {
  name: 'failover',
  summary: 'cut the primary from its replicas, let it grant locks, kill or isolate it, see it replaced',
  explained: {
    does:
      'Sentinel: the primary is cut from replicas and Sentinels, both ways, while clients still reach it; when another ' +
      'is primary it is killed (`then: kill`) at a moment when it has granted locks that the new one does not know, or ' +
      'left isolated with its clients (`then: isolate`). Replica and Cluster: the primary is cut from its replicas only, ' +
      'until locks are held that these do not know; then it is killed, or cut from every other server.',
    proof:
      'The blackhole routes and the kill are read back from the kernel; the servers must name another primary, whose ' +
      'own `ROLE` agrees. Otherwise the strike is recorded as failed.',
    breaks:
      'Every lock that trusts one primary, on `sentinel`, `replica` and `cluster`: exclusion (`failover-lost-write`, with ' +
      'Sentinel also `split-brain`). It cannot break a lock on independent nodes.',
  },
  targets: ['primary'],
  strikes: ['node'],
  needs: ['network', 'process'],
  // biome-ignore lint/suspicious/noThenProperty: a word in a plan file, never a function
  args: { then: { means: 'what becomes of the old primary; kill if not given', check: oneOf(['kill', 'isolate']) } },
  unfit: ({ name, replicated }) => (replicated ? undefined : `nobody can replace a node on ${name}`),
  shape: (_topology, _target, leaseMs) => ({
    lane: 'servers',
    // One lease after the cut the new primary has forgotten, by expiry, every key that it knew.
    forMs: { min: leaseMs + 900, max: leaseMs + 1_300 },
    leastMs: Math.min(leaseMs + 900, 4_000),
    settleMs: 2_000,
    // biome-ignore lint/suspicious/noThenProperty: a word in a plan file, never a function
    args: { then: ['kill', 'isolate'] },
  }),
  strike: (step, context) =>
    InForce.strike(async (inForce) => {
      const shard = await shardOf(step, context);
      const strike: Strike = { step, shard, sinceNs: context.clock.nowNs(), inForce, context };
      return context.topology.replacedPrimary === 'keeps' ? isolateFirst(strike) : lagFirst(strike);
    }),
};

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
  const pairs = await cutFrom(others(old, context), strike);
  using grants = new GrantWatch(context, context.clock.nowNs());
  const granted = await grants.next(GRANT_TIMEOUT_MS);
  const promotion = await promoted(strike);
  const story = [
    granted ? `${granted.client} was granted ${granted.key} after the cut` : 'no lock was granted after the cut',
    promotion.proof,
  ];
  const record = { targets: [old.name], cut: pairNames(pairs) };
  if (step.args?.then === 'isolate') {
    return {
      sinceNs,
      record: { ...record, did: `${old.name} left isolated with its clients`, proof: story.join('; ') },
      heal: () => inForce.heal(),
    };
  }
  const killByNs = sinceNs + (step.forMs - DOWN_AT_LEAST_MS) * 1e6;
  story.push(await rightMoment([promotion.primary], grants, killByNs, strike));
  const down = await killOld(strike);
  return {
    sinceNs,
    record: {
      ...record,
      did: `SIGKILL to ${old.name}, which had been replaced by ${promotion.primary.name}`,
      proof: [...story, down.proof].join('; '),
      ...(down.forgets && { forgot: [old.name] }),
    },
    // The cut is healed only with the kill: a dead node that is reachable again refuses connections, as it should.
    heal: () => inForce.heal(),
  };
}

async function lagFirst(strike: Strike) {
  const { step, shard, sinceNs, inForce, context } = strike;
  const old = shard.primary;
  const replicas = running(shard, context);
  const lagging = await cutFrom(
    replicas.map((node) => node.host),
    strike,
  );
  using grants = new GrantWatch(context, context.clock.nowNs());
  const byNs = sinceNs + (step.forMs - DOWN_AT_LEAST_MS) * 1e6;
  const story = [await rightMoment(replicas, grants, byNs, strike)];
  let record: { did: string; cut: [string, string][]; forgot?: string[] };
  if (step.args?.then === 'isolate') {
    const pairs = [...lagging, ...(await cutFrom(others(old, context), strike))];
    record = { did: `${old.name} left isolated with its clients`, cut: pairNames(pairs) };
  } else {
    const down = await killOld(strike);
    story.push(down.proof);
    record = {
      did: `SIGKILL to ${old.name}`,
      cut: pairNames(lagging),
      ...(down.forgets && { forgot: [old.name] }),
    };
  }
  const promotion = await promoted(strike);
  return {
    sinceNs,
    record: {
      ...record,
      targets: [old.name],
      did: `${record.did}; ${promotion.primary.name} replaced it`,
      proof: [...story, promotion.proof].join('; '),
    },
    heal: () => inForce.heal(),
  };
}

async function shardOf(step: PlanStep, context: NemesisContext): Promise<Shard> {
  if (step.target === 'primary') return findShard(context);
  const struck = await resolveTarget(step, context);
  const shards = await context.topology.shards();
  const shard = shards.find(({ primary }) => struck.length === 1 && isNode(struck[0]!) && struck[0].node === primary);
  if (shard) return shard;
  const primaries = words(shards.map(({ primary }) => primary.name));
  throw new Refusal(`only a primary can be failed over, and that is ${primaries} now`);
}

/** Everybody who decides on a failover. */
function others(old: RedisNode, { topology }: NemesisContext): Host[] {
  return [...topology.nodes.filter((node) => node !== old).map((node) => node.host), ...topology.watchers];
}

function running(shard: Shard, context: NemesisContext): RedisNode[] {
  const replicas = shard.replicas.filter((node) => !context.levers.kill.isDown(node));
  if (replicas.length === 0) throw new Refusal(`nobody could replace ${shard.primary.name}: no replica runs`);
  return replicas;
}

/** Cuts the primary from these, both ways; clients still reach it. */
async function cutFrom(hosts: readonly Host[], { shard, inForce, context }: Strike): Promise<Pair[]> {
  const old = shard.primary;
  running(shard, context);
  const pairs = bothWays([old.host], hosts);
  const cut = await inForce.add(context.levers.network.cut(pairs));
  context.note({
    state: 'phase',
    targets: [old.name],
    did: `cut ${old.name} -x- ${words(hosts.map((host) => host.name))}`,
    proof: cut.proof,
    cut: pairNames(pairs),
  });
  return pairs;
}

async function killOld({ shard, inForce, context }: Strike): Promise<{ proof: string; forgets: boolean }> {
  const forgets = killForgets(context.persistence);
  const down = await inForce.add(killDown([struckNode(shard.primary)], forgets, context));
  return { proof: down.proof, forgets };
}

/** Another node is primary, as the deployment and that node itself say; the old one's own belief is read, too. */
async function promoted({ shard, sinceNs, context }: Strike): Promise<{ primary: RedisNode; proof: string }> {
  const { clock } = context;
  const old = shard.primary;
  const fromNs = clock.nowNs();
  const primary = await waitFor(() => successorOf(shard, context), {
    timeoutMs: PROMOTION_TIMEOUT_MS,
    pollMs: POLL_MS,
    doing: `before anybody replaced ${old.name}`,
    context,
  });
  if (!primary) {
    const waitedMs = Math.round((clock.nowNs() - fromNs) / 1e6);
    throw new Error(`nobody had replaced ${old.name} ${waitedMs} ms after it was cut off`);
  }
  const afterMs = Math.round((clock.nowNs() - sinceNs) / 1e6);
  const [oldRole, newRole] = await Promise.all([roleOf(old), roleOf(primary)]);
  const proof = `${primary.name} was read back as primary ${afterMs} ms after the cut (ROLE of ${primary.name}: ${newRole}; of ${old.name}: ${oldRole})`;
  context.note({ state: 'phase', targets: [old.name], did: `${primary.name} replaced ${old.name}`, proof });
  return { primary, proof };
}

/** Waits until the old primary's grants include keys that none of the others knows; says what was found. */
async function rightMoment(
  next: readonly RedisNode[],
  grants: GrantWatch,
  byNs: number,
  { shard, context }: Strike,
): Promise<string> {
  const asked = new Map<string, { known: boolean; atNs: number }>();
  const unknown = async ({ key }: Grant) => {
    if (!shard.serves(key)) return false;
    const last = asked.get(key);
    // What the others know of a key ends with the key's lease: no need to ask it all the time.
    if (last && (!last.known || context.clock.nowNs() - last.atNs < ASK_AGAIN_MS * 1e6)) return !last.known;
    const found = await Promise.all(next.map((node) => node.command('EXISTS', key)));
    const known = found.some((count) => Number(count) > 0);
    asked.set(key, { known, atNs: context.clock.nowNs() });
    return !known;
  };
  const lost = await grants.settled(byNs, unknown);
  const names = words(next.map((node) => node.name));
  if (lost.length === 0) return `nobody held a key in time that ${names} did not know`;
  const held = lost.map(({ client, key }) => `${client} holds ${key}`).join(', ');
  return `${held}, granted after the cut and unknown to ${names}`;
}

async function roleOf(node: RedisNode): Promise<string> {
  try {
    const role = await node.command('ROLE');
    return Array.isArray(role) ? String(role[0]) : String(role);
  } catch (error) {
    return `cannot be read (${message(error)})`;
  }
}
