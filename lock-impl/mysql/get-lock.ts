/** `GET_LOCK` of MySQL and MariaDB as a session's lock. Its time-out is `wait_timeout`, in whole seconds. */
import type { LockDefinition, TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { Endpoint } from '../../harness/vocabulary/topology.js';
import { anyServer, type LockSession, type SessionLock, sessionLock } from '../session-lock.js';
import { connectMysql, loadMysql, type MysqlService } from './connections.js';

/** Between tries of what is less than a second. */
const PAUSE_MS = 50;

/** On the primary. */
export function getLock(on: MysqlService): LockDefinition {
  return getLockOf(on, { name: `${on.service}-get-lock`, topologies: on.topologies });
}

/** On any server: a replica grants such locks, too, and no server knows of another's. */
export function getLockAnywhere(on: MysqlService): LockDefinition {
  const { service, replicated: topologies } = on;
  return getLockOf(on, { name: `${service}-get-lock-anywhere`, topologies, server: anyServer });
}

function getLockOf(on: MysqlService, lock: Pick<SessionLock, 'name' | 'topologies' | 'server'>): LockDefinition {
  return sessionLock({
    ...lock,
    load: loadMysql,
    connect: (access, where) => session(access, on, where),
  });
}

async function session(access: TopologyAccess, on: MysqlService, where?: Endpoint): Promise<LockSession> {
  const mysql = await connectMysql(access, on, where);
  return {
    ended: mysql.ended,
    end: mysql.end,
    prepare: async (leaseMs) =>
      void (await mysql.query('SET SESSION wait_timeout = ?', [Math.max(1, Math.ceil(leaseMs / 1_000))])),
    async take(key, waitMs) {
      const untilNs = access.nowNs() + waitMs * 1e6;
      const restMs = () => (untilNs - access.nowNs()) / 1e6;
      const patienceMs = waitMs + access.options.commandTimeoutMs;
      const get = async (waitS: number) => {
        const { rows } = await mysql.query('SELECT GET_LOCK(?, ?) AS taken', [key, waitS], patienceMs);
        const taken = rows[0]?.taken;
        // NULL is an error: the session was killed, or it has run out of memory.
        if (taken === null || taken === undefined) throw new Error('GET_LOCK answered NULL');
        return Number(taken) === 1;
      };
      let isTaken = await get(on.waitS(waitMs));
      // A server that waits for whole seconds is asked again in what is left of the wait.
      while (!isTaken && restMs() > 0) {
        await access.sleep(Math.min(PAUSE_MS, Math.ceil(restMs())));
        isTaken = await get(0);
      }
      return isTaken;
    },
    keepAlive: async () => void (await mysql.query('SELECT 1')),
    async free(key) {
      const { rows } = await mysql.query('SELECT RELEASE_LOCK(?) AS done', [key]);
      return Number(rows[0]?.done) === 1;
    },
  };
}
