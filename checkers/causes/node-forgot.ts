/**
 * The node restarted without the key that it had granted: it came back under a new run id (or a fault record says that it
 * forgot), between the two grants, and the key was not there, or was as it had been before the first.
 *
 * Excludes a restart before the first grant or after the second, one that kept the key, a removal by anybody, and what may have
 * gone while the old process was not watched.
 */

import { clockMovesOf, mayMoveBetween } from '../../harness/record/facts/clock-moves.js';
import { ownersOf, storedBy, stores } from '../../harness/record/facts/commands/changes.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { isOthersToo } from '../../harness/record/facts/grants.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf, mayTakeEffectWithin } from '../../harness/record/facts/intervals.js';
import {
  isHidden,
  type KeyWrite,
  keeps,
  ownerIs,
  RECKONING_NS,
  type SampleObservation,
} from '../../harness/record/facts/key-writes.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { CauseLink, Hold } from '../../harness/vocabulary/verdict.js';
import { type Contest, goneLink, grantLink, type Reason, ranFrom } from './contest.js';
import { foundNone, hadTimeLeft, isReplicated, lastProlonged, wasPrimaryThroughout } from './meanwhile.js';
import { lostBy } from './tenure.js';

/** A server tells whole milliseconds, and its clock may be slewed. */
const PTTL_SLACK_MS = 20;
/** Of the end of a key's time, by one clock: both are told in whole milliseconds. */
const END_SLACK_MS = 1;

export const nodeForgot =
  ({ history }: CheckInput): Reason =>
  (contest, evidence) => {
    const { earlier, later, gone, tenure, key } = contest;
    const { write: granted } = earlier;
    const { node } = gone;
    if (!lostBy(tenure, 'gap')) return undefined;
    // What was read after the restart may have run before it.
    const restart = restartBetween(node, granted, ranFrom(gone), evidence);
    if (!restart || mayHaveGoneBefore(contest, restart, history, evidence)) return undefined;
    if (evidence.seenStored(node, key, granted.value, restart.backNs, gone.atNs)) return undefined;
    // It may have gone unseen from the old process, unless the last look at that shows it.
    const { ranNs } = restart;
    if (tenure.losses[0]!.atNs <= ranNs && !evidence.seenStored(node, key, granted.value, ranNs, ranNs))
      return undefined;
    const samples = evidence.samples(node, restart.backNs, gone.atNs);
    // It may have kept what a sample does not show.
    if (samples.some(([, { keys, unseen }]) => isHidden(keys[key]?.owner ?? '') || unseen?.includes(key)))
      return undefined;
    const [empty] = samples;
    const { last } = lastProlonged(granted, contest, evidence);
    // What had run out by then, or was seen there as another's, was not forgotten.
    if (empty && (!hadTimeLeft(last, empty[1], evidence) || isAnothers(empty[1], restart.downNs, contest, evidence)))
      return undefined;
    const isFree = foundNone({ reached: granted, gone }) && gone.serverWallMs < last.expiresWallMs;
    if (!empty && !isFree) return undefined;
    return {
      name: 'node-forgot',
      sentence: `${node} restarted without ${key}, which it had granted to ${earlier.hold.client}, and granted it to ${later.hold.client}.`,
      chain: [
        grantLink(earlier),
        ...restart.links,
        ...(empty
          ? [
              {
                atNs: empty[1].atNs,
                text: `${node} did not have ${earlier.hold.client}'s ${key} any more`,
                observation: empty[0],
              },
            ]
          : []),
        ...goneLink(contest),
        grantLink(later),
      ],
    };
  };

/**
 * Whether others may have removed it unseen: of what a server runs just before it is killed not all is printed, nor what it runs
 * before it is watched again, with what it had saved. Some of this lock's clients store what others do, or remove what is there
 * whosever it is, or set its time; that a client was not seen at that yet tells nothing. What came to the node over the replication
 * link is others' as well, if it was a replica meanwhile.
 */
function mayHaveGoneBefore(
  contest: Contest,
  restart: Restart,
  history: CheckInput['history'],
  evidence: Evidence,
): boolean {
  const { earlier, gone, key } = contest;
  const { write, hold } = earlier;
  const { node } = gone;
  const { backNs } = restart;
  const writes = evidence.writes(node, key);
  const ran = ranBefore(contest, evidence);
  const others = writes.filter((one) => !ran.has(one));
  if (isOthersToo(write.value!, hold, others)) return true;
  if (removesWhatItHolds(hold, writes, history)) return true;
  const unseen = {
    fromNs: ranFrom(lastPrinted(contest, restart, evidence)),
    untilNs: evidence.watchedThroughout(node, backNs, gone.atNs) ? backNs : gone.atNs,
  };
  const wasPrimary = wasPrimaryThroughout(node, unseen.fromNs, unseen.untilNs, evidence);
  // The holder's own commands remove what it holds, too, and show how this lock does that.
  const meddling = writes.filter(
    (one) =>
      !one.script &&
      ((one.effect === 'remove' && !namesItsOwn(one)) || (one.effect === 'prolong' && one.client !== hold.client)),
  );
  const named = meddling.filter(({ client }) => client !== undefined);
  const nameless = meddling.filter(({ client }) => client === undefined);
  const maybeCopied = nameless.length > 0 && (!wasPrimary || !nameless.every((one) => isReplicated(one, evidence)));
  return maybeCopied || mayMeddle(named, key, unseen, history);
}

