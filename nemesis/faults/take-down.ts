/**
 * Killing servers by the rules: never more than a minority forgets at once, and a primary that forgot stays down until
 * it has been replaced (started earlier, it would hand its emptiness to its replicas).
 */
import type { Shard } from '../../harness/vocabulary/topology.js';
import { Refusal, waitFor } from '../levers/basics.js';
import { healTogether, InForce } from '../levers/in-force.js';
import type { CountedLoss } from '../levers/memory.js';
import type { Grip } from '../levers/network.js';
import type { NemesisContext } from '../striking/context.js';
import { namesOf, type StruckNode, successorOf } from '../striking/targets.js';

/** Two elections, of Sentinels or of a Cluster, that take three seconds to try again. */
const PATIENCE_MS = 6_000;

/** Kills the servers; `forgets`: they come back without (some of) their data, which is counted and may be refused. */
export async function killDown(
  struck: readonly StruckNode[],
  forgets: boolean,
  context: NemesisContext,
): Promise<Grip> {
  const nodes = struck.map(({ node }) => node);
  const losing = forgets ? struck.filter(({ node }) => node.kind === 'redis') : [];
  const loss = countLoss(namesOf(losing), context);
  try {
    const shards = losing.length > 0 && context.topology.replicated ? await context.topology.shards() : [];
    const struckShards = shards.filter(({ primary }) => nodes.includes(primary));
    return await InForce.strike(async (inForce) => {
      const grips = await inForce.addAll(nodes.map((node) => context.levers.kill.kill(node)));
      return {
        proof: grips.map((grip) => grip.proof).join('; '),
        effects: [
          ...grips.flatMap(({ effects }) => effects),
          ...(losing.length > 0
            ? [{ kind: 'forgot' as const, who: namesOf(losing), sinceNs: context.clock.nowNs() }]
            : []),
        ],
        heal: async () => {
          const warnings = await Promise.all(struckShards.map((shard) => replaced(shard, context)));
          const said = await healTogether(grips);
          // A replica fetches everything from its primary again; independent nodes have lost it for good.
          if (context.topology.replicated) loss.cancel();
          else loss.end();
          return [said, ...warnings.filter((warning) => warning !== undefined)].join('; ');
        },
      };
    });
  } catch (error) {
    // Some may have been killed, and have come back without what they knew.
    if (context.topology.replicated) loss.cancel();
    else loss.end();
    throw error;
  }
}

/** Counts a loss, or refuses it. */
export function countLoss(names: readonly string[], context: NemesisContext): CountedLoss {
  const objection = names.length > 0 ? context.levers.memory.objection(names) : undefined;
  if (objection) throw new Refusal(objection);
  return context.levers.memory.count(names);
}

/** Waits until the servers name another primary; resolves with a warning when they do not in time. */
async function replaced(shard: Shard, context: NemesisContext): Promise<string | undefined> {
  // Healing goes on when the run has ended: that is when most of it is done.
  const healing = { clock: context.clock, signal: new AbortController().signal };
  const wait = { timeoutMs: PATIENCE_MS, pollMs: 50, doing: '', context: healing };
  const next = await waitFor(() => successorOf(shard, context), wait);
  return next
    ? undefined
    : `${shard.primary.name} had not been replaced after ${PATIENCE_MS} ms: its replicas may have copied its empty data set`;
}
