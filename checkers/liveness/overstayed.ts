/**
 * Was a try answered in time?
 *
 * Promises: an acquire is accused (`overstayed`) only if its answer came later than its wait, the time-outs of all commands
 * that it sent and of two more, and a quarter of a second: so much later that not even a slow server excuses it. No fault was
 * in force at the time or within 10 s before but on other clients, and neither harness nor machine stood still meanwhile. An
 * operation that the harness gave up counts as answered then.
 *
 * Example: `waitMs` is 0, and the lock tries twice, 3 s apart. Of its two commands each may take 500 ms, of what the observer
 * cannot see (a WAIT, a PUBLISH) as much again; 2.25 s would be excused, 3 s are not.
 *
 * The cause is named where the record shows that the lock itself went on: when all of that was over it sent the server a
 * command, over the same connection on which this had run that very command when the wait was over already. One late command
 * shows nothing: a client that was stopped between its look at the clock and that command has broken no promise. Nor do the
 * commands of a client that was stopped before it began to wait: the wait must be over by what the server saw of it although
 * the longest pause between two of them is not counted. And the first of the two was answered before the second left: the
 * server was looked at twice in between, and so did not keep what had come to it.
 *
 * Excludes: locks that have no notion of a wait, which say so by the feature `no-wait`; acquires of which no command was seen,
 * since nothing then bounds what they may have been waiting for; and those during which some server was not watched.
 */

import { requestKind } from '../../harness/record/facts/commands/table.js';
import { Earliest } from '../../harness/record/facts/earliest.js';
import { Evidence, OBSERVED_WITHIN_NS } from '../../harness/record/facts/evidence.js';
import { mishaps } from '../../harness/record/facts/faults.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import type { KeyWrite, WatchObservation } from '../../harness/record/facts/key-writes.js';
import { missingObservations } from '../../harness/record/facts/missing-observations.js';
import { mayHaveBeenTroubled } from '../../harness/record/facts/troubled.js';
import { duration, durationOfMs, moment, plural } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { CommandObservation, History, Observations } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CheckerFindings, Violation } from '../../harness/vocabulary/verdict.js';
import { asksOf } from '../causes/asks.js';
import { unexplained } from '../causes/unexplained.js';
import { wholeEvidenceOf } from '../causes/whole-evidence.js';
import { reported } from './reported.js';

/** What lock clients are given (`ClientOptions.commandTimeoutMs`) on Redis; of other services no command is observed. */
const COMMAND_TIMEOUT_MS = 500;
/** Commands that do not name the key are not observed: a WAIT after the write, a PUBLISH after the release. */
const UNSEEN_COMMANDS = 2;
/** A harness that stood still for longer says so in the record. */
const STALL_MS = 250;
const MOST_REPORTED = 200;
/** The least that excuses an acquire is this much beyond its wait: cheaper to ask than what its commands were. */
const LEAST_EXCESS_MS = (1 + UNSEEN_COMMANDS) * COMMAND_TIMEOUT_MS + STALL_MS;

interface Overstay {
  row: number;
  commands: readonly Sent[];
  /** When the last of what excuses it was over. */
  dueNs: number;
}

/** A command of the acquire's client on its key, and when it ran, ns since the epoch. */
interface Sent {
  line: number;
  command: CommandObservation;
  ranFromNs: number;
  ranByNs: number;
}

function findOverstays(input: CheckInput): CheckerFindings {
  const { history } = input;
  const found = new Earliest<Overstay>(MOST_REPORTED, (a, b) => a.dueNs - b.dueNs);
  const notJudged = whyNotJudged(input);
  const late = notJudged === undefined ? lateAnswers(history) : [];
  const missing = late.length > 0 ? missingObservations(input) : undefined;
  if (missing !== undefined) {
    const notes = [`whether acquires were answered in time cannot be determined: ${missing}`];
    return { verdict: 'unknown', notes, violations: [], stats: {} };
  }
  const watches = late.length > 0 ? watchesIn(input.observations) : [];
  for (const row of late) {
    const overstay = isExcused(history, row, watches) ? undefined : overstayOf(input, row);
    if (overstay) found.add(overstay);
  }
  const violations = found.list().map((one) => violation(one, input));
  return reported(violations, found.count, { triesOverstayed: found.count }, notJudged);
}

