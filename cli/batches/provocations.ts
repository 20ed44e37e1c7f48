/**
 * Whether a run came to what must happen before a mistake can show (`Provocation`). A run in which it did not has not let the
 * mistake pass: on a busy machine, say, no client was late enough.
 *
 * Decided by the record alone. What is asked for is less than what shows a mistake, never more: where it happened and nothing
 * was found, the mistake was missed.
 */
import { ranFrom } from '../../checkers/causes/contest.js';
import { wholeEvidenceOf } from '../../checkers/causes/whole-evidence.js';
import { allClientNames } from '../../harness/record/facts/clients.js';
import { effectsOf } from '../../harness/record/facts/effects.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { type KeyWrite, removes } from '../../harness/record/facts/key-writes.js';
import { forEachOverlap } from '../../harness/record/facts/overlaps.js';
import { releasesAnsweredNs } from '../../harness/record/facts/releases-answered.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Provocation } from '../../selftest/index.js';
import { readInput } from '../judge/judge.js';
import type { BatchRun } from './batch.js';
import type { Job, SelftestRow } from './selftest-jobs.js';

type Recorded = Pick<CheckInput, 'history' | 'model'>;

const PROVOCATIONS: Record<Provocation, { happened(run: CheckInput): boolean; whereNot: string }> = {
  'held-past-its-lease': {
    happened: heldPastItsLease,
    whereNot: 'nobody held for longer than the lease',
  },
  'held-beside-the-next': {
    happened: heldBesideTheNext,
    whereNot: 'nobody held on until another had been granted the key',
  },
  'died-with-what-it-extended': {
    happened: diedWithWhatItExtended,
    whereNot: 'nobody died with a lock that had been extended',
  },
  'release-failed-for-a-moment': {
    happened: releaseFailedForAMoment,
    whereNot: 'no release failed that could have been made good before its lease was over',
  },
  'granted-around-a-death': {
    happened: grantedAroundADeath,
    whereNot: 'nobody was granted anything by an attempt that a server was down in',
  },
  'left-free-for-a-lease': {
    happened: leftFreeForALease,
    whereNot: 'no key was left to itself for a lease: there was always another who had just begun to ask',
  },
  'removed-while-held': {
    happened: removedWhileHeld,
    whereNot: 'no server removed a key while a client held it that another one was granted before it let go',
  },
};

export function wasProvoked(provocation: Provocation, run: CheckInput): boolean {
  return PROVOCATIONS[provocation].happened(run);
}

/** The row, or, of a mistake that was missed because nothing showed it, that. */
export async function unlessNotProvoked(row: SelftestRow, { needs }: Job, { folder }: BatchRun): Promise<SelftestRow> {
  if (row.shown !== 'missed' || needs === undefined || folder === undefined) return row;
  const { input } = await readInput(folder);
  if (wasProvoked(needs, input)) return row;
  return { ...row, shown: 'not-provoked', why: `${PROVOCATIONS[needs].whereNot}; ${row.why}` };
}

function heldPastItsLease({ history }: Recorded): boolean {
  const { leaseEndNs, untilNs } = holdsOf(history);
  return untilNs.some((ns, k) => ns > leaseEndNs[k]!);
}

function heldBesideTheNext({ history, model }: Recorded): boolean {
  let found = false;
  forEachOverlap(holdsOf(history), model, () => {
    found = true;
  });
  return found;
}

function diedWithWhatItExtended({ history }: Recorded): boolean {
  const { operations: ops } = history;
  const holds = holdsOf(history);
  return ops.outcome.some((_, row) => {
    // One that was not answered may have been carried out.
    const wasExtended = ops.op[row] === OP.extend && ops.outcome[row] !== OUTCOME.fail;
    const k = wasExtended ? holds.ofRow[ops.hold[row]!]! : -1;
    return k >= 0 && holds.endedByDeath(k);
  });
}

function releaseFailedForAMoment({ history }: Recorded): boolean {
  const { operations: ops } = history;
  const { leaseEndNs, ofRow } = holdsOf(history);
  const rows = Array.from({ length: ops.count }, (_, row) => row);
  const answeredNs = rows
    .filter((row) => ops.outcome[row] === OUTCOME.ok && ops.op[row] !== OP.clock)
    .map((row) => ops.readNs[row]!);
  const down = new Set(history.rare.flatMap((event) => (event.type === 'client-down' ? [event.client] : [])));
  return rows.some((row) => {
    const k = ops.op[row] === OP.release && ops.outcome[row] === OUTCOME.fail ? ofRow[ops.hold[row]!]! : -1;
    // What a client does wrong afterwards ends with it.
    if (k < 0 || down.has(ops.clients[ops.client[row]!]!)) return false;
    return answeredNs.some((ns) => ns > ops.readNs[row]! && ns < leaseEndNs[k]!);
  });
}

function grantedAroundADeath({ history }: Recorded): boolean {
  const clients = allClientNames(history);
  const downs = effectsOf(history)
    .spans('killed')
    .filter(({ effect }) => effect.who.some((name) => !clients.has(name)));
  const { grantSentNs, fromNs } = holdsOf(history);
  return fromNs.some((ns, k) => downs.some((down) => ns >= down.earliestNs && grantSentNs[k]! <= down.latestNs));
}

function leftFreeForALease({ history }: Recorded): boolean {
  const { operations: ops } = history;
  const { count, key, fromNs, untilNs, leaseMs } = holdsOf(history);
  const releasedNs = releasesAnsweredNs(history);
  const inOrder = Array.from({ length: count }, (_, k) => k).sort((a, b) => fromNs[a]! - fromNs[b]!);
  return ops.keys.some((_, of) => {
    const held = inOrder.filter((k) => key[k] === of);
    const lastNs = ops.readNs.reduce((last, ns, row) => (ops.key[row] === of && ns > last ? ns : last), 0);
    const nextNs = [...held.slice(1).map((k) => fromNs[k]!), lastNs];
    let heldUntilNs = Number.NEGATIVE_INFINITY;
    return held.some((k, n) => {
      heldUntilNs = Math.max(heldUntilNs, untilNs[k]!, releasedNs[k]!);
      return nextNs[n]! - heldUntilNs > 2 * leaseMs[k]! * 1e6;
    });
  });
}

/** Where it cannot be told what servers stored, it may have happened. */
function removedWhileHeld(input: CheckInput): boolean {
  const evidence = wholeEvidenceOf(input);
  if (!evidence) return true;
  const holds = [...holdsOf(input.history)];
  return holds.some((hold) => {
    const next = holds.filter(({ key, client }) => key === hold.key && client !== hold.client);
    const isGrantedFrom = (ns: number) => next.some(({ fromNs }) => fromNs > ns && fromNs < hold.untilNs);
    return evidence.grantsOf(hold).some(({ node, write, took }) => {
      const letsGo = (one: KeyWrite) =>
        one.observation > write.observation &&
        one.effect === 'remove' &&
        one.client !== hold.client &&
        removes(one, write.value) !== 'no' &&
        isGrantedFrom(ranFrom(one));
      return took !== false && evidence.writes(node, hold.key).some(letsGo);
    });
  });
}
