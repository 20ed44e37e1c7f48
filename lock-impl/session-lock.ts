/**
 * A lock that a database's server keeps for a session, in its memory: it queues who waits, and frees it when the session ends.
 *
 * The server ends a session of which it has heard nothing for the lease, and with it the lock: by default a session lasts as long
 * as its connection, which for a client that is cut off can be hours. In the background a question keeps it alive every third of
 * that. It promises exclusion as long as the server runs: a failover or a restart forgets them all. A client that cannot keep
 * its session alive is told `lost` before the server ends it; one that sleeps for longer is a stale holder.
 */
import type { LockDefinition, LockHold, TopologyAccess } from '../harness/vocabulary/lock.js';
import type { Endpoint } from '../harness/vocabulary/topology.js';
import { defineLock, refused } from './define-lock.js';
import { keepRenewed } from './renewal.js';

/** A session by which one lock at a time is held. */
export interface LockSession {
  /** Aborts when the session has ended, and its client hears of that. */
  readonly ended: AbortSignal;
  /** Ends it, and with it all that it may have been granted. */
  end(): void;
  /** From now on the server ends it when it has heard nothing of it for the lease. Grants nothing. */
  prepare(leaseMs: number, waitMs: number): Promise<void>;
  /** Waits for the lock; false: in vain. In doubt it rejects. */
  take(key: string, waitMs: number): Promise<boolean>;
  /** Rejects where it is not alive. */
  keepAlive(): Promise<void>;
  /** False: it did not have it. */
  free(key: string): Promise<boolean>;
}

export interface SessionLock {
  name: string;
  topologies: readonly string[];
  /** Loads what takes time to load. */
  load(): Promise<unknown>;
  /** Which server to ask, for each lock anew; the primary unless given. */
  server?: ((access: TopologyAccess) => Endpoint) | undefined;
  /** Rejects with a refusal where it cannot be reached. */
  connect(access: TopologyAccess, where?: Endpoint): Promise<LockSession>;
}

export function sessionLock({ name, topologies, load, server, connect }: SessionLock): LockDefinition {
  return defineLock({
    name,
    topologies,
    features: ['renews'],
    lease: 'session',
    async connect(access) {
      await load();
      /** That no lock is held by, of each server. */
      const idle = new Map<string, LockSession[]>();
      return {
        async acquire(key, { leaseMs, waitMs }) {
          const where = server?.(access);
          const there = idle.get(where?.name ?? '') ?? [];
          idle.set(where?.name ?? '', there);
          const back = (one: LockSession) => {
            if (!one.ended.aborted) there.push(one);
          };
          const session = there.pop() ?? (await connect(access, where));
          if (session.ended.aborted) throw refused('unreachable');
          let sentNs: number;
          let isGranted: boolean;
          try {
            await session.prepare(leaseMs, waitMs);
            sentNs = access.nowNs();
            isGranted = await session.take(key, waitMs);
          } catch (error) {
            // Whatever it may have been granted goes with the session.
            session.end();
            throw error;
          }
          if (isGranted) return held(access, session, key, leaseMs, sentNs, back);
          back(session);
          throw refused('held');
        },
      };
    },
  });
}

/** Any server, as where clients are balanced over primary and replicas: no server knows of another's locks. */
export function anyServer({ description, random }: TopologyAccess): Endpoint {
  const nodes = 'nodes' in description && description.kind !== 'redlock-sentinel' ? description.nodes : [];
  return nodes[random.int(0, nodes.length - 1)]!;
}

function held(
  access: TopologyAccess,
  session: LockSession,
  key: string,
  leaseMs: number,
  sentNs: number,
  back: (session: LockSession) => void,
): LockHold {
  const watchdog = keepRenewed(access, {
    leaseMs,
    grantSentNs: sentNs,
    renew: () => session.keepAlive().then(() => true),
    renewed: (renewedNs) => access.renewed(hold, renewedNs, leaseMs),
  });
  // The session has ended when its connection has, and the client hears of that.
  const lost = AbortSignal.any([watchdog.lost, session.ended]);
  const hold: LockHold = {
    grantSentNs: sentNs,
    lost,
    async release() {
      watchdog.stop();
      if (lost.aborted) {
        session.end();
        return false;
      }
      try {
        const isFree = await session.free(key);
        back(session);
        return isFree;
      } catch (error) {
        session.end();
        throw error;
      }
    },
  };
  return hold;
}
