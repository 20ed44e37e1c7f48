/**
 * A lock with a planted mistake, of which is known how many faults it takes: it is `set-nx-px` until each of these things has
 * happened to the client's process, and from then on takes what it asks for without asking anybody.
 *
 * No one fault of a hunt does both: what stops a process leaves its connections as they are, and a connection that is lost stops nobody.
 */
import { performance } from 'node:perf_hooks';
import type { LockDefinition } from '../../harness/vocabulary/lock.js';
import { defineLock } from '../../lock-impl/define-lock.js';
import { byScripts } from '../../lock-impl/owned-key.js';
import { leasesBy } from '../../lock-impl/set-nx-px.js';

export type Happening = 'lost connection' | 'stop';

const LOOKS_EVERY_MS = 20;
/** A timer that fires so much too late was held up by a stop: one that is not stopped is late by a millisecond. */
const LATE_MS = 60;

export function goesWrongAfter(name: string, needed: readonly Happening[]): LockDefinition {
  return defineLock({
    name,
    topologies: ['single'],
    features: [],
    async connect(access) {
      const redis = await access.redis();
      const happened = new Set<Happening>();
      redis.on('close', () => happened.add('lost connection'));
      let lastMs = performance.now();
      const timer = setInterval(() => {
        const nowMs = performance.now();
        if (nowMs - lastMs > LOOKS_EVERY_MS + LATE_MS) happened.add('stop');
        lastMs = nowMs;
      }, LOOKS_EVERY_MS);
      timer.unref();
      const isWrong = () => needed.every((one) => happened.has(one));
      return leasesBy(access, redis, {
        ...byScripts,
        take: async (mine, leaseMs) => isWrong() || byScripts.take(mine, leaseMs),
      });
    },
  });
}
