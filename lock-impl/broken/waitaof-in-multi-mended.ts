/** The twin of `waitaof-in-multi`: WAITAOF follows the SET by itself, and its answer is looked at. */
import { answerOf, giveBack } from '../owned-key.js';
import { leaseLock } from './lease-lock.js';

const PATIENCE_MS = 400;

export default leaseLock('broken/waitaof-in-multi-mended', {
  needs: ['WAITAOF'],
  async take(mine, leaseMs) {
    const { redis, key, owner } = mine;
    const pipeline = redis.pipeline().set(key, owner, 'PX', leaseMs, 'NX').call('WAITAOF', 1, 0, PATIENCE_MS);
    const [taken, waited] = (await pipeline.exec()) ?? [];
    if (taken?.[0]) throw taken[0];
    if (taken?.[1] !== 'OK') return false;
    const [synced = 0] = waited && !waited[0] ? (waited[1] as number[]) : [];
    if (synced >= 1) return true;
    await answerOf(giveBack(mine));
    return false;
  },
});
