/** A PostgreSQL server as its failover manager reaches it: over TCP at its own address, as anybody else. */
import { PgAdmin } from '../postgres/admin.js';
import { ROLE, roleIn } from '../postgres/sql.js';
import type { Saying } from './decide.js';
import type { Order } from './messages.js';
import { WatchedDatabase } from './watched.js';

const ANSWER_TIMEOUT_MS = 500;
const PROMOTE_S = 5;

export class WatchedPostgres extends WatchedDatabase {
  private readonly admin: PgAdmin;
  private readonly promoting: PgAdmin;

  constructor(endpoint: Order['servers'][number], password: string) {
    super(endpoint);
    this.admin = new PgAdmin({ host: endpoint.host, port: endpoint.port, password }, ANSWER_TIMEOUT_MS);
    const { host, port } = endpoint;
    this.promoting = new PgAdmin({ host, port, password }, (PROMOTE_S + 1) * 1_000);
  }

  protected async saying(): Promise<Saying> {
    const [row] = await this.admin.ask(`
      SELECT r.*, CASE WHEN r.is_replica THEN coalesce(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
          ELSE pg_current_wal_lsn() END - '0/0' AS bytes,
        substring(current_setting('primary_conninfo') FROM 'host=''?([^'' ]+)') AS follows
      FROM (${ROLE}) r`);
    const { role, term } = roleIn(row!);
    return {
      role: role === 'primary' ? 'primary' : 'replica',
      // Whom it is to follow, be it that it cannot reach it now.
      ...(role === 'replica' && typeof row!.follows === 'string' && { follows: row!.follows }),
      offset: Number(row!.bytes),
      stream: `timeline ${term}`,
      ...(role === 'primary' && term > 1 && { formerStream: `timeline ${term - 1}` }),
    };
  }

  /** A promotion waits until the server takes writes. */
  protected async becomePrimary(): Promise<void> {
    await this.promoting.ask('SELECT CASE WHEN pg_is_in_recovery() THEN pg_promote(true, $1) END', [PROMOTE_S]);
    this.promoting.close();
  }
}
