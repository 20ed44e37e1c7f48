/**
 * SETNX to take, DEL to give back, and nothing else: the lock of the first blog posts. Production code got there from the
 * name of the command, which seems to say all that a lock needs, and as long as no client crashes it is true.
 *
 * It promises mutual exclusion, for ever: the key has no expiry. A client that crashes while holding holds until an operator
 * deletes the key. And as nothing compares what is stored, a script that does so also frees the locks of those that still
 * work.
 *
 * Step points: `granted`, after SETNX and before the caller knows.
 */
import { certainOrDoubtful, tryUntilGranted } from './attempts.js';
import { defineLock } from './define-lock.js';
import { PAUSE_BETWEEN_TRIES } from './set-nx-px.js';
import { setnx } from './setnx-command.js';

export default defineLock({
  name: 'setnx',
  topologies: ['single', 'replica', 'sentinel', 'cluster'],
  lease: 'none',
  async connect(access) {
    const redis = await access.redis();
    return {
      acquire: (key, options) =>
        tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, async () => {
          const sentNs = access.nowNs();
          const refusedBecause = await setnx(redis, key, access.randomValue());
          if (refusedBecause !== undefined) return { refusedBecause };
          await access.step('granted');
          const release = async () => (await certainOrDoubtful(redis.del(key))) === 1;
          return { hold: { release, grantSentNs: sentNs } };
        }),
    };
  },
});
