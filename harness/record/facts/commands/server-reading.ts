/**
 * Reads what one server was seen to do, line by line in its own order, and says what it stored under each key.
 *
 * What MONITOR prints, tried on Redis 7.0: every command that was carried out, also one that ran into an error while it was
 * (another type, no number, a condition that is not met), but not one that was turned away before (number of arguments,
 * NOAUTH, NOPERM, READONLY, OOM, NOREPLICAS, MOVED). The commands of a transaction come when it is executed, between MULTI and
 * EXEC; of one that was aborted or discarded none. A script comes first, then the commands that it called, which were
 * carried out: so a write without a condition among them was made, whatever the script had asked before.
 *
 * Nothing is printed of what replaces the data as a whole (a replica that is loaded from its primary, DEBUG, a restart), of a
 * key that expires, and of what a blocked client takes later. The first is a gap, from which on nothing is known; the second
 * follows from the server's clock; the third makes what it waits for unknown.
 */
import { isWhole } from './arguments.js';
import { type Change, KeyChanges } from './changes.js';
import type { Execution } from './execution.js';
import { refined, type SampleLine, settle } from './samples.js';
import { ServerClock } from './server-clock.js';
import { ABSENT, type Origin, type StoredState, stateBy, type Times, UNKNOWN } from './state.js';
import { isScript, readings, writesNothing } from './table.js';
import type { Truth } from './truth.js';

/** A line of MONITOR, and where it stands in the record. */
export interface CommandLine {
  readonly line: number;
  /** When it was read, ns since the epoch. */
  readonly atNs: number;
  /** It did not run before this; absent: no better is known than of the line before. */
  readonly ranFromNs?: number;
  readonly serverWallMs: number;
  readonly source: string;
  readonly client?: string;
  readonly argv: readonly string[];
  /** 0 unless given. */
  readonly db?: number;
}

/** Where something else stands in the record that is not a command. */
export interface RecordPlace {
  readonly line: number;
  readonly atNs: number;
}

export interface ServerReadingOptions {
  /** Keys of which every command is in the record. */
  follows(key: string): boolean;
  /** What is known of every key at first: nothing, unless given. */
  start?: StoredState;
}

interface Key {
  state: StoredState;
  readonly changes: KeyChanges;
  /** The stamp of the last command that concerned it. */
  touchedWallMs: number;
  /** Somebody may be waiting for it. */
  waitedFor: boolean;
}

interface Database {
  readonly keys: Map<string, Key>;
  /** What is known of keys that have not been seen. */
  others: StoredState;
}

/** A command looks at the clock before it is printed with it; Redis reckons in whole milliseconds. */
const LOOKED_BEFORE_MS = 2;
/** Stamps of one server do not fall by more than this, unless its clock was set back. */
const SET_BACK_MS = 5;

const FIELD_TIMES = new Set(['HEXPIRE', 'HPEXPIRE', 'HEXPIREAT', 'HPEXPIREAT', 'HSETEX', 'HGETEX']);

export class ServerReading {
  private readonly clock = new ServerClock();
  private readonly dbs = new Map<number, Database>();
  private readonly follows: (key: string) => boolean;
  private others: StoredState;
  private script: Origin | undefined;
  private ranFromNs = Number.NEGATIVE_INFINITY;
  private wallMs = Number.NEGATIVE_INFINITY;
  /** Whether fields of hashes were given times to live. */
  private fieldsExpire = false;
  private last: SampleLine | undefined;
  /** Samples that are newer than the last command. */
  private samples: SampleLine[] = [];

  constructor({ follows, start = UNKNOWN }: ServerReadingOptions) {
    this.follows = (key) => isWhole(key) && follows(key);
    this.others = start;
  }

  /** What became of a key, in order. */
  changes(key: string, db = 0): KeyChanges {
    return this.key(key, db).changes;
  }

  /** What is known of a key after the last line; what has expired since is still there. */
  state(key: string, db = 0): StoredState {
    return this.follows(key) ? this.key(key, db).state : UNKNOWN;
  }

  /** Keys that were seen. */
  keys(db = 0): Iterable<string> {
    return this.database(db).keys.keys();
  }

