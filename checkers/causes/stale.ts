/**
 * Why a client acted on after its lease had ended. Looks at the stale holder alone: the other one was granted rightly.
 *
 * A fault explains it only if it was in force on that client when the lease ended, and could keep it from ending its hold
 * in time. Being stopped can, by whatever fault, if it lasted for as long as the hold did beyond its lease, or kept it from renewing.
 * Being cut off can only where renewals had to travel, since a client needs no network to stop, and only from so many servers that
 * none could have been granted.
 */

import { clientNames } from '../../harness/record/facts/clients.js';
import type { EffectName, EffectSpan, Footprint } from '../../harness/record/facts/effects.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import { isInVirtualTime, ranUntold } from '../../harness/record/facts/ran.js';
import { duration, durationOfMs, moment } from '../../harness/record/facts/words.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CauseLink, Hold } from '../../harness/vocabulary/verdict.js';
import { hadFoundGone } from './found-gone.js';
import { refusedNs } from './loss-ignored.js';
import { renewalDueNs, renews, renewsByItself, wasKeptFromRenewing, wasToExtend } from './renewing.js';
import { mayHaveGranted } from './votes.js';

const ON_MESSAGES: ReadonlySet<EffectName> = new Set([
  'cut',
  'degraded',
  'heard-after',
  'connections-reset',
  'off-network',
]);

/** The explanations in the order in which they are tried. */
export const staleReasons: readonly ((hold: Hold, evidence: Evidence, input: CheckInput) => Cause | undefined)[] = [
  grantedLate,
  clientPaused,
  clientCutOff,
  notTold,
  clientSlow,
];

function grantedLate(hold: Hold, evidence: Evidence): Cause | undefined {
  if (hold.fromNs <= hold.leaseEndNs) return undefined;
  return {
    name: 'granted-late',
    sentence: `The acquire outlived its own lease: ${hold.client} learned that it holds ${hold.key} ${duration(hold.fromNs - hold.leaseEndNs)} after the lease had ended.`,
    chain: inOrder([
      {
        atNs: hold.grantSentNs,
        text: `the attempt that was granted left ${hold.client}`,
        history: hold.evidence.at(0),
      },
      ...pauseLinks(hold, evidence),
      leaseEnd(hold),
      ...carriedOutLate(hold, evidence),
      { atNs: hold.fromNs, text: `${hold.client} was told that it holds the lock`, history: hold.evidence.at(1) },
    ]),
  };
}

/**
 * The grants that servers made when the lease was over already, where no client could have had the lock without them. Empty where
 * the lock may have had its grants in time, looked at its clock in time, and been kept from its answer since: a process that
 * a busy machine does not run is stopped too, and no record says so.
 */
function carriedOutLate(hold: Hold, evidence: Evidence): CauseLink[] {
  const { majority = 1, voters } = evidence;
  // Which server's grant was a node's vote is not followed.
  if (evidence.serversOfVoters) return [];
  const late = evidence
    .grantsOf(hold)
    .filter(({ took, write }) => took && evidence.isPlaced(write) && write.ranNs - RECKONING_NS > hold.leaseEndNs);
  const isLate = (node: string) => late.some((grant) => grant.node === node);
  // Where one server answers for the key, what it granted late it did not grant in time.
  const inTime = voters.filter((node) => !isLate(node) && mayHaveGranted(node, hold, evidence));
  if (inTime.length >= majority) return [];
  return late.map(({ node, write }) => ({
    atNs: write.ranNs,
    text: `${node} carried out the request`,
    observation: write.observation,
  }));
}

