/**
 * One Redis server, as far as locks need it: keys that expire by its own clock, replication, restarts, evictions. It shares
 * no code with the reading of commands, which is judged by it.
 */
import type { Asked, Attempt, Copy, Loss, LossReason } from './grants.js';
import type { Recording } from './recording.js';
import { EPOCH_WALL_MS, MS, type Simulation } from './simulation.js';

export const KEY = 'lock:0';
export const COUNTER = `{${KEY}}:fence`;
export const UNTIL = `{${KEY}}:until`;

/** A change of the data, as it travels to replicas. */
export type Effect =
  | { type: 'store'; copy: Copy; replaced: LossReason }
  | { type: 'prolong'; expiresMs: number; asked: Asked; told?: Copy['told'] }
  | { type: 'remove'; reason: LossReason; argv: string[] }
  | { type: 'count'; to: number; expiresMs: number }
  | ({ type: 'uncount' } & CountLoss);

/** `by`: the client that removed it. */
export interface CountLoss {
  how: LossReason['how'];
  by?: string;
}

/** Who sends a command; without a client's name: a stranger. */
export interface Sender {
  client?: string;
  source: string;
}

interface Drift {
  sinceNs: number;
  ratePpm: number;
  beforeMs: number;
}

const NO_DRIFT: Drift = { sinceNs: 0, ratePpm: 0, beforeMs: 0 };
const STARTS_AFTER_MS = 1;
const RETRIES_SYNC_MS = 5;

export class Node {
  alive = true;
  /** Whom it replicates from; undefined: it takes itself for primary. */
  primary: Node | undefined;
  runId: string;
  copy: Copy | undefined;
  count = 0;
  private countExpiresMs = Number.POSITIVE_INFINITY;
  /** When the count was lost here, and how. */
  readonly countLosses: (CountLoss & { atNs: number })[] = [];
  /** When it was made primary in the place of another. */
  readonly promotedNs: number[] = [];
  /** Whether it has taken over the data of whom it replicates from. */
  private isSynced = false;
  /** What cuts it off, each from whom: where two overlap, the end of one is not that of the other. */
  readonly cuts = new Set<ReadonlySet<string>>();
  readonly replicas = new Set<Node>();
  private readonly clocks: { ns: number; jumpedMs: number; drift: Drift }[] = [];
  private readonly seen = new Set<Attempt>();
  private onDisk = { copy: undefined as Copy | undefined, count: 0, countExpiresMs: Number.POSITIVE_INFINITY };
  /** What is on its way to each replica, in order. */
  private readonly underway = new Map<Node, Effect[]>();
  private starts = 0;
  private diedNs = 0;

  constructor(
    readonly name: string,
    readonly address: string,
    private readonly sim: Simulation,
    private readonly recording: Recording,
  ) {
    this.runId = `${name}-run-0`;
    this.expireNowAndThen();
  }

  /** Whether its link to whom it replicates from stands. */
  get linkUp(): boolean {
    const { primary } = this;
    return primary !== undefined && this.isSynced && primary.alive && this.reaches(primary);
  }

  get role(): 'primary' | 'replica' {
    return this.primary ? 'replica' : 'primary';
  }

  // -------------------------------------------------------------------------------------------------------- its clock

  /** What its clock showed at an instant up to now, and how much of that were jumps and drift. */
  clock(ns = this.sim.nowNs): { wallMs: number; jumpedMs: number; driftedMs: number } {
    const { jumpedMs, drift } = this.clocks.findLast((one) => one.ns <= ns) ?? { jumpedMs: 0, drift: NO_DRIFT };
    const driftedMs = drift.beforeMs + (drift.ratePpm * (ns - drift.sinceNs)) / 1e12;
    return { wallMs: EPOCH_WALL_MS + ns / MS + jumpedMs + driftedMs, jumpedMs, driftedMs };
  }

  wallMs(): number {
    return this.clock().wallMs;
  }

  /** By whole milliseconds, as Redis counts: what ends at one is there until that is over. */
  isOver(expiresMs: number): boolean {
    return Math.floor(this.wallMs()) > expiresMs;
  }

  skewMs(): number {
    return this.wallMs() - EPOCH_WALL_MS - this.sim.nowNs / MS;
  }

  /** Its clock jumps, and drifts from now on. */
  moveClock(byMs: number, ratePpm = 0): void {
    const { jumpedMs, driftedMs } = this.clock();
    const drift = { sinceNs: this.sim.nowNs, ratePpm, beforeMs: driftedMs };
    this.clocks.push({ ns: this.sim.nowNs, jumpedMs: jumpedMs + byMs, drift });
  }

