/** One replica has what the other one has not, and the other one is promoted. */
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import type { Stage } from '../../harness/vocabulary/workload.js';
import { granted, knownTo, primaryFor } from './asking.js';

export async function promoteTheIgnorant(stage: Stage): Promise<void> {
  const holder = stage.client(1);
  const primary = await primaryFor(stage, 'lock:0');
  const [acknowledging, ignorant] = stage.topology.nodes.filter((node) => node !== primary);
  const lag = await stage.strike('lag', { names: [ignorant!.name] });
  // One replica acknowledges. A replica tells once a second how far its log is synced.
  const first = await granted(stage, holder, 'lock:0');
  await knownTo(stage, [acknowledging!], 'lock:0');
  await dieWithout(acknowledging!, stage);
  await lag.heal();
  await holder.release(first);
}

/** The primary dies while a replica cannot be reached: another one is promoted, and grants the lock once more. */
export async function dieWithout(replica: ServerNode, stage: Stage): Promise<void> {
  const other = stage.client(2);
  const isolation = await stage.strike('partition', { names: [replica.name] });
  const death = await stage.strike('kill', 'primary');
  const second = await granted(stage, other, 'lock:0');
  await other.release(second);
  await isolation.heal();
  await death.heal();
}
