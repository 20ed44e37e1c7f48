/**
 * What must not have happened between two writes on a node, for a cause to be the only one that is left: each is a way in which
 * a key may go without a line that says so.
 */
import { stores } from '../../harness/record/facts/commands/changes.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import {
  type ClockReading,
  type KeyWrite,
  removes,
  type SampleObservation,
} from '../../harness/record/facts/key-writes.js';
import type { Contest } from './contest.js';

/** Redis reckons in whole milliseconds. */
export const BLUR_MS = 2;
/** A command is read within this time of running, so a clock that moved by less looks like one that did not. */
export const READING_MS = 50;
/** A server that starts again is looked at within this time. */
const LOOKED_AT_WITHIN_NS = 100e6;

/** Whether a request between the two may have removed what the first one stored. */
export function mayHaveRemoved(
  reached: KeyWrite,
  before: KeyWrite,
  key: string,
  evidence: Evidence,
  untilNs = before.atNs,
): boolean {
  return evidence
    .writesBetween(reached, before, key)
    .some((write) => write.effect === 'remove' && write.atNs <= untilNs && removes(write, reached.value) !== 'no');
}

/**
 * Whether the node's data as a whole may have become another's between the two instants: it was a replica, and some other node
 * that it may have followed started again, or became primary.
 */
export function mayHaveBeenReplaced(node: string, fromNs: number, untilNs: number, evidence: Evidence): boolean {
  const asReplica = evidence.lastAsReplica(node, untilNs);
  if (!asReplica) return false;
  if (asReplica[1].atNs < fromNs && evidence.lastSample(node, fromNs)?.[1].role === 'primary') return false;
  const promoted = evidence.firstSample(node, asReplica[1].atNs, ({ role }) => role === 'primary');
  const lookedNs = asReplica[1].linkUp === false ? 0 : LOOKED_AT_WITHIN_NS;
  const byNs = Math.min(untilNs, promoted?.[1].atNs ?? untilNs) + lookedNs;
  return evidence.nodes.some((other) => {
    if (other === node) return false;
    const before = evidence.lastSample(other, fromNs)?.[1];
    return evidence
      .samples(other, fromNs, byNs)
      .some(([, { runId, role }]) => runId !== before?.runId || (role === 'primary' && before.role !== 'primary'));
  });
}

/** Whether the node was seen to run as another process than before, between the two instants. */
export function ranAnew(node: string, fromNs: number, untilNs: number, evidence: Evidence): boolean {
  const before = evidence.lastSample(node, fromNs)?.[1].runId;
  const ids = new Set(evidence.samples(node, fromNs, untilNs).map(([, { runId }]) => runId));
  if (before !== undefined) ids.add(before);
  return ids.size > 1;
}

/**
 * Whether the write that took the key shows that nothing was there: it asked, and it is not the holder's own value, for which
 * a script may let it pass.
 */
export function foundNone({ reached, gone }: Contest): boolean {
  return gone.conditional === true && gone.value !== reached?.value;
}

/** Whether the earlier holder's key was certainly on the node until the very write that took it. */
export function wasThere({ reached, gone }: Contest, evidence: Evidence): boolean {
  if (reached?.value === undefined || !gone.before || stores(gone.before, reached.value) !== 'yes') return false;
  return !mayHaveBeenReplaced(gone.node, reached.atNs, gone.atNs, evidence);
}

/** The write from which the key's time on its node was reckoned last. */
export function lastProlonged(reached: KeyWrite, { earlier, gone, key }: Contest, evidence: Evidence): KeyWrite {
  const ownOrReplicated = (write: KeyWrite) => write.client === undefined || write.client === earlier.hold.client;
  const prolonged = evidence
    .writesBetween(reached, gone, key)
    .findLast((write) => write.effect === 'prolong' && ownOrReplicated(write));
  return prolonged ?? reached;
}

/** A moment after a write and up to an instant at which, by the node's own clock, the time that it set was over. */
export function overMeanwhile(
  last: KeyWrite,
  node: string,
  untilNs: number,
  evidence: Evidence,
): ClockReading | undefined {
  // Since the sample before it the clock may have moved, so the write's own stamp is what counts.
  const skewMs = evidence.skewAt(last);
  const sampled = evidence
    .samples(node, last.atNs, untilNs)
    .map(([, sample]) => ({ atNs: sample.atNs, aheadMs: sample.skewMs - skewMs }));
  return [...evidence.clockFaults(node, last.atNs, untilNs), ...sampled].find(({ atNs, aheadMs }) => {
    const wallMs = last.serverWallMs + (atNs - last.atNs) / 1e6 + aheadMs;
    return aheadMs > READING_MS && wallMs >= last.expiresWallMs + BLUR_MS;
  });
}

/** Whether the time that a write set was certainly left when a sample was taken, and was at no moment before seen to be over. */
export function hadTimeLeft(last: KeyWrite, sample: SampleObservation, evidence: Evidence): boolean {
  const skewMs = evidence.lastSample(last.node, last.atNs)?.[1].skewMs ?? 0;
  const reckonedMs = last.serverWallMs + (sample.atNs - last.atNs) / 1e6 + sample.skewMs - skewMs;
  const wallMs = sample.wallMs?.[1] ?? reckonedMs;
  return wallMs < last.expiresWallMs - BLUR_MS && !overMeanwhile(last, last.node, sample.atNs, evidence);
}
