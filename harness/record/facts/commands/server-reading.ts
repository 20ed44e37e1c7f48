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
import type { Change, KeyChanges } from './changes.js';
import type { Execution } from './execution.js';
import { ExpiryDoubts } from './expiry-doubts.js';
import { RunningCommand } from './running-command.js';
import { outlasts, refined, type SampleLine, settle } from './samples.js';
import { ServerClock } from './server-clock.js';
import { ServerKeys } from './server-keys.js';
import { ABSENT, type Origin, type StoredState, stateBy, type Times, UNKNOWN } from './state.js';
import { isScript, readings, writesNothing } from './table.js';

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
  /** Whether every command of the server is in the record, also those on other keys; it is not unless this says so. */
  isWhole?: boolean;
  /** What is known of every key at first: nothing, unless given. */
  start?: StoredState;
  /** How many databases there are for certain, if not as many as by default. */
  databases?: number;
  /** Whether commands looked at the clock at the instant of their stamps; they may have before unless this says so. */
  hasExactStamps?: boolean;
}

/**
 * A command looks at the clock first and is printed with it when it is done: at once, as a rule. Once in 100,000 commands, on a
 * machine with far too much to do, it was printed 40 ms later; then an expiry within that time is taken for one that was before
 * or after it. Where every command is in the record that cannot be, for it looks after the line before was printed.
 */
const LOOKED_BEFORE_MS = 2;
/** Redis 8 was seen to expire a key a millisecond before the stamps said so. */
const ROUNDED_MS = 1;
/** Stamps of one server do not fall by more than this, unless its clock was set back. */
const SET_BACK_MS = 5;

/** Stamps are microseconds, of which the server reckons in whole milliseconds; a fraction may be a little less than it was. */
function atMs(stampMs: number): Times {
  const ms = Math.floor(Math.round(stampMs * 1_000) / 1_000);
  return { fromMs: ms, untilMs: ms };
}

/** Commands with options that say until when. */
const TAKE_UNTIL = new Set(['SET', 'GETEX', 'HSETEX', 'RESTORE']);

function givesTimeOfDay(name: string, argv: readonly string[]): boolean {
  return name.endsWith('EXPIREAT') || (TAKE_UNTIL.has(name) && argv.some((word) => /^(EXAT|PXAT|ABSTTL)$/i.test(word)));
}

const FIELD_TIMES = new Set(['HEXPIRE', 'HPEXPIRE', 'HEXPIREAT', 'HPEXPIREAT', 'HSETEX', 'HGETEX']);

function readCommand(execution: Execution): void {
  const { by, args } = execution;
  if (Object.hasOwn(readings, by.name)) readings[by.name]!(execution);
  // It is not understood: whatever it names it may have written.
  else for (const argument of args) execution.set(argument, UNKNOWN, 'unknown');
}

/** Commands of before that time came before it, and those of after that time after it. */
function orderOf({ wall, between }: SampleLine): Times {
  return between ?? wall;
}

export class ServerReading {
  private readonly clock = new ServerClock();
  private readonly doubts: ExpiryDoubts;
  private readonly hasAll: boolean;
  private readonly isExact: boolean;
  private readonly server: ServerKeys;
  private script: Origin | undefined;
  /** When the command, or the script that called it, looked at the clock at the earliest. */
  private lookedMs = Number.NEGATIVE_INFINITY;
  private wallMs = Number.NEGATIVE_INFINITY;
  /** Whether fields of hashes were given times to live. */
  private fieldsExpire = false;
  private last: SampleLine | undefined;
  /** Whether a look of before this, when something was read last that the server's clock does not place, came first is unknown. */
  private unplacedNs = Number.NEGATIVE_INFINITY;
  /** Samples that are newer than the last command. */
  private samples: SampleLine[] = [];

  constructor({ follows, start = UNKNOWN, isWhole = false, hasExactStamps = false, databases }: ServerReadingOptions) {
    this.hasAll = isWhole;
    this.isExact = hasExactStamps;
    this.server = new ServerKeys(this.clock, follows, start, hasExactStamps);
    if (databases !== undefined) this.server.databases = databases;
    this.doubts = new ExpiryDoubts(this.clock, readCommand, hasExactStamps);
  }

  /** What became of a key, in order. */
  changes(key: string, db = 0): KeyChanges {
    return this.server.key(key, db).changes;
  }

  /** What has become of a key since it was asked last, which is forgotten: for who reads a long record once, line by line. */
  takeChanges(key: string, db = 0): Change[] {
    return this.server.database(db).keys.get(key)?.changes.list.splice(0) ?? [];
  }

  /** What is known of a key after the last line; what has expired since is still there. */
  state(key: string, db = 0): StoredState {
    return this.server.follows(key) ? this.server.key(key, db).state : UNKNOWN;
  }

  /** Keys that were seen. */
  keys(db = 0): Iterable<string> {
    return this.server.database(db).keys.keys();
  }

  /** Whether a key was seen in any database but the first. */
  usesOtherDatabases(): boolean {
    for (const [, db] of this.server.all()) if (db !== 0) return true;
    return false;
  }

