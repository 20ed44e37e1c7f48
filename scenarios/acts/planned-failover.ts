/** An operator has another server take the primary's place, while a lock is held and nothing is wrong. */
import type { Stage } from '../../harness/vocabulary/workload.js';
import { primaryFor } from './asking.js';

/** The write that stored the lock is kept: a second client is refused by the new primary. */
export async function keepThroughHandover(stage: Stage, fault: string, args?: Record<string, string>): Promise<void> {
  const [holder, other] = [stage.client(1), stage.client(2)];
  const old = await primaryFor(stage, 'lock:0');
  const held = await holder.acquire('lock:0');
  stage.check('it is granted', held.type === 'ok');
  const handover = await stage.strike(fault, { names: [old.name] }, args);
  const next = await primaryFor(stage, 'lock:0', old);
  await handover.heal();

  const leftMs = Number(await next.command('PTTL', 'lock:0'));
  stage.check('the new primary has the lock, and when it ends', leftMs > 0 && leftMs <= stage.leaseMs);
  // The first answer after a handover may be an error: it is asked until somebody says yes or no.
  await stage.until(`${other.name} is refused`, async () => {
    const answer = await other.acquire('lock:0');
    stage.check('nobody else is granted it', answer.type !== 'ok');
    return answer.type === 'fail' && answer.reason === 'held';
  });
  await holder.release(held);
}
