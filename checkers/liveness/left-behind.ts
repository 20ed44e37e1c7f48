/**
 * Did a failed try leave something behind that its client could have taken back? Looks at what servers ran (MONITOR) and had
 * (samples); for locks of one string a key, as SET NX makes it.
 *
 * A client stored a value on a node, went on to its next try for the same key *over the same connection* without having named
 * that value to the node again, and the node still has the value some time after. A try that was granted names it when it is
 * released; one that failed, when it is given back. Over one connection what is sent first comes first: so a client that gave
 * back and was not heard is not accused (its connection is gone, and the next try comes over another), nor is one that could
 * not reach the node, nor one that died.
 *
 * Class `liveness`: no client holds, and none can have it on that node until the lease is over. Excludes locks that store
 * without a condition or something else than a string, what is given back after the next try began but before the
 * node was looked at, and clients that ask for a key again while they hold it: not for workloads that do.
 */

import type { Change } from '../../harness/record/facts/commands/changes.js';
import { ServerReading } from '../../harness/record/facts/commands/server-reading.js';
import { missingObservations } from '../../harness/record/facts/missing-observations.js';
import { moment, plural } from '../../harness/record/facts/words.js';
import type { Observation } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Violation } from '../../harness/vocabulary/verdict.js';
import { unexplained } from '../causes/unexplained.js';

/** What is still on its way after a try has ended has come by then. */
const SETTLED_NS = 250e6;
/** Tries that are reported with evidence and proof; all are counted. */
const MOST_REPORTED = 200;

interface Try {
  node: string;
  client: string;
  /** Its connection. */
  source: string;
  key: string;
  value: string;
  atNs: number;
  /** Line of observations.jsonl. */
  line: number;
}

interface Candidate {
  left: Try;
  next: Try;
  /** When the value was named to the node after all. */
  namedNs: number;
}

type Sample = Extract<Observation, { type: 'sample' }>;

function findLeftBehind(input: CheckInput): CheckerFindings {
  const missing = missingObservations(input);
  if (missing !== undefined) {
    const notes = [`whether tries left something behind cannot be determined: ${missing}`];
    return { verdict: 'unknown', notes, violations: [], stats: {} };
  }
  const { candidates, tries } = candidatesOf(input);
  const found = candidates.flatMap((candidate) => {
    const seen = seenAfter(input, candidate);
    return seen ? [{ ...candidate, seen }] : [];
  });
  return {
    verdict: found.length > 0 ? 'invalid' : 'valid',
    notes: [],
    violations: found.slice(0, MOST_REPORTED).map(violationOf),
    ...(found.length > MOST_REPORTED && { found: { liveness: found.length } }),
    ...(tries === 0 && { notJudged: 'no server was seen to run a SET ... NX of a client' }),
    stats: { leftBehind: found.length },
  };
}

export const leftBehind: Checker = {
  name: 'left-behind',
  summary: 'no failed try left something on a server that its client could have taken back',
  properties: [
    {
      class: 'liveness',
      holds: 'No failed try left on a server what its client could have removed',
      broken: 'A failed try left on a server what its client could have removed',
      kinds: {
        'left-behind': {
          headline: (count) =>
            `Left behind: ${plural(count, 'failed try', 'failed tries')} stayed on a server, though the client could have taken ${count === 1 ? 'it' : 'them'} back`,
          accusedIf:
            'a client stored a value on a node, tried again for the key over the same connection without having named that value to the node, and the node still had the value some time after',
        },
      },
    },
  ],
  check: findLeftBehind,
};

/** Tries that were followed by another one over the same connection, without having been named in between. */
function candidatesOf({ observations, config }: CheckInput): { candidates: Candidate[]; tries: number } {
  const keys = new Set(config.keys);
  const readings = new Map<string, ServerReading>();
  /** By node, connection and key: the try whose value was not named since. */
  const open = new Map<string, Try>();
  const candidates = new Map<string, Candidate>();
  let tries = 0;
  for (const [line, command] of observations.commands(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)) {
    const { node, source, client, atNs, argv } = command;
    const reading = readings.get(node) ?? new ServerReading({ follows: (key) => keys.has(key) });
    readings.set(node, reading);
    reading.command({ ...command, line });
    const taken = config.keys.flatMap((key) => triesIn(reading.takeChanges(key), node, key));
    if (taken.length === 0 && client !== undefined) {
      for (const argument of argv) {
        const candidate = candidates.get(`${node} ${argument}`);
        if (candidate) candidate.namedNs = Math.min(candidate.namedNs, atNs);
      }
      for (const key of keys) {
        const place = `${node} ${source} ${key}`;
        if (argv.includes(open.get(place)?.value ?? '\0')) open.delete(place);
      }
    }
    for (const now of taken) {
      tries++;
      const place = `${node} ${now.source} ${now.key}`;
      const before = open.get(place);
      if (before && before.value !== now.value)
        candidates.set(`${node} ${before.value}`, { left: before, next: now, namedNs: Number.POSITIVE_INFINITY });
      open.set(place, now);
    }
  }
  return { candidates: [...candidates.values()], tries };
}

/** What a client stored, or was to store, where there was nothing. */
function triesIn(changes: readonly Change[], node: string, key: string): Try[] {
  return changes.flatMap(({ by, applied, after, wanted, onlyNew, line, atNs }): Try[] => {
    const held = (applied === 'yes' ? after : wanted)?.held;
    if (by?.client === undefined || !onlyNew || held?.type !== 'string' || held.value === undefined) return [];
    return [{ node, client: by.client, source: by.source, key, value: held.value, atNs, line }];
  });
}

/** A look at the node that shows the value still there, and not named meanwhile. */
function seenAfter(
  { observations }: CheckInput,
  { left, next, namedNs }: Candidate,
): (Sample & { line: number }) | undefined {
  for (const [line, seen] of observations.rare) {
    if (seen.type !== 'sample' || seen.node !== left.node || seen.atNs < next.atNs + SETTLED_NS) continue;
    if (seen.atNs >= namedNs) return undefined;
    if (seen.keys[left.key]?.owner === left.value) return { ...seen, line };
  }
  return undefined;
}

function violationOf({ left, next, seen }: Candidate & { seen: Sample & { line: number } }): Violation {
  const { node, client, key } = left;
  return {
    class: 'liveness',
    kind: 'left-behind',
    key,
    fromNs: left.atNs,
    untilNs: seen.atNs,
    holds: [],
    evidence: [],
    proof: `${client} stored ${key} on ${node} at ${moment(left.atNs)}, and tried for it again at ${moment(next.atNs)} over the same connection without having taken that back; ${node} still had it at ${moment(seen.atNs)}.`,
    cause: unexplained([
      { atNs: left.atNs, text: `${client} stored ${key} on ${node}`, observation: left.line },
      { atNs: next.atNs, text: `${client} tried for it again, over the same connection`, observation: next.line },
      { atNs: seen.atNs, text: `${node} still had what the first try stored`, observation: seen.line },
    ]),
  };
}
