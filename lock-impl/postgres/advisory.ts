/** PostgreSQL's advisory locks as a session's. */
import type { LockDefinition, TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { Endpoint } from '../../harness/vocabulary/topology.js';
import { type LockSession, type SessionLock, sessionLock } from '../session-lock.js';
import { isRefusedAs } from '../sql-connection.js';
import { connectPostgres, loadPg, POSTGRES_TOPOLOGIES } from './connections.js';

interface Advisory extends Pick<SessionLock, 'name' | 'server'> {
  /** Of the session, or of a transaction that is kept open under the lock. */
  of: 'session' | 'transaction';
  /** Where it makes sense; on all of PostgreSQL's unless given. */
  topologies?: readonly string[];
}

/** The error of a lock that was waited for in vain (`lock_timeout`). */
const NOT_AVAILABLE = '55P03';

/** Its time-out is `idle_session_timeout`, or its like within a transaction. */
export function advisoryLock({ of, topologies = POSTGRES_TOPOLOGIES, ...rest }: Advisory): LockDefinition {
  const open = (access: TopologyAccess, where?: Endpoint) => session(access, of === 'transaction', where);
  return sessionLock({ ...rest, topologies, load: loadPg, connect: open });
}

async function session(access: TopologyAccess, inTransaction: boolean, where?: Endpoint): Promise<LockSession> {
  const pg = await connectPostgres(access, where);
  const take = inTransaction ? 'pg_advisory_xact_lock' : 'pg_advisory_lock';
  const timeout = inTransaction ? 'idle_in_transaction_session_timeout' : 'idle_session_timeout';
  return {
    ended: pg.ended,
    end: pg.end,
    async prepare(leaseMs, waitMs) {
      const limits = `SELECT set_config('${timeout}', $1, false), set_config('lock_timeout', $2, false)`;
      await pg.query(limits, [`${Math.ceil(leaseMs)}ms`, `${Math.max(1, Math.round(waitMs))}ms`]);
      if (inTransaction) await pg.query('BEGIN');
    },
    async take(key, waitMs) {
      const patienceMs = waitMs + access.options.commandTimeoutMs;
      try {
        await pg.query(`SELECT ${take}(hashtextextended($1, 0))`, [key], patienceMs);
        return true;
      } catch (error) {
        if (!isRefusedAs(error, NOT_AVAILABLE)) throw error;
        // Its transaction has failed.
        if (inTransaction) pg.end();
        return false;
      }
    },
    keepAlive: async () => void (await pg.query('SELECT 1')),
    async free(key) {
      if (inTransaction) return pg.query('COMMIT').then(() => true);
      const [row] = await pg.query('SELECT pg_advisory_unlock(hashtextextended($1, 0)) AS done', [key]);
      return row?.done === true;
    },
  };
}