function clientPaused(hold: Hold, evidence: Evidence, input: CheckInput): Cause | undefined {
  const span = pauseOf(hold, evidence);
  if (!span) return undefined;
  // It should have renewed meanwhile, or have been done by then.
  const couldRenew = !hadFoundGone(hold, span.earliestNs, evidence);
  const wasKept = couldRenew && wasKeptFromRenewing(span, hold, evidence, input);
  if (!wasKept && !wouldHaveEnded(hold, evidence)) return undefined;
  const then = ranAgain(span, hold)
    ? 'went on when it ran again'
    : `is not known to have run again by ${moment(hold.untilNs)}`;
  return {
    name: 'client-paused',
    sentence: `${hold.client} was paused when its lease ended at ${moment(hold.leaseEndNs)}, and ${then}.`,
    chain: inOrder([granted(hold), ...pauseLinks(hold, evidence), leaseEnd(hold), acted(hold)]),
  };
}

function clientCutOff(hold: Hold, evidence: Evidence, input: CheckInput): Cause | undefined {
  if (!renews(hold, evidence, input)) return undefined;
  const dueNs = renewalDueNs(hold, input);
  const spans = cutsOff(hold, dueNs, evidence);
  const isAsked = ({ fromNs }: EffectSpan) => wasToExtend(hold, fromNs, hold.leaseEndNs, input.history);
  if (!renewsByItself(hold, evidence, input) && !spans.every(isAsked)) return undefined;
  const [span] = spans;
  // One that should have renewed before it was cut off did not lose its lease by the cut.
  if (!span || !spans.every(({ fromNs }) => fromNs <= dueNs)) return undefined;
  if (hadFoundGone(hold, Math.min(...spans.map(({ earliestNs }) => earliestNs)), evidence)) return undefined;
  const { record } = span;
  const acts = duration(hold.untilNs - hold.leaseEndNs);
  const then = hold.endedBy === 'lost' ? `noticed only ${acts} later` : `acted as the holder for another ${acts}`;
  return {
    name: 'client-cut-off',
    sentence: `${hold.client} was cut off (${record.did}) when its lease ended at ${moment(hold.leaseEndNs)}, could not renew it, and ${then}.`,
    chain: inOrder([
      granted(hold),
      { atNs: record.atNs, text: record.did, history: record.i },
      leaseEnd(hold),
      acted(hold),
    ]),
  };
}

/**
 * What kept a client from every server that could have renewed its lease from when that was due until it ended; empty where one was
 * left, or where it is not known which could. Of five independent nodes one that is out of reach does not matter, and neither
 * does a replica, but one that was primary at first does.
 */
function cutsOff({ client, leaseEndNs }: Hold, dueNs: number, evidence: Evidence): EffectSpan[] {
  const { effects, majority, voters } = evidence;
  if (evidence.serversOfVoters) return [];
  const inForce = isInForceAt(leaseEndNs);
  const off = effects.on('off-network', client).find(inForce);
  if (off) return [off];
  const host = effects.hostOf(client);
  const cuts = effects.spans('cut').filter(inForce);
  const cutFrom = (node: string) =>
    cuts.find(({ effect }) => effect.pairs.some((pair) => pair.includes(host) && pair.includes(node)));
  // What was primary at the next look may have been so for as long as nobody had looked.
  const looks = (node: string) => [
    evidence.lastSample(node, dueNs),
    ...evidence.samples(node, dueNs, leaseEndNs),
    evidence.firstSample(node, leaseEndNs, () => true),
  ];
  const isPrimary = (node: string) => looks(node).some((look) => look?.[1].role === 'primary');
  const wasLookedAt = evidence.nodes.some((node) => evidence.lastSample(node, leaseEndNs));
  // Where nobody looked which server is the one to ask, any of them may have passed it on.
  const one = wasLookedAt ? evidence.nodes.filter(isPrimary) : evidence.nodes;
  const asked = majority === undefined ? one : voters;
  const found = asked.flatMap((node) => cutFrom(node) ?? []);
  const needed = majority ?? 1;
  return asked.length - found.length < needed ? found : [];
}

/**
 * No fault was in force on the client, or none but on what it sends and is sent, while it was to work for longer than its lease:
 * so it just took longer than that. A lock that renews itself should not have let that happen, and why it did is another question.
 */
