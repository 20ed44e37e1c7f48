/**
 * Could every lock be acquired again, within its lease and a grace, once all faults were healed? Decides from the probe that
 * the harness makes at the end of a run.
 *
 * A deployment that had not recovered by itself is not the lock's fault, nor is a fault that could not be healed: then
 * the verdict is "cannot tell". Excludes how long a lock was unavailable while faults were in force.
 */

import { mishaps, unhealed } from '../../harness/record/facts/faults.js';
import type { SampleObservation } from '../../harness/record/facts/key-writes.js';
import { lostGrant } from '../../harness/record/facts/protocol-breaks.js';
import { majorityOf } from '../../harness/record/facts/quorum.js';
import { durationOfMs, listed, moment, plural } from '../../harness/record/facts/words.js';
import type { History, HistoryEvent } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { Cause, CheckerFindings, Violation } from '../../harness/vocabulary/verdict.js';
import { asksOf } from '../causes/asks.js';
import { grantedNobody } from '../causes/granted-nobody.js';
import { scriptUnknown } from '../causes/script-unknown.js';
import { isLeftForEver, isStoredByAsking, leftStanding } from '../causes/stored-by-asking.js';
import { unexplained } from '../causes/unexplained.js';
import { wholeEvidenceOf } from '../causes/whole-evidence.js';
import { Doubts } from '../worth/doubts.js';
import { patienceOf, TAKEN } from './free-and-asked.js';
import { beganTrying, doubtAboutProbe, type ProbeEvent, triedTooEarly } from './probe-doubts.js';
import { blockerBetween } from './starvation.js';

/** What a server was last seen to have longer ago may be gone. */
const SEEN_WITHIN_NS = 1e9;
/** More that stands there is in the chain. */
const MOST_LEFT = 3;

type Recovered = Extract<HistoryEvent, { type: 'recovered' }>;

function findDeadlocks(input: CheckInput): CheckerFindings {
  const { probes, stuck, recovered } = probesOf(input);
  const left = unhealed(input.history);
  const doubt = stuck.length > 0 ? doubtAbout(stuck, input) : undefined;
  const violations = deadlocksOf(input);
  const accused = new Set(violations.map(({ key }) => key));
  const notSure = stuck.filter(({ key }) => !accused.has(key));
  const unknown = [
    ...left.map((what) => `not everything could be healed (${what})`),
    ...(doubt ? [doubt] : []),
    ...(recovered && !doubt ? notSure.flatMap((probe) => doubtAboutProbe(probe, recovered.atNs, input) ?? []) : []),
    ...probes.flatMap((probe) => untriedBecause(probe, input) ?? []),
    ...reasonsForDoubt(input, probes, stuck, recovered),
  ];
  return {
    verdict: violations.length > 0 ? 'invalid' : unknown.length > 0 ? 'unknown' : 'valid',
    notes: unknown,
    violations,
    ...(unknown.length > 0 && { open: ['liveness' as const] }),
    stats: {
      probes: probes.length,
      deadlocks: violations.length,
      ...(recovered && { recoveredAfterMs: recovered.afterMs }),
      ...(probes.length > 0 && { hadAgainAfterMsMax: Math.max(...probes.map((probe) => probe.afterMs)) }),
    },
  };
}

const known = new WeakMap<History, Violation[]>();

/** Keys that the probe at the end could not have, though everything was healed. Worked out once for each history. */
export function deadlocksOf(input: CheckInput): Violation[] {
  const { history } = input;
  const made = known.get(history);
  if (made) return made;
  const { stuck, recovered } = probesOf(input);
  const deployed = recovered !== undefined && recovered.missing.length === 0 && unhealed(history).length === 0;
  const sure = deployed && stuck.length > 0 && doubtAbout(stuck, input) === undefined;
  const deadlocks = sure ? stuck.flatMap((probe) => deadlock(probe, recovered, input) ?? []) : [];
  known.set(history, deadlocks);
  return deadlocks;
}

/** The probes, those of them that were refused, and when the deployment was whole again. */
function probesOf(input: CheckInput) {
  const { rare } = input.history;
  const probes = rare.filter((event): event is ProbeEvent => event.type === 'probe');
  const recovered = rare.findLast((event): event is Recovered => event.type === 'recovered');
  const stuck = probes.filter((probe) => !probe.acquired && untriedBecause(probe, input) === undefined);
  return { probes, recovered, stuck };
}

