/** An operator has another server take the primary's place, while a lock is held and nothing is wrong. */
import type { Stage } from '../../harness/vocabulary/workload.js';
import { primaryFor } from './asking.js';
import { endsByItsHolder, leaseWentOn, wornLease } from './lease.js';

/**
 * The write that stored the lock is kept: its lease goes on at the new primary, which refuses a second client, and its holder
 * releases it there.
 */
export async function keepThroughHandover(stage: Stage, fault: string, args?: Record<string, string>): Promise<void> {
  const [holder, other] = [stage.client(1), stage.client(2)];
  const old = await primaryFor(stage, 'lock:0');
  const held = await holder.acquire('lock:0');
  stage.check('it is granted', held.type === 'ok');
  const before = await wornLease(stage, old);
  const handover = await stage.strike(fault, { names: [old.name] }, args);
  const next = await primaryFor(stage, 'lock:0', old);
  await handover.heal();

  await leaseWentOn(stage, before, next);
  // The first answer after a handover may be an error: it is asked until somebody says yes or no.
  await stage.until(`${other.name} is refused`, async () => {
    const answer = await other.acquire('lock:0');
    stage.check('nobody else is granted it', answer.type !== 'ok');
    return answer.type === 'fail' && answer.reason === 'held';
  });
  await endsByItsHolder(stage, held, next);
}