function clientSlow(hold: Hold, evidence: Evidence, input: CheckInput): Cause | undefined {
  if (renews(hold, evidence, input)) return undefined;
  const names = [...clientNames(input.history, hold.client), evidence.effects.hostOf(hold.client)];
  const struck = evidence.effects
    .footprints()
    .filter(
      (footprint) =>
        footprint.earliestNs <= hold.leaseEndNs &&
        footprint.latestNs >= hold.grantSentNs &&
        names.some((name) => footprint.names.has(name)),
    );
  const told = releaseInvoke(hold, input);
  const workNs = struck.length > 0 && struck.every(isOnMessages) ? workedForNs(hold, told, input) : 0;
  if (struck.length > 0 && workNs <= hold.leaseMs * 1e6) return undefined;
  const inTime = told !== undefined && told.atNs <= hold.leaseEndNs;
  // Its answer had come so late that too little was left: it did not take long itself.
  if (!inTime && hold.untilNs - (hold.fromNs - hold.grantSentNs) <= hold.leaseEndNs) return undefined;
  const worked = `${hold.client} worked ${duration(hold.untilNs - hold.fromNs)} under a lease of ${durationOfMs(hold.leaseMs)}`;
  const slow = inTime
    ? `${hold.client} was told to release in time, but began only ${duration(hold.untilNs - hold.leaseEndNs)} after its lease had ended`
    : worked;
  return {
    name: 'client-slow',
    sentence:
      struck.length === 0
        ? `${slow}; no fault was in force on it.`
        : `${worked}: it was to do so for ${duration(workNs)}, and what was in force kept back messages alone.`,
    chain: inOrder([
      granted(hold),
      leaseEnd(hold),
      ...(told ? [{ atNs: told.atNs, text: `${hold.client} was told to release`, history: told.i }] : []),
      acted(hold),
    ]),
  };
}

/** For how long the harness had it work under the lock by itself, ns: from when it heard of the grant until it said to release. */
function workedForNs(hold: Hold, told: ReturnType<typeof releaseInvoke>, { history }: CheckInput): number {
  const heard = history.event(hold.evidence.at(1) ?? -1);
  if (!told || heard?.type !== 'ok') return 0;
  // What it was asked for meanwhile may have been kept from it, and the rest of its work with that.
  for (let i = heard.i + 1; i < told.i; i++) {
    const event = history.event(i);
    if (event?.type === 'invoke' && event.client === hold.client) return 0;
  }
  return told.atNs - heard.atNs;
}

/** Whether the fault kept back or lost what was sent, and did nothing else: whoever has no need to hear of others goes on. */
function isOnMessages({ effects }: Footprint): boolean {
  return effects.length > 0 && effects.every(({ kind }) => ON_MESSAGES.has(kind));
}

/**
 * A lock that renews by itself let the lease end, whatever kept it from renewing, and told its client nothing, which ran: that can
 * read its clock. Not of one that died: what its lock told it may have died with it.
 */
function notTold(hold: Hold, evidence: Evidence, input: CheckInput): Cause | undefined {
  const { client, leaseEndNs, untilNs, endedBy } = hold;
  const released = releaseInvoke(hold, input);
  // What it was to release by then it need not have kept.
  if (released !== undefined && released.atNs <= leaseEndNs) return undefined;
  if (!evidence.featuresOf(client).includes('renews') || endedBy === 'client-down') return undefined;
  const { effects } = evidence;
  // What stopped it later did not keep it from being told before.
  const hindered = [...effects.on('stopped', client), ...effects.on('slowed', client)]
    .filter(({ latestNs }) => latestNs >= leaseEndNs)
    .map(({ earliestNs }) => earliestNs);
  const untoldNs = Math.min(untilNs, refusedNs(hold, input.history), ...hindered);
  const ran = ranUntold({ ...hold, untilNs: untoldNs }, input.history);
  if (!ran) return undefined;
  const acts = duration(untilNs - leaseEndNs);
  const then =
    endedBy === 'lost' ? `heard of it only ${acts} after that end` : `acted as the holder for another ${acts}`;
  const [first, last] = ran;
  // No stamp need be its own there.
  const [which, untold] = isInVirtualTime(input.history)
    ? [`which nothing stopped from ${moment(first)} to ${moment(last)}`, `nothing stopped ${client}, and it`]
    : [`which ran at ${moment(first)} and at ${moment(last)}`, `${client} ran, and`];
  return {
    name: 'not-told',
    sentence: `The lock renews by itself, and yet ${client}'s lease ended at ${moment(leaseEndNs)}: ${client}, ${which}, had not been told by then, and ${then}.`,
    chain: inOrder([
      granted(hold),
      leaseEnd(hold),
      { atNs: first, text: `${untold} had not been told`, history: hold.evidence.at(1) },
      acted(hold),
    ]),
  };
}

