/**
 * What the machine and the harness did that could have made an overlap, or hidden one, without the lock's doing.
 *
 * - A step of the machine's own wall clock reaches every server and client at once, and leases are counted by it. It makes
 *   an overlap doubtful only if it is large enough to have made it: a step of 20 ms does not end a lease that has 4 s left.
 * - A harness that stood still tells a client too late to end its hold. That makes a stale holder, but never moves a client's
 *   own stamps, so it cannot break exclusion. It can also notice the death of a client late. A client that died by itself may have
 *   done nothing since it was last heard, however long its process took to end. In a scenario no client is late:
 *   there a hold ends when the play says so, and a play is no better than its author if it keeps a lease by its timing.
 * - What stands still with the harness may have lost its place in a queue (`liveness/lost-place.ts`).
 */

import { leaseMarginNs } from '../../harness/record/facts/margin.js';
import type { Overlap } from '../../harness/record/facts/overlaps.js';
import { wasEndingBefore } from '../../harness/record/facts/own-end.js';
import { lastRanNs } from '../../harness/record/facts/ran.js';
import { durationOfMs, moment } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History, HistoryEvent } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';

type Disturbance = Extract<HistoryEvent, { type: 'disturbance' }>;

/** NTP slews less than this; anything more is a step. */
const STEP_FROM_MS = 5;
/** A death is noticed, and an overdue release sent, within this time of the harness running again. */
const CATCHING_UP_NS = 50e6;
/** Half of the grace that the probe gives a lock beyond its lease. */
const DEADLOCK_FROM_MS = 1_000;

/** Doubts about findings, and about finding nothing. */
export class Doubts {
  private readonly steps: Disturbance[] = [];
  private readonly stalls: Disturbance[] = [];
  private readonly releaseSentNs = new Map<string, number>();
  /** Of a hold: for how long the harness stood still while the answers that began or prolonged it waited to be read. */
  private readonly unreadNs = new Map<string, number>();

  /** Clients whose process ended by itself. */
  private readonly ownEnds = new Set<string>();

  private readonly ledByHand: boolean;
  private readonly history: History;

  constructor({ history, config }: Pick<CheckInput, 'history' | 'config'>) {
    const { rare, operations: ops } = history;
    this.history = history;
    this.ledByHand = config.scenario !== undefined;
    for (const event of rare) {
      if (event.type === 'client-down' && wasEndingBefore(event.reason)) this.ownEnds.add(event.client);
      if (event.type !== 'disturbance') continue;
      if (event.disturbance === 'harness-stall') this.stalls.push(event);
      else if (Math.abs(event.ms) >= STEP_FROM_MS) this.steps.push(event);
    }
    if (this.stalls.length === 0) return;
    for (let row = 0; row < ops.count; row++) {
      const hold = ops.op[row] === OP.acquire ? row : ops.hold[row]!;
      if (hold < 0) continue;
      const name = nameOf(ops.clients[ops.client[row]!]!, ops.id[hold]!);
      if (ops.op[row] === OP.release) {
        if (!this.releaseSentNs.has(name)) this.releaseSentNs.set(name, ops.sentNs[row]!);
      } else if (ops.outcome[row] === OUTCOME.ok) {
        const stoodNs = this.stoodStillNs(ops.endedNs[row]!, ops.readNs[row]!);
        if (stoodNs > 0) this.unreadNs.set(name, (this.unreadNs.get(name) ?? 0) + stoodNs);
      }
    }
  }

  /** Whether there is anything at all to be in doubt about. */
  get any(): boolean {
    return this.steps.length > 0 || this.stalls.length > 0 || this.ownEnds.size > 0;
  }

  /** Why it is open whether an overlap is the lock's doing, or undefined. */
  about(overlap: Overlap): string | undefined {
    return (
      this.stepsBehind(overlap) ??
      this.lateDeathBehind(overlap) ??
      this.ownEndBehind(overlap) ??
      (overlap.class === 'stale' && !this.ledByHand ? this.stallBehind(overlap.stale) : undefined)
    );
  }

  /**
   * Why "no overlap" is not certain: a step back makes every key live longer than its lease, and hides what is looked for.
   */
  aboutPassing(): string | undefined {
    return this.steps.length === 0
      ? undefined
      : `leases were counted by the machine's own clock, which ${stepped(this.steps)}`;
  }

  /** Why a lock that could not be acquired again may be no deadlock: set before a step back, its key lives on by as much. */
  aboutDeadlock(): string | undefined {
    const movedMs = this.steps.reduce((sum, step) => sum + Math.abs(step.ms), 0);
    return movedMs < DEADLOCK_FROM_MS
      ? undefined
      : `leases were counted by the machine's own clock, which ${stepped(this.steps)}`;
  }

  /** Why a client that tried meanwhile may not have been run for long enough to be granted what was free. */
  aboutTrying(fromNs: number, untilNs: number): string | undefined {
    const stalls = this.stalls.filter((one) => one.beganNs <= untilNs && endOf(one) >= fromNs);
    const stalledMs = stalls.reduce((sum, { ms }) => sum + ms, 0);
    return stalledMs < DEADLOCK_FROM_MS
      ? undefined
      : `the harness stood still for ${durationOfMs(stalledMs)} while it was tried, from ${moment(stalls[0]!.beganNs)} on`;
  }

