/**
 * Did a client say that it holds a lock that no server had granted it?
 *
 * Promises: a hold is accused (`never-granted`, exclusion) only if at no instant between the leaving of its attempt and its
 * answer any server can have had its grant stored; of independent nodes, only if fewer than a majority can. What servers had
 * stored meanwhile was all known, was other clients', and how this lock stores a grant is known from other grants of the run
 * (`causes/never-stored.ts`, which names every link). No other holder is needed: a lock that believes what it was not told
 * breaks exclusion whenever there is one.
 *
 * Excludes permits and readers, nested holds, locks whose grants cannot all be found in the record or are not all stored in
 * one way, a client's own earlier key, and whatever was not watched from before the attempt until a second after it, or until what
 * ran after it was seen.
 */

import { missingObservations } from '../../harness/record/facts/missing-observations.js';
import { plural } from '../../harness/record/facts/words.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Violation } from '../../harness/vocabulary/verdict.js';
import { causeOfRefused, inWords } from '../causes/never-granted.js';
import { neverStoredIn, type Refuted } from '../causes/never-stored.js';

/** Findings that are reported with evidence and proof; all are counted. */
const MOST_REPORTED = 200;

function findNeverGranted(input: CheckInput): CheckerFindings {
  const missing = missingObservations(input);
  if (missing !== undefined) {
    const notes = [`whether every hold had been granted cannot be told: ${missing}`];
    return { verdict: 'unknown', notes, violations: [], stats: {} };
  }
  const { holds, notJudged } = neverStoredIn(input);
  const refuted = [...holds.values()].sort((a, b) => a.hold.fromNs - b.hold.fromNs);
  return {
    verdict: refuted.length > 0 ? 'invalid' : 'valid',
    notes: [],
    violations: refuted.slice(0, MOST_REPORTED).map(violation),
    ...(refuted.length > MOST_REPORTED && { found: { exclusion: refuted.length } }),
    ...(notJudged !== undefined && { notJudged }),
    stats: { neverGranted: refuted.length },
  };
}

export const neverGrantedHolds: Checker = {
  name: 'never-granted',
  summary: 'no client said that it holds a lock of which no server had stored its grant',
  properties: [
    {
      class: 'exclusion',
      holds: 'Every hold had been granted by the servers',
      broken: 'A client said that it holds a lock that the servers had not granted it',
      kinds: {
        'never-granted': {
          headline: (count) =>
            `Exclusion broken: ${plural(count, 'hold')} that ${count === 1 ? 'was' : 'were'} never granted by the servers`,
          accusedIf:
            "at no instant of the attempt can a server (of independent nodes: a majority) have had the client's grant, by how the other grants of the run were stored",
        },
      },
    },
  ],
  judges: { models: ['mutex', 'reentrant', 'fenced', 'fair'], plays: true },
  atTheEnd: true,
  check: findNeverGranted,
};

function violation(refuted: Refuted): Violation {
  const { hold } = refuted;
  return {
    class: 'exclusion',
    kind: 'never-granted',
    key: hold.key,
    fromNs: hold.fromNs,
    untilNs: hold.untilNs,
    holds: [hold],
    evidence: hold.evidence,
    proof: inWords(refuted),
    cause: causeOfRefused(refuted),
  };
}