export const overstayed: Checker = {
  name: 'overstayed',
  summary: 'no acquire was answered long after its wait was over',
  properties: [
    {
      class: 'liveness',
      holds: 'Every acquire was answered when its wait was over',
      broken: 'An acquire was answered long after its wait was over',
      kinds: {
        overstayed: {
          headline: (count) => `Overstayed: ${plural(count, 'acquire')} answered long after the wait was over`,
          accusedIf:
            'an acquire was answered later than its wait and the time-outs of all its commands, with no fault but on other clients',
        },
      },
    },
  ],
  judges: { models: 'all', plays: true },
  check: findOverstays,
};

function whyNotJudged({ history, observations }: CheckInput): string | undefined {
  if (observations.commandCount === 0) return 'no command of any client was observed';
  if (mishaps(history).length > 0) return 'something befell the run that was not the lock';
  const declared = history.rare.some((event) => event.type === 'client-up' && event.features.includes('no-wait'));
  return declared ? 'the lock has no notion of a wait' : undefined;
}

/** Rows of acquires whose answer came late by more than the least that can excuse it. */
function lateAnswers(history: History): number[] {
  const { operations: ops } = history;
  const { callNs } = intervalsOf(history);
  const rows: number[] = [];
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] !== OP.acquire || ops.outcome[row] === OUTCOME.none) continue;
    if (answeredNs(history, row) - callNs[row]! > ((ops.waitMs[row] || 0) + LEAST_EXCESS_MS) * 1e6) rows.push(row);
  }
  return rows;
}

/** When the answer was there, or the harness gave up. NaN for any other unknown outcome: its client was gone. */
function answeredNs(history: History, row: number): number {
  const { outcome, reasons, reason } = history.operations;
  const gaveUp = /^no answer within /.test(reasons[reason[row]!] ?? '');
  return outcome[row] === OUTCOME.info && !gaveUp ? Number.NaN : intervalsOf(history).returnNs[row]!;
}

function isExcused(history: History, row: number, watches: readonly WatchObservation[]): boolean {
  const { operations: ops } = history;
  const untilNs = answeredNs(history, row);
  if (mayHaveBeenTroubled(history, ops.clients[ops.client[row]!]!, ops.sentNs[row]!, untilNs)) return true;
  return wasUnwatched(intervalsOf(history).callNs[row]!, untilNs, watches);
}

/** Of a long run there are many looks among the rest, and many rows ask. */
function watchesIn({ rare }: Observations): WatchObservation[] {
  const watches: WatchObservation[] = [];
  for (const [, one] of rare) if (one.type === 'watch') watches.push(one);
  return watches;
}

/** Whether some server was not watched at times: what it was asked then may have taken as long as what was seen. */
function wasUnwatched(fromNs: number, untilNs: number, watches: readonly WatchObservation[]): boolean {
  const unwatched = new Set<string>();
  for (const one of watches) {
    if (one.atNs > untilNs) continue;
    if (!one.watching) unwatched.add(one.node);
    else if (one.atNs <= fromNs) unwatched.delete(one.node);
  }
  return unwatched.size > 0;
}

function overstayOf({ history, observations }: CheckInput, row: number): Overstay | undefined {
  const { operations: ops } = history;
  const [client, key] = [ops.clients[ops.client[row]!]!, ops.keys[ops.key[row]!]!];
  const callNs = intervalsOf(history).callNs[row]!;
  const untilNs = answeredNs(history, row);
  const commands = sentSince(
    callNs,
    [...observations.commands(callNs, untilNs + OBSERVED_WITHIN_NS)].filter(
      ([, { client: sender, argv }]) => sender === client && argv.includes(key),
    ),
  ).filter(({ ranFromNs }) => ranFromNs <= untilNs);
  if (commands.length === 0) return undefined;
  const allowedMs = (ops.waitMs[row] || 0) + (commands.length + UNSEEN_COMMANDS) * COMMAND_TIMEOUT_MS + STALL_MS;
  const dueNs = callNs + allowedMs * 1e6;
  return untilNs > dueNs ? { row, commands, dueNs } : undefined;
}