export const liveness: Checker = {
  name: 'liveness',
  summary: 'after everything is healed, every lock can be acquired again within a lease and a grace',
  properties: [
    {
      class: 'liveness',
      holds: 'After everything was healed, every lock could be acquired again',
      broken: 'After everything was healed, a lock could not be acquired again',
      kinds: {
        deadlock: {
          headline: (count) =>
            `Deadlock: ${plural(count, 'lock')} could not be acquired again after everything was healed`,
          accusedIf:
            'the deployment had recovered, and the probe at the end of the run was not granted the key within its lease, what the lock declares of places and permits, and a grace',
          ownMistake: {
            theory:
              'When every lease is over and the deployment is whole, a lock must be granted: what it keeps of clients that died, gave up or released must end by itself.',
            link: 'https://redis.io/docs/latest/develop/use/patterns/distributed-locks/',
            onlyIf: 'all leases had ended',
          },
        },
      },
    },
  ],
  judges: { models: ['mutex', 'reentrant', 'read-write', 'fenced', 'fair'], plays: true },
  atTheEnd: true,
  check: findDeadlocks,
};

/**
 * A client that could not be started, on a busy machine say, shows nothing about the lock, nor does one that breaks the
 * protocol. Say c1 was granted it in the probe, its answer was lost and c1
 * killed: its key stands for a lease, and c1.2, which tries next, is refused by it.
 */
function untriedBecause(probe: ProbeEvent, { history, config }: CheckInput): string | undefined {
  const { key, client, acquired, untried, atNs, afterMs } = probe;
  if (acquired) return undefined;
  if (untried) return `${key} could not be tried again: ${probe.reason ?? 'nobody asked for it'}`;
  const lost = lostGrant(history, key, atNs - (afterMs + config.leaseMs) * 1e6, atNs);
  if (!lost) return undefined;
  const who = lost.client === client ? client : `${lost.client}, which may have been granted it,`;
  return `${key} could not be tried again: ${who} broke the protocol: ${lost.what}`;
}

/**
 * Why it need not be the lock's doing that it could not be acquired, beside what was to be healed and what the servers
 * showed.
 */
function doubtAbout(stuck: readonly ProbeEvent[], { history, config }: CheckInput): string | undefined {
  const [mishap] = mishaps(history);
  const why = mishap ? (mishap.proof ?? mishap.did) : new Doubts({ history, config }).aboutDeadlock();
  return (
    why && `${listed(stuck.map(({ key }) => key))} could not be acquired, which need not be the lock's doing: ${why}`
  );
}

function reasonsForDoubt(
  { config }: CheckInput,
  probes: readonly ProbeEvent[],
  stuck: readonly ProbeEvent[],
  recovered: Recovered | undefined,
): string[] {
  if (probes.length === 0) return ['the run ended before it was tried whether the locks can be acquired again'];
  const reasons: string[] = [];
  const probed = new Set(probes.map((probe) => probe.key));
  const missed = config.keys.filter((key) => !probed.has(key));
  if (missed.length > 0) reasons.push(`the run ended before ${listed(missed)} could be tried again`);
  if (recovered?.missing.length !== 0) {
    const missing = recovered ? listed(recovered.missing) : 'no record of its recovery';
    const keys =
      stuck.length > 0
        ? `, so it is not the lock's fault that ${listed(stuck.map(({ key }) => key))} could not be acquired`
        : '';
    reasons.push(`the deployment had not recovered when the locks were tried again (${missing})${keys}`);
  }
  return reasons;
}

function deadlock(probe: ProbeEvent, recovered: Recovered, input: CheckInput): Violation | undefined {
  if (triedTooEarly(probe, recovered.atNs, input) !== undefined) return undefined;
  const proven =
    blockerBetween(input, probe.key, recovered.atNs, probe.atNs) ??
    // Those who were not done when all was healed may have held it, or waited, before the probe.
    blockerBetween(input, probe.key, dueNs(probe, input), probe.atNs) ??
    neverExpires(probe, recovered.atNs, input) ??
    unknownScript(probe, input) ??
    (doubtAboutProbe(probe, recovered.atNs, input) === undefined ? grantedNobody(input) : undefined);
  if (!proven && doubtAboutProbe(probe, recovered.atNs, input) !== undefined) return undefined;
  const why = probe.reason ? `: ${probe.reason}` : '';
  return {
    class: 'liveness',
    kind: 'deadlock',
    key: probe.key,
    fromNs: recovered.atNs,
    untilNs: probe.atNs,
    holds: [],
    evidence: [recovered.i, probe.i],
    proof: `Everything was healed and recovered at ${moment(recovered.atNs)}, but ${probe.client} could not have ${probe.key} by ${moment(probe.atNs)} (${durationOfMs(probe.afterMs)} of trying${why}).`,
    cause: proven ?? cannotBeHad(probe, why, input),
  };
}

