/**
 * SET NX PX that counts only once a replica has it: WAIT follows the write, and a grant that no replica acknowledged is
 * rolled back. With no replica connected there is none to ask and the check is off, as it is in the family of locks that has
 * it.
 *
 * It promises what `set-nx-px` does, and that one replica had the grant when `acquire` returned, if any was connected. It
 * excludes a promise beyond that: of two replicas one may have acknowledged and the *other* be promoted, an isolated
 * primary is believed again as soon as it has dropped its replicas, and a replica may lose what it had.
 */
import { type Acknowledgement, acknowledgedLeases } from './acknowledged.js';
import { ONE_SERVER } from './builtin-lock.js';
import { defineLock } from './define-lock.js';

const byOneReplica: Acknowledgement = {
  isAsked: (replicas) => replicas > 0,
  ask: (pipeline, _, waitMs) => pipeline.wait(1, waitMs),
  isEnough: (acknowledged) => Number(acknowledged) >= 1,
  patienceMs: (commandTimeoutMs, leaseMs) => Math.min(commandTimeoutMs / 2, leaseMs / 10),
  refusal: 'not-replicated',
};

export default defineLock({
  name: 'wait-replicated',
  topologies: ONE_SERVER,
  features: ['extend'],
  async connect(access) {
    return acknowledgedLeases(access, await access.redis(), byOneReplica);
  },
});
