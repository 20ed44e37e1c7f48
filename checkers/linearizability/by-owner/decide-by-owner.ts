/**
 * Decides a key whose releases do not say which hold they end, as in histories recorded elsewhere: a release ends a hold of its
 * owner, whichever that was.
 *
 *     c1 acquires, ok · c1 acquires, unknown · c1 releases, ok · c2 acquires, ok
 *
 * is what a mutex answers if c1's second acquire never took effect. A procedure that takes the release for that of the second
 * one lets c1 hold for ever.
 *
 * - A successful release ends one hold that its owner has at that instant.
 * - A release of unknown outcome ends one, from its call on or never: a hold too that its owner got later.
 * - A release that was answered "not yours", where that is taken for an end, ends all that its owner has.
 *
 * Where every client's unknown operation is its last, and no denial meets two holds, it makes no difference which hold a release
 * ended, and the procedures of `decide.ts` decide.
 */
import { listed, momentBeside, plural } from '../../../harness/record/facts/words.js';
import { MODE, OP, OUTCOME } from '../../../harness/record/history-table.js';
import type { LockModel } from '../../../harness/vocabulary/protocol.js';
import { cutOut } from '../cut-out.js';
import { decide } from '../decide.js';
import { deniedOwnership, isUnknown } from '../models/answers.js';
import type { DecideKey, DecideOptions, Decision, KeyHistory, Reading, Witness } from '../types.js';
import { frontierOf } from './frontier.js';
import type { Promised } from './steps.js';

export const decideByOwner: DecideKey = (history, model, reading, options) =>
  isOpen(history, model, reading)
    ? byFrontier(history, model, reading, BY_CLIENTS, options)
    : decide(history, model, reading, options);

/** The same where a client may be several threads, which ask for several things at once. */
export const decideByThreads: DecideKey = (history, model, reading, options) =>
  byFrontier(history, model, reading, BY_CLIENTS, options);

/** Of a lock that any client may release, whoever holds it (Knossos' `mutex`; a binary semaphore). */
export const decideByAnybody: DecideKey = (history, model, reading, options) =>
  byFrontier(history, model, reading, { owners: 'anybody', tokens: false }, options);

/** Of a reentrant lock with fencing tokens: whoever has it and takes it again may be given the same token. */
export const decideReentrantFenced: DecideKey = (history, model, reading, options) =>
  byFrontier(history, model, reading, { owners: 'clients', tokens: true }, options);

const BY_CLIENTS: Promised = { owners: 'clients', tokens: false };

/** Whether the verdict may depend on which hold a release ended. */
function isOpen({ rows, operations: ops }: KeyHistory, model: LockModel, reading: Reading): boolean {
  const clients = new Map<number, { held: Uint32Array; wasUnknown: boolean }>();
  for (const row of rows) {
    const isFailure = ops.outcome[row] === OUTCOME.fail;
    const isDenial = reading.failedReleaseEnds && deniedOwnership(ops, row);
    if (isFailure && !isDenial) continue;
    const client = clients.get(ops.client[row]!) ?? { held: new Uint32Array(2), wasUnknown: false };
    clients.set(ops.client[row]!, client);
    const { held, wasUnknown } = client;
    if (wasUnknown) return true;
    const reads = ops.mode[row] === MODE.read ? 1 : 0;
    client.wasUnknown = isUnknown(ops, row);
    if (ops.op[row] === OP.acquire) held[reads]!++;
    else if (isDenial && held[0]! + held[1]! > 1) return true;
    else if (model.kind === 'read-write' && ops.mode[row] === MODE.exclusive && held[0]! > 0 && held[1]! > 0)
      return true;
    else if (isDenial) held.fill(0);
    else {
      const mode = ops.mode[row] === MODE.exclusive && held[0] === 0 ? 1 : reads;
      if (held[mode]! > 0) held[mode]!--;
    }
  }
  return false;
}

const PROCEDURE = 'by owner';

function byFrontier(
  history: KeyHistory,
  model: LockModel,
  reading: Reading,
  promised: Promised,
  options: DecideOptions,
): Decision {
  const reached = frontierOf(history, model, reading, promised, options.search);
  const decision: Decision = { verdict: reached.verdict, procedure: PROCEDURE, witnesses: [], found: 0, notes: [] };
  if (reached.verdict === 'valid') return decision;
  if (reached.verdict === 'unknown') {
    const { steps, explained } = reached;
    return { ...decision, notes: [`gave up after ${steps} steps: ${plural(explained, 'operation')} can be explained`] };
  }
  const rows = fewestOwners(history, model, reading, promised, impossibleRows(history, reached), options);
  const notes = ['findings after the first are not looked for where it is open which hold a release ended'];
  return {
    ...decision,
    found: 1,
    witnesses: [witnessOf(history, rows, reached.row)].slice(0, options.witnesses),
    notes,
  };
}

/** The rows up to the one that cannot be, without those before a time at which nothing was held and nothing was pending. */
function impossibleRows(
  { rows, operations: ops, callNs, returnNs }: KeyHistory,
  last: { row: number; since: number },
): number[] {
  const untilNs = returnNs[last.row]!;
  const isBefore = (row: number) => row < last.since && !isUnknown(ops, row);
  return [...rows].filter((row) => callNs[row]! <= untilNs && !isBefore(row));
}

/** More are not made fewer: each costs a pass over the others. */
const OWNERS_MAX = 50;

/**
 * The same without the owners that are not needed: what is possible with all of them is possible without some, as less is
 * held then. Not where a refusal may need them, nor where anybody releases what another holds.
 */
function fewestOwners(
  history: KeyHistory,
  model: LockModel,
  reading: Reading,
  promised: Promised,
  rows: number[],
  { search }: DecideOptions,
): number[] {
  const { client } = history.operations;
  const clients = new Set(rows.map((row) => client[row]!));
  if (promised.owners === 'anybody' || reading.triesInform || clients.size > OWNERS_MAX) return rows;
  let fewest = rows;
  for (const one of clients) {
    const fewer = fewest.filter((row) => client[row] !== one);
    const reached = frontierOf(cutOut(history, fewer), model, reading, promised, search);
    if (reached.verdict === 'invalid') fewest = fewer;
  }
  return fewest;
}

function witnessOf({ key, operations: ops, callNs, returnNs }: KeyHistory, rows: number[], last: number): Witness {
  const clients = [...new Set(rows.map((row) => ops.clients[ops.client[row]!]!))];
  const stamps = rows.flatMap((row) => [callNs[row]!, returnNs[row]!]);
  const answered = `${ops.clients[ops.client[last]!]}'s ${ops.op[last] === OP.acquire ? 'acquire' : 'release'}`;
  return {
    kind: 'search',
    key,
    rows,
    fromNs: rows.reduce((ns, row) => Math.min(ns, callNs[row]!), Number.POSITIVE_INFINITY),
    untilNs: returnNs[last]!,
    proof:
      `No order of these ${plural(rows.length, 'operation')} of ${listed(clients)} on ${key} explains the answer to ` +
      `${answered} at ${momentBeside(returnNs[last]!, stamps)}, whichever hold each release ended: every one was tried.`,
  };
}
