/**
 * Says when its granted attempt left by the wall clock, where the contract asks for the monotonic one. A lock file has
 * `Date.now() * 1e6` where `access.nowNs()` belongs: the numbers look alike, and both count nanoseconds.
 *
 * The lock itself is sound. What it says of its leases is not: a stamp decades outside the operation contradicts itself, the
 * grant cannot be placed in time, and a verdict that rests on it would be worth nothing.
 */
import { leaseLock } from './lease-lock.js';

export default leaseLock('broken/wall-clock-stamps', { stamp: (access) => access.wallMs() * 1e6 });
