/** MariaDB's words. */
import type { Flavour } from './flavour.js';

const SYSTEM_TABLES = ['system_tables', 'performance_tables', 'system_tables_data'];

export const MARIADB: Flavour = {
  name: 'mariadb',
  settings: [
    { name: 'debug_no_sync', value: 'ON', why: 'as before' },
    { name: 'binlog_format', value: 'ROW', why: 'replicas get what was done, and not how' },
    { name: 'log_slave_updates', value: 'ON', why: 'who is promoted has all that was written, for those that follow' },
    { name: 'gtid_strict_mode', value: 'ON', why: 'no replica has what its primary has not' },
    { name: 'performance_schema', value: 'ON', why: 'there stands whose a session is' },
    { name: 'slave_net_timeout', value: '1', why: 'a replica whose primary is cut off looks for it again soon (s)' },
  ],
  small: [
    '--innodb-log-file-size=16M',
    '--aria-pagecache-buffer-size=1M',
    '--performance-schema-max-table-instances=0',
    '--performance-schema-events-statements-history-long-size=0',
    '--performance-schema-events-statements-history-size=0',
  ],
  flags: () => ['--skip-slave-start'],
  shared: ['share/mysql', 'share/mariadb'],
  /** As `mariadb-install-db` has it, without help texts, and without users that have no password but the one of the socket. */
  async systemTables(statementsOf) {
    const files = await Promise.all(SYSTEM_TABLES.map(statementsOf));
    const input = [
      'CREATE DATABASE IF NOT EXISTS mysql;',
      'USE mysql;',
      'SET @auth_root_socket = NULL;',
      'SET @skip_auth_anonymous = 1;',
      ...files,
    ].join('\n');
    return { flags: ['--bootstrap', '--debug-no-sync=ON'], input };
  },
  files: () => ({}),
  semiSync: { source: 'rpl_semi_sync_master', replica: 'rpl_semi_sync_slave' },
  state: `
    SELECT @@read_only AS is_replica, @@server_id AS server, @@gtid_slave_pos AS followed, @@gtid_binlog_pos AS written,
      @@gtid_current_pos AS current`,
  stateIn({ is_replica, server, followed, written, current }) {
    const isReplica = Number(is_replica) === 1;
    return {
      role: isReplica ? 'replica' : 'primary',
      term: isReplica ? (writerOf(followed) ?? 0) : Number(server),
      writer: writerOf(current),
      executed: isReplica ? current : written,
    };
  },
  toFollow({ host, port, user, password }) {
    const master = {
      MASTER_HOST: `'${host}'`,
      MASTER_PORT: port,
      MASTER_USER: `'${user}'`,
      MASTER_PASSWORD: `'${password}'`,
      MASTER_USE_GTID: 'slave_pos',
      MASTER_CONNECT_RETRY: 1,
      MASTER_HEARTBEAT_PERIOD: 0.3,
    };
    const settings = Object.entries(master).map(([name, value]) => `${name} = ${value}`);
    return `CHANGE MASTER TO ${settings.join(', ')};\nSTART SLAVE;\n`;
  },
  replication: {
    status: 'SHOW SLAVE STATUS',
    source: 'Master_Host',
    running: ['Slave_IO_Running', 'Slave_SQL_Running'],
    received: 'Gtid_IO_Pos',
    stopReceiving: 'STOP SLAVE IO_THREAD',
    stop: 'STOP SLAVE',
    forgetSource: 'RESET SLAVE ALL',
    carriedOut: 'SELECT MASTER_GTID_WAIT(?, ?) AS waited',
  },
  // What it received last, it has carried out, or will.
  written: (executed, received) => sequenceOf(received ?? executed),
};

/** The server's number in a position such as `0-1-57`. */
function writerOf(gtid: unknown): number | undefined {
  const server = String(gtid ?? '').split('-')[1];
  return server === undefined ? undefined : Number(server);
}

/** The last number in it: how much has been written. */
function sequenceOf(gtid: unknown): number {
  return Number(String(gtid ?? '').split('-')[2] ?? 0);
}
