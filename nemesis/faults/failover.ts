/**
 * The fault that loses a lock: the primary is cut from its replicas and Sentinels while clients still reach it, grants
 * locks that nobody else will ever hear of, and is replaced. Then it is killed (`then: kill`), or left isolated with the
 * clients that are connected to it until the cut is healed (`then: isolate`).
 *
 * A client of the old primary stays with it until it dies or is demoted. So for `kill` the moment matters: when keys are
 * held that the new primary does not know. Killed earlier, the new primary would mostly still refuse what was held when
 * the cut was made, and the run would show nothing.
 *
 * Fails unless the servers were seen to name another primary.
 */
import type { PlanStep, RedisNode } from '../../harness/api.js';
import { killForgets, message, type NemesisContext, type NemesisFault, Refusal, waitFor, words } from '../context.js';
import { type Grant, GrantWatch } from '../grants.js';
import { InForce } from '../in-force.js';
import { bothWays, pairNames } from '../levers/network.js';
import { findPrimary, isNode, resolveTarget, struckNode } from '../targets.js';
import { oneOf } from './args.js';
import { killDown } from './take-down.js';

/** How long to wait for a first grant after the cut; a lock that waits for replicas never gives one. */
const GRANT_TIMEOUT_MS = 2_000;
/** An election, and another one if it was lost. */
const PROMOTION_TIMEOUT_MS = 8_000;
/** Time left at the end of `forMs` in which the killed primary is really missing. */
const DOWN_AT_LEAST_MS = 1_000;
const POLL_MS = 20;
const ASK_AGAIN_MS = 100;

export const failover: NemesisFault = {
  name: 'failover',
  summary: 'cut the primary from replicas and Sentinels, let it grant locks, see it replaced, then kill or isolate it',
  targets: ['primary'],
  strikes: ['node'],
  needs: ['network', 'process'],
  // biome-ignore lint/suspicious/noThenProperty: a word in a plan file, never a function
  args: { then: { check: oneOf(['kill', 'isolate']) } },
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
      const old = await primaryOf(step, context);
      const sinceNs = context.clock.nowNs();
      const pairs = await isolate(old, inForce, context);
      using grants = new GrantWatch(context, context.clock.nowNs());
      const granted = await grants.next(GRANT_TIMEOUT_MS);
      const promotion = await promoted(old, sinceNs, context);
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
      story.push(await rightMoment(promotion.primary, grants, killByNs, context));
      const forgets = killForgets(context.persistence);
      const down = await inForce.add(killDown([struckNode(old)], forgets, context));
      return {
        sinceNs,
        record: {
          ...record,
          did: `SIGKILL to ${old.name}, which had been replaced by ${promotion.primary.name}`,
          proof: [...story, down.proof].join('; '),
          ...(forgets && { forgot: [old.name] }),
        },
        // The cut is healed only with the kill: a dead node that is reachable again refuses connections, as it should.
        heal: () => inForce.heal(),
      };
    }),
};

async function primaryOf(step: PlanStep, context: NemesisContext): Promise<RedisNode> {
  const primary = await findPrimary(context);
  if (step.target === 'primary') return primary;
  const struck = await resolveTarget(step, context);
  if (struck.length !== 1 || !isNode(struck[0]!) || struck[0].node !== primary) {
    throw new Refusal(`only the primary can be failed over, and that is ${primary.name} now`);
  }
  return primary;
}

/** Cuts the primary from every replica and Sentinel, both ways; clients still reach it. */
async function isolate(old: RedisNode, inForce: InForce, context: NemesisContext) {
  const { topology, levers } = context;
  const others = [...topology.nodes, ...topology.sentinels].filter((node) => node !== old);
  const replicas = topology.nodes.filter((node) => node !== old && !levers.kill.isDown(node));
  if (replicas.length === 0) throw new Refusal(`nobody could replace ${old.name}: no replica runs`);
  const pairs = bothWays(
    [old.host],
    others.map((node) => node.host),
  );
  const cut = await inForce.add(levers.network.cut(pairs));
  context.note({
    state: 'phase',
    targets: [old.name],
    did: `cut ${old.name} -x- ${words(others.map((node) => node.name))}`,
    proof: cut.proof,
    cut: pairNames(pairs),
  });
  return pairs;
}

/** Another node is primary, as the Sentinels and that node itself say; the old one's own belief is read, too. */
async function promoted(
  old: RedisNode,
  sinceNs: number,
  context: NemesisContext,
): Promise<{ primary: RedisNode; proof: string }> {
  const { clock, topology } = context;
  const primary = await waitFor(
    async () => {
      const now = await topology.primary();
      return now && now !== old ? now : undefined;
    },
    { timeoutMs: PROMOTION_TIMEOUT_MS, pollMs: POLL_MS, doing: `before anybody replaced ${old.name}`, context },
  );
  if (!primary) throw new Error(`nobody had replaced ${old.name} ${PROMOTION_TIMEOUT_MS} ms after it was cut off`);
  const afterMs = Math.round((clock.nowNs() - sinceNs) / 1e6);
  const [oldRole, newRole] = await Promise.all([roleOf(old), roleOf(primary)]);
  const proof = `${primary.name} was read back as primary ${afterMs} ms after the cut (ROLE of ${primary.name}: ${newRole}; of ${old.name}: ${oldRole})`;
  context.note({ state: 'phase', targets: [old.name], did: `${primary.name} replaced ${old.name}`, proof });
  return { primary, proof };
}

/** Waits until the old primary's grants include keys that the new one does not know; says what was found. */
async function rightMoment(
  next: RedisNode,
  grants: GrantWatch,
  byNs: number,
  context: NemesisContext,
): Promise<string> {
  const asked = new Map<string, { known: boolean; atNs: number }>();
  const unknown = async ({ key }: Grant) => {
    const last = asked.get(key);
    // What the new primary knows of a key ends with the key's lease: no need to ask it all the time.
    if (last && (!last.known || context.clock.nowNs() - last.atNs < ASK_AGAIN_MS * 1e6)) return !last.known;
    const known = Number(await next.command('EXISTS', key)) > 0;
    asked.set(key, { known, atNs: context.clock.nowNs() });
    return !known;
  };
  const lost = await grants.settled(byNs, unknown);
  if (lost.length === 0) return `nobody held a key in time that ${next.name} does not know`;
  const held = lost.map(({ client, key }) => `${client} holds ${key}`).join(', ');
  return `${held}, granted after the cut and unknown to ${next.name}`;
}

async function roleOf(node: RedisNode): Promise<string> {
  try {
    const role = await node.command('ROLE');
    return Array.isArray(role) ? String(role[0]) : String(role);
  } catch (error) {
    return `cannot be read (${message(error)})`;
  }
}
