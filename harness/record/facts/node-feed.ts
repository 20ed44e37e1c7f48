/**
 * Gives one node's reading everything that is known of the node, in its order: commands, and between them samples, evictions,
 * breaks of watching, and what clock faults did to its clock.
 */
import type { CommandObservation, RareObservation } from '../../vocabulary/history.js';
import { aheadAtMost, type ClockMove, gainedBetween, mayMoveBetween, strobeAt } from './clock-moves.js';
import type { ServerReading } from './commands/server-reading.js';
import { ABSENT, type Times } from './commands/state.js';
import { type ClockReading, type KeyWrite, NodeWrites, RECKONING_NS, type SampleObservation } from './key-writes.js';
import type { MachineClock } from './machine-clock.js';
import { bestSkews } from './skews.js';

export interface FeedContext {
  /** Whether commands of that time are given. */
  sees(atNs: number): boolean;
  /** What faults did to the node's clock. */
  moves: readonly ClockMove[];
  machineClock: MachineClock | undefined;
  /** Keys that samples look for. */
  covers: readonly string[];
  /** Whether it had nothing stored when watching began, and was watched from then on. */
  startsEmpty?: boolean;
  /** How many databases there are for certain, if not as many as by default. */
  databases?: number;
  /** Whether the record says that commands ran at the instants of their stamps. */
  hasExactStamps?: boolean;
}

/** Longer than this the harness never lags behind a server. */
const READ_LATE_NS = 2e9;
/** Most commands are read within this time. */
const READ_SOON_NS = 50e6;
/** Looks at a clock that nothing moved differ by less. */
const RIGHT_WITHIN_MS = 50;
/** What a sample shows may be from so long before it was recorded. */
const LOOKED_BEFORE_NS = 250e6;
/** A sample was answered at most so long before it was recorded. */
const ANSWERED_WITHIN_MS = 20;
/** Its other questions come with the one that asks for the clock. */
const ASKED_TOGETHER_MS = 3;

export class NodeFeed {
  private readonly writes: NodeWrites;
  private readonly jumps: ClockReading[];
  private next = 0;
  private nextJump = 0;
  /** How far the clock was off in each sample, and how many of these came before. */
  private readonly skewsMs: readonly number[];
  private readonly lookedAtNs: readonly number[];
  private looked = 0;
  private lookedNs = Number.NEGATIVE_INFINITY;
  /** It is known to have nothing stored as yet. */
  private isEmpty: boolean;
  private last: { ranNs: number; serverWallMs: number; line: number } | undefined;
  /**
   * Whether stamps contradict where the record places the machine's clock: a command was read before that showed what it is stamped
   * with, although the server's was right.
   */
  isContradicted = false;

  constructor(
    node: string,
    keys: ReadonlySet<string>,
    /** Everything else observed of the node, in order. */
    private readonly rare: readonly (readonly [line: number, RareObservation])[],
    private readonly context: FeedContext,
  ) {
    this.isEmpty = context.startsEmpty === true;
    const { hasExactStamps, databases } = context;
    this.writes = new NodeWrites(node, keys, this.isEmpty ? ABSENT : undefined, hasExactStamps, databases);
    const looks = rare.flatMap(([, one]) => (one.type === 'sample' ? [one] : []));
    this.skewsMs = bestSkews(looks, context.moves);
    this.lookedAtNs = looks.map(({ atNs }) => atNs);
    this.jumps = context.moves.flatMap(aheadAtMost).sort((a, b) => a.atNs - b.atNs);
  }

  add(line: number, command: CommandObservation): void {
    this.upTo(line, command.atNs);
    this.isEmpty = false;
    const ranNs = this.reckonedBack(command);
    for (const move of this.context.moves) {
      const far = strobeAt(move, command.atNs);
      if (far) this.jumped(far.atNs, far.aheadMs);
    }
    this.writes.add(line, command, ranNs);
    this.last = { ranNs, serverWallMs: command.serverWallMs, line };
    // It was read late: what it stored may have expired when the clock was moved after it.
    const earliestNs = Math.min(ranNs, ...this.possiblyRan(command));
    for (const { atNs } of this.jumps.slice(0, this.nextJump))
      if (atNs > earliestNs) this.jumped(atNs, this.gained(earliestNs, atNs));
  }

  /** What the node did to all keys that are followed, once `finish` was called. */
  get reading(): ServerReading {
    return this.writes.reading;
  }

