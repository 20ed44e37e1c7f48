/**
 * MySQL's words. The number of a server stands in its UUID as well, by which sets of transactions name who wrote what:
 * `00000000-0000-0000-0000-000000000001:1-57`.
 */
import type { Flavour } from './flavour.js';

const NOBODY = '00000000-0000-0000-0000-';

export const MYSQL: Flavour = {
  name: 'mysql',
  settings: [
    { name: 'sync_binlog', value: '0', why: 'as before' },
    { name: 'gtid_mode', value: 'ON', why: 'what a replica lacks is told by transactions' },
    { name: 'enforce_gtid_consistency', value: 'ON', why: 'as before' },
    { name: 'replica_parallel_workers', value: '1', why: 'a replica has no gaps' },
    { name: 'replica_net_timeout', value: '1', why: 'a replica whose primary is cut off looks for it again soon (s)' },
  ],
  small: [
    '--innodb-redo-log-capacity=8M',
    '--innodb-log-buffer-size=1M',
    '--mysqlx=OFF',
    '--table-open-cache=100',
    '--table-definition-cache=400',
    '--open-files-limit=2000',
    // Keys for the network come with the system tables, and certificates are of no use here.
    '--auto-generate-certs=OFF',
    // It would refuse to start where a folder of the distribution's is not there.
    '--secure-file-priv=NULL',
  ],
  flags: (usr) => [
    '--skip-replica-start',
    '--pid-file=pid',
    `--plugin-dir=${usr}/lib/mysql/plugin`,
    '--plugin-load-add=semisync_source.so',
    '--plugin-load-add=semisync_replica.so',
  ],
  shared: ['share/mysql'],
  systemTables: async () => ({ flags: ['--initialize-insecure'], input: '' }),
  files: (number) => ({ 'auto.cnf': `[auto]\nserver-uuid=${NOBODY}${String(number).padStart(12, '0')}\n` }),
  semiSync: { source: 'rpl_semi_sync_source', replica: 'rpl_semi_sync_replica' },
  state: 'SELECT @@read_only AS is_replica, @@server_id AS server, @@global.gtid_executed AS executed',
  stateIn({ is_replica, server, executed }) {
    const isReplica = Number(is_replica) === 1;
    const writers = [...ends([executed]).keys()];
    const writer = writers.length === 0 ? undefined : Math.max(...writers);
    return {
      role: isReplica ? 'replica' : 'primary',
      term: isReplica ? (writer ?? 0) : Number(server),
      writer,
      executed,
    };
  },
  toFollow({ host, port, user, password }) {
    const source = {
      SOURCE_HOST: `'${host}'`,
      SOURCE_PORT: port,
      SOURCE_USER: `'${user}'`,
      SOURCE_PASSWORD: `'${password}'`,
      SOURCE_AUTO_POSITION: 1,
      SOURCE_CONNECT_RETRY: 1,
      // By default it gives up after ten.
      SOURCE_RETRY_COUNT: 86_400,
      SOURCE_HEARTBEAT_PERIOD: 0.3,
      // By default it wants a certificate, which no server has here.
      SOURCE_SSL: 0,
      GET_SOURCE_PUBLIC_KEY: 1,
    };
    const settings = Object.entries(source).map(([name, value]) => `${name} = ${value}`);
    return `CHANGE REPLICATION SOURCE TO ${settings.join(', ')};\nSTART REPLICA;\n`;
  },
  replication: {
    status: 'SHOW REPLICA STATUS',
    source: 'Source_Host',
    running: ['Replica_IO_Running', 'Replica_SQL_Running'],
    received: 'Retrieved_Gtid_Set',
    stopReceiving: 'STOP REPLICA IO_THREAD',
    stop: 'STOP REPLICA',
    forgetSource: 'RESET REPLICA ALL',
    carriedOut: 'SELECT WAIT_FOR_EXECUTED_GTID_SET(?, ?) AS waited',
  },
  // A replica that was started again has received what it lacked, and not what it had.
  written: (...sets) => [...ends(sets).values()].reduce((sum, end) => sum + end, 0),
};

/** By the number of who wrote them, that of the last transaction of each: there are no gaps. */
function ends(sets: readonly unknown[]): ReadonlyMap<number, number> {
  const last = new Map<number, number>();
  for (const set of sets) {
    for (const [, uuid, transactions] of String(set ?? '').matchAll(/([\da-f-]{36}):([\d:-]+)/gi)) {
      const writer = Number(uuid!.split('-').at(-1));
      const end = Math.max(...transactions!.split(/[:-]/).map(Number));
      last.set(writer, Math.max(end, last.get(writer) ?? 0));
    }
  }
  return last;
}
