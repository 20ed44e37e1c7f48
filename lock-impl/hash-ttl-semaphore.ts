/**
 * A counting semaphore in one hash, in which each permit's field expires by itself (HPEXPIRE): `permit-expirable` without the
 * clocks of clients. `expiring-fields.ts` says what it promises; it excludes fairness and renewal.
 */
import { ONE_SERVER } from './builtin-lock.js';
import { defineLock } from './define-lock.js';
import { fieldLeases } from './expiring-fields.js';
import { takeExpiringPermit } from './scripts/hash-ttl-take.js';

const PERMITS = 2;

export default defineLock({
  name: 'hash-ttl-semaphore',
  topologies: ONE_SERVER,
  features: ['extend'],
  model: { kind: 'semaphore', permits: PERMITS },
  deadlines: { permit: 'lease' },
  connect: (access) =>
    fieldLeases(access, { script: takeExpiringPermit, further: [PERMITS], fieldOf: (owner) => owner }),
});