  finish(): Map<string, KeyWrite[]> {
    this.upTo(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    return this.writes.finish();
  }

  private upTo(line: number, atNs: number): void {
    for (let one = this.rare[this.next]; one && one[0] < line; one = this.rare[++this.next]) {
      this.jumpsUntil(one[1].atNs);
      this.rareOne(...one);
    }
    this.jumpsUntil(atNs);
  }

  private rareOne(line: number, one: RareObservation): void {
    const { reading } = this.writes;
    const place = { line, atNs: one.atNs };
    if (one.type === 'sample') {
      this.looked++;
      this.lookedNs = one.atNs;
    }
    // What was seen before the window would tell of keys to which it is not known what was done since.
    if (!this.context.sees(one.atNs)) return;
    if (one.type === 'sample') this.sample(line, one);
    else if (one.type === 'evicted') reading.evicted(place, one.key);
    // It begins to be watched.
    else if (one.type !== 'watch') return;
    else if (!this.isEmpty || !one.watching) {
      reading.gap(place);
      this.isEmpty = false;
    }
  }

  private sample(line: number, sample: SampleObservation): void {
    const { covers } = this.context;
    const { atNs, role, linkUp, runId, isEmpty, keys, unseen } = sample;
    const wall = this.clockOf(sample);
    if (!wall) return;
    this.writes.reading.sample({
      line,
      atNs,
      ranFromNs: atNs - ANSWERED_WITHIN_MS * 1e6,
      ...(this.context.hasExactStamps ? { wall: inWholeMs(wall), between: despiteFractions(wall) } : { wall }),
      exact: sample.wallMs?.length === 2,
      role,
      ...(linkUp !== undefined && { linkUp }),
      runId,
      ...(isEmpty && { isEmpty }),
      covers: unseen ? covers.filter((key) => !unseen.includes(key)) : covers,
      keys,
    });
  }

  /** What the server's clock showed when it was looked at; undefined: not known. */
  private clockOf({ atNs, skewMs, wallMs }: SampleObservation): Times | undefined {
    if (wallMs?.length === 2) return { fromMs: wallMs[0], untilMs: wallMs[1] };
    const { machineClock } = this.context;
    if (machineClock === undefined) return undefined;
    const ms = machineClock.wallMs(atNs) + skewMs;
    return { fromMs: ms - ANSWERED_WITHIN_MS, untilMs: ms + ASKED_TOGETHER_MS };
  }

  private jumpsUntil(ns: number): void {
    for (let jump = this.jumps[this.nextJump]; jump && jump.atNs <= ns; jump = this.jumps[++this.nextJump])
      if (this.last) this.jumped(jump.atNs, this.gained(this.last.ranNs, jump.atNs));
  }

  /** How far the clock may have come ahead meanwhile: a stamp of a clock that had jumped before has that in it already. */
  private gained(fromNs: number, untilNs: number): number {
    return this.context.moves.reduce((sumMs, move) => sumMs + Math.max(0, gainedBetween(move, fromNs, untilNs)), 0);
  }

  private jumped(atNs: number, aheadMs: number): void {
    const { last } = this;
    if (!last || !this.context.sees(atNs)) return;
    const wallMs = last.serverWallMs + (atNs - last.ranNs) / 1e6 + aheadMs;
    this.writes.reading.clockShowed({ line: last.line, atNs }, wallMs);
  }

  /**
   * When a command ran: the server's stamp, put on the run's clock with how far the server's clock was off in the sample
   * before. If that gives a time after the command was read, or absurdly before, the clock has moved since: the time of
   * reading it must do. Where a fault moved it since that sample, the sample after it may tell: say a clock that was 2 s ahead is
   * set right, and c1's command, which ran at once after that, is read before anybody looks again. By the sample before it would
   * have run 2 s ago. And where it jumped once between the two, and by the one before the command would have run later than it was
   * read, it ran after the jump. Where it was even set right between the two, the fault says how far it was off meanwhile.
   */
  private reckonedBack(command: CommandObservation): number {
    const { machineClock } = this.context;
    const { atNs, serverWallMs } = command;
    const before = this.skewsMs[this.looked - 1];
    if (machineClock === undefined || before === undefined) return atNs;
    const ranNs = machineClock.showed(serverWallMs, before, atNs);
    const after = machineClock.showed(serverWallMs, this.skewsMs[this.looked] ?? before, atNs);
    const isRight = before === 0 && this.skewsMs[this.looked] === 0 && this.context.moves.length === 0;
    if (isRight && ranNs > atNs + RECKONING_NS) this.isContradicted = true;
    if (
      isPossible(after, atNs) &&
      atNs - after < READ_SOON_NS &&
      atNs - ranNs > READ_SOON_NS &&
      this.movedSinceLook(atNs)
    )
      return after;
    if (isPossible(ranNs, atNs)) return ranNs;
    if (isPossible(after, atNs) && this.jumpedOnceBetweenLooks()) return after;
    return this.ranWhileOff(command, before) ?? atNs;
  }

  /** When a command ran by a clock that one fault set, and set right, with no look in between: as far off as that fault read back. */
  private ranWhileOff({ atNs, serverWallMs }: CommandObservation, beforeMs: number): number | undefined {
    const [fromNs, nextNs] = this.betweenLooks();
    const near = this.context.moves.filter(({ span }) => span.earliestNs <= nextNs && span.latestNs >= fromNs);
    const [move, ...others] = near;
    if (move === undefined || others.length > 0 || isMoving(move, fromNs, nextNs)) return undefined;
    // The next look must find it set right, or as far off at the most: one that was asked before may be recorded after.
    const gainedMs = this.skewsMs[this.looked]! - beforeMs;
    const [least, most] = [Math.min(0, move.offsetMs), Math.max(0, move.offsetMs)];
    if (gainedMs < least - RIGHT_WITHIN_MS || gainedMs > most + RIGHT_WITHIN_MS) return undefined;
    const { earliestNs, latestNs } = move.span;
    const ranNs = this.context.machineClock?.showed(serverWallMs, beforeMs + move.offsetMs, atNs);
    const isThen = ranNs !== undefined && ranNs >= earliestNs - RECKONING_NS && ranNs <= latestNs + RECKONING_NS;
    return isThen && isPossible(ranNs, atNs) ? ranNs : undefined;
  }

  /**
   * When a command may have run by the looks about it: the clock may have been moved since the last one, and a command from before
   * that one be read after it.
   */
  private possiblyRan({ atNs, serverWallMs }: CommandObservation): number[] {
    const { machineClock } = this.context;
    if (machineClock === undefined) return [];
    return this.skewsMs
      .slice(Math.max(0, this.looked - 2), this.looked + 1)
      .map((skewMs) => machineClock.showed(serverWallMs, skewMs, atNs))
      .filter((ranNs) => isPossible(ranNs, atNs));
  }

  private jumpedOnceBetweenLooks(): boolean {
    const [fromNs, nextNs] = this.betweenLooks();
    const { moves } = this.context;
    const ends = moves.flatMap(({ span }) => [span.fromNs, span.untilNs]).filter((ns) => ns >= fromNs && ns <= nextNs);
    return ends.length === 1 && !moves.some((move) => isMoving(move, fromNs, nextNs));
  }

  /** From the last look to the next one. */
  private betweenLooks(): [fromNs: number, untilNs: number] {
    return [this.lookedNs - LOOKED_BEFORE_NS, this.lookedAtNs[this.looked] ?? Number.NEGATIVE_INFINITY];
  }

  private movedSinceLook(untilNs: number): boolean {
    return this.context.moves.some(({ span }) =>
      [span.fromNs, span.untilNs].some((ns) => ns >= this.lookedNs - LOOKED_BEFORE_NS && ns <= untilNs),
    );
  }
}

/** Servers reckon when keys expire in whole milliseconds. */
function inWholeMs({ fromMs, untilMs }: Times): Times {
  return { fromMs: Math.floor(fromMs), untilMs: Math.ceil(untilMs) };
}

/** A time of day is a fraction that may be a quarter of a microsecond off. */
function despiteFractions({ fromMs, untilMs }: Times): Times {
  return { fromMs: fromMs - 1e-3, untilMs: untilMs + 1e-3 };
}

/** Whether the clock drifts or strobes at some moment between the two instants. */
function isMoving(move: ClockMove, fromNs: number, untilNs: number): boolean {
  return (move.ratePpm !== 0 || move.strobes) && mayMoveBetween(move, fromNs, untilNs);
}

/** Whether what was read then can have run then. */
function isPossible(ranNs: number, atNs: number): boolean {
  return ranNs <= atNs + RECKONING_NS && ranNs >= atNs - READ_LATE_NS;
}
