/**
 * A record of a database for each lock, with owner, expiry and a counter: taken by one statement if its expiry is past, by the
 * server's own clock. The counter is the fencing token.
 *
 * It promises exclusion and rising tokens as long as the server keeps what it has committed and its clock is not set: a failover to
 * a replica that was not told in time loses the record. A client that sleeps past its lease is beside the next holder.
 */
import type { LockDefinition, TopologyAccess } from '../harness/vocabulary/lock.js';
import { type Attempt, type Pause, tryUntilGranted, validForMs } from './attempts.js';
import { defineLock } from './define-lock.js';

/** What a database must be able to do. Each rejects with a refusal where it was certainly not done, with another error in doubt. */
export interface RowStore {
  /** Makes the record, unless it is there. */
  make(key: string): Promise<void>;
  /** Takes it if its expiry is past: the new token; undefined: somebody has it, or is about to. */
  take(key: string, owner: string, leaseMs: number): Promise<number | undefined>;
  /** False: it is not the owner's any more. */
  prolong(key: string, owner: string, leaseMs: number): Promise<boolean>;
  /** False: it was not the owner's any more. */
  giveBack(key: string, owner: string): Promise<boolean>;
}

/** What is there now, and how it is taken without asking again: for locks that are broken in this way. */
export interface BlindRowStore extends RowStore {
  isTaken(key: string): Promise<boolean>;
  overwrite(key: string, owner: string, leaseMs: number): Promise<void>;
}

export interface RowLock<Store extends RowStore> {
  name: string;
  topologies: readonly string[];
  /** Resolves with what gives the store: of a connection that works, be it another one than before. */
  open(access: TopologyAccess): Promise<() => Promise<Store>>;
}

const pause: Pause = { minMs: 10, maxMs: 30 };

export function rowLock({ name, topologies, open }: RowLock<RowStore>): LockDefinition {
  return defineLock({
    name,
    topologies,
    features: ['extend', 'fencing'],
    model: { kind: 'fenced' },
    async connect(access) {
      const store = await open(access);
      const made = new Set<string>();
      return {
        acquire: (key, options) =>
          tryUntilGranted(access, options, pause, async () => {
            const rows = await store();
            if (!made.has(key)) await rows.make(key);
            made.add(key);
            return attempt(access, rows, store, key, options.leaseMs);
          }),
      };
    },
  });
}

async function attempt(
  access: TopologyAccess,
  rows: RowStore,
  store: () => Promise<RowStore>,
  key: string,
  leaseMs: number,
): Promise<Attempt> {
  const owner = access.ownerValue();
  const sentNs = access.nowNs();
  const token = await rows.take(key, owner, leaseMs);
  if (token === undefined) return { refusedBecause: 'held' };
  const release = async () => (await store()).giveBack(key, owner);
  const remainsMs = validForMs(access, sentNs, leaseMs);
  if (remainsMs <= 0) {
    await release().catch(() => {});
    return { refusedBecause: 'granted-late' };
  }
  return {
    hold: {
      grantSentNs: sentNs,
      validForMs: remainsMs,
      token,
      release,
      async extend(newLeaseMs) {
        const from = access.nowNs();
        const isProlonged = await (await store()).prolong(key, owner, newLeaseMs);
        return isProlonged ? { validForMs: validForMs(access, from, newLeaseMs) } : null;
      },
    },
  };
}

/**
 * The mistake of two steps: a question ("is it free?"), then a write that does not ask again. Two clients that ask at once both
 * hold it, and the second takes the record from the first.
 */
export function readThenWriteLock({ name, topologies, open }: RowLock<BlindRowStore>): LockDefinition {
  return defineLock({
    name,
    topologies,
    async connect(access) {
      const store = await open(access);
      return {
        acquire: (key, options) =>
          tryUntilGranted(access, options, pause, async () => {
            const rows = await store();
            if (await rows.isTaken(key)) return { refusedBecause: 'held' };
            const owner = access.ownerValue();
            const sentNs = access.nowNs();
            await rows.overwrite(key, owner, options.leaseMs);
            return {
              hold: {
                grantSentNs: sentNs,
                validForMs: validForMs(access, sentNs, options.leaseMs),
                release: async () => void (await (await store()).giveBack(key, owner)),
              },
            };
          }),
      };
    },
  });
}