/**
 * Bounds of when commands ran: by the server's own clock, from the first one on that it ran for this client. They are read a
 * little later, and so the last one of an acquire often when that has been answered.
 */
function sentSince(callNs: number, commands: Iterable<readonly [number, CommandObservation]>): Sent[] {
  const firsts = new Map<string, CommandObservation>();
  return Array.from(commands, ([line, command]) => {
    const first = firsts.get(command.node) ?? command;
    firsts.set(command.node, first);
    const laterNs = (command.serverWallMs - first.serverWallMs) * 1e6;
    const [ranFromNs, ranByNs] = [callNs, first.atNs].map((ns) => Math.min(command.atNs, ns + laterNs)) as [
      number,
      number,
    ];
    return { line, command, ranFromNs, ranByNs };
  });
}

/** When the client began its next operation; infinity: never. */
function nextCallNs(history: History, row: number): number {
  const { client, count } = history.operations;
  for (let next = row + 1; next < count; next++)
    if (client[next] === client[row]) return intervalsOf(history).callNs[next]!;
  return Number.POSITIVE_INFINITY;
}

function violation(overstay: Overstay, input: CheckInput): Violation {
  const { history } = input;
  const { row, commands } = overstay;
  const { operations: ops } = history;
  const k = holdsOf(history).ofRow[row]!;
  const [client, key] = [ops.clients[ops.client[row]!]!, ops.keys[ops.key[row]!]!];
  const callNs = intervalsOf(history).callNs[row]!;
  const untilNs = answeredNs(history, row);
  const waitMs = ops.waitMs[row] || 0;
  const answer =
    ops.outcome[row] === OUTCOME.info
      ? 'had not answered'
      : ops.outcome[row] === OUTCOME.ok
        ? 'was granted it'
        : `was refused (${ops.reasons[ops.reason[row]!] ?? 'no reason'})`;
  return {
    class: 'liveness',
    kind: 'overstayed',
    key,
    fromNs: callNs + waitMs * 1e6,
    untilNs,
    holds: k >= 0 ? [holdsOf(history).hold(k)] : [],
    evidence: [ops.invokeLine[row]!, ops.completionLine[row]!],
    proof: `${client} asked for ${key} at ${moment(callNs)} ${waitInWords(waitMs)} and ${answer} at ${moment(untilNs)}, ${duration(untilNs - callNs)} later; ${plural(commands.length, 'command')} of its own and ${UNSEEN_COMMANDS} unseen ones may have taken ${durationOfMs((commands.length + UNSEEN_COMMANDS) * COMMAND_TIMEOUT_MS)} at most.`,
    cause: causeOf(overstay, input),
  };
}

const waitInWords = (waitMs: number) => (waitMs > 0 ? `with a wait of ${durationOfMs(waitMs)}` : 'without a wait');

/** The lock itself went on, where it tried again after everything that excuses the acquire was over. */
function causeOf(overstay: Overstay, input: CheckInput): Cause {
  const { history, observations } = input;
  const { row } = overstay;
  const { operations: ops } = history;
  const client = ops.clients[ops.client[row]!]!;
  const waitMs = ops.waitMs[row] || 0;
  const told = {
    atNs: ops.sentNs[row]!,
    text: `${client} was told to take ${ops.keys[ops.key[row]!]} ${waitInWords(waitMs)}`,
    history: ops.invokeLine[row]!,
  };
  const answered = {
    atNs: answeredNs(history, row),
    text: `${client}'s acquire ended`,
    history: ops.completionLine[row]!,
  };
  const retry = retryOf({ ...overstay, commands: asksAmong(overstay, input) }, waitMs, history, observations);
  if (!retry) return unexplained([told, answered]);
  const { first, again } = retry;
  const name = again.command.argv[0]?.toUpperCase();
  return {
    name: 'went-on-trying',
    sentence: `${client}'s lock went on trying: it sent another ${name} ${duration(again.ranByNs - (told.atNs + waitMs * 1e6))} after its wait was over.`,
    chain: [
      told,
      { atNs: first.ranByNs, text: `${client} had sent ${name} when its wait was over`, observation: first.line },
      { atNs: again.ranByNs, text: `${client} sent ${name} again`, observation: again.line },
      answered,
    ],
  };
}

