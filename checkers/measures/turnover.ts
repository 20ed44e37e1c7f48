/**
 * Measures how often the lock was granted while clients contended for it, how evenly and at what price, and how many of the holds were
 * long. Never decides.
 *
 * **Evenly**: a place of a client is told by how often its processes were granted something, whatever they asked for. **The price** is
 * how many commands on the run's keys clients sent, tries in vain included, for each grant; only of servers whose commands are seen.
 *
 * A race of milliseconds shows once in hundreds or thousands of grants, so in a run that was to hammer (its holds are mixed,
 * nearly all of them brief) a lock that was granted rarely has not been put to that test: the run says so. It does not say
 * why. A lock that tries again late, faults that leave little time, and a busy machine look the same from here.
 */
import { holdsOf } from '../../harness/record/facts/holds.js';
import { count, duration } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History, Observations, Phase } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Measurement } from '../../harness/vocabulary/verdict.js';

/** In parts of the lease. */
const LONG = 1 / 3;
/** Below these a run hammers too little to be relied on for a race of milliseconds. */
const GRANTS_PER_SECOND = 50;

function measureTurnover({ history, observations, config }: CheckInput): CheckerFindings {
  const contended = contendedSpan(history);
  const ofSlots = contended ? grantsOfSlots(history, contended) : [];
  const granted = ofSlots.reduce((sum, grants) => sum + grants, 0);
  const rare =
    contended !== undefined && 'briefMs' in config.hold && granted < GRANTS_PER_SECOND * secondsOf(contended);
  return {
    verdict: 'valid',
    notes: rare
      ? [
          `granted only ${count(granted)} times in ${duration(contended.untilNs - contended.fromNs)}: too rarely to rely on this run for a race of milliseconds (a lock that is tried again within 30 ms comes to ${GRANTS_PER_SECOND} a second and more)`,
        ]
      : [],
    violations: [],
    stats: { longHolds: longHolds(history, config.leaseMs) },
    measurements: contended && granted > 0 ? measured(contended, ofSlots, granted, observations) : [],
  };
}

function measured(
  contended: Span,
  ofSlots: readonly number[],
  granted: number,
  observations: Observations,
): Measurement[] {
  const { fromNs, untilNs } = contended;
  const add = (of: string, values: Record<string, number>): Measurement => ({
    ...{ name: 'turnover', of, fromNs, untilNs, evidence: [] },
    values,
  });
  const ordered = [...ofSlots].sort((a, b) => a - b);
  const grants = add('grants of each client', {
    clients: ofSlots.length,
    perSecond: rounded(granted / secondsOf(contended)),
    least: ordered[0]!,
    median: ordered[Math.floor(ordered.length / 2)]!,
    greatest: ordered.at(-1)!,
  });
  let commands = 0;
  for (const [, { client }] of observations.commands(fromNs, untilNs)) if (client !== undefined) commands++;
  if (commands === 0) return [grants];
  return [grants, add('commands that clients sent', { commands, forEachGrant: rounded(commands / granted) })];
}

/** To two digits after the point. */
function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

export const turnover: Checker = {
  name: 'turnover',
  summary: 'measures how often the lock was granted, how evenly, for how many commands, and how many holds were long',
  properties: [],
  judges: { models: 'all', plays: false },
  check: measureTurnover,
};

interface Span {
  fromNs: number;
  untilNs: number;
}

/** From when clients begin to contend until everything is healed; undefined where the record does not say. */
function contendedSpan({ rare, endNs }: History): Span | undefined {
  const began = (phase: Phase) => rare.find((event) => event.type === 'phase' && event.phase === phase)?.atNs;
  const fromNs = began('warm-up');
  if (fromNs === undefined) return undefined;
  const untilNs = began('heal') ?? endNs;
  return untilNs > fromNs ? { fromNs, untilNs } : undefined;
}

function secondsOf({ fromNs, untilNs }: Span): number {
  return (untilNs - fromNs) / 1e9;
}

/** How often each place of a client was granted something then; none of them is left out that had a process. */
function grantsOfSlots({ operations: ops, rare }: History, { fromNs, untilNs }: Span): number[] {
  const slots = new Map<string, string>();
  const granted = new Map<string, number>();
  for (const event of rare) {
    if (event.type !== 'client-up') continue;
    slots.set(event.client, event.slot);
    granted.set(event.slot, 0);
  }
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] !== OP.acquire || ops.outcome[row] !== OUTCOME.ok) continue;
    if (ops.readNs[row]! < fromNs || ops.readNs[row]! >= untilNs) continue;
    const client = ops.clients[ops.client[row]!]!;
    const slot = slots.get(client) ?? client;
    granted.set(slot, (granted.get(slot) ?? 0) + 1);
  }
  return [...granted.values()];
}

function longHolds(history: History, leaseMs: number): number {
  const holds = holdsOf(history);
  let long = 0;
  for (let k = 0; k < holds.count; k++) if (holds.untilNs[k]! - holds.fromNs[k]! > LONG * leaseMs * 1e6) long++;
  return long;
}
