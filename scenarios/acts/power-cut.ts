/** A lock that is granted just before its server loses power. */
import type { OperationOutcome, Stage } from '../../harness/vocabulary/workload.js';
import { granted, havingKey, isLookedAt, isWatched } from './asking.js';

/** Tries of `loseUnsynced`: now and then the log is synced in the moment between grant and power cut. */
const TRIES = 4;

/** One lock for each try. */
export const KEYS = TRIES;

/**
 * The first client is granted `key`. A write after a quiet second is synced at once, so another one goes before it, of `busy`, as
 * on any server that is used.
 */
export async function grantedWhileUsed(stage: Stage, key: string, busy: string): Promise<OperationOutcome> {
  await stage.until('the server is used', async () => (await stage.client(3).acquire(busy)).type === 'ok');
  return granted(stage, stage.client(1), key);
}

/** The server is back within the lease, without a lock that it had granted; resolves with that. */
export async function loseUnsynced(stage: Stage): Promise<{ key: string; held: OperationOutcome }> {
  await isLookedAt(stage, stage.topology.nodes[0]!);
  for (let n = 0; n < TRIES; n++) {
    const key = `lock:${n}`;
    const held = await grantedWhileUsed(stage, key, `busy:${n}`);
    const outage = await stage.strike('power-cut', 'primary');
    await outage.heal();
    await isWatched(stage, stage.topology.nodes[0]!);
    await isLookedAt(stage, stage.topology.nodes[0]!);
    if ((await havingKey(stage.topology.nodes, key)).length === 0) return { key, held };
  }
  stage.check('a lock is lost', false);
  throw new Error('not reached');
}
