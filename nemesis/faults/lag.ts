/** Replicas cut from their primary, both ways; clients and Sentinels reach everybody, so nothing fails over. */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { Shard } from '../../harness/vocabulary/topology.js';
import { Refusal, words } from '../levers/basics.js';
import { bothWays } from '../levers/network.js';
import type { NemesisContext, NemesisFault } from '../striking/context.js';
import { findShard, isNode, namesOf, resolveTarget } from '../striking/targets.js';

export const lag: NemesisFault = {
  name: 'lag',
  summary: 'replicas cut from the primary, both ways, while clients reach everybody',
  explained: {
    does: 'Replicas are cut from their primary, both ways; clients and Sentinels reach everybody, so nothing fails over. What the primary grants meanwhile, its replicas do not know.',
    proof: "The blackhole routes are read back from the hosts' routing tables.",
    breaks:
      'Nothing alone. A kill of the primary during it loses every grant made since: that is what `failover` does at the right moment. Locks that wait for replicas refuse instead.',
  },
  effects: ['cut'],
  targets: ['replica'],
  strikes: ['node'],
  needs: ['network', 'redis'],
  args: {},
  unfit: ({ name, replicated }) => (replicated ? undefined : `nothing replicates on ${name}`),
  shape: () => ({ lane: 'servers', forMs: { min: 1_500, max: 4_000 }, leastMs: 500, settleMs: 1_500 }),
  async strike(step, context) {
    const { primary, replicas } = await laggingOf(step, context);
    if (replicas.length === 0) throw new Refusal(`${primary.name} has no other node that could lag`);
    const pairs = bothWays(
      [primary.host],
      replicas.map((node) => node.host),
    );
    const cut = await context.levers.network.cut(pairs);
    const names = replicas.map((node) => node.name);
    return {
      record: {
        targets: names,
        did: `cut ${primary.name} -x- ${words(names)}`,
        proof: cut.proof,
        effects: [...cut.effects],
      },
      heal: cut.heal,
    };
  },
};

/**
 * Who is to lag, and behind whom. `replica` means every replica here: one that still follows could be promoted with everything in it.
 * Nodes that are named are of the shard of the first of them.
 */
async function laggingOf(step: PlanStep, context: NemesisContext): Promise<Pick<Shard, 'primary' | 'replicas'>> {
  if (step.target === 'replica') return findShard(context);
  const struck = await resolveTarget(step, context);
  const nodes = struck.filter(isNode).map(({ node }) => node);
  const shards = await context.topology.shards();
  const shard = shards.find(({ replicas }) => replicas.includes(nodes[0]!)) ?? (await findShard(context));
  const wrong = struck.filter((one) => !isNode(one) || !shard.replicas.includes(one.node));
  if (wrong.length > 0) throw new Refusal(`not a replica of ${shard.primary.name} now: ${words(namesOf(wrong))}`);
  return { primary: shard.primary, replicas: nodes };
}