/** Whose command left what stands there, and where, as far as servers were watched: not why it keeps others from the lock. */
function cannotBeHad({ key, atNs, i }: ProbeEvent, why: string, input: CheckInput): Cause {
  const evidence = wholeEvidenceOf(input);
  const left = evidence ? leftStanding(key, input, evidence, atNs) : [];
  const refused = { atNs, text: `${key} could not be acquired${why}`, history: i };
  if (left.length === 0) return unexplained([refused]);
  const links = left.map(({ client, name, node, atNs: storedNs, line }) => ({
    atNs: storedNs,
    text: `${client} stored ${name} on ${node}, where it still stood at ${moment(atNs)}`,
    observation: line,
  }));
  const what = listed(left.slice(0, MOST_LEFT).map(({ client, name, node }) => `${client} left ${name} on ${node}`));
  return unexplained(
    [...links, refused],
    `${what}, where it still stood when the probe was refused. Why it was not taken away is not shown.`,
  );
}

/** When what was in the way of the probe as it began must have ended. */
function dueNs({ atNs, afterMs }: ProbeEvent, { history, config }: CheckInput): number {
  return atNs + (config.leaseMs + patienceOf(history).ms - afterMs) * 1e6;
}

function unknownScript(
  { client, key, reason, atNs, afterMs, i: line }: ProbeEvent,
  input: CheckInput,
): Cause | undefined {
  return scriptUnknown({ client, key, reason, fromNs: atNs - afterMs * 1e6, atNs, line }, input);
}

/**
 * The key stands without expiry on the primary, or on so many of the independent nodes that no majority is left. What the last try
 * itself stored did not refuse it; and it looked at the key, if its lock did not say that this is taken: a script that the server
 * does not know, say, is refused whatever is stored.
 */
function neverExpires(probe: ProbeEvent, recoveredNs: number, input: CheckInput): Cause | undefined {
  const { key, client, atNs, afterMs, i } = probe;
  const trying = { client, fromNs: beganTrying(probe, recoveredNs, input) ?? atNs - afterMs * 1e6 };
  const { history, observations } = input;
  const last = new Map<string, readonly [observation: number, sample: SampleObservation]>();
  for (const [line, observation] of observations.rare)
    if (observation.type === 'sample' && observation.atNs <= atNs && observation.atNs >= atNs - SEEN_WITHIN_NS)
      last.set(observation.node, [line, observation]);
  const primaries = [...last.values()].filter(([, sample]) => sample.role === 'primary');
  const standing = primaries.filter(([, sample]) => sample.keys[key]?.pttlMs === -1);
  const independent = majorityOf(history);
  const others = (independent?.nodes.length ?? primaries.length) - standing.length;
  const enough = independent?.majority ?? 1;
  if (standing.length === 0 || others >= enough) return undefined;
  const owners = standing.map(([, sample]) => sample.keys[key]!.owner);
  if (!owners.every((owner) => isStoredByAsking(key, owner, input, trying))) return undefined;
  if (!owners.every((owner) => isLeftForEver(key, owner, input))) return undefined;
  if (!TAKEN.has(probe.reason ?? '')) {
    const asks = asksOf(input, key, trying.fromNs, atNs);
    const hasLooked = (at: string) =>
      asks.some(({ node, looks }) => node === at && looks.some(({ argv }) => argv.includes(key)));
    if (!standing.every(([, { node }]) => hasLooked(node))) return undefined;
  }
  return {
    name: 'key-never-expires',
    sentence: `${key} stands on ${listed(standing.map(([, sample]) => sample.node))} without expiry.`,
    chain: [
      ...standing.map(([at, sample]) => ({
        atNs: sample.atNs,
        text: `${sample.node} has ${key} with owner ${sample.keys[key]!.owner} and no expiry`,
        observation: at,
      })),
      { atNs, text: `${key} could not be acquired`, history: i },
    ],
  };
}
