/**
 * A key that is created in a transaction ("if it does not exist") and is attached to an etcd lease, as etcd's own `concurrency`
 * package does it, without its queue. The key's create revision is the fencing token. Leases last whole seconds there: the
 * key may stay for up to a second, and after a change of leaders for a whole lease, longer than the lock says.
 *
 * It promises exclusion as long as a majority of the members keeps what it has stored, and rising tokens. A client that
 * sleeps past its lease is beside the next holder, as with every lease.
 */
import type { LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock, refused } from '../define-lock.js';
import { base64, type Gateway, gatewayOf, NotDoneError } from './gateway.js';
import { certain, newLease, revoke, undoubted } from './leases.js';

/** A try while somebody holds it is a read, of which etcd carries out some thousands in a second. */
const pause = { minMs: 20, maxMs: 50 };

export default defineLock({
  name: 'etcd-lease',
  topologies: ['etcd', 'etcd-single'],
  features: ['extend', 'fencing'],
  model: { kind: 'fenced' },
  async connect(access) {
    const etcd = gatewayOf(access);
    return {
      acquire: (key, options) =>
        tryUntilGranted(access, options, pause, () => attempt(access, etcd, key, options.leaseMs)),
    };
  },
});

async function attempt(access: TopologyAccess, etcd: Gateway, key: string, leaseMs: number): Promise<Attempt> {
  if (await undoubted(isThere(etcd, key))) return { refusedBecause: 'held' };
  // A lease alone grants nothing: it may be left to run out.
  const sentNs = access.nowNs();
  const lease = await undoubted(newLease(etcd, leaseMs));
  const owner = access.ownerValue();
  const created = await certain(
    etcd.ask('kv/txn', {
      compare: [{ key: base64(key), target: 'CREATE', result: 'EQUAL', create_revision: '0' }],
      success: [put(key, owner, lease)],
    }),
  );
  if (created.succeeded !== true) {
    revoke(etcd, lease);
    return { refusedBecause: 'held' };
  }
  const hold = held(access, etcd, { key, owner, lease });
  const remainsMs = validForMs(access, sentNs, leaseMs);
  if (remainsMs > 0)
    return { hold: { ...hold, grantSentNs: sentNs, validForMs: remainsMs, token: revisionOf(created) } };
  await hold.release().catch(() => {});
  return { refusedBecause: 'granted-late' };
}

interface Mine {
  key: string;
  owner: string;
  lease: string;
}

function held(access: TopologyAccess, etcd: Gateway, mine: Mine): Pick<Required<LockHold>, 'release' | 'extend'> {
  let { lease } = mine;
  const { key, owner } = mine;
  return {
    // The key goes with its lease, and a lease that is gone took it along.
    async release() {
      try {
        await etcd.ask('lease/revoke', { ID: lease });
        return true;
      } catch (error) {
        if (error instanceof NotDoneError && error.message.includes('lease not found')) return false;
        throw error instanceof NotDoneError ? refused('unreachable') : error;
      }
    },
    async extend(leaseMs) {
      const sentNs = access.nowNs();
      const next = await undoubted(newLease(etcd, leaseMs));
      const moved = await certain(
        etcd.ask('kv/txn', {
          compare: [{ key: base64(key), target: 'VALUE', result: 'EQUAL', value: base64(owner) }],
          success: [put(key, owner, next)],
        }),
      );
      const unused = moved.succeeded === true ? lease : next;
      revoke(etcd, unused);
      if (moved.succeeded !== true) return null;
      lease = next;
      return { validForMs: validForMs(access, sentNs, leaseMs) };
    },
  };
}

async function isThere(etcd: Gateway, key: string): Promise<boolean> {
  const { count } = await etcd.ask('kv/range', { key: base64(key), count_only: true });
  return count !== undefined && count !== '0';
}

function put(key: string, owner: string, lease: string) {
  return { request_put: { key: base64(key), value: base64(owner), lease } };
}

function revisionOf({ header }: Record<string, unknown>): number {
  return Number((header as { revision: string }).revision);
}
