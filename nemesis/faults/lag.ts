/** Replicas cut from their primary, both ways; clients and Sentinels reach everybody, so nothing fails over. */
import type { PlanStep, RedisNode } from '../../harness/api.js';
import { type NemesisContext, type NemesisFault, Refusal, words } from '../context.js';
import { bothWays, pairNames } from '../levers/network.js';
import { findPrimary, isNode, namesOf, resolveTarget } from '../targets.js';

export const lag: NemesisFault = {
  name: 'lag',
  summary: 'replicas cut from the primary, both ways, while clients reach everybody',
  targets: ['replica'],
  strikes: ['node'],
  needs: ['network'],
  args: {},
  unfit: ({ name, replicated }) => (replicated ? undefined : `nothing replicates on ${name}`),
  shape: () => ({ lane: 'servers', forMs: { min: 1_500, max: 4_000 }, leastMs: 500, settleMs: 1_500 }),
  async strike(step, context) {
    const primary = await findPrimary(context);
    const replicas = await replicasOf(step, primary, context);
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
        cut: pairNames(pairs),
      },
      heal: cut.heal,
    };
  },
};

/** `replica` means every replica here: one that still follows could be promoted with everything in it. */
async function replicasOf(step: PlanStep, primary: RedisNode, context: NemesisContext): Promise<RedisNode[]> {
  if (step.target === 'replica') return context.topology.nodes.filter((node) => node !== primary);
  const struck = await resolveTarget(step, context);
  const nodes = struck.filter(isNode).map(({ node }) => node);
  const wrong = struck.filter((one) => !isNode(one) || one.node.kind !== 'redis' || one.node === primary);
  if (wrong.length > 0) throw new Refusal(`not a replica now: ${words(namesOf(wrong))}`);
  return nodes;
}
