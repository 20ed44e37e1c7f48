/**
 * Did a failed try leave something behind that its client could have taken back? Looks at what servers ran (MONITOR) and had
 * (samples), by the one reading of commands: strings, hashes and sets under the keys of the run, stored by a
 * command or by a script.
 *
 * A client stored a value on a node in a try that failed, or in a hold that it has released since; it went on to its next try
 * for the same key *over the same connection* without having named that value to the node again; and the node still has the
 * value some time after. Over one connection what is sent first comes first: so a client that gave back and was not heard is
 * not accused (its connection is gone, and the next try comes over another), nor is one that could not reach the node, nor
 * one that died, or that a fault held up, before it could be seen to give anything back; nor one whose node may have turned it
 * away in between, which MONITOR does not show: as a replica, or, in a Cluster and where replicas must acknowledge, because
 * another server was in trouble.
 *
 * A value names an owner if its client gave it with the request and no other client ever stored it; and, unless it was stored by
 * `SET … NX` or its kin, if clients were seen to take such values of their own away.
 *
 * Class `liveness`: no client holds, and none can have it on that node until the lease is over. Excludes what is given
 * back after the next try began but before the node was looked at; clients that hold the key when they ask again; tries whose
 * outcome is not known; lists and sorted sets, whose entries may end by a deadline; and records that are too long to be read
 * from their beginning.
 */

import { allClientNames, clientNames } from '../../harness/record/facts/clients.js';
import { effectsOf, SETTLE_NS } from '../../harness/record/facts/effects.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { ownerIs } from '../../harness/record/facts/key-writes.js';
import { missingObservations } from '../../harness/record/facts/missing-observations.js';
import { quorumOf } from '../../harness/record/facts/quorum.js';
import { moment, plural } from '../../harness/record/facts/words.js';
import type { History, Observations } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Violation } from '../../harness/vocabulary/verdict.js';
import { type RequestKinds, storedAgain } from '../causes/stored-again.js';
import { unexplained } from '../causes/unexplained.js';
import { tooManyCommands } from '../causes/whole-evidence.js';
import { endsOfClients } from './free-and-asked.js';
import { type Candidate, LeftTries, placeOf, SETTLED_NS, type Seen, type Try } from './left-tries.js';

/** Tries that are reported with evidence and proof; all are counted. */
const MOST_REPORTED = 200;

function findLeftBehind(input: CheckInput): CheckerFindings {
  const untold = missingObservations(input) ?? tooManyCommands(input);
  if (untold !== undefined) {
    const notes = [`whether tries left something behind cannot be told: ${untold}`];
    return { verdict: 'unknown', notes, violations: [], stats: {} };
  }
  const { candidates, tries, kinds } = new LeftTries(input).read();
  const heard = heardThroughout(input.observations, candidates).filter(outsideOfTrouble(input));
  const seenOf = seenAfter(input.observations, ableToTakeBack(input.history, heard));
  const found = candidates.flatMap((candidate) => {
    const seen = seenOf.get(candidate);
    return seen ? [{ ...candidate, seen }] : [];
  });
  return {
    verdict: found.length > 0 ? 'invalid' : 'valid',
    notes: [],
    violations: found.slice(0, MOST_REPORTED).map((one) => violationOf(one, kinds, input)),
    ...(found.length > MOST_REPORTED && { found: { liveness: found.length } }),
    ...(tries === 0 && { notJudged: 'no server was seen to store what names an owner' }),
    stats: { leftBehind: found.length },
  };
}

export const leftBehind: Checker = {
  name: 'left-behind',
  summary: 'no failed try or released hold left something on a server that its client could have taken back',
  properties: [
    {
      class: 'liveness',
      holds: 'No failed try or released hold left on a server what its client could have removed',
      broken: 'A failed try or released hold left on a server what its client could have removed',
      kinds: {
        'left-behind': {
          headline: (count) =>
            `Left behind: ${plural(count, 'failed try or released hold', 'failed tries or released holds')} stayed on a server, though the client could have taken ${count === 1 ? 'it' : 'them'} back`,
          accusedIf:
            'a client stored a value on a node in a try that failed or a hold that it released, tried again for the key over the same connection without having named that value to the node, and the node still had the value some time after',
          ownMistake: {
            theory:
              'What a try stored that failed, or a hold that is over, must be taken back on every server that was asked for it.',
            link: 'https://redis.io/docs/latest/develop/use/patterns/distributed-locks/',
          },
        },
      },
    },
  ],
  judges: { models: 'all', plays: false },
  check: findLeftBehind,
};

/**
 * Those whose client lived and was let alone until what it gave back would have come: one that asks again before it is answered
 * (a server that wakes carries out all of that at once) learns only then that there is something to give back.
 */
function ableToTakeBack(history: History, candidates: readonly Candidate[]): Candidate[] {
  const effects = effectsOf(history);
  const footprints = effects.footprints();
  const endNs = endsOfClients(history);
  return candidates.filter(({ left, next }) => {
    const settledNs = next.atNs + SETTLED_NS;
    if (endNs(left.client) <= settledNs) return false;
    const own = [...clientNames(history, left.client), effects.hostOf(left.client)];
    return !footprints.some(
      ({ names, earliestNs, latestNs }) =>
        earliestNs <= settledNs && latestNs >= left.atNs && own.some((name) => names.has(name)),
    );
  });
}

