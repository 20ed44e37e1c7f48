/**
 * `pg-row` in two statements: a SELECT ("is it free?"), then an UPDATE that does not ask again. Two clients that read at once both
 * hold it, and the second takes the row from the first.
 */
import { tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { keptConnection } from './connections.js';
import { TOPOLOGIES } from './pg-row.js';

const pause = { minMs: 10, maxMs: 30 };

export default defineLock({
  name: 'pg-row-read-then-write',
  topologies: TOPOLOGIES,
  async connect(access) {
    const connection = await keptConnection(access);
    return {
      acquire: (key, options) =>
        tryUntilGranted(access, options, pause, async () => {
          const pg = await connection();
          const [taken] = await pg.query('SELECT FROM lock_rows WHERE key = $1 AND expires > clock_timestamp()', [key]);
          if (taken) return { refusedBecause: 'held' };
          const owner = access.ownerValue();
          const sentNs = access.nowNs();
          await pg.query(
            `INSERT INTO lock_rows (key, owner, token, expires)
               VALUES ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond')
             ON CONFLICT (key) DO UPDATE
               SET owner = excluded.owner, token = lock_rows.token + 1, expires = excluded.expires`,
            [key, owner, options.leaseMs],
          );
          return {
            hold: {
              grantSentNs: sentNs,
              validForMs: validForMs(access, sentNs, options.leaseMs),
              async release() {
                const free = "UPDATE lock_rows SET owner = '', expires = '-infinity' WHERE key = $1 AND owner = $2";
                await (await connection()).query(free, [key, owner]);
              },
            },
          };
        }),
    };
  },
});
