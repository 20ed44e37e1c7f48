/**
 * A row of a table for each lock, with owner, expiry and a counter: taken by an UPDATE of the row if its expiry is past, by the
 * server's own clock. A row that somebody else is about to change is skipped (`SKIP LOCKED`) and tried again. The counter is the
 * fencing token.
 *
 * It promises exclusion and rising tokens as long as the server keeps what it has committed and its clock is not set: a failover to
 * a replica that was not told in time loses the row. A client that sleeps past its lease is beside the next holder.
 */
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { keptConnection, type PgConnection } from './connections.js';

export const TOPOLOGIES = ['postgres', 'postgres-sync', 'postgres-single'];
const pause = { minMs: 10, maxMs: 30 };

const MAKE = 'INSERT INTO lock_rows (key) VALUES ($1) ON CONFLICT DO NOTHING';
const TAKE = `
  WITH free AS (
    SELECT key FROM lock_rows WHERE key = $1 AND expires < clock_timestamp() FOR UPDATE SKIP LOCKED
  )
  UPDATE lock_rows SET owner = $2, token = token + 1, expires = clock_timestamp() + $3 * interval '1 millisecond'
  FROM free WHERE lock_rows.key = free.key
  RETURNING token`;
const PROLONG = `
  UPDATE lock_rows SET expires = clock_timestamp() + $3 * interval '1 millisecond'
  WHERE key = $1 AND owner = $2 AND expires > clock_timestamp()
  RETURNING token`;
const GIVE_BACK = `
  UPDATE lock_rows SET owner = '', expires = '-infinity' WHERE key = $1 AND owner = $2
  RETURNING token`;

export default defineLock({
  name: 'pg-row',
  topologies: TOPOLOGIES,
  features: ['extend', 'fencing'],
  model: { kind: 'fenced' },
  async connect(access) {
    const connection = await keptConnection(access);
    const made = new Set<string>();
    return {
      acquire: (key, options) =>
        tryUntilGranted(access, options, pause, async () => {
          const pg = await connection();
          if (!made.has(key)) await pg.query(MAKE, [key]);
          made.add(key);
          return attempt(access, pg, connection, key, options.leaseMs);
        }),
    };
  },
});

async function attempt(
  access: TopologyAccess,
  pg: PgConnection,
  connection: () => Promise<PgConnection>,
  key: string,
  leaseMs: number,
): Promise<Attempt> {
  const owner = access.ownerValue();
  const sentNs = access.nowNs();
  const [row] = await pg.query(TAKE, [key, owner, leaseMs]);
  if (!row) return { refusedBecause: 'held' };
  const release = async () => (await (await connection()).query(GIVE_BACK, [key, owner])).length > 0;
  const remainsMs = validForMs(access, sentNs, leaseMs);
  if (remainsMs <= 0) {
    await release().catch(() => {});
    return { refusedBecause: 'granted-late' };
  }
  return {
    hold: {
      grantSentNs: sentNs,
      validForMs: remainsMs,
      token: Number(row.token),
      release,
      async extend(newLeaseMs) {
        const from = access.nowNs();
        const prolonged = await (await connection()).query(PROLONG, [key, owner, newLeaseMs]);
        return prolonged.length > 0 ? { validForMs: validForMs(access, from, newLeaseMs) } : null;
      },
    },
  };
}
