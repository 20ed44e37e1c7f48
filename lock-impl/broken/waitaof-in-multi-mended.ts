/** The twin of `waitaof-in-multi`: WAITAOF follows the SET by itself, again while its log is not synced, and its answer is looked at. */
import type { ChainableCommander } from 'ioredis';
import { WAIT_ANSWER_MS } from '../acknowledged.js';
import { answerOf, giveBack } from '../owned-key.js';
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/waitaof-in-multi-mended', {
  needs: ['WAITAOF'],
  async take(mine, leaseMs, { options, nowNs }) {
    const { redis, key, owner } = mine;
    const beganNs = nowNs();
    const patienceMs = Math.max(1, options.commandTimeoutMs - WAIT_ANSWER_MS);
    const [taken, first] = await askedTogether(redis.pipeline().set(key, owner, 'PX', leaseMs, 'NX'), patienceMs);
    if (taken?.[0]) throw taken[0];
    if (taken?.[1] !== 'OK') return false;
    let told = first;
    // A log that is synced once a second takes that long: to begin anew sooner would mean to wait anew, too.
    while (told && told.synced < 1 && (nowNs() - beganNs) / 1e6 < leaseMs / 2) {
      const [, again] = await askedTogether(redis.pipeline(), patienceMs);
      // Another connection has written nothing, and so waits for nothing.
      told = again?.connection === told.connection ? again : undefined;
    }
    if (told && told.synced >= 1) return true;
    await answerOf(giveBack(mine));
    return false;
  },
});

interface Told {
  connection: number;
  /** How many logs have what that connection wrote: the server's own, or none. */
  synced: number;
}

/** What the first of the commands was answered, and what WAITAOF says of their connection; undefined: it did not say anything. */
async function askedTogether(commands: ChainableCommander, patienceMs: number) {
  const replies = (await commands.client('ID').call('WAITAOF', 1, 0, patienceMs).exec()) ?? [];
  const [connection, waited] = replies.slice(-2);
  const told: Told | undefined =
    connection && waited && !connection[0] && !waited[0]
      ? { connection: connection[1] as number, synced: (waited[1] as number[])[0] ?? 0 }
      : undefined;
  return [replies[0], told] as const;
}
