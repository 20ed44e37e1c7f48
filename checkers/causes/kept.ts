/**
 * Whether the servers certainly kept all that they stored between two instants, so that what a lock got wrong in that time can be
 * nothing but its own mistake.
 *
 * Promises: true only where every server was sampled before and after, was one process all the time and never a replica; none
 * was killed, emptied, made to forget or short of memory; every one was in the observer's sight from the beginning on; and no stranger sent a command
 * about the run's keys. What is missing from the record may have been any of these.
 *
 * Clocks of servers, by which a key may have ended early, count only where it is asked for: none was off then, nor was the machine's
 * stepped, with which they all go.
 */
import { namesOfClient } from '../../harness/record/facts/clients.js';
import { deadlineMs } from '../../harness/record/facts/deadlines.js';
import { type EffectSpan, effectsOf } from '../../harness/record/facts/effects.js';
import { OBSERVED_WITHIN_NS } from '../../harness/record/facts/evidence.js';
import { namesInEffect } from '../../harness/record/facts/faults.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import { type MachineClock, machineClockOf } from '../../harness/record/facts/machine-clock.js';
import { recordedUntilNs } from '../../harness/record/facts/missing-observations.js';
import type { History, Observations } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Violation } from '../../harness/vocabulary/verdict.js';
import { READING_MS } from './meanwhile.js';
import { isLeftByClients } from './stored-by-asking.js';

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

export interface TimeSpan {
  /** -Infinity: since the servers were first looked at. */
  fromNs: number;
  untilNs: number;
  /** A server answered at its end, so all that it had run by then was printed, be it killed at once. */
  endsWithAnswer?: boolean;
}

/** `steady`: nor was any clock of a server off. */
export function serversKeptAll(input: CheckInput, span: TimeSpan, steady: boolean): boolean {
  const { history } = input;
  if (span.untilNs > recordedUntilNs(input)) return false;
  const struck = (kinds: ReadonlySet<string>) =>
    onServers(history, kinds).some(({ earliestNs, latestNs }) => earliestNs <= span.untilNs && latestNs >= span.fromNs);
  const steppedMs = () => machineClockOf(history)?.movedMs(span.fromNs, span.untilNs) ?? 0;
  const hasMoved = () => struck(MOVING) || steppedMs() > READING_MS;
  // Before anybody asked for anything nothing was stored.
  const sightFromNs = Math.max(span.fromNs, history.operations.sentNs[0] ?? Number.NEGATIVE_INFINITY);
  return !struck(LOSING) && !(steady && hasMoved()) && seenOf(input).shows(span, sightFromNs);
}

/**
 * Whether a lock that was refused to a probe as held was so although all that any client had stored must have ended, if the lock
 * had given it the lease that it was asked for and the deadline that it declares: the probe went on for longer than both, a
 * key that was stored by a clock that was ahead had ended before it began, and no stranger had left anything there.
 */
export function allLeasesHadEnded({ key, untilNs, evidence }: Violation, input: CheckInput): boolean {
  const { history } = input;
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
  if (!(triedNs > lastNs && ahead.every((endNs) => endNs + lastNs < untilNs - triedNs))) return false;
  return isLeftByClients(key, input);
}

function onServers(history: History, kinds: ReadonlySet<string>): EffectSpan[] {
  const clients = new Set(
    history.rare.flatMap((event) => (event.type === 'client-up' ? [...namesOfClient(event), event.host] : [])),
  );
  return effectsOf(history).all.filter(
    ({ effect }) => kinds.has(effect.kind) && namesInEffect(effect).some((name) => !clients.has(name)),
  );
}

const seen = new WeakMap<Observations, Seen>();

/** Of a long run it takes long, and many findings ask. */
function seenOf({ history, observations }: CheckInput): Seen {
  const known = seen.get(observations) ?? new Seen(observations, machineClockOf(history));
  seen.set(observations, known);
  return known;
}

interface Look {
  atNs: number;
  skewMs: number;
  /** What must be the same at every look of a span; undefined: a look that leaves a doubt. */
  process: string | undefined;
}

