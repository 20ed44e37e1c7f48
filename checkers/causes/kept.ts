/**
 * Whether the servers certainly kept all that they had stored until some instant, so that what a lock got wrong by then can be
 * nothing but its own mistake.
 *
 * Promises: true only where the record has looks at every server, and each ran as one process and as nobody's replica; none was
 * killed, emptied, made to forget or short of memory; none was out of the observer's sight; and no stranger sent a command about the run's keys.
 *
 * Clocks of servers, by which a key may have ended early, count only where it is asked for.
 */
import { effectsOf } from '../../harness/record/facts/effects.js';
import { namesInEffect } from '../../harness/record/facts/faults.js';
import type { History, Observations } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';

const LOSING: ReadonlySet<string> = new Set(['killed', 'forgot', 'short-of-memory', 'evicted', 'replaced']);
const MOVING: ReadonlySet<string> = new Set(['clock-jumped', 'clock-drifts', 'clock-strobes']);
/** With more commands than these, they are not all read. */
const MOST_COMMANDS = 1_000_000;

/** `steady`: nor had any clock of a server been moved by then. */
export function serversKeptAll(input: CheckInput, untilNs: number, steady: boolean): boolean {
  const { history, observations } = input;
  return (
    untilNs < firstEffectNs(history, LOSING) &&
    (!steady || untilNs < firstEffectNs(history, MOVING)) &&
    untilNs < firstSeenNs(observations)
  );
}

/** When a server was first struck by one of these effects, ns since the epoch. */
function firstEffectNs(history: History, kinds: ReadonlySet<string>): number {
  const clients = new Set(
    history.rare.flatMap((event) => (event.type === 'client-up' ? [event.client, event.slot, event.host] : [])),
  );
  const struck = effectsOf(history).all.filter(
    ({ effect }) => kinds.has(effect.kind) && namesInEffect(effect).some((name) => !clients.has(name)),
  );
  return Math.min(...struck.map(({ earliestNs }) => earliestNs));
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