/** What stopped it over the lease's end. */
function pauseOf(hold: Hold, { effects }: Evidence): EffectSpan | undefined {
  return effects.on('stopped', hold.client).find(isInForceAt(hold.leaseEndNs));
}

/**
 * Whether its hold would have ended within its lease without the time for which it was stopped, for as long as that can have been. What
 * it did for longer while it ran, a stop of a moment at the lease's end did not make it do.
 */
function wouldHaveEnded({ client, grantSentNs, leaseEndNs, untilNs }: Hold, { effects }: Evidence): boolean {
  // For how long it stood still while it was slowed nobody knows.
  const stops = [...effects.on('stopped', client), ...effects.on('slowed', client)];
  stops.sort((a, b) => a.earliestNs - b.earliestNs);
  let [stoppedNs, seenNs] = [0, grantSentNs];
  // Two faults that have it stopped at once do not stop it for longer.
  for (const { earliestNs, latestNs } of stops) {
    const endNs = Math.min(untilNs, latestNs);
    stoppedNs += Math.max(0, endNs - Math.max(seenNs, earliestNs));
    seenNs = Math.max(seenNs, endNs);
  }
  return untilNs - stoppedNs <= leaseEndNs;
}

/** Whether it certainly ran again while it held. One that died may have died before it did. */
function ranAgain({ untilNs, latestNs }: EffectSpan, hold: Hold): boolean {
  return (hold.endedBy === 'client-down' ? latestNs : untilNs) <= hold.untilNs;
}

function pauseLinks(hold: Hold, evidence: Evidence): CauseLink[] {
  const span = pauseOf(hold, evidence);
  if (!span) return [];
  const { record, end, fromNs, untilNs } = span;
  // One of many stops is reported by the heal, whose words are about something else.
  const did = record.state === 'heal' ? `${hold.client} was stopped` : record.did;
  return [
    { atNs: fromNs, text: did, history: record.i },
    ...(end && ranAgain(span, hold) ? [{ atNs: untilNs, text: `${hold.client} ran again`, history: end.i }] : []),
  ];
}

function isInForceAt(ns: number): (span: EffectSpan) => boolean {
  return ({ fromNs, untilNs }) => fromNs <= ns && untilNs >= ns;
}

function releaseInvoke(hold: Hold, { history }: CheckInput) {
  for (const at of hold.evidence) {
    const event = history.event(at);
    if (event?.type === 'invoke' && event.op === 'release') return event;
  }
  return undefined;
}

function granted(hold: Hold): CauseLink {
  return { atNs: hold.fromNs, text: `${hold.client} was granted ${hold.key}`, history: hold.evidence.at(1) };
}

function leaseEnd(hold: Hold): CauseLink {
  return {
    atNs: hold.leaseEndNs,
    text: `${hold.client}'s lease of ${hold.leaseMs} ms ended`,
    history: hold.evidence.at(1),
  };
}

function acted(hold: Hold): CauseLink {
  return { atNs: hold.untilNs, text: `until then ${hold.client} acted as the holder`, history: hold.evidence.at(-1) };
}

function inOrder(links: CauseLink[]): CauseLink[] {
  return links.sort((a, b) => a.atNs - b.atNs);
}