/** Two tries that were both made when the wait was over: the second was made in spite of the first one's answer. */
function retryOf(
  { row, commands, dueNs }: Overstay,
  waitMs: number,
  history: History,
  observations: Observations,
): { first: Sent; again: Sent } | undefined {
  // What may have run when the client had gone on to something else may be that's.
  const nextNs = nextCallNs(history, row);
  const again = commands.findLast(({ ranByNs }) => ranByNs <= nextNs);
  if (!again || again.ranFromNs <= dueNs) return undefined;
  const { node } = again.command;
  let [began, last, longestMs] = [Number.NaN, Number.NaN, 0];
  for (const first of commands) {
    if (first === again) return undefined;
    if (first.command.node !== node) continue;
    const atMs = first.command.serverWallMs;
    if (Number.isNaN(began)) began = atMs;
    else longestMs = Math.max(longestMs, atMs - last);
    last = atMs;
    const wasOver = atMs - began - longestMs >= waitMs;
    if (!wasOver || !isSame(first.command, again.command)) continue;
    // Between later ones there are no more looks.
    return looksBetween(first, again, observations) >= 2 ? { first, again } : undefined;
  }
  return undefined;
}

/**
 * Those by which the lock asked: like what was seen to store an owner; or like what this lock sends first, if that was never seen to
 * prolong or to remove. A client that takes back what it stored tries for nothing. Nor may one that holds the key: its
 * renewals go on beside its acquire.
 */
function asksAmong({ row, commands }: Overstay, input: CheckInput): readonly Sent[] {
  const { operations: ops } = input.history;
  const key = ops.keys[ops.key[row]!]!;
  const callNs = intervalsOf(input.history).callNs[row]!;
  const untilNs = answeredNs(input.history, row);
  if (holdsBeside(input.history, row, callNs, untilNs)) return [];
  const evidence =
    wholeEvidenceOf(input) ?? new Evidence(input, { fromNs: callNs, untilNs: untilNs + OBSERVED_WITHIN_NS });
  const effects = new Map<string, Set<KeyWrite['effect']>>();
  for (const write of evidence.nodes.flatMap((node) => evidence.writes(node, key))) {
    const argv = evidence.argvOf(write);
    if (!argv) continue;
    const ofKind = effects.get(requestKind(argv)) ?? new Set();
    effects.set(requestKind(argv), ofKind.add(write.effect));
  }
  const asks = new Set(asksOf(input, key, callNs, untilNs).map(({ line }) => line));
  const asking = new Set(commands.flatMap(({ line, command }) => (asks.has(line) ? [requestKind(command.argv)] : [])));
  return commands.filter(({ command }) => {
    const kind = requestKind(command.argv);
    const did = effects.get(kind);
    return did?.has('take') || (asking.has(kind) && !did?.has('prolong') && !did?.has('remove'));
  });
}

/** Whether the client had the key by another hold while it asked. */
function holdsBeside(history: History, row: number, callNs: number, untilNs: number): boolean {
  const { operations: ops } = history;
  const holds = holdsOf(history);
  return holds.row.some(
    (of, k) =>
      of !== row &&
      ops.client[of] === ops.client[row] &&
      ops.key[of] === ops.key[row] &&
      holds.fromNs[k]! <= untilNs &&
      holds.untilNs[k]! >= callNs,
  );
}

function isSame(one: CommandObservation, other: CommandObservation): boolean {
  return one.source === other.source && requestKind(one.argv) === requestKind(other.argv);
}

/** How often a node was certainly looked at between two of its commands; of two looks the second was begun after the first. */
function looksBetween(first: Sent, again: Sent, { rare }: Observations): number {
  return rare.filter(
    ([, { type, node, atNs }]) =>
      type === 'sample' && node === again.command.node && atNs >= first.ranByNs && atNs <= again.ranFromNs,
  ).length;
}