  command(line: CommandLine): void {
    this.ranFromNs = Math.max(this.ranFromNs, line.ranFromNs ?? Number.NEGATIVE_INFINITY);
    if (line.serverWallMs < this.wallMs - SET_BACK_MS) {
      this.samples = [];
      this.clockShowed(line, this.wallMs);
    }
    this.wallMs = line.serverWallMs;
    this.clock.add(line.serverWallMs, Math.min(this.ranFromNs, line.atNs), line.atNs);
    while (this.samples[0] && this.samples[0].wall.untilMs < line.serverWallMs) this.inform(this.samples.shift()!);
    const by = this.originOf(line);
    if (isScript(by.name)) this.script = by;
    this.fieldsExpire ||= FIELD_TIMES.has(by.name);
    if (writesNothing.has(by.name)) return;
    const execution = new Line(this, line, by);
    if (Object.hasOwn(readings, by.name)) readings[by.name]!(execution);
    // It is not understood: whatever it names it may have written.
    else for (const argument of execution.args) execution.set(argument, UNKNOWN, 'unknown');
    execution.finish();
  }

  /** The server threw a key away, after what was read before. */
  evicted(place: RecordPlace, key: string): void {
    if (this.follows(key)) this.put(key, 0, ABSENT, { how: 'evicted', ...place, applied: 'yes' });
  }

  /** From here on nothing is known: commands may have been missed, or the data have been replaced. */
  gap(place: RecordPlace): void {
    for (const [db, { keys }] of this.dbs)
      for (const key of keys.keys()) this.put(key, db, UNKNOWN, { how: 'gap', ...place, applied: 'unknown' });
    for (const db of this.dbs.values()) db.others = UNKNOWN;
    this.others = UNKNOWN;
    this.script = undefined;
    this.samples = [];
  }

  /** The server's clock showed this at a moment of which no line tells: what had expired by then may be gone. */
  clockShowed(place: RecordPlace, wallMs: number): void {
    const then: Times = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Math.ceil(wallMs) };
    for (const [db, { keys }] of this.dbs)
      for (const [name, { state }] of keys) {
        const left = stateBy(state, then);
        if (left !== state) this.put(name, db, left, { how: 'expired', ...place, applied: 'unknown' });
      }
  }

  /** Somebody looked at the server. What that tells is put in its place by the server's own clock. */
  sample(sample: SampleLine): void {
    const { last } = this;
    // Its data may be another's: restarted, or loaded from a primary.
    const replaced =
      last &&
      (last.runId !== sample.runId ||
        (sample.role !== 'primary' && last.role === 'primary') ||
        (sample.linkUp === true && last.linkUp === false));
    this.last = sample;
    if (replaced) this.gap(sample);
    this.clock.add(sample.wall.untilMs, sample.ranFromNs, sample.atNs);
    this.samples.push(sample);
  }

  /** No line comes any more. */
  end(): void {
    for (const sample of this.samples.splice(0)) this.inform(sample);
  }

  // ------------------------------------------------------------------------------------------------ for one line at a time

  key(name: string, db: number): Key {
    const { keys, others } = this.database(db);
    let key = keys.get(name);
    if (!key) {
      key = {
        state: others,
        changes: new KeyChanges(this.clock),
        touchedWallMs: Number.NEGATIVE_INFINITY,
        waitedFor: false,
      };
      if (this.follows(name)) keys.set(name, key);
    }
    return key;
  }

  isFollowed(name: string): boolean {
    return this.follows(name);
  }

  database(db: number): Database {
    let database = this.dbs.get(db);
    if (!database) {
      database = { keys: new Map(), others: this.others };
      this.dbs.set(db, database);
    }
    return database;
  }

  flush(db: number | undefined): void {
    if (db === undefined) this.others = ABSENT;
    for (const [number, database] of this.dbs) if (db === undefined || db === number) database.others = ABSENT;
  }

  knownDbs(): number[] {
    return [...this.dbs.keys()];
  }

  /** On a replica the time of a key is over when its primary says so. */
  by(state: StoredState, now: Times): StoredState {
    return this.last?.role === 'replica' ? state : stateBy(state, now);
  }

  put(name: string, db: number, state: StoredState, change: Omit<Change, 'before' | 'after' | 'ranFromNs'>): void {
    const key = this.key(name, db);
    const isList = state.held === undefined || state.held.type === 'list' || state.held.type === 'zset';
    const to = key.waitedFor && isList && state.exists !== 'no' ? UNKNOWN : state;
    const ranFromNs = Math.min(this.ranFromNs, change.atNs);
    key.changes.list.push({ ...change, ranFromNs, before: key.state, after: to });
    key.state = to;
  }

  // ------------------------------------------------------------------------------------------------------------------

  private originOf({ line, atNs, serverWallMs, source, client, argv }: CommandLine): Origin {
    const name = (argv[0] ?? '').toUpperCase();
    if (source !== 'lua') this.script = undefined;
    const { script } = this;
    const sender = script ? script.client : client;
    return {
      line,
      atNs,
      serverWallMs,
      name,
      source: script?.source ?? source,
      ...(sender !== undefined && { client: sender }),
      ...(script && { script }),
    };
  }

  private inform(sample: SampleLine): void {
    for (const name of sample.covers) {
      const key = this.key(name, 0);
      // What it shows may be older or newer than what that command did.
      if (!this.follows(name) || key.touchedWallMs >= sample.wall.fromMs) continue;
      const before = this.by(key.state, sample.wall);
      const shown = refined(before, name, sample, this.fieldsExpire);
      if (!shown) continue;
      settle(key.changes.list, name, sample);
      this.put(name, 0, shown, { how: 'sample', line: sample.line, atNs: sample.atNs, applied: 'yes' });
    }
  }
}

