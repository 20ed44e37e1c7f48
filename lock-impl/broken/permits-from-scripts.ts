/** A semaphore of two permits, from the script that takes one and the script that returns it, which is sent until it is answered. */
import type { Redis } from 'ioredis';
import type { AcquireOptions, LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { Deadline } from '../../harness/vocabulary/protocol.js';
import { type Attempt, tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { answerOf, answerOrRefusal } from '../owned-key.js';
import { serverNow } from '../scripts/server-now.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

export const PERMITS = 2;
/** Of a return, and how long one waits before the next, milliseconds. */
const TRIES = 10;
const PAUSE_MS = 100;

export interface PermitScripts {
  /** KEYS[1]: the lock; ARGV: how many permits there are, the name of this one, the lease in ms. 1: taken. */
  take: string;
  /** KEYS[1]: the lock; ARGV[1]: the name of the permit. 1: returned. */
  giveBack: string;
  /** When a permit of which no more is heard comes back. */
  deadline: Deadline;
}

/** Each permit has a name and a lease of its own, by the clock of the server. */
export const namedPermits: PermitScripts = {
  take: `
${serverNow}
redis.call('zremrangebyscore', KEYS[1], '-inf', now)
if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[1]) then
  return 0
end
redis.call('zadd', KEYS[1], now + ARGV[3], ARGV[2])
return 1
`,
  giveBack: "return redis.call('zrem', KEYS[1], ARGV[1])",
  deadline: 'lease',
};

export function permitsFromScripts(name: string, scripts: PermitScripts): LockDefinition {
  return defineLock({
    name,
    topologies: ['single', 'replica', 'sentinel', 'cluster'],
    model: { kind: 'semaphore', permits: PERMITS },
    deadlines: { permit: scripts.deadline },
    async connect(access) {
      const redis = await access.redis();
      return {
        acquire: (key: string, options: AcquireOptions) => acquirePermit(access, redis, scripts, key, options),
      };
    },
  });
}

export function acquirePermit(
  access: TopologyAccess,
  redis: Redis,
  scripts: PermitScripts,
  key: string,
  options: AcquireOptions,
): Promise<LockHold> {
  const { leaseMs } = options;
  return tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, async (): Promise<Attempt> => {
    const permit = access.randomValue();
    const grantSentNs = access.nowNs();
    const result = await answerOrRefusal(redis.eval(scripts.take, 1, key, PERMITS, permit, leaseMs));
    if ('refusedBecause' in result) return result;
    if (result.answer !== 1) return { refusedBecause: 'held' };
    const release = async () => {
      for (let tries = 1; ; tries++) {
        const answer = await answerOf(redis.eval(scripts.giveBack, 1, key, permit).then((done) => done === 1));
        if (answer.is === 'yes' || answer.is === 'no') return answer.is === 'yes';
        if (tries === TRIES) throw answer.is === 'unknown' ? answer.error : new Error(answer.reason);
        await access.sleep(PAUSE_MS);
      }
    };
    return { hold: { grantSentNs, validForMs: validForMs(access, grantSentNs, leaseMs), release } };
  });
}
