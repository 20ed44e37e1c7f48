/** The twin of `waitaof-in-multi`: WAITAOF follows the SET by itself, and its answer is looked at. */
import { answerOf, giveBack } from '../owned-key.js';
import { leaseLock } from './lease-lock.js';

/** An idle server looks ten times a second whose wait is over; then the answer travels. */
const ANSWER_MS = 200;

export default leaseLock('broken/waitaof-in-multi-mended', {
  needs: ['WAITAOF'],
  async take(mine, leaseMs, { options }) {
    const { redis, key, owner } = mine;
    // A log that is synced once a second takes that long: who gives up far sooner may do so again and again.
    const patienceMs = Math.max(1, Math.floor(Math.min(options.commandTimeoutMs - ANSWER_MS, leaseMs / 2)));
    const pipeline = redis.pipeline().set(key, owner, 'PX', leaseMs, 'NX').call('WAITAOF', 1, 0, patienceMs);
    const [taken, waited] = (await pipeline.exec()) ?? [];
    if (taken?.[0]) throw taken[0];
    if (taken?.[1] !== 'OK') return false;
    const [synced = 0] = waited && !waited[0] ? (waited[1] as number[]) : [];
    if (synced >= 1) return true;
    await answerOf(giveBack(mine));
    return false;
  },
});
