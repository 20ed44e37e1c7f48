/** What the locks by etcd's own Lock API share (`etcd-lock-api.ts`). */
import type { LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { defineLock, refused } from '../define-lock.js';
import { keepRenewed } from '../renewal.js';
import { base64, type Gateway, gatewayOf, NotDoneError } from './gateway.js';
import { newLease, revoke, undoubted } from './leases.js';

interface LockByApi {
  name: string;
  /** Whether its client hears that its session is over. */
  tellsLost: boolean;
}

export function lockByApi({ name, tellsLost }: LockByApi): LockDefinition {
  return defineLock({
    name,
    topologies: ['etcd', 'etcd-single'],
    features: ['renews', 'fencing'],
    model: { kind: 'fenced' },
    lease: 'session',
    async connect(access) {
      const etcd = gatewayOf(access);
      return {
        async acquire(key, { leaseMs, waitMs }) {
          let leaseFromNs = access.nowNs();
          const lease = await undoubted(newLease(etcd, leaseMs));
          let hold: LockHold | undefined;
          // Also while it waits: a session that runs out in the queue loses its place there.
          const watchdog = keepRenewed(access, {
            leaseMs,
            grantSentNs: leaseFromNs,
            renew: async () => ttlOf(await etcd.ask('lease/keepalive', { ID: lease })) > 0 || !tellsLost,
            renewed(renewedNs) {
              if (hold) access.renewed(hold, renewedNs, leaseMs);
              else leaseFromNs = renewedNs;
            },
          });
          try {
            const mine = await queued(access, etcd, { key, lease, waitMs });
            const { kvs } = (await etcd.ask('kv/range', { key: mine })) as { kvs?: { create_revision: string }[] };
            if (!kvs?.[0]) throw refused('granted-late');
            hold = {
              grantSentNs: leaseFromNs,
              token: Number(kvs[0].create_revision),
              ...(tellsLost && { lost: watchdog.lost }),
              // The key goes with its lease.
              async release() {
                watchdog.stop();
                try {
                  await etcd.ask('lease/revoke', { ID: lease });
                  return true;
                } catch (error) {
                  if (error instanceof NotDoneError && error.message.includes('lease not found')) return false;
                  throw error instanceof NotDoneError ? refused('unreachable') : error;
                }
              },
            };
          } catch (error) {
            watchdog.stop();
            throw error;
          }
          return hold;
        },
      };
    },
  });
}

interface Wanted {
  key: string;
  lease: string;
  waitMs: number;
}

/** Waits in the queue; resolves with the key that was made for us there. A session that waits no more is ended. */
async function queued(access: TopologyAccess, etcd: Gateway, { key, lease, waitMs }: Wanted): Promise<string> {
  const timeoutMs = Math.ceil(waitMs) + access.options.commandTimeoutMs;
  try {
    const granted = await etcd.ask('lock/lock', { name: base64(key), lease }, timeoutMs);
    return String(granted.key);
  } catch (error) {
    if (error instanceof NotDoneError) {
      revoke(etcd, lease);
      throw refused('unreachable');
    }
    // With its session its place has gone, and what it may have been granted.
    const isOver = await etcd.ask('lease/revoke', { ID: lease }).then(
      () => true,
      // It may have run out by itself, where nothing kept it alive.
      (failed: unknown) => failed instanceof NotDoneError && failed.message.includes('lease not found'),
    );
    throw isOver && String(error).includes('no answer within') ? refused('held') : error;
  }
}

/** Seconds that the lease has left; 0: it is over. The gateway wraps what is a stream. */
function ttlOf(answer: Record<string, unknown>): number {
  const { result } = answer as { result?: { TTL?: string } };
  return Number(result?.TTL ?? 0);
}
