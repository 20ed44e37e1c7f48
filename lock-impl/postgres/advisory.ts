/** What the locks by PostgreSQL's advisory locks share. */
import type { LockDefinition, LockHold, TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { Endpoint } from '../../harness/vocabulary/topology.js';
import { defineLock, refused } from '../define-lock.js';
import { keepRenewed } from '../renewal.js';
import { connect, loadPg, type PgConnection } from './connections.js';
import { TOPOLOGIES } from './pg-row.js';

export interface Advisory {
  name: string;
  /** Of the session, or of a transaction that is kept open under the lock. */
  of: 'session' | 'transaction';
  /** Where it makes sense; on all of PostgreSQL's unless given. */
  topologies?: readonly string[];
  /** Which server to ask; the primary unless given. */
  server?: (access: TopologyAccess) => Endpoint;
}

/** The error of a lock that was waited for in vain (`lock_timeout`). */
const NOT_AVAILABLE = '55P03';

/**
 * The server ends a session of which it has heard nothing for the lease, and with it the lock (`idle_session_timeout`, or its like
 * within a transaction): by default a session lasts as long as its connection, which for a client that is cut off can be hours.
 * In the background a question keeps it alive every third of that.
 */
export function advisoryLock({ name, of, topologies = TOPOLOGIES, server }: Advisory): LockDefinition {
  const inTransaction = of === 'transaction';
  const take = inTransaction ? 'pg_advisory_xact_lock' : 'pg_advisory_lock';
  const timeout = inTransaction ? 'idle_in_transaction_session_timeout' : 'idle_session_timeout';
  return defineLock({
    name,
    topologies,
    features: ['renews'],
    lease: 'session',
    async connect(access) {
      await loadPg();
      /** That no lock is held by. */
      const idle: PgConnection[] = [];
      const session = async () => idle.pop() ?? (await connect(access, server?.(access)));
      const back = (one: PgConnection) => {
        if (!one.ended.aborted) idle.push(one);
      };
      return {
        async acquire(key, { leaseMs, waitMs }) {
          const pg = await session();
          if (pg.ended.aborted) throw refused('unreachable');
          const { commandTimeoutMs } = access.options;
          const limits = `SELECT set_config('${timeout}', $1, false), set_config('lock_timeout', $2, false)`;
          let sentNs: number;
          try {
            await pg.query(limits, [`${Math.ceil(leaseMs)}ms`, `${Math.max(1, Math.round(waitMs))}ms`]);
            if (inTransaction) await pg.query('BEGIN');
            sentNs = access.nowNs();
            await pg.query(`SELECT ${take}(hashtextextended($1, 0))`, [key], waitMs + commandTimeoutMs);
          } catch (error) {
            // Whatever it may have been granted goes with the session.
            if (inTransaction || !isRefusal(error, NOT_AVAILABLE)) pg.end();
            else back(pg);
            throw isRefusal(error, NOT_AVAILABLE) ? refused('held') : error;
          }
          return held(access, pg, key, leaseMs, sentNs, inTransaction, back);
        },
      };
    },
  });
}

function held(
  access: TopologyAccess,
  pg: PgConnection,
  key: string,
  leaseMs: number,
  sentNs: number,
  inTransaction: boolean,
  back: (one: PgConnection) => void,
): LockHold {
  const watchdog = keepRenewed(access, {
    leaseMs,
    grantSentNs: sentNs,
    renew: async () => (await pg.query('SELECT 1')).length > 0,
    renewed: (renewedNs) => access.renewed(hold, renewedNs, leaseMs),
  });
  // The session has ended when its connection has, and the client hears of that.
  const lost = AbortSignal.any([watchdog.lost, pg.ended]);
  const hold: LockHold = {
    grantSentNs: sentNs,
    lost,
    async release() {
      watchdog.stop();
      if (lost.aborted) {
        pg.end();
        return false;
      }
      try {
        const rows = inTransaction
          ? await pg.query('COMMIT').then(() => [{ done: true }])
          : await pg.query('SELECT pg_advisory_unlock(hashtextextended($1, 0)) AS done', [key]);
        back(pg);
        return rows[0]?.done === true;
      } catch (error) {
        pg.end();
        throw error;
      }
    },
  };
  return hold;
}

function isRefusal(error: unknown, reason: string): boolean {
  return error instanceof Error && error.message === refused(reason).message;
}
