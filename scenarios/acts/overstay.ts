/** The holder cannot renew its lock for a lease, and works on when another client has been granted it. */
import type { Stage } from '../../harness/vocabulary/workload.js';
import { granted } from './asking.js';

/** For how long it works on beside the next holder. */
const BESIDE_MS = 300;

export async function overstay(stage: Stage, fault: 'pause' | 'partition'): Promise<void> {
  const [holder, other] = [stage.client(1), stage.client(2)];
  const first = await granted(stage, holder, 'lock:0');
  const struck = await stage.strike(fault, { names: [holder.name] });
  const second = await granted(stage, other, 'lock:0');
  await struck.heal();
  await stage.sleep(BESIDE_MS);
  await holder.release(first);
  await other.release(second);
}
