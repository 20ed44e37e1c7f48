/** What is asked of PostgreSQL, and how its servers are set. */
import type { ServerRole, Setting } from '../../vocabulary/topology.js';
import type { SqlRow } from '../sql-admin.js';

/** A row a key, which stays when its holder has gone, so that the token goes on rising. Made for the locks, by whoever sets up. */
export const SCHEMA: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS lock_rows (
     key text PRIMARY KEY,
     owner text NOT NULL DEFAULT '',
     token bigint NOT NULL DEFAULT 0,
     expires timestamptz NOT NULL DEFAULT '-infinity'
   )`,
  // Its own record: every change, be it of the expiry alone, in the order of commits of a key, with the timeline in which it was made; for how long a row is to be
  // kept from then on, and how long the one that it takes the place of would have been yet.
  `CREATE TABLE IF NOT EXISTS lock_log (
     id bigserial PRIMARY KEY,
     key text NOT NULL,
     owner text NOT NULL,
     token bigint,
     kept_ms float8,
     left_ms float8,
     timeline int NOT NULL DEFAULT ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int
   )`,
  `CREATE OR REPLACE FUNCTION ms_until(timestamptz) RETURNS float8 LANGUAGE sql AS $$
     SELECT CASE WHEN isfinite($1) THEN extract(epoch FROM $1 - clock_timestamp()) * 1000 END $$`,
  `CREATE OR REPLACE FUNCTION log_lock() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     IF TG_OP = 'DELETE' THEN INSERT INTO lock_log (key, owner) VALUES (OLD.key, '');
     ELSIF TG_OP = 'INSERT' THEN
       INSERT INTO lock_log (key, owner, token, kept_ms) VALUES (NEW.key, NEW.owner, NEW.token, ms_until(NEW.expires));
     ELSIF NEW.owner <> OLD.owner OR NEW.expires <> OLD.expires THEN
       INSERT INTO lock_log (key, owner, token, kept_ms, left_ms)
         VALUES (NEW.key, NEW.owner, NEW.token, ms_until(NEW.expires), ms_until(OLD.expires));
     END IF;
     RETURN NULL;
   END $$`,
  'CREATE OR REPLACE TRIGGER log_lock AFTER INSERT OR UPDATE OR DELETE ON lock_rows FOR EACH ROW EXECUTE FUNCTION log_lock()',
];

/** A server's timeline rises with every promotion; of a primary it is in the name of the file that it writes. */
export const ROLE = `
  SELECT pg_is_in_recovery() AS is_replica,
    CASE WHEN pg_is_in_recovery()
      THEN coalesce((SELECT received_tli FROM pg_stat_wal_receiver), (SELECT timeline_id FROM pg_control_checkpoint()))
      ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int
    END AS timeline`;

export function roleIn({ is_replica, timeline }: SqlRow): Omit<ServerRole, 'runId'> {
  return { role: is_replica === true ? 'replica' : 'primary', term: Number(timeline) };
}

type Given = Omit<Setting, 'where'>;

export function settingsOf(synchronous: boolean): readonly Given[] {
  return [
    {
      name: 'listen_addresses',
      value: '*',
      why: "the virtual address comes and goes; there is nothing beyond the run's own network",
    },
    { name: 'unix_socket_directories', value: '..', why: 'the harness asks through it, which no fault cuts' },
    { name: 'max_connections', value: '300', why: 'every lock client may have one for each lock' },
    {
      name: 'fsync',
      value: 'off',
      why: 'no fault here takes away what the kernel has: a killed server loses nothing by it',
    },
    { name: 'hot_standby_feedback', value: 'on', why: 'replicas are asked what they have' },
    {
      name: 'wal_receiver_timeout',
      value: '1000',
      why: 'a replica whose primary is cut off looks for it again soon (ms)',
    },
    {
      name: 'wal_sender_timeout',
      value: '1000',
      why: 'a primary ends what it sends to a replica that is cut off (ms)',
    },
    { name: 'wal_retrieve_retry_interval', value: '100', why: 'a replica comes back as soon as its primary does (ms)' },
    {
      name: 'synchronous_standby_names',
      value: synchronous ? '*' : '',
      why: synchronous
        ? 'a commit is answered when the replica has it'
        : 'a commit is answered before the replica has it, as it is by default',
    },
  ];
}
