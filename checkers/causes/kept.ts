/**
 * Whether the servers certainly kept all that they had stored until some instant, so that what a lock got wrong by then can be
 * nothing but its own mistake.
 *
 * Promises: true only where every server was sampled, stayed one process and was never a replica; none was killed, emptied,
 * made to forget or short of memory; none was out of the observer's sight; and no stranger sent a command about the run's keys. What
 * is missing from the record may have been any of these.
 *
 * Clocks of servers, by which a key may have ended early, count only where it is asked for.
 */
import { namesOfClient } from '../../harness/record/facts/clients.js';
import { deadlineMs } from '../../harness/record/facts/deadlines.js';
import { type EffectSpan, effectsOf } from '../../harness/record/facts/effects.js';
import { namesInEffect } from '../../harness/record/facts/faults.js';
import { recordedUntilNs } from '../../harness/record/facts/missing-observations.js';
import type { History, Observations } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Violation } from '../../harness/vocabulary/verdict.js';

const LOSING: ReadonlySet<string> = new Set([
  'killed',
  'lost-power',
  'forgot',
  'short-of-memory',
  'evicted',
  'replaced',
  'slot-moves',
]);
const MOVING: ReadonlySet<string> = new Set(['clock-jumped', 'clock-drifts', 'clock-strobes']);
/** With more commands than these, they are not all read. */
const MOST_COMMANDS = 1_000_000;

/** `steady`: nor had any clock of a server been moved by then. */
export function serversKeptAll(input: CheckInput, untilNs: number, steady: boolean): boolean {
  const { history, observations } = input;
  return (
    untilNs < firstEffectNs(history, LOSING) &&
    (!steady || untilNs < firstEffectNs(history, MOVING)) &&
    untilNs < firstSeenNs(observations) &&
    untilNs <= recordedUntilNs(input)
  );
}

/**
 * Whether a lock that was refused to a probe as held was so although all that any client had stored must have ended, if the lock
 * had given it the lease that it was asked for and the deadline that it declares: the probe went on for longer than both, and
 * a key that was stored by a clock that was ahead had ended before it began.
 */
export function allLeasesHadEnded({ untilNs, evidence }: Violation, { history }: CheckInput): boolean {
  const probe = history.event(evidence.at(-1) ?? -1);
  if (probe?.type !== 'probe' || (probe.reason !== 'held' && probe.reason !== 'queued-behind')) return false;
  const { leaseMs, count } = history.operations;
  let longestMs = 0;
  for (let row = 0; row < count; row++) if (leaseMs[row]! > longestMs) longestMs = leaseMs[row]!;
  const declared = (['place', 'permit'] as const).map((of) => deadlineMs(history, of, longestMs) ?? 0);
  // What never ends by itself is the lock's own affair.
  const lastNs = (longestMs + declared.reduce((sum, one) => sum + (Number.isFinite(one) ? one : 0), 0)) * 1e6;
  const ahead = onServers(history, MOVING).map(({ effect, latestNs }) =>
    effect.kind === 'clock-jumped' ? latestNs + Math.max(0, effect.offsetMs) * 1e6 : Number.POSITIVE_INFINITY,
  );
  const triedNs = probe.afterMs * 1e6;
  return triedNs > lastNs && ahead.every((endNs) => endNs + lastNs < untilNs - triedNs);
}

/** When a server was first struck by one of these effects, ns since the epoch. */
function firstEffectNs(history: History, kinds: ReadonlySet<string>): number {
  return Math.min(...onServers(history, kinds).map(({ earliestNs }) => earliestNs));
}

function onServers(history: History, kinds: ReadonlySet<string>): EffectSpan[] {
  const clients = new Set(
    history.rare.flatMap((event) => (event.type === 'client-up' ? [...namesOfClient(event), event.host] : [])),
  );
  return effectsOf(history).all.filter(
    ({ effect }) => kinds.has(effect.kind) && namesInEffect(effect).some((name) => !clients.has(name)),
  );
}

const seen = new WeakMap<Observations, number>();

/** When the servers' record first leaves a doubt: of a long run it is long, and many findings ask. */
function firstSeenNs(observations: Observations): number {
  const known = seen.get(observations) ?? Math.min(firstDoubtNs(observations), firstStrangerNs(observations));
  seen.set(observations, known);
  return known;
}

/** As servers were seen. */
function firstDoubtNs({ rare }: Observations): number {
  const runIds = new Map<string, string>();
  for (const [, seen] of rare) {
    if (seen.type === 'evicted' || (seen.type === 'watch' && !seen.watching)) return seen.atNs;
    if (seen.type !== 'sample') continue;
    const runId = runIds.get(seen.node) ?? seen.runId;
    if (seen.role !== 'primary' || seen.runId !== runId) return seen.atNs;
    runIds.set(seen.node, runId);
  }
  return runIds.size === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

function firstStrangerNs(observations: Observations): number {
  if (observations.commandCount > MOST_COMMANDS) return Number.NEGATIVE_INFINITY;
  for (const [, { client, source, atNs }] of observations.commands(0, Number.POSITIVE_INFINITY))
    if (client === undefined && source !== 'lua') return atNs;
  return Number.POSITIVE_INFINITY;
}
