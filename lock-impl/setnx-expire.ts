/**
 * SETNX, then the expiry in a command of its own; DEL to give back. Production code got there by adding the expiry that
 * plain SETNX lacks, in the line below, before SET had options; many client libraries still have a `setIfAbsent` without
 * a time-out beside an `expire`.
 *
 * It promises what a lease lock does as long as both commands are carried out. A client that crashes, or is cut off, between
 * the two leaves a key without expiry: a deadlock. DEL compares nothing, so a holder that outlived its lease deletes the lock
 * of the next one. The expiry is set by PEXPIRE, EXPIRE in milliseconds.
 *
 * Step points: `after-setnx`, between the two commands; `granted`, after both.
 */
import { certainOrDoubtful, tryUntilGranted, validForMs } from './attempts.js';
import { defineLock } from './define-lock.js';
import { PAUSE_BETWEEN_TRIES } from './set-nx-px.js';
import { setnx } from './setnx-command.js';

export default defineLock({
  name: 'setnx-expire',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  async connect(access) {
    const redis = await access.redis();
    return {
      acquire: (key, options) =>
        tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, async () => {
          const refusedBecause = await setnx(redis, key, access.randomValue());
          if (refusedBecause !== undefined) return { refusedBecause };
          await access.step('after-setnx');
          // PEXPIRE alone starts the lease. If it fails, for whatever reason, the key stays, for ever: no refusal.
          const sentNs = access.nowNs();
          await redis.pexpire(key, options.leaseMs);
          await access.step('granted');
          const release = async () => (await certainOrDoubtful(redis.del(key))) === 1;
          return { hold: { release, grantSentNs: sentNs, validForMs: validForMs(access, sentNs, options.leaseMs) } };
        }),
    };
  },
});
