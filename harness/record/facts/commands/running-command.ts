import type { Execution, SetOptions } from './execution.js';
import type { ServerKeys } from './server-keys.js';
import { ABSENT, join, type Origin, type StoredState, type Times, UNKNOWN } from './state.js';
import type { Truth } from './truth.js';

interface Staged {
  name: string;
  db: number;
  state: StoredState;
  applied: Truth;
  wanted?: StoredState;
  onlyNew?: boolean;
}

/** A key that a command concerned, which may have done nothing to it. */
export interface Touched {
  readonly name: string;
  readonly db: number;
  readonly before: StoredState;
  /** Whether the key's time was over when the command looked is not known. */
  readonly mayHaveExpired: boolean;
}

/** One command at work; what it does to a key is one change. */
export class RunningCommand implements Execution {
  private readonly staged = new Map<string, Staged>();

  constructor(
    private readonly keys: ServerKeys,
    readonly by: Origin,
    readonly args: readonly string[],
    readonly db: number,
    readonly now: Times,
  ) {}

  get databases(): number {
    return this.keys.databases;
  }

  get = (name: string, db = this.db): StoredState => {
    const staged = this.staged.get(`${db} ${name}`);
    if (staged) return staged.state;
    return this.keys.follows(name) ? this.keys.by(this.keys.key(name, db).state, this.now) : UNKNOWN;
  };

  set = (
    name: string,
    state: StoredState,
    applied: Truth,
    { db = this.db, wanted, onlyNew }: SetOptions = {},
  ): void => {
    if (!this.keys.follows(name)) return;
    // What is over at once is not there; what may be is, for this command.
    const left = this.keys.by(state, this.now);
    this.staged.set(`${db} ${name}`, {
      name,
      db,
      state: left.exists === 'no' ? left : state,
      applied,
      ...(wanted && { wanted }),
      ...(onlyNew && { onlyNew }),
    });
  };

  flush = (db?: number): void => {
    for (const [name, number] of [...this.keys.all()])
      if (db === undefined || number === db) this.set(name, ABSENT, this.get(name, number).exists, { db: number });
    this.keys.setOthers(ABSENT, db);
  };

  swap = (one: number, other: number, isDone: boolean): void => {
    const [a, b] = [this.keys.database(one), this.keys.database(other)];
    for (const name of new Set([...a.keys.keys(), ...b.keys.keys()])) {
      const [left, right] = [this.get(name, one), this.get(name, other)];
      this.set(name, isDone ? right : join(left, right), isDone ? 'yes' : 'unknown', { db: one });
      this.set(name, isDone ? left : join(left, right), isDone ? 'yes' : 'unknown', { db: other });
    }
    [a.others, b.others] = isDone ? [b.others, a.others] : [join(a.others, b.others), join(a.others, b.others)];
  };

  wait = (name: string): void => {
    if (this.keys.follows(name)) this.keys.key(name, this.db).waitedFor = true;
  };

  finish(): Touched[] {
    const { line, atNs, serverWallMs } = this.by;
    const touched: Touched[] = [];
    for (const { name, db, state, applied, wanted, onlyNew } of this.staged.values()) {
      const key = this.keys.key(name, db);
      const before = key.state;
      const left = this.keys.by(before, this.now);
      touched.push({ name, db, before, mayHaveExpired: left.exists !== before.exists && left.exists === 'unknown' });
      if (left !== before)
        this.keys.put(name, db, left, {
          how: 'expired',
          line,
          atNs,
          applied: left.exists === 'no' ? 'yes' : 'unknown',
        });
      this.keys.put(name, db, state, {
        how: 'command',
        line,
        atNs,
        by: this.by,
        applied,
        ...(wanted && { wanted }),
        ...(onlyNew && { onlyNew }),
      });
      key.askedWallMs = serverWallMs;
      // One that stores only where nothing is does nothing to what is there.
      if (applied === 'yes' || !onlyNew) key.touchedWallMs = serverWallMs;
    }
    return touched;
  }
}
