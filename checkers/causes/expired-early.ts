/**
 * The key ran out on the node before the lease did: by a clock that had moved (`clock-jumped`; `clock-ran-fast` where a
 * fault was seen to make it drift by as much), or because the node had been asked to keep it for less than the lease
 * (`lease-too-short`).
 *
 * Both are read from the node's own clock, which MONITOR prints with every command: by it the key's time was over when the
 * node granted the next client. How much that clock moved between the two grants tells one from the other.
 */

import type { Evidence } from '../../harness/record/facts/evidence.js';
import type { ClockReading, KeyWrite } from '../../harness/record/facts/key-writes.js';
import type { CauseLink } from '../../harness/vocabulary/verdict.js';
import { type Contest, type Explanation, goneLink, grantLink, leaseLink, type Reason } from './contest.js';

/** Redis reckons in whole milliseconds. */
const BLUR_MS = 2;
/** A command is read within this time of running, so a clock that moved by less looks like one that did not. */
const READING_MS = 50;

export const expiredEarly: Reason = (contest, evidence) => {
  const { earlier, reached, gone, removal, key } = contest;
  if (!reached || removal) return undefined;
  const ownOrReplicated = (write: KeyWrite) => write.client === undefined || write.client === earlier.hold.client;
  const last =
    evidence
      .writesBetween(reached, gone, key)
      .findLast((write) => write.effect === 'prolong' && ownOrReplicated(write)) ?? reached;
  const origin = last.client === undefined ? earlier.write : last;
  if (gone.serverWallMs < last.expiresWallMs - BLUR_MS) {
    const ahead = aheadMeanwhile(last, gone, evidence);
    return ahead && jumped(contest, ahead.aheadMs, evidence);
  }
  const missingMs = (earlier.hold.leaseEndNs - gone.atNs) / 1e6;
  const movedMs = movedBetween(origin, gone);
  if (movedMs > Math.max(READING_MS, missingMs - READING_MS)) return jumped(contest, movedMs, evidence);
  if (origin.ttlMs !== undefined && origin.ttlMs < earlier.hold.leaseMs * 0.9)
    return tooShort(contest, origin, origin.ttlMs);
  return undefined;
};

/**
 * A moment between the two writes at which, by the node's own clock, the key's time was over; though the clock was set
 * back before any client asked for the key. A server removes expired keys by itself, so no client need have asked.
 */
function aheadMeanwhile(last: KeyWrite, gone: KeyWrite, evidence: Evidence): ClockReading | undefined {
  const { node } = gone;
  const skewMs = evidence.lastSample(node, last.atNs)?.[1].skewMs ?? 0;
  const sampled = evidence
    .samples(node, last.atNs, gone.atNs)
    .map(([, sample]) => ({ atNs: sample.atNs, aheadMs: sample.skewMs - skewMs }));
  return [...evidence.clockFaults(node, last.atNs, gone.atNs), ...sampled].find(({ atNs, aheadMs }) => {
    const wallMs = last.serverWallMs + (atNs - last.atNs) / 1e6 + aheadMs;
    return aheadMs > READING_MS && wallMs >= last.expiresWallMs + BLUR_MS;
  });
}

/** How much a node's clock gained on the machine's between two commands. */
function movedBetween(first: KeyWrite, second: KeyWrite): number {
  return second.serverWallMs - first.serverWallMs - (second.atNs - first.atNs) / 1e6;
}

function jumped(contest: Contest, movedMs: number, evidence: Evidence): Explanation {
  const { earlier, later, key } = contest;
  const { node } = later.write;
  const drifted = evidence
    .clockGains(node, earlier.write.atNs, contest.gone.atNs)
    .some(({ ratePpm, gainedMs }) => ratePpm > 0 && gainedMs >= movedMs / 2);
  return {
    name: drifted ? 'clock-ran-fast' : 'clock-jumped',
    sentence: `${node}'s clock was ${seconds(movedMs)} ahead of where it was at the first grant, so ${earlier.hold.client}'s ${key} had expired there before its lease had, and ${later.hold.client} was granted it.`,
    chain: [
      grantLink(earlier),
      ...jumpLinks(contest, movedMs, evidence),
      ...goneLink(contest),
      grantLink(later),
      leaseLink(earlier),
    ],
  };
}

/** What else shows it: the fault that did it, be it by its heal, and the samples on its two sides. */
function jumpLinks({ earlier, gone }: Contest, movedMs: number, evidence: Evidence): CauseLink[] {
  const { node } = gone;
  const links: CauseLink[] = evidence
    .clockGains(node, earlier.write.atNs, gone.atNs)
    .flatMap(({ span: { record, end } }) => [
      { atNs: record.atNs, text: record.did, history: record.i },
      ...(end && end.atNs < gone.atNs
        ? [{ atNs: end.atNs, text: `${node}'s clock was set right`, history: end.i }]
        : []),
    ]);
  const before = evidence.lastSample(node, earlier.write.atNs);
  const after = evidence
    .samples(node, earlier.write.atNs, gone.atNs)
    .find(([, sample]) => before !== undefined && sample.skewMs - before[1].skewMs >= movedMs / 2);
  if (after)
    links.push({
      atNs: after[1].atNs,
      text: `${node}'s clock was read ${after[1].skewMs} ms off the machine's`,
      observation: after[0],
    });
  return links.sort((a, b) => a.atNs - b.atNs);
}

function tooShort(contest: Contest, origin: KeyWrite, ttlMs: number): Explanation {
  const { earlier, later, key } = contest;
  const asked = `${earlier.hold.client} asked ${origin.node} to keep ${key} for ${Math.round(ttlMs)} ms only, of a lease of ${earlier.hold.leaseMs} ms`;
  return {
    name: 'lease-too-short',
    sentence: `${asked}; it had expired when ${later.hold.client} was granted it.`,
    chain: [
      grantLink(earlier),
      { atNs: origin.atNs, text: asked, observation: origin.observation },
      ...goneLink(contest),
      grantLink(later),
      leaseLink(earlier),
    ],
  };
}

function seconds(ms: number): string {
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms)} ms`;
}
