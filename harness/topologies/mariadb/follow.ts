/**
 * What a MariaDB server has stored for each key: every change of the lock table, which triggers write down; and locks of GET_LOCK
 * with the name of whose session it is, which are asked for again and again: who had one for less than that is not seen.
 *
 * The log of the table is of all servers, each entry with the number of who wrote it; sessions' locks are of a server's own process.
 */
import type { Clock } from '../../vocabulary/time.js';
import type { ServiceNews } from '../../vocabulary/topology.js';
import { LOCKS_DATABASE, type MariaAdmin } from './admin.js';

const KEYS = "JSON_TABLE(?, '$[*]' COLUMNS (lock_key varchar(190) COLLATE utf8mb4_bin PATH '$')) AS k";

const SESSIONS = `
  SELECT k.lock_key, IS_USED_LOCK(k.lock_key) AS id, (
    SELECT a.ATTR_VALUE FROM performance_schema.session_connect_attrs a
    WHERE a.PROCESSLIST_ID = IS_USED_LOCK(k.lock_key) AND a.ATTR_NAME = 'program_name'
  ) AS program
  FROM ${KEYS}`;

/** Numbers are drawn before a commit, so a lower one may be seen later. */
const CHANGES = `
  SELECT l.id, l.lock_key, l.owner, l.server FROM ${LOCKS_DATABASE}.lock_log l JOIN ${KEYS} ON k.lock_key = l.lock_key
  WHERE l.id > ? ORDER BY l.id`;
const SEEN_LATER = 100;

/** How long a key is stored on this server yet, in milliseconds; `id`: of whose session a lock of it is. */
export const MARIADB_LEFT_MS = `
  SELECT IS_USED_LOCK(?) AS id, (
    SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expires) / 1000 FROM ${LOCKS_DATABASE}.lock_rows
    WHERE lock_key = ? AND owner <> ''
  ) AS left_ms`;

interface Following {
  node: string;
  runId: string;
  keys: readonly string[];
  heard: (news: ServiceNews) => void;
  clock: Clock;
}

/** Asks once with every call. */
export function followMariadbLocks(admin: MariaAdmin, following: Following): () => Promise<void> {
  const { keys, heard, clock } = following;
  const wanted = JSON.stringify(keys);
  const log = `sessions of ${following.node} (process ${following.runId})`;
  const sessions = new Map<string, string | undefined>();
  const seen = new Set<number>();
  let last = 0;
  return async () => {
    for (const row of await admin.ask(CHANGES, [wanted, last - SEEN_LATER])) {
      const position = Number(row.id);
      if (seen.has(position)) continue;
      seen.add(position);
      last = Math.max(last, position);
      const { lock_key: key, owner, server } = row as { lock_key: string; owner: string; server: number };
      heard({ key, log: `rows of server ${server}`, position, ...(owner !== '' && { owner }) });
    }
    for (const { lock_key, id, program } of await admin.ask(SESSIONS, [wanted])) {
      const key = String(lock_key);
      const session = id === null ? undefined : `${program ?? 'session'}:${id}`;
      if (sessions.has(key) && sessions.get(key) === session) continue;
      sessions.set(key, session);
      heard({ key, log, position: clock.nowNs(), isSampled: true, ...(session !== undefined && { owner: session }) });
    }
  };
}