  /** Why a place in a queue may have ended meanwhile although its lock is sound: its client was kept from showing itself. */
  aboutOrder(fromNs: number, untilNs: number): string | undefined {
    const stall = this.stalls.findLast((one) => one.beganNs <= untilNs && endOf(one) >= fromNs);
    if (stall) return `the harness stood still for ${durationOfMs(stall.ms)} from ${moment(stall.beganNs)} on`;
    const steps = this.stepsBetween(fromNs, untilNs);
    return steps.length === 0 ? undefined : `the machine's own clock ${stepped(steps)}`;
  }

  /** How far the machine's own clock was stepped meanwhile, milliseconds, whatever the direction. */
  steppedMs(fromNs: number, untilNs: number): number {
    return this.stepsBetween(fromNs, untilNs).reduce((sum, step) => sum + Math.abs(step.ms), 0);
  }

  private stepsBetween(fromNs: number, untilNs: number): Disturbance[] {
    return this.steps.filter((step) => step.beganNs <= untilNs && step.atNs >= fromNs);
  }

  private stepsBehind(overlap: Overlap): string | undefined {
    const { first, second, others } = overlap;
    const sinceNs = Math.min(...[first, second, ...others].map(({ grantSentNs }) => grantSentNs));
    const byNs = overlap.class === 'stale' ? overlap.stale.untilNs : overlap.second.fromNs;
    const steps = this.stepsBetween(sinceNs, byNs);
    if (steps.length === 0 || this.steppedMs(sinceNs, byNs) * 1e6 < needed(overlap)) return undefined;
    return `the machine's own clock ${stepped(steps)}`;
  }

  private stoodStillNs(fromNs: number, untilNs: number): number {
    return this.stalls.reduce((sum, one) => {
      const ns = Math.min(untilNs, endOf(one)) - Math.max(fromNs, one.beganNs);
      return ns > 0 ? sum + ns : sum;
    }, 0);
  }

  /**
   * A release that was sent in time is the client's to carry out, however long the harness stood still before or after. One
   * that was sent after the lease's end is the harness's fault if it stood still between that end and the sending; or for as long
   * before, while it was to read that the client held or had prolonged: from then on it counts how long the hold is to be.
   */
  private stallBehind(hold: Hold): string | undefined {
    const sentNs = this.releaseSentNs.get(nameOf(hold.client, hold.id)) ?? hold.untilNs;
    if (sentNs <= hold.leaseEndNs) return undefined;
    const stall = this.stalls.find((one) => one.beganNs <= sentNs && endOf(one) >= hold.leaseEndNs);
    if (stall)
      return `the harness stood still for ${durationOfMs(stall.ms)} from ${moment(stall.beganNs)} on, when it had to end ${hold.client}'s hold`;
    const unreadNs = this.unreadNs.get(nameOf(hold.client, hold.id)) ?? 0;
    return unreadNs < sentNs - hold.leaseEndNs
      ? undefined
      : `the harness stood still for ${durationOfMs(unreadNs / 1e6)} before it read that ${hold.client} held, and ended its hold by so much later`;
  }

  private ownEndBehind({ first, second, others, fromNs }: Overlap): string | undefined {
    const dead = [first, second, ...others].find(
      ({ client, endedBy }) =>
        endedBy === 'client-down' && this.ownEnds.has(client) && lastRanNs(client, this.history) < fromNs,
    );
    return (
      dead &&
      `${dead.client}'s process ended by itself, seen at ${moment(dead.untilNs)}, and may have done nothing since it was last heard at ${moment(lastRanNs(dead.client, this.history))}`
    );
  }

  private lateDeathBehind({ first, second, others }: Overlap): string | undefined {
    for (const hold of [first, second, ...others]) {
      if (hold.endedBy !== 'client-down') continue;
      const stall = this.stalls.find(
        (one) =>
          one.beganNs <= second.fromNs && hold.untilNs <= endOf(one) + CATCHING_UP_NS && hold.untilNs >= one.beganNs,
      );
      if (stall)
        return `the harness stood still for ${durationOfMs(stall.ms)} from ${moment(stall.beganNs)} on, and ${hold.client} may have died meanwhile`;
    }
    return undefined;
  }
}

/** How far clocks must have moved to make this overlap. */
function needed(overlap: Overlap): number {
  // A careful client works by the clock's idea of its lease: moved by 300 ms, it may overstay by 300 ms.
  if (overlap.class === 'stale') return overlap.stale.untilNs - overlap.stale.leaseEndNs;
  // Any of the leases may have been the one that ended early.
  const all = [overlap.first, overlap.second, ...overlap.others];
  const leftNs = (one: Hold) =>
    one.leaseEndNs -
    leaseMarginNs(one.leaseMs) -
    Math.min(...all.filter((other) => other !== one).map(({ fromNs }) => fromNs));
  return Math.min(...all.map(leftNs));
}

function stepped(steps: readonly Disturbance[]): string {
  const [first, ...others] = steps;
  const more = others.length === 0 ? '' : others.length === 1 ? ' and once more' : ` and ${others.length} more times`;
  return `was stepped by ${Math.round(first!.ms)} ms at about ${moment(first!.beganNs)}${more}`;
}

function endOf(stall: Disturbance): number {
  return stall.beganNs + stall.ms * 1e6 + CATCHING_UP_NS;
}

function nameOf(client: string, hold: number | undefined): string {
  return `${client}\n${hold}`;
}