/** Whether a request of the holder's client was seen to remove the key while it held it, as a renewal for no time at all does. */
function removesWhatItHolds(
  { client, key }: Hold,
  writes: readonly KeyWrite[],
  history: CheckInput['history'],
): boolean {
  const own = writes.filter((one) => one.client === client && one.effect === 'remove' && one.took !== false);
  const holds = holdsOf(history);
  const { clients, keys, key: keyOf } = history.operations;
  const [who, which] = [clients.indexOf(client), keys.indexOf(key)];
  return holds.row.some((row, k) => {
    if (holds.client[k] !== who || keyOf[row] !== which) return false;
    return own.some((one) => ranFrom(one) > holds.fromNs[k]! && one.atNs < holds.untilNs[k]!);
  });
}

/** What the old process printed last about the key, if all that it ran before is known: it prints in the order in which it runs. */
function lastPrinted({ earlier, gone, key }: Contest, { lost }: Restart, evidence: Evidence): KeyWrite {
  const { write } = earlier;
  const last = lost && evidence.writes(gone.node, key).findLast(({ observation }) => observation < lost[0]);
  return last && evidence.watchedThroughout(gone.node, write.atNs, last.atNs) ? last : write;
}

/** They remove from a key what they name, and leave what others stored there beside it. */
const REMOVES_BY_NAME = new Set(['HDEL', 'SREM', 'ZREM', 'LREM']);

/** Whether a request removed by name what its own client had stored, or found nothing: it would have left anybody else's. */
function namesItsOwn({ command, client, before, after }: KeyWrite): boolean {
  if (!REMOVES_BY_NAME.has(command) || client === undefined || !before || !after) return false;
  const removed = ownersOf(before).filter((owner) => stores(after, owner) === 'no');
  return removed.every((owner) => storedBy(before, owner)?.client === client);
}

/**
 * Whether a client may have sent such commands meanwhile as clients of this lock were seen to send: at any time, if one of them was
 * of no operation of its sender; else while an operation of that kind was under way, or may have been, because it was not answered
 * with a yes. What one client does the others may do as well, for they run the same lock; only what it was seen to do to no key but
 * that of its operation they do to no other either.
 */
function mayMeddle(
  seen: readonly KeyWrite[],
  key: string,
  meanwhile: { fromNs: number; untilNs: number },
  history: CheckInput['history'],
): boolean {
  const { operations: ops } = history;
  const { callNs, returnNs } = intervalsOf(history);
  const rows = [...Array(ops.count).keys()];
  const during = seen.map(({ client, ranNs, atNs }) =>
    rows.find(
      (row) =>
        ops.clients[ops.client[row]!] === client &&
        callNs[row]! <= ranNs + RECKONING_NS &&
        returnNs[row]! >= Math.min(ranNs, atNs) - RECKONING_NS,
    ),
  );
  if (during.includes(undefined)) return true;
  const kinds = new Set(during.map((row) => ops.op[row!]));
  const isOfKey = (row: number) => ops.keys[ops.key[row]!] === key;
  const anyKey = !during.every((row) => isOfKey(row!));
  return rows.some(
    (row) =>
      kinds.has(ops.op[row]) &&
      (anyKey || isOfKey(row)) &&
      mayTakeEffectWithin(history, row, meanwhile.fromNs, meanwhile.untilNs),
  );
}

/**
 * What the holder had sent for this key when its grant came to the node, if no more of it can be on its way: what came over the
 * connection of the grant ran before it, and what was sent to an earlier process of the node went with that.
 */
function ranBefore({ earlier, key }: Contest, evidence: Evidence): ReadonlySet<KeyWrite> {
  const { client } = earlier.hold;
  const { node, source, observation, atNs } = earlier.write;
  const { runId } = evidence.lastSample(node, atNs)?.[1] ?? {};
  const [, old] =
    evidence.samples(node, Number.NEGATIVE_INFINITY, atNs).findLast(([, sample]) => sample.runId !== runId) ?? [];
  const own = evidence.writes(node, key).filter((one) => one.client === client && one.observation < observation);
  const isOver = (one: KeyWrite) => one.source === source || (old !== undefined && one.atNs < old.atNs);
  return new Set(own.every(isOver) ? own : []);
}

/** Whether what a sample shows may have been stored by somebody before the restart. */
function isAnothers(
  sample: SampleObservation,
  downNs: number,
  { earlier, later, key }: Contest,
  evidence: Evidence,
): boolean {
  const stored = sample.keys[key];
  if (stored === undefined) return false;
  const since = [...evidence.writesBetween(earlier.write, later.write, key), later.write]
    .filter((write) => write.atNs > downNs && ranFrom(write) <= sample.atNs)
    // What only a sample tells of may have been stored before.
    .filter(({ source }) => source !== 'sample' || later.hold.grantSentNs > downNs);
  if (since.some(({ value }) => ownerIs(stored.owner, value))) return false;
  return !isTooYoung(sample, downNs, key, evidence) && !isFromBefore(sample, earlier.write, key, evidence);
}

