/** One primary takes the place of another: what must be whole before, and what the servers say afterwards. */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { FaultEffect } from '../../harness/vocabulary/history.js';
import type { ServerNode, Shard } from '../../harness/vocabulary/topology.js';
import { Interrupted, message, Refusal, waitFor, words } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import type { NemesisContext } from './context.js';
import { findShard, isNode, resolveTarget, successorOf } from './targets.js';

/** How long a strike waits for the servers to be whole. */
const WHOLE_TIMEOUT_MS = 6_000;
/** An election, and another one if it was lost. */
const PROMOTION_TIMEOUT_MS = 8_000;
const POLL_MS = 20;
const ASK_AGAIN_MS = 100;

/** Waits for what an earlier fault left: a replica that has not caught up yet could not replace anybody. */
export async function wholeAgain(context: NemesisContext): Promise<void> {
  let missing: string[] = [];
  const whole = async () => {
    missing = await context.topology.missing();
    return missing.length === 0 || undefined;
  };
  const wait = { timeoutMs: WHOLE_TIMEOUT_MS, pollMs: ASK_AGAIN_MS, doing: 'before the servers were whole', context };
  if (!(await waitFor(whole, wait))) throw new Refusal(`the servers were not whole: ${missing.join('; ')}`);
}

/**
 * The strike of a change that is planned: once the servers are whole, and with no other such strike under way. Example: of two steps that
 * move a slot at the same time both would find it with r1, and send it to r2 and to r3; or both to r2, and each say that it did.
 */
export function strikeAlone<T>(context: NemesisContext, act: (inForce: InForce) => Promise<T>): Promise<T> {
  return context.levers.planned.run('', async () => {
    if (context.signal.aborted) throw new Interrupted('before its turn had come');
    await wholeAgain(context);
    return InForce.strike(act);
  });
}

/** The shard whose primary is to be replaced. Rejects with a Refusal where the target is no primary now. */
export async function shardOf(step: PlanStep, context: NemesisContext): Promise<Shard> {
  if (step.target === 'primary') return findShard(context);
  const struck = await resolveTarget(step, context);
  const shards = await context.topology.shards();
  const shard = shards.find(({ primary }) => struck.length === 1 && isNode(struck[0]!) && struck[0].node === primary);
  if (shard) return shard;
  const primaries = words(shards.map(({ primary }) => primary.name));
  throw new Refusal(`only a primary can be failed over, and that is ${primaries} now`);
}

/** The shard's replicas that run. Rejects with a Refusal if there is none. */
export function running(shard: Shard, context: NemesisContext): ServerNode[] {
  const replicas = shard.replicas.filter((node) => !context.levers.kill.isDown(node));
  if (replicas.length === 0) throw new Refusal(`${shard.primary.name} could not be replaced: no replica runs`);
  return replicas;
}

export interface Succession {
  primary: ServerNode;
  proof: string;
  effects: FaultEffect[];
}

/** What the primary was replaced for: `cut` (it `was cut off`), and since when, by the run's clock. */
export interface SuccessionReason {
  /** As in "60 ms after `the cut`". */
  what: string;
  /** As in "60 ms after it `was cut off`". */
  befell: string;
  sinceNs: number;
}

/**
 * Another node is primary, as the deployment and that node itself say; the old one's own belief is read, too. Recorded as
 * a phase of the step. Rejects if that does not come about in time.
 */
export async function succeeded(shard: Shard, reason: SuccessionReason, context: NemesisContext): Promise<Succession> {
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
    throw new Error(`${old.name} had not been replaced ${waitedMs} ms after it ${reason.befell}`);
  }
  const afterMs = Math.round((clock.nowNs() - reason.sinceNs) / 1e6);
  const [oldRole, newRole] = await Promise.all([roleOf(old), roleOf(primary)]);
  const proof = `${primary.name} was read back as primary ${afterMs} ms after ${reason.what} (ROLE of ${primary.name}: ${newRole}; of ${old.name}: ${oldRole})`;
  const effects: FaultEffect[] = [{ kind: 'replaced', who: [old.name], by: primary.name, sinceNs: clock.nowNs() }];
  context.note({ state: 'phase', targets: [old.name], did: `${primary.name} replaced ${old.name}`, proof, effects });
  return { primary, proof, effects };
}

/** What the node says it is: `master`, `slave`, or why that cannot be read. */
export async function roleOf(node: ServerNode): Promise<string> {
  try {
    if (node.roleNow) return (await node.roleNow()).role;
    const role = await node.command('ROLE');
    return Array.isArray(role) ? String(role[0]) : String(role);
  } catch (error) {
    return `cannot be read (${message(error)})`;
  }
}
