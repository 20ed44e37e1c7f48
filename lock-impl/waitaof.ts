/**
 * SET NX PX that counts only once it is on disk: WAITAOF follows the write, and a grant that was not synced is rolled back. Where
 * replicas are connected one of them must have synced it, too.
 *
 * It promises what `set-nx-px` does, and that a grant outlives the loss of power of its server, be its log synced once a second
 * only; and that of the primary, if the replica that has it is promoted. It excludes servers without a log, where every try is
 * refused, and a promise of which replica is promoted. With a log that is synced each second a grant takes up to that.
 */
import { type Acknowledgement, acknowledgedLeases, WAIT_ANSWER_MS } from './acknowledged.js';
import { defineLock } from './define-lock.js';
import { needOneOf } from './server-commands.js';

const replicasAsked = (connected: number) => Math.min(1, connected);

const byDisks: Acknowledgement = {
  isAsked: () => true,
  ask: (pipeline, replicas, waitMs) => pipeline.call('WAITAOF', 1, replicasAsked(replicas), waitMs),
  isEnough(answer, replicas) {
    const [own = 0, others = 0] = answer as number[];
    return own >= 1 && others >= replicasAsked(replicas);
  },
  // A log that is synced once a second takes that long.
  patienceMs: (commandTimeoutMs, leaseMs) => Math.min(commandTimeoutMs - WAIT_ANSWER_MS, leaseMs / 2),
  refusal: 'not-synced',
};

export default defineLock({
  name: 'waitaof',
  topologies: ['single', 'replica', 'sentinel'],
  features: ['extend'],
  async connect(access) {
    const redis = await access.redis();
    await needOneOf(redis, ['WAITAOF']);
    return acknowledgedLeases(access, redis, byDisks);
  },
});
