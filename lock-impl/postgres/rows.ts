/** A row of PostgreSQL for each lock. A row that somebody else is about to change is skipped (`SKIP LOCKED`) and tried again. */
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import type { BlindRowStore } from '../row-lock.js';
import { kept } from '../sql-connection.js';
import { connectPostgres, loadPg, type PgConnection } from './connections.js';

const LEASE = "clock_timestamp() + $3 * interval '1 millisecond'";
const MAKE = 'INSERT INTO lock_rows (key) VALUES ($1) ON CONFLICT DO NOTHING';
const TAKE = `
  WITH free AS (
    SELECT key FROM lock_rows WHERE key = $1 AND expires < clock_timestamp() FOR UPDATE SKIP LOCKED
  )
  UPDATE lock_rows SET owner = $2, token = token + 1, expires = ${LEASE}
  FROM free WHERE lock_rows.key = free.key
  RETURNING token`;
const PROLONG = `
  UPDATE lock_rows SET expires = ${LEASE}
  WHERE key = $1 AND owner = $2 AND expires > clock_timestamp()
  RETURNING token`;
const GIVE_BACK = `
  UPDATE lock_rows SET owner = '', expires = '-infinity' WHERE key = $1 AND owner = $2
  RETURNING token`;
const IS_TAKEN = 'SELECT FROM lock_rows WHERE key = $1 AND expires > clock_timestamp()';
const OVERWRITE = `
  INSERT INTO lock_rows (key, owner, token, expires) VALUES ($1, $2, 1, ${LEASE})
  ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, token = lock_rows.token + 1, expires = excluded.expires`;

export async function openPostgresRows(access: TopologyAccess): Promise<() => Promise<BlindRowStore>> {
  await loadPg();
  const connection = kept(() => connectPostgres(access));
  return async () => rows(await connection());
}

function rows(pg: PgConnection): BlindRowStore {
  return {
    make: async (key) => void (await pg.query(MAKE, [key])),
    async take(key, owner, leaseMs) {
      const [row] = await pg.query(TAKE, [key, owner, leaseMs]);
      return row && Number(row.token);
    },
    prolong: async (key, owner, leaseMs) => (await pg.query(PROLONG, [key, owner, leaseMs])).length > 0,
    giveBack: async (key, owner) => (await pg.query(GIVE_BACK, [key, owner])).length > 0,
    isTaken: async (key) => (await pg.query(IS_TAKEN, [key])).length > 0,
    overwrite: async (key, owner, leaseMs) => void (await pg.query(OVERWRITE, [key, owner, leaseMs])),
  };
}
