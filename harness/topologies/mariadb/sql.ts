/** What is asked of MariaDB, and how its servers are set. */
import type { ServerRole, Setting } from '../../vocabulary/topology.js';
import type { SqlRow } from '../sql-admin.js';
import { LOCKS_DATABASE, MARIADB_USER, OPERATOR } from './admin.js';

/** Of a row in a trigger, by the server's clock: until it is over. */
const msUntil = (row: 'NEW' | 'OLD') =>
  `IF(${row}.owner = '', NULL, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), ${row}.expires) / 1000)`;

/**
 * A row a key, which stays when its holder has gone, so that the token goes on rising; and its own record: every change, be it of the expiry alone, with the
 * number of the server that made it, for how long the row is to be kept from then on, and how long the one that it takes the place of
 * would have been yet. Made by whoever sets up; each takes the password for its `?`.
 */
export const MARIADB_SCHEMA: readonly string[] = [
  `CREATE DATABASE ${LOCKS_DATABASE}`,
  `CREATE TABLE ${LOCKS_DATABASE}.lock_rows (
     lock_key varchar(190) COLLATE utf8mb4_bin PRIMARY KEY,
     owner varchar(190) COLLATE utf8mb4_bin NOT NULL DEFAULT '',
     token bigint NOT NULL DEFAULT 0,
     expires datetime(6) NOT NULL DEFAULT '1970-01-01'
   ) ENGINE=InnoDB`,
  `CREATE TABLE ${LOCKS_DATABASE}.lock_log (
     id bigint AUTO_INCREMENT PRIMARY KEY,
     lock_key varchar(190) COLLATE utf8mb4_bin NOT NULL,
     owner varchar(190) COLLATE utf8mb4_bin NOT NULL,
     token bigint,
     kept_ms double,
     left_ms double,
     server int unsigned NOT NULL
   ) ENGINE=InnoDB`,
  `CREATE TRIGGER ${LOCKS_DATABASE}.log_made AFTER INSERT ON ${LOCKS_DATABASE}.lock_rows FOR EACH ROW
     INSERT INTO ${LOCKS_DATABASE}.lock_log (lock_key, owner, token, kept_ms, server)
       VALUES (NEW.lock_key, NEW.owner, NEW.token, ${msUntil('NEW')}, @@server_id)`,
  `CREATE TRIGGER ${LOCKS_DATABASE}.log_changed AFTER UPDATE ON ${LOCKS_DATABASE}.lock_rows FOR EACH ROW
     IF NEW.owner <> OLD.owner OR NEW.expires <> OLD.expires THEN
       INSERT INTO ${LOCKS_DATABASE}.lock_log (lock_key, owner, token, kept_ms, left_ms, server)
         VALUES (NEW.lock_key, NEW.owner, NEW.token, ${msUntil('NEW')}, ${msUntil('OLD')}, @@server_id);
     END IF`,
  `CREATE TRIGGER ${LOCKS_DATABASE}.log_removed AFTER DELETE ON ${LOCKS_DATABASE}.lock_rows FOR EACH ROW
     INSERT INTO ${LOCKS_DATABASE}.lock_log (lock_key, owner, server) VALUES (OLD.lock_key, '', @@server_id)`,
  `CREATE USER '${MARIADB_USER}'@'%' IDENTIFIED BY ?`,
  `GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER ON ${LOCKS_DATABASE}.* TO '${MARIADB_USER}'@'%'`,
  `CREATE USER '${OPERATOR}'@'%' IDENTIFIED BY ?`,
  `GRANT ALL ON *.* TO '${OPERATOR}'@'%'`,
];

/**
 * Every server that is built has a number that is greater than those before, and a replica is built after its primary: so the
 * number of whoever is primary rises with every promotion, and names what it wrote. A replica's is of whose writes it had last.
 */
export const MARIADB_ROLE = `
  SELECT @@read_only AS is_replica,
    IF(@@read_only, SUBSTRING_INDEX(SUBSTRING_INDEX(@@gtid_slave_pos, '-', 2), '-', -1), @@server_id) AS writer`;

export function mariadbRoleIn({ is_replica, writer }: SqlRow): Omit<ServerRole, 'runId'> {
  return { role: Number(is_replica) === 1 ? 'replica' : 'primary', term: Number(writer ?? 0) };
}

/** The number in a position such as `0-1-57`: how much has been written. */
export function gtidSequenceOf(gtid: unknown): number {
  return Number(String(gtid ?? '').split('-')[2] ?? 0);
}

type Given = Omit<Setting, 'where'>;

/** For people and for the server. `isSynchronous`: a commit waits until the replica has it. */
export function mariadbSettings(isSynchronous: boolean): readonly Given[] {
  return [
    {
      name: 'bind_address',
      value: '0.0.0.0',
      why: "the virtual address comes and goes; there is nothing beyond the run's own network",
    },
    { name: 'max_connections', value: '300', why: 'every lock client may have one for each lock' },
    {
      name: 'innodb_flush_method',
      value: 'nosync',
      why: 'no fault here takes away what the kernel has: a killed server loses nothing by it',
    },
    { name: 'debug_no_sync', value: 'ON', why: 'as before' },
    { name: 'innodb_flush_log_at_trx_commit', value: '2', why: 'the kernel has what was committed' },
    { name: 'binlog_format', value: 'ROW', why: 'replicas get what was done, and not how' },
    { name: 'log_slave_updates', value: 'ON', why: 'who is promoted has all that was written, for those that follow' },
    { name: 'gtid_strict_mode', value: 'ON', why: 'no replica has what its primary has not' },
    { name: 'performance_schema', value: 'ON', why: 'there stands whose a session is' },
    { name: 'slave_net_timeout', value: '1', why: 'a replica whose primary is cut off looks for it again soon (s)' },
    {
      name: 'rpl_semi_sync_slave_enabled',
      value: isSynchronous ? 'ON' : 'OFF',
      why: isSynchronous
        ? 'a commit is answered when the replica has it'
        : 'a commit is answered before the replica has it, as it is by default',
    },
    ...(isSynchronous
      ? [
          { name: 'rpl_semi_sync_master_wait_point', value: 'AFTER_SYNC', why: 'nobody sees what the replica has not' },
          {
            name: 'rpl_semi_sync_master_timeout',
            value: '4294967295',
            why: 'it never goes on without the replica (ms)',
          },
        ]
      : []),
  ];
}

/** What keeps the server small, and says nothing to people. */
export const SMALL: readonly string[] = [
  '--innodb-buffer-pool-size=16M',
  '--innodb-log-file-size=16M',
  '--key-buffer-size=64K',
  '--aria-pagecache-buffer-size=1M',
  '--performance-schema-instrument=%=OFF',
  '--performance-schema-digests-size=0',
  '--performance-schema-max-table-instances=0',
  '--performance-schema-events-statements-history-long-size=0',
  '--performance-schema-events-statements-history-size=0',
  '--performance-schema-max-digest-length=0',
];