/**
 * Whether a sample shows what the key had held before it was granted, to the end of its time: a server that lost what it wrote last
 * comes back with what it had written before. To store the same value once more gives it a later end, unless that is a time of day.
 */
function isFromBefore(
  { node, role, keys, wallMs }: SampleObservation,
  granted: KeyWrite,
  key: string,
  evidence: Evidence,
): boolean {
  const { owner, pttlMs } = keys[key]!;
  // A replica has what its primary has.
  if (role !== 'primary' || !wallMs || pttlMs < 0) return false;
  const [fromMs, untilMs] = [
    Math.floor(wallMs[0]) + pttlMs - END_SLACK_MS,
    Math.ceil(wallMs[1]) + pttlMs + END_SLACK_MS,
  ];
  return evidence
    .writes(node, key)
    .some(
      (write) =>
        write.observation < granted.observation &&
        keeps(write, owner) &&
        !write.untilTimeOfDay &&
        write.expiresWallMs >= fromMs &&
        write.expiresWallMs <= untilMs,
    );
}

/**
 * Whether more is left of what a sample shows than there could be, had it been stored before the restart with the longest
 * time to live that this lock was ever seen to ask for. By one clock: none that was moved meanwhile.
 */
function isTooYoung({ node, atNs, keys }: SampleObservation, downNs: number, key: string, evidence: Evidence): boolean {
  const asked = evidence.writes(node, key).filter(({ effect }) => effect === 'take' || effect === 'prolong');
  const longestMs = Math.max(0, ...asked.map(({ ttlMs }) => ttlMs ?? Number.POSITIVE_INFINITY));
  const leftMs = keys[key]!.pttlMs;
  const isMoved = clockMovesOf(evidence.effects, node).some((move) => mayMoveBetween(move, downNs, atNs));
  return !isMoved && leftMs > longestMs - (atNs - downNs) / 1e6 + PTTL_SLACK_MS;
}

interface Restart {
  /** The last look at the old process. */
  ranNs: number;
  /** The end of watching the old process; absent: it is not recorded. */
  lost?: ReturnType<Evidence['watchLost']>;
  /** By then the old process was gone. */
  downNs: number;
  /** From when on samples are the new process's. */
  backNs: number;
  links: CauseLink[];
}

/**
 * A changed run id proves a restart between two samples. That it lay between the two *grants* is proven by the samples
 * themselves, or by the moment at which watching the node broke off. The connection of a server that runs on may break, too:
 * where it did so twice, neither is known to be the restart, nor what became of the key in the other.
 */
function restartBetween(node: string, granted: KeyWrite, untilNs: number, evidence: Evidence): Restart | undefined {
  const { atNs: fromNs } = granted;
  const before = evidence.lastSample(node, fromNs) ?? evidence.samples(node, fromNs, untilNs)[0];
  if (!before) return undefined;
  const { runId: oldId } = before[1];
  const after = evidence.firstSample(node, fromNs, ({ runId }) => runId !== oldId);
  if (!after) return undefined;
  const [, { runId: newId, atNs: backNs }] = after;
  const old = evidence.samples(node, before[1].atNs, backNs).filter(([, { runId }]) => runId === oldId);
  const { atNs: ranNs } = old.at(-1)![1];
  const lost = evidence.watchLost(node, ranNs, backNs);
  if (lost && evidence.watchLost(node, lost[1].atNs, backNs)) return undefined;
  // The old process granted it: it was seen since, or printed it in the watch that broke off when it died.
  const isItsLast = lost && evidence.printedInWatch(node, ranNs, granted.observation);
  if (ranNs < fromNs && !isItsLast) return undefined;
  if ((lost?.[1].atNs ?? backNs) > untilNs) return undefined;
  const { effects } = evidence;
  const fault = [...effects.on('forgot', node), ...effects.on('killed', node)].find(
    // What it ran is read a little after, and it may be dead by then.
    (span) => span.fromNs > Math.min(ranNs, fromNs) && span.fromNs < untilNs,
  )?.record;
  // It was killed, and is known to have had its data again.
  if (fault && !fault.effects.some(({ kind }) => kind === 'forgot')) return undefined;
  const links: CauseLink[] = [
    {
      atNs: Math.min(backNs, untilNs),
      text: `${node} ran as another process (run id ${short(newId)} after ${short(oldId)})`,
      observation: after[0],
    },
  ];
  if (lost) links.push({ atNs: lost[1].atNs, text: `${node} could not be watched any more`, observation: lost[0] });
  if (fault) links.push({ atNs: fault.atNs, text: fault.did, history: fault.i });
  return {
    ranNs,
    backNs,
    lost,
    downNs: lost?.[1].atNs ?? fault?.atNs ?? backNs,
    links: links.sort((a, b) => a.atNs - b.atNs),
  };
}

function short(runId: string): string {
  return runId.slice(0, 8);
}
