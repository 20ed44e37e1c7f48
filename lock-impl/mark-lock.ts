/**
 * A record of a database that is made to take a lock and removed to give it back, and nothing else: the lock of articles that begin with
 * the database that is there already. The key is unique there, so one client makes it.
 *
 * It promises mutual exclusion as long as the server keeps what it has answered. Nothing ends a hold but its holder: one that dies, or
 * whose removal is lost, leaves the record, and the lock is taken until somebody removes that by hand.
 */
import type { LockDefinition, TopologyAccess } from '../harness/vocabulary/lock.js';
import { tryUntilGranted } from './attempts.js';
import { defineLock } from './define-lock.js';
import { PAUSE_BETWEEN_TRIES } from './set-nx-px.js';

/** What a database must be able to do. Each rejects with a refusal where it was certainly not done, with another error in doubt. */
export interface MarkStore {
  /** False: somebody's is there. */
  make(key: string, owner: string): Promise<boolean>;
  /** False: it was not there, or not the owner's. */
  remove(key: string, owner: string): Promise<boolean>;
}

interface MarkLock {
  name: string;
  topologies: readonly string[];
  /** Resolves with what gives the store: of a connection that works, be it another one than before. */
  open(access: TopologyAccess): Promise<() => Promise<MarkStore>>;
}

export function markLock({ name, topologies, open }: MarkLock): LockDefinition {
  return defineLock({
    name,
    topologies,
    lease: 'none',
    async connect(access) {
      const store = await open(access);
      return {
        acquire: (key, options) =>
          tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, async () => {
            const owner = access.ownerValue();
            const marks = await store();
            const sentNs = access.nowNs();
            if (!(await marks.make(key, owner))) return { refusedBecause: 'held' };
            return { hold: { release: async () => (await store()).remove(key, owner), grantSentNs: sentNs } };
          }),
      };
    },
  });
}