  setClockRight(): void {
    this.clocks.push({ ns: this.sim.nowNs, jumpedMs: 0, drift: NO_DRIFT });
  }

  // ----------------------------------------------------------------------------------------------------- its commands

  /** What is stored now, for a command; the time of a key is over once the clock shows more. */
  look(): Copy | undefined {
    this.expire();
    return this.copy;
  }

  asked(ttlMs: number, by: string): Asked {
    return { ns: this.nowNs, ttlMs, by, ...this.clock() };
  }

  get nowNs(): number {
    return this.sim.nowNs;
  }

  show(sender: Sender, argv: string[]): void {
    this.recording.command(this, sender, argv);
  }

  /** Carries out a change, and tells the replicas. */
  change(effect: Effect): void {
    this.apply(effect);
    for (const replica of this.replicas) {
      const queue = this.underway.get(replica) ?? [];
      this.underway.set(replica, queue);
      queue.push(effect);
      this.sim.after(this.sim.between(0.05, 0.6), () => this.pump(replica));
    }
  }

  private apply(effect: Effect): void {
    if (effect.type === 'store') {
      const again = this.copy?.value === effect.copy.value ? this.copy.ends : [];
      if (this.copy) this.lose(effect.replaced);
      this.copy = { ...effect.copy, ends: [...again, ...effect.copy.ends] };
      this.saw(effect.copy.attempt);
    } else if (effect.type === 'prolong') {
      const { expiresMs, asked, told } = effect;
      const ends = [...(this.copy?.ends ?? []), { by: asked.by, expiresMs }];
      if (this.copy)
        Object.assign(this.copy, { expiresMs, asked, ends, forgottenUntilMs: undefined, ...(told && { told }) });
    } else if (effect.type === 'count') {
      this.count = effect.to;
      this.countExpiresMs = effect.expiresMs;
    } else if (effect.type === 'uncount') this.loseCount(effect);
    else {
      if (this.copy) this.lose(effect.reason);
      if (effect.argv[0] === 'FLUSHALL') this.loseCount({ how: 'deleted' });
    }
  }

  private lose(reason: LossReason): void {
    const { copy } = this;
    const isUnseen = !this.recording.sees(this);
    copy?.attempt.losses.push({ ...reason, node: this.name, atNs: this.sim.nowNs, copy, isUnseen });
    this.copy = undefined;
  }

  private loseCount({ how, by }: CountLoss): void {
    if (this.count > 0) this.countLosses.push({ atNs: this.sim.nowNs, how, ...(by !== undefined && { by }) });
    this.count = 0;
    this.countExpiresMs = Number.POSITIVE_INFINITY;
  }

  private saw(attempt: Attempt): void {
    this.seen.add(attempt);
    if (!attempt.reached.has(this.name)) attempt.reached.set(this.name, this.sim.nowNs);
  }

  // -------------------------------------------------------------------------------------------------------- its memory

  private expire(): void {
    if (!this.alive || this.primary) return;
    if (this.count > 0 && this.isOver(this.countExpiresMs)) this.change({ type: 'uncount', how: 'expired' });
    if (!this.copy || !this.isOver(this.copy.expiresMs)) return;
    const { asked } = this.copy;
    this.change({ type: 'remove', reason: { how: 'expired', asked, ...this.clock() }, argv: ['DEL', KEY] });
  }

  /** Redis looks for expired keys by itself, ten times a second. */
  private expireNowAndThen(): void {
    this.expire();
    this.sim.after(this.sim.between(90, 110), () => this.expireNowAndThen());
  }

  evict(): void {
    if (!this.alive || this.primary || !this.look()) return;
    this.recording.evicted(this, KEY);
    this.change({ type: 'remove', reason: { how: 'evicted' }, argv: ['DEL', KEY] });
  }

  evictCounter(): void {
    this.expire();
    if (!this.alive || this.primary || this.count === 0) return;
    this.recording.evicted(this, COUNTER);
    this.change({ type: 'uncount', how: 'evicted' });
  }

  save(): void {
    const { copy, count, countExpiresMs } = this;
    this.onDisk = { copy: copy && { ...copy }, count, countExpiresMs };
  }

  kill(): void {
    this.expire();
    this.alive = false;
    this.underway.clear();
    const unseenFromNs = this.recording.died(this);
    for (const { losses } of this.seen)
      for (const loss of losses) if (loss.node === this.name && loss.atNs >= unseenFromNs) loss.isUnseen = true;
    this.diedNs = this.sim.nowNs;
  }

