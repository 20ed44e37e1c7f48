/** The keys of one server, database by database, with what became of them. */
import { isWhole } from './arguments.js';
import { type Change, KeyChanges } from './changes.js';
import type { ServerClock } from './server-clock.js';
import { type StoredState, stateBy, type Times, UNKNOWN } from './state.js';

export interface ServerKey {
  state: StoredState;
  readonly changes: KeyChanges;
  /** The stamp of the last command that concerned it; of the last that may have done something else than be refused. */
  askedWallMs: number;
  touchedWallMs: number;
  /** Somebody may be waiting for it. */
  waitedFor: boolean;
}

interface Database {
  readonly keys: Map<string, ServerKey>;
  /** What is known of keys that have not been seen. */
  others: StoredState;
}

const LONG_AGO = Number.NEGATIVE_INFINITY;

export class ServerKeys {
  /** What happens from here on did not happen before this, ns since the epoch. */
  ranFromNs = Number.NEGATIVE_INFINITY;
  /** On a replica the time of a key is over when its primary says so. */
  isReplica = false;
  /** As servers are configured by default; a Cluster may have but one. */
  databases = 16;
  private readonly dbs = new Map<number, Database>();

  constructor(
    private readonly clock: ServerClock,
    private readonly followed: (key: string) => boolean,
    /** What is known of a key that has not been seen, in a database that has not. */
    private others: StoredState,
    /** Whether stamps tell the very millisecond by which the server reckoned. */
    private readonly isExact: boolean,
  ) {}

  /** A long key is not printed whole, and cannot be distinguished from others. */
  follows(name: string): boolean {
    return isWhole(name) && this.followed(name);
  }

  key(name: string, db: number): ServerKey {
    const { keys, others } = this.database(db);
    const known = keys.get(name);
    if (known) return known;
    const changes = new KeyChanges(this.clock);
    const key = { state: others, changes, askedWallMs: LONG_AGO, touchedWallMs: LONG_AGO, waitedFor: false };
    if (this.follows(name)) keys.set(name, key);
    return key;
  }

  database(db: number): Database {
    let database = this.dbs.get(db);
    if (!database) {
      database = { keys: new Map(), others: this.others };
      this.dbs.set(db, database);
    }
    return database;
  }

  /** Every key that was seen, as it is now. */
  *all(): Iterable<readonly [name: string, db: number, state: StoredState]> {
    for (const [db, { keys }] of this.dbs) for (const [name, { state }] of keys) yield [name, db, state];
  }

  /** The clock was set back: the commands that concerned keys until then did so before whatever is stamped later than this. */
  setBackTo(wallMs: number): void {
    for (const { keys } of this.dbs.values())
      for (const key of keys.values()) {
        key.askedWallMs = Math.min(key.askedWallMs, wallMs);
        key.touchedWallMs = Math.min(key.touchedWallMs, wallMs);
      }
  }

  /** What is known of all keys of a database that have not been seen; without one, of all databases. */
  setOthers(state: StoredState, db?: number): void {
    if (db === undefined) this.others = state;
    else this.database(db);
    for (const [number, database] of this.dbs) if (db === undefined || db === number) database.others = state;
  }

  /**
   * A state by that time. In the millisecond at which a key's time ends who asks for it finds it still, but newer servers (Redis 8, by its
   * expire.c) may have removed it by themselves already.
   */
  by(state: StoredState, now: Times): StoredState {
    if (this.isReplica) return state;
    return stateBy(state, this.isExact ? { fromMs: now.fromMs, untilMs: now.untilMs + 1 } : now);
  }

  put(name: string, db: number, state: StoredState, change: Omit<Change, 'before' | 'after' | 'ranFromNs'>): void {
    const key = this.key(name, db);
    const isList = state.held === undefined || state.held.type === 'list' || state.held.type === 'zset';
    const to = key.waitedFor && isList && state.exists !== 'no' ? UNKNOWN : state;
    const ranFromNs = Math.min(this.ranFromNs, change.atNs);
    key.changes.list.push({ ...change, ranFromNs, before: key.state, after: to });
    key.state = to;
  }
}