/** Something that may have changed what servers had: when it was read, and when it ran by its server's stamp, if it has one. */
interface Doubt {
  atNs: number;
  ranNs?: number | undefined;
}

/** What was seen of the servers, and of strangers. */
class Seen {
  /** Of each server, in order. */
  private readonly looks = new Map<string, Look[]>();
  private readonly sights = new Map<string, { atNs: number; watching: boolean }[]>();
  /** That something was evicted, or a stranger sent a command; -Infinity: it may have been at any time. */
  private readonly doubts: Doubt[] = [];

  constructor(observations: Observations, clock: MachineClock | undefined) {
    for (const [, one] of observations.rare) {
      if (one.type === 'evicted') this.doubts.push({ atNs: one.atNs });
      else if (one.type === 'watch') listIn(this.sights, one.node).push(one);
      else if (one.type === 'sample')
        listIn(this.looks, one.node).push({
          atNs: one.atNs,
          skewMs: one.skewMs,
          process: one.role === 'primary' ? one.runId : undefined,
        });
    }
    if (observations.commandCount > MOST_COMMANDS) this.doubts.push({ atNs: Number.NEGATIVE_INFINITY });
    else
      for (const [, { client, source, atNs, node, serverWallMs }] of observations.commands(0, Number.POSITIVE_INFINITY))
        if (client === undefined && source !== 'lua')
          this.doubts.push({ atNs, ranNs: clock?.showed(serverWallMs, this.skewMsAt(node, atNs), atNs) });
  }

  /** How far off a node's clock was when it was looked at last. */
  private skewMsAt(node: string, atNs: number): number {
    const looks = this.looks.get(node) ?? [];
    return looks[firstIndex(looks.length, (at) => looks[at]!.atNs > atNs) - 1]?.skewMs ?? 0;
  }

  /**
   * Whether every server was one primary and in sight all the time, and nothing else befell what it had. `sightFromNs`: it had to be in
   * sight from then on at the latest.
   */
  shows({ fromNs, untilNs, endsWithAnswer }: TimeSpan, sightFromNs: number): boolean {
    if (this.looks.size === 0) return false;
    // What ran by its end may have been read after that; on a busy machine long after, as its stamp says.
    const isWithin = ({ atNs, ranNs = atNs }: Doubt) =>
      atNs >= fromNs && (atNs < untilNs + OBSERVED_WITHIN_NS || ranNs < untilNs + RECKONING_NS);
    if (this.doubts.some((doubt) => doubt.atNs === Number.NEGATIVE_INFINITY || isWithin(doubt))) return false;
    return [...this.looks].every(([node, looks]) => {
      const sights = around(this.sights.get(node) ?? [], fromNs, untilNs);
      return (
        isOne(around(looks, fromNs, untilNs), fromNs, untilNs) &&
        beganBy(sights[0], sightFromNs) &&
        sights.every(({ atNs, watching }) => watching || (endsWithAnswer && atNs > untilNs))
      );
    });
  }
}

function isOne(looks: readonly Look[], fromNs: number, untilNs: number): boolean {
  const [first] = looks;
  const isThere = first?.process !== undefined && beganBy(first, fromNs) && looks.at(-1)!.atNs > untilNs;
  return isThere && looks.every(({ process }) => process === first.process);
}

function beganBy(first: { atNs: number } | undefined, fromNs: number): boolean {
  return first !== undefined && (fromNs === Number.NEGATIVE_INFINITY || first.atNs <= fromNs);
}

/** From the last one before the span, to the first one after it. */
function around<Timed extends { atNs: number }>(
  all: readonly Timed[],
  fromNs: number,
  untilNs: number,
): readonly Timed[] {
  const begin = Math.max(
    0,
    all.findLastIndex(({ atNs }) => atNs <= fromNs),
  );
  const after = all.findIndex(({ atNs }) => atNs > untilNs);
  return all.slice(begin, after < 0 ? all.length : after + 1);
}

function listIn<One>(lists: Map<string, One[]>, name: string): One[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}
