/**
 * The primary grants a lock that none of its replicas hears of, and dies. One of them takes its place. Redis replicates
 * asynchronously: it answers first and tells its replicas afterwards, so a cut that has not been noticed yet is enough.
 *
 * The cut outlasts the primary: what a dead process had sent, its kernel sends on as soon as it can.
 */
import type { OperationOutcome, Stage } from '../../harness/vocabulary/workload.js';
import { granted } from './asking.js';

export async function loseByFailover(stage: Stage): Promise<{ first: OperationOutcome; second: OperationOutcome }> {
  const [holder, other] = [stage.client(1), stage.client(2)];
  const lag = await stage.strike('lag', 'replica');
  const first = await holder.acquire('lock:0');
  stage.check('the primary grants the lock', first.type === 'ok');
  const death = await stage.strike('kill', 'primary');

  // Its successor grants the lock once more.
  const second = await granted(stage, other, 'lock:0');
  await other.release(second);
  await lag.heal();
  await death.heal();
  await holder.release(first);
  return { first, second };
}
