/** MariaDB's `GET_LOCK` as a session's lock. Its time-out is `wait_timeout`, in whole seconds. */
import type { LockDefinition, TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { Endpoint } from '../../harness/vocabulary/topology.js';
import { type LockSession, type SessionLock, sessionLock } from '../session-lock.js';
import { connectMariadb, loadMysql, MARIADB_TOPOLOGIES } from './connections.js';

interface GetLock extends Pick<SessionLock, 'name' | 'server'> {
  /** Where it makes sense; on all of MariaDB's unless given. */
  topologies?: readonly string[];
}

export function getLock({ topologies = MARIADB_TOPOLOGIES, ...rest }: GetLock): LockDefinition {
  return sessionLock({ ...rest, topologies, load: loadMysql, connect: session });
}

async function session(access: TopologyAccess, where?: Endpoint): Promise<LockSession> {
  const maria = await connectMariadb(access, where);
  return {
    ended: maria.ended,
    end: maria.end,
    prepare: async (leaseMs) =>
      void (await maria.query('SET SESSION wait_timeout = ?', [Math.max(1, Math.ceil(leaseMs / 1_000))])),
    async take(key, waitMs) {
      const patienceMs = waitMs + access.options.commandTimeoutMs;
      const { rows } = await maria.query('SELECT GET_LOCK(?, ?) AS taken', [key, waitMs / 1_000], patienceMs);
      const taken = rows[0]?.taken;
      // NULL is an error: the session was killed, or it has run out of memory.
      if (taken === null || taken === undefined) throw new Error('GET_LOCK answered NULL');
      return Number(taken) === 1;
    },
    keepAlive: async () => void (await maria.query('SELECT 1')),
    async free(key) {
      const { rows } = await maria.query('SELECT RELEASE_LOCK(?) AS done', [key]);
      return Number(rows[0]?.done) === 1;
    },
  };
}
