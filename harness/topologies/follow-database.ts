/**
 * What a database has stored for each key, told as it changes: entries of the log of the lock table, each once, and whose session has
 * a lock, which is asked for again and again: who had one for less than that is not seen.
 */
import type { Clock } from '../vocabulary/time.js';
import type { ServiceNews } from '../vocabulary/topology.js';

/** Numbers of a log's entries are drawn before a commit, so a lower one may be seen later. */
const SEEN_LATER = 100;

export interface Following {
  node: string;
  runId: string;
  keys: readonly string[];
  heard: (news: ServiceNews) => void;
  clock: Clock;
}

/** An entry of the log, also where a row is only prolonged; `keptMs`, `leftMs` as `ServiceNews` has them, null where it does not say. */
export interface RowChange {
  position: number;
  key: string;
  owner: string;
  log: string;
  term: number;
  token: unknown;
  keptMs: unknown;
  leftMs: unknown;
}

/** What is asked of a database. */
export interface FollowedDatabase {
  /** Entries of the log with a higher number than `position`, in order; `owner`: empty where the key is free since. */
  changes(position: number): Promise<readonly RowChange[]>;
  /** Of each key whose session has a lock of it. */
  sessions(): Promise<readonly { key: string; session: string | undefined }[]>;
}

/** Asks once with every call. */
export function followDatabase(database: FollowedDatabase, { node, runId, heard, clock }: Following) {
  const log = `sessions of ${node} (process ${runId})`;
  const sessions = new Map<string, string | undefined>();
  const seen = new Set<number>();
  let last = 0;
  return async (): Promise<void> => {
    for (const { owner, token, keptMs, leftMs, ...entry } of await database.changes(last - SEEN_LATER)) {
      if (seen.has(entry.position)) continue;
      seen.add(entry.position);
      last = Math.max(last, entry.position);
      heard({
        ...entry,
        ...(owner !== '' && { owner }),
        ...(owner !== '' && token !== null && { token: Number(token) }),
        ...(keptMs !== null && { keptMs: Number(keptMs) }),
        ...(leftMs !== null && { leftMs: Number(leftMs) }),
      });
    }
    for (const { key, session } of await database.sessions()) {
      if (sessions.has(key) && sessions.get(key) === session) continue;
      sessions.set(key, session);
      heard({ key, log, position: clock.nowNs(), isSampled: true, ...(session !== undefined && { owner: session }) });
    }
  };
}