  command(line: CommandLine): void {
    const { server } = this;
    const lastRanNs = server.ranFromNs;
    server.ranFromNs = Math.max(server.ranFromNs, line.ranFromNs ?? Number.NEGATIVE_INFINITY);
    if (line.serverWallMs < this.wallMs - SET_BACK_MS) {
      this.samples = [];
      this.unplacedNs = line.atNs;
      // Until it was set back it had run on.
      const ranOnMs = Number.isFinite(lastRanNs) ? Math.max(0, (line.atNs - lastRanNs) / 1e6) : 0;
      this.clockShowed(line, this.wallMs + ranOnMs);
      server.setBackTo(line.serverWallMs);
    }
    // By the clock it is newer, though it was read before: so that was set back meanwhile.
    for (const sample of this.samples)
      if (sample.atNs < server.ranFromNs && orderOf(sample).fromMs > line.serverWallMs) {
        this.samples = [];
        this.clockShowed(line, sample.wall.untilMs);
      }
    if (line.source !== 'lua' || !this.script) this.lookedMs = this.lookedAt(line.serverWallMs);
    this.wallMs = line.serverWallMs;
    this.clock.add(line.serverWallMs, Math.min(server.ranFromNs, line.atNs), line.atNs);
    while (this.samples[0] && orderOf(this.samples[0]).untilMs < line.serverWallMs) this.inform(this.samples.shift()!);
    const by = this.originOf(line);
    if (isScript(by.name)) this.script = by;
    this.fieldsExpire ||= FIELD_TIMES.has(by.name);
    if (writesNothing.has(by.name)) return;
    // A replica turns its clients' writes away, and prints none of them: it has been promoted since it was looked at.
    if (by.client !== undefined && !isScript(by.name)) this.server.isReplica = false;
    // A script sees one time from its beginning to its end.
    const now = this.isExact ? atMs(line.serverWallMs) : this.lookedUntil(line.serverWallMs);
    const args = line.argv.slice(1);
    const execution = new RunningCommand(server, by, args, line.db ?? 0, now);
    readCommand(execution);
    const { ranFromNs } = server;
    for (const touched of execution.finish()) this.doubts.ran(touched, { by, args, now, ranFromNs });
  }

  /** The server threw a key away, after what was read before. */
  evicted(place: RecordPlace, key: string): void {
    // Whether samples are older or newer is unknown, also of those that were answered before: an eviction has no stamp.
    this.samples = [];
    this.unplacedNs = place.atNs;
    if (this.server.follows(key)) this.server.put(key, 0, ABSENT, { how: 'evicted', ...place, applied: 'yes' });
  }

  /** From here on nothing is known: commands may have been missed, or the data have been replaced. */
  gap(place: RecordPlace): void {
    for (const [name, db] of this.server.all())
      this.server.put(name, db, UNKNOWN, { how: 'gap', ...place, applied: 'unknown' });
    this.server.setOthers(UNKNOWN);
    this.script = undefined;
    this.samples = [];
  }

  /** The server's clock showed this at a moment of which no line tells: what had expired by then may be gone. */
  clockShowed(place: RecordPlace, wallMs: number): void {
    // A command may be read after this that ran before those looks: what they showed cannot be put in its place any more.
    this.samples = this.samples.filter(({ atNs }) => atNs > place.atNs);
    const then: Times = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Math.ceil(wallMs) };
    for (const [name, db, state] of this.server.all()) {
      const left = stateBy(state, then);
      if (left !== state) {
        const clockMs = then.untilMs;
        this.server.put(name, db, left, {
          how: 'expired',
          line: place.line,
          atNs: place.atNs,
          clockMs,
          applied: 'unknown',
        });
      }
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
    this.server.isReplica = sample.role === 'replica';
    if (replaced) this.gap(sample);
    this.clock.add(sample.wall.untilMs, sample.ranFromNs, sample.atNs);
    if (sample.ranFromNs > this.unplacedNs) this.samples.push(sample);
  }

  /** No line comes any more. */
  end(): void {
    for (const sample of this.samples.splice(0)) this.inform(sample);
  }

  private lookedUntil(stampMs: number): Times {
    return { fromMs: this.lookedMs, untilMs: Math.floor(stampMs) + ROUNDED_MS };
  }

  private lookedAt(stampMs: number): number {
    const before = Math.min(this.wallMs, stampMs);
    const least = this.hasAll && Number.isFinite(before) ? before : Math.max(before, stampMs - LOOKED_BEFORE_MS);
    return Math.floor(least);
  }

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
      ...(givesTimeOfDay(name, argv) && { untilTimeOfDay: true }),
      source: script?.source ?? source,
      ...(sender !== undefined && { client: sender }),
      ...(script && { script }),
    };
  }

  /** Keys that no command has concerned since are gone, and those that have not been seen were not there. */
  private wasEmpty(sample: SampleLine): void {
    const { server } = this;
    const { line, atNs, wall } = sample;
    // What had run out by then is told by the next command, as what was there until its time was over.
    for (const [name, { state, askedWallMs }] of server.database(0).keys)
      if (server.by(state, wall).exists !== 'no' && askedWallMs < orderOf(sample).fromMs)
        server.put(name, 0, ABSENT, { how: 'sample', line, atNs, applied: 'yes' });
    server.setOthers(ABSENT, 0);
  }

  private inform(sample: SampleLine): void {
    if (sample.isEmpty) this.wasEmpty(sample);
    for (const name of sample.covers) {
      const key = this.server.key(name, 0);
      const stored = sample.keys[name];
      const last = stored && outlasts(stored, sample, key.askedWallMs) ? key.touchedWallMs : key.askedWallMs;
      // What it shows may be older or newer than what that command did.
      if (!this.server.follows(name) || last >= orderOf(sample).fromMs) continue;
      if (sample.exact) key.state = this.doubts.decide(name, key.changes.list, sample, this.fieldsExpire) ?? key.state;
      const before = this.server.by(key.state, sample.wall);
      const shown = refined(before, name, sample, this.fieldsExpire);
      if (!shown) continue;
      settle(key.changes.list, name, sample);
      this.server.put(name, 0, shown, { how: 'sample', line: sample.line, atNs: sample.atNs, applied: 'yes' });
    }
  }
}
