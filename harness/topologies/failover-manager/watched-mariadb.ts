/** A MariaDB server as its failover manager reaches it: over TCP at its own address, as anybody else. */
import { MariaAdmin } from '../mariadb/admin.js';
import { gtidSequenceOf, MARIADB_ROLE, mariadbRoleIn } from '../mariadb/sql.js';
import type { Saying } from './decide.js';
import type { Order } from './messages.js';
import { WatchedDatabase } from './watched.js';

const ANSWER_TIMEOUT_MS = 500;
const PROMOTE_S = 5;

export class WatchedMariadb extends WatchedDatabase {
  private readonly admin: MariaAdmin;
  private readonly promoting: MariaAdmin;

  constructor(endpoint: Order['servers'][number], password: string) {
    super(endpoint);
    const { host, port } = endpoint;
    this.admin = new MariaAdmin({ host, port, password }, ANSWER_TIMEOUT_MS);
    this.promoting = new MariaAdmin({ host, port, password }, (PROMOTE_S + 1) * 1_000);
  }

  protected async saying(): Promise<Saying> {
    const [row] = await this.admin.ask(
      `SELECT r.*, @@gtid_binlog_pos AS written, @@gtid_current_pos AS current FROM (${MARIADB_ROLE}) r`,
    );
    const { role, term } = mariadbRoleIn(row!);
    if (role === 'primary') {
      const writer = Number(String(row!.current).split('-')[1] ?? term);
      return {
        role,
        offset: gtidSequenceOf(row!.written),
        stream: streamOf(term),
        // Promoted, and not written to yet.
        ...(writer !== term && { formerStream: streamOf(writer) }),
      };
    }
    const [status] = await this.admin.ask('SHOW SLAVE STATUS');
    return {
      role: 'replica',
      // Whom it is to follow, be it that it cannot reach it now.
      ...(status && { follows: String(status.Master_Host) }),
      offset: gtidSequenceOf(status?.Gtid_IO_Pos ?? row!.current),
      stream: streamOf(term),
    };
  }

  /** Once it has carried out all that it had received: what a commit waited for is not lost. */
  protected async becomePrimary(): Promise<void> {
    const { promoting } = this;
    const [status] = await promoting.ask('SHOW SLAVE STATUS');
    if (status) {
      await promoting.ask('STOP SLAVE IO_THREAD');
      const received = (await promoting.ask('SHOW SLAVE STATUS'))[0]?.Gtid_IO_Pos ?? '';
      const [waited] = await promoting.ask('SELECT MASTER_GTID_WAIT(?, ?) AS waited', [received, PROMOTE_S]);
      if (Number(waited!.waited) !== 0) throw new Error(`it has not carried out what it received, up to ${received}`);
      await promoting.ask('STOP SLAVE');
      await promoting.ask('RESET SLAVE ALL');
    }
    const [semi] = await promoting.ask('SELECT @@global.rpl_semi_sync_slave_enabled AS synchronous');
    if (Number(semi!.synchronous) === 1) await promoting.ask('SET GLOBAL rpl_semi_sync_master_enabled = ON');
    await promoting.ask('SET GLOBAL read_only = OFF');
    promoting.close();
  }
}

function streamOf(server: number): string {
  return `what server ${server} wrote`;
}
