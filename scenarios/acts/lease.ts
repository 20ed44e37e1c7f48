/**
 * The lease of `lock:0` while an operator moves it to another server: what was left of it must go on, and its holder ends it.
 * Excludes locks that keep it under another name.
 */
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import type { OperationOutcome, Stage } from '../../harness/vocabulary/workload.js';
import { hasNoticed, isConnected } from './asking.js';

/** How old a lease is before anything strikes: one that begins anew ends at least so much later. */
const WORN_MS = 1_000;
/**
 * How far its end may move. MIGRATE sends the time that is left, which counts on from when it has arrived: on a busy machine
 * that is a while later. Clearly less than the above.
 */
const SHIFTED_MS = 500;

/** Another lock, which is where `lock:0` is. */
const IN_THE_SAME_SLOT = '{lock:0} and another';

/** What a server said is left of it, and when, by the run's clock: it looked at some moment from `askedMs` to `toldMs`. */
export interface LeaseLeft {
  leftMs: number;
  askedMs: number;
  toldMs: number;
}

/** What is left of a lease that was granted just now, once it is old enough to be told from one that begins anew. */
export async function wornLease(stage: Stage, node: ServerNode): Promise<LeaseLeft> {
  await stage.sleep(WORN_MS);
  return leaseLeft(stage, node);
}

/**
 * Checks that the lease that was seen `before` runs on at `node`: it neither began anew nor lost any of its time. Of a lock that
 * renews by itself it may have begun anew, by its holder.
 */
export async function leaseWentOn(stage: Stage, before: LeaseLeft, node: ServerNode): Promise<void> {
  const now = await leaseLeft(stage, node);
  const leastMs = before.leftMs - (now.toldMs - before.askedMs) - SHIFTED_MS;
  const mostMs = before.leftMs - (now.askedMs - before.toldMs) + SHIFTED_MS;
  stage.check(`${node.name} has the lock`, now.leftMs > 0);
  const told = `${now.leftMs} ms are left, and there were ${before.leftMs} ms ${Math.round(now.askedMs - before.toldMs)} ms before`;
  stage.check(`its lease lost none of its time (${told})`, now.leftMs >= leastMs);
  stage.check(`its lease did not begin anew (${told})`, now.leftMs <= (stage.renews ? stage.leaseMs : mostMs));
}

async function leaseLeft(stage: Stage, node: ServerNode): Promise<LeaseLeft> {
  const askedMs = stage.nowMs();
  const leftMs = Number(await node.command('PTTL', 'lock:0'));
  return { leftMs, askedMs, toldMs: stage.nowMs() };
}

/** Its holder is told that it released it, and then it is free: `node` has it by now, and clients find that out by themselves. */
export async function endsByItsHolder(stage: Stage, held: OperationOutcome, node: ServerNode): Promise<void> {
  const [holder, other] = [stage.client(1), stage.client(2)];
  // Over its connection to the one that had the lock it would not be told what became of the release.
  if (!stage.topology.slots) await isConnected(stage, holder, node);
  // One of a Cluster is told whom to ask, and may not be connected to that one yet.
  await hasNoticed(stage, holder, IN_THE_SAME_SLOT);
  const { type, ...answer } = await holder.release(held);
  const why = 'reason' in answer ? answer.reason : '';
  stage.check(`its holder releases it (${type} ${why})`, type === 'ok');
  const taken = await other.acquire('lock:0', { waitMs: 2_000 });
  stage.check('then it is free', taken.type === 'ok');
  await other.release(taken);
}