/** Those whose node was not seen to be a replica between the two tries: it may have been told to give the value back, in vain. */
function heardThroughout({ rare }: Observations, candidates: readonly Candidate[]): Candidate[] {
  const asReplica = new Map<string, number[]>();
  for (const [, look] of rare) {
    if (look.type !== 'sample' || look.role === 'primary') continue;
    const looks = asReplica.get(look.node) ?? [];
    asReplica.set(look.node, looks);
    looks.push(look.atNs);
  }
  return candidates.filter(({ left, next }) => {
    const looks = asReplica.get(left.node) ?? [];
    const after = looks[firstIndex(looks.length, (nth) => looks[nth]! > left.atNs)];
    return after === undefined || after >= next.atNs;
  });
}

/**
 * Whether the node cannot have turned its client away because of others between the two tries. A Cluster that misses a slot
 * serves none, one whose slot is on its way sends clients to and fro, and a primary without its replicas may be told to
 * refuse; MONITOR shows none of that.
 */
function outsideOfTrouble(input: CheckInput): (candidate: Candidate) => boolean {
  const clients = allClientNames(input.history);
  const troubles = effectsOf(input.history)
    .footprints()
    .filter(({ names }) => names.size === 0 || [...names].some((name) => !clients.has(name)));
  const firstNs = Math.min(...troubles.map(({ earliestNs }) => earliestNs));
  if (input.config.topologyOptions.minReplicasToWrite === 0 && !isSharded(input, firstNs)) return () => true;
  return ({ left, next }) =>
    troubles.every(({ earliestNs, latestNs }) => next.atNs < earliestNs || left.atNs > latestNs + SETTLE_NS);
}

/** Whether one server answers for a key, and before that instant several did, each for keys of its own. */
function isSharded({ history, observations }: CheckInput, beforeNs: number): boolean {
  if (quorumOf(history)?.kind !== 'primary') return false;
  const primaries = observations.rare.flatMap(([, look]) =>
    look.type === 'sample' && look.role === 'primary' && look.atNs < beforeNs ? [look.node] : [],
  );
  return new Set(primaries).size > 1;
}

/**
 * By candidate, what shows its value still there when all had settled, and not named meanwhile: a look at the node, or a
 * command that found it.
 */
function seenAfter(observations: Observations, candidates: readonly Candidate[]): ReadonlyMap<Candidate, Seen> {
  const seen = new Map<Candidate, Seen>();
  const byPlace = new Map(candidates.map((one) => [placeOf(one.left.node, one.left.key, one.left.value), one]));
  for (const [line, look] of observations.rare) {
    if (look.type !== 'sample') continue;
    const { node, atNs } = look;
    for (const [key, { owner }] of Object.entries(look.keys))
      for (const value of valuesIn(owner)) {
        const candidate = byPlace.get(placeOf(node, key, value));
        if (!candidate || seen.has(candidate) || !shows(owner, candidate.left)) continue;
        if (atNs >= candidate.next.atNs + SETTLED_NS && atNs < candidate.namedNs) seen.set(candidate, { atNs, line });
      }
  }
  for (const one of candidates)
    if (!seen.has(one) && one.found && one.found.atNs < one.namedNs) seen.set(one, one.found);
  return seen;
}

/** All that may be an owner in what a sample shows of a key: the string itself, or what stands in the JSON of a hash. */
function valuesIn(stored: string): string[] {
  const words = stored.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  return [stored, ...words.flatMap(parsed)];
}

function parsed(word: string): string[] {
  try {
    return [JSON.parse(word) as string];
  } catch {
    return []; // a string that looks like a hash
  }
}

function shows(stored: string, { value, form }: Try): boolean {
  return form?.startsWith('hash') ? ownerIs(stored, value) : stored === value;
}

function violationOf(
  { left, next, seen }: Candidate & { seen: Seen },
  kinds: RequestKinds,
  input: CheckInput,
): Violation {
  const { node, client, key } = left;
  const since = [
    { atNs: next.atNs, text: `${client} tried for it again, over the same connection`, observation: next.line },
    { atNs: seen.atNs, text: `${node} still had what it had stored before that`, observation: seen.line },
  ];
  const stored = { atNs: left.atNs, text: `${client} stored ${key} on ${node}`, observation: left.line };
  return {
    class: 'liveness',
    kind: 'left-behind',
    key,
    fromNs: left.atNs,
    untilNs: seen.atNs,
    holds: [],
    evidence: [],
    proof: `${client} stored ${key} on ${node} at ${moment(left.atNs)}, and tried for it again at ${moment(next.atNs)} over the same connection without having taken that back; ${node} still had it at ${moment(seen.atNs)}.`,
    cause:
      storedAgain(left, kinds, input, since) ??
      unexplained(
        [stored, ...since],
        `${client} left on ${node} what it had stored for ${key}, and did not take it back before it tried again. Why it did not is not shown.`,
      ),
  };
}
