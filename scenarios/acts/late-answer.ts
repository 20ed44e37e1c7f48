/**
 * A client is stopped when the nodes have answered and before it has decided: to it the answers come late, by as much as it
 * sleeps. Meanwhile the lease that they speak of ends, and another client is granted the lock.
 */
import type { OperationOutcome, Stage } from '../../harness/vocabulary/workload.js';
import { leaseOver } from './asking.js';

export async function answerLate(stage: Stage): Promise<{ late: OperationOutcome; others: OperationOutcome }> {
  const [late, other] = [stage.client(1), stage.client(2)];
  const { answer, resume } = await late.stopAt('asked', (client) => client.acquire('lock:0'));
  await leaseOver(stage, 'lock:0');
  const others = await other.acquire('lock:0', { leaseMs: 20_000, waitMs: 5_000 });
  stage.check('another client is granted the lock', others.type === 'ok');
  await resume();
  return { late: await answer, others };
}