/** One command at work; what it does to a key is one change. */
class Line implements Execution {
  readonly args: readonly string[];
  readonly now: Times;
  readonly db: number;
  private readonly staged = new Map<
    string,
    { name: string; db: number; state: StoredState; applied: Truth; wanted?: StoredState }
  >();

  constructor(
    private readonly reading: ServerReading,
    { argv, db = 0, serverWallMs }: CommandLine,
    readonly by: Origin,
  ) {
    this.args = argv.slice(1);
    this.db = db;
    // A script sees one time from its beginning to its end.
    const fromMs = Math.floor(by.script?.serverWallMs ?? serverWallMs) - LOOKED_BEFORE_MS;
    this.now = { fromMs, untilMs: Math.floor(serverWallMs) };
  }

  get = (name: string, db = this.db): StoredState => {
    const staged = this.staged.get(`${db} ${name}`);
    if (staged) return staged.state;
    return this.reading.isFollowed(name) ? this.reading.by(this.reading.key(name, db).state, this.now) : UNKNOWN;
  };

  set = (
    name: string,
    state: StoredState,
    applied: Truth,
    { db = this.db, wanted }: { db?: number; wanted?: StoredState } = {},
  ): void => {
    if (!this.reading.isFollowed(name)) return;
    // What is over at once is not there; what may be is, for this command.
    const left = this.reading.by(state, this.now);
    this.staged.set(`${db} ${name}`, {
      name,
      db,
      state: left.exists === 'no' ? left : state,
      applied,
      ...(wanted && { wanted }),
    });
  };

  flush = (db?: number): void => {
    for (const number of db === undefined ? this.reading.knownDbs() : [db])
      for (const name of this.reading.database(number).keys.keys())
        this.set(name, ABSENT, this.get(name, number).exists, { db: number });
    this.reading.flush(db);
  };

  swap = (one: number, other: number): void => {
    const [a, b] = [this.reading.database(one), this.reading.database(other)];
    for (const name of new Set([...a.keys.keys(), ...b.keys.keys()])) {
      const [left, right] = [this.get(name, one), this.get(name, other)];
      this.set(name, right, 'yes', { db: one });
      this.set(name, left, 'yes', { db: other });
    }
    [a.others, b.others] = [b.others, a.others];
  };

  wait = (name: string): void => {
    if (this.reading.isFollowed(name)) this.reading.key(name, this.db).waitedFor = true;
  };

  finish(): void {
    const { line, atNs, serverWallMs } = this.by;
    for (const { name, db, state, applied, wanted } of this.staged.values()) {
      const key = this.reading.key(name, db);
      const left = this.reading.by(key.state, this.now);
      if (left !== key.state)
        this.reading.put(name, db, left, {
          how: 'expired',
          line,
          atNs,
          applied: left.exists === 'no' ? 'yes' : 'unknown',
        });
      this.reading.put(name, db, state, {
        how: 'command',
        line,
        atNs,
        by: this.by,
        applied,
        ...(wanted && { wanted }),
      });
      key.touchedWallMs = serverWallMs;
    }
  }
}
