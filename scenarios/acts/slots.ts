/** A lock is held while its slot goes to another shard. */
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import type { Stage } from '../../harness/vocabulary/workload.js';
import { primaryFor } from './asking.js';
import { endsByItsHolder, leaseWentOn, wornLease } from './lease.js';

/** Until another client is refused, and nobody is granted it; `when`: for people. */
export function refusedOf(stage: Stage, when: string): Promise<boolean> {
  const other = stage.client(2);
  return stage.until(`${other.name} is refused ${when}`, async () => {
    const answer = await other.acquire('lock:0');
    stage.check('nobody else is granted it', answer.type !== 'ok');
    return answer.type === 'fail' && answer.reason === 'held';
  });
}

/**
 * The lock is held before `move`, which takes its slot from `old` and resolves with who has it then; and afterwards, with what was
 * left of its lease, until its holder releases it.
 */
export async function grantedThroughout(stage: Stage, move: (old: ServerNode) => Promise<ServerNode>): Promise<void> {
  const old = await primaryFor(stage, 'lock:0');
  const held = await stage.client(1).acquire('lock:0');
  stage.check('it is granted', held.type === 'ok');
  const before = await wornLease(stage, old);
  const next = await move(old);
  await refusedOf(stage, 'by the one that has it');
  await leaseWentOn(stage, before, next);
  await endsByItsHolder(stage, held, next);
}