  /** Starts again with what was saved; `lost` is called when it answers. */
  start(answers: () => void): void {
    const before = this.copy;
    const { copy, count, countExpiresMs } = this.onDisk;
    const kept = copy && before && copy.attempt === before.attempt;
    if (before && !kept) this.lose({ how: 'forgot', ...(copy && { to: copy.attempt }) });
    // What was removed unseen just before would have been forgotten as well.
    for (const { losses } of this.seen) {
      const last = losses.findLast(({ node }) => node === this.name);
      if (last?.isUnseen && last.atNs <= this.diedNs && last.copy.attempt !== copy?.attempt && last.how !== 'expired')
        losses.push({ how: 'forgot', node: this.name, atNs: this.sim.nowNs, copy: last.copy, isUnseen: false });
    }
    if (count < this.count) this.loseCount({ how: 'forgot' });
    // A snapshot may hold what had been removed since.
    const forgot = kept && before.expiresMs > copy.expiresMs && { forgottenUntilMs: before.expiresMs };
    this.copy = copy && { ...copy, ...forgot };
    this.count = count;
    this.countExpiresMs = countExpiresMs;
    this.runId = `${this.name}-run-${++this.starts}`;
    this.sim.after(STARTS_AFTER_MS, () => {
      this.alive = true;
      this.expire();
      this.recording.started(this);
      answers();
    });
  }

  // --------------------------------------------------------------------------------------------------- its replication

  /** Hands on what can travel. */
  pump(replica: Node): void {
    const queue = this.underway.get(replica);
    const stands = this.alive && replica.alive && replica.primary === this && replica.isSynced && this.reaches(replica);
    if (!queue || !stands) return;
    for (const effect of queue.splice(0)) {
      for (const argv of replicatedAs(effect, replica)) replica.show({ source: `${this.address}:6379` }, argv);
      replica.apply(effect);
    }
  }

  reaches(other: Node): boolean {
    return !this.isCutFrom(other) && !other.isCutFrom(this);
  }

  private isCutFrom(other: Node): boolean {
    return [...this.cuts].some((names) => names.has(other.name));
  }

  /** Takes over the data of another as a whole, once it reaches it, and all that it does from then on. */
  follow(primary: Node): void {
    this.primary?.replicas.delete(this);
    this.primary = primary;
    this.isSynced = false;
    primary.replicas.add(this);
    this.sync(primary);
  }

  private sync(primary: Node): void {
    if (this.isSynced || this.primary !== primary) return;
    if (!this.alive || !primary.alive || !primary.reaches(this)) {
      this.sim.after(RETRIES_SYNC_MS, () => this.sync(primary));
      return;
    }
    this.isSynced = true;
    primary.underway.set(this, []);
    for (const attempt of primary.seen) {
      const last = attempt.losses.findLast(({ node }) => node === primary.name);
      const gone = primary.copy?.attempt !== attempt;
      const hadIt = this.copy?.attempt === attempt;
      if (gone && last && (hadIt || !this.seen.has(attempt))) attempt.losses.push(this.inherited(last));
      this.saw(attempt);
    }
    const { copy } = this;
    if (copy && !primary.seen.has(copy.attempt)) this.lose({ how: 'resync' });
    this.copy = primary.copy && { ...primary.copy };
    if (primary.count < this.count) {
      const last = primary.countLosses.at(-1);
      this.countLosses.push({ ...(last ?? { how: 'resync' }), atNs: this.sim.nowNs });
    }
    this.count = primary.count;
    this.countExpiresMs = primary.countExpiresMs;
  }

  promote(): void {
    this.primary?.replicas.delete(this);
    this.primary = undefined;
    this.promotedNs.push(this.sim.nowNs);
  }

  private inherited(loss: Loss): Loss {
    return { ...loss, node: this.name, atNs: this.sim.nowNs };
  }
}

function replicatedAs(effect: Effect, { copy }: Node): string[][] {
  if (effect.type === 'remove') return [effect.argv];
  if (effect.type === 'uncount') return [['DEL', COUNTER]];
  if (effect.type === 'count') {
    const { expiresMs } = effect;
    return [['incr', COUNTER], ...(Number.isFinite(expiresMs) ? [['PEXPIREAT', COUNTER, String(expiresMs)]] : [])];
  }
  if (effect.type === 'prolong') return copy ? [['PEXPIREAT', KEY, String(effect.expiresMs)]] : [];
  const { value, expiresMs, isHash } = effect.copy;
  const until = String(expiresMs);
  if (isHash) return [['hincrby', KEY, value, '1'], ...(Number.isFinite(expiresMs) ? [['PEXPIREAT', KEY, until]] : [])];
  return [['SET', KEY, value, ...(Number.isFinite(expiresMs) ? ['PXAT', until] : [])]];
}
