/**
 * Answers and notices that are not so, by what the servers did: renewals that changed nothing, releases that left the key, `fail`
 * of what was done. Where a server was not watched throughout, or what it did is not known, nothing is said.
 */
import { removes } from '../../harness/record/facts/key-writes.js';
import { protocolBreaksOf } from '../../harness/record/facts/protocol-breaks.js';
import { duration, moment } from '../../harness/record/facts/words.js';
import { NOTICE } from '../../harness/record/history-table.js';
import { type AdapterFinding, found, type Sighting } from './finding.js';
import type { AdapterRecord } from './record.js';

/** What is on its way when an answer is given has come by then; a line of MONITOR is read by then. */
const SETTLED_NS = 500e6;
const READ_BY_NS = 1e9;
/** A lease of which less is left is as good as over: not to give it back leaves nothing. */
const LEFT_TO_MATTER = 0.1;

export function answerRules(record: AdapterRecord): AdapterFinding[] {
  return [
    ...broken(record),
    ...inDoubt(record),
    ...notRenewed(record),
    ...releasesThatLeft(record),
    ...failedReleases(record),
    ...failedAcquires(record),
  ];
}

function broken({ input }: AdapterRecord): AdapterFinding[] {
  const seen = protocolBreaksOf(input.history).map(({ client, what, atNs }) => ({
    text: `${client} broke the protocol at ${moment(atNs)}: ${what}`,
  }));
  const remedy =
    'write nothing but answers and notices to standard output (logs go to standard error), and stamp with raw CLOCK_MONOTONIC nanoseconds';
  return found('protocol', 'mistake', seen, remedy);
}

/** Before anything was struck a server that does not answer in time is rare: what is doubted often is known. */
function inDoubt({ operations, firstFaultNs }: AdapterRecord): AdapterFinding[] {
  const early = operations.filter(({ outcome, readNs }) => outcome === 'info' && readNs < firstFaultNs);
  const seen = early.map(({ client, op, key, readNs, reason }) => ({
    text: `${client} answered info to ${op} of ${key} at ${moment(readNs)}, before any fault: ${reason || 'no reason'}`,
  }));
  return found(
    'doubt',
    'advice',
    seen,
    'answer `ok` or `fail` where every command was answered: each `info` costs the client its process',
  );
}

/** A renewal that was reported, or an extension that was said to have succeeded. */
interface Claimed {
  client: string;
  key: string;
  what: string;
  sentNs: number;
  readNs: number;
}

function notRenewed(record: AdapterRecord): AdapterFinding[] {
  const [refused, late]: [Sighting[], Sighting[]] = [[], []];
  for (const claimed of [...toldRenewals(record), ...extensions(record)]) {
    const { client, key, what, sentNs, readNs } = claimed;
    if (!record.isNamed(key) || !record.sawAll(sentNs, readNs + READ_BY_NS)) continue;
    if (renewedOn(record, claimed, sentNs, readNs + READ_BY_NS) >= record.needed) continue;
    // Sent before the stamp: the stamp is wrong, and not what it is of.
    const before = renewedOn(record, claimed, sentNs - SETTLED_NS, readNs + READ_BY_NS) >= record.needed;
    const text = `${client} said at ${moment(readNs)} that ${key} was ${what}`;
    if (before) late.push({ text: `${text}, stamped after its command had run` });
    else refused.push({ text: `${text}, and no command of its own gave the key a new time` });
  }
  return [
    ...found(
      'not-renewed',
      'mistake',
      refused,
      'report a renewal only where the server answered that it was made: "not yours" (0, nil, false) is none, however the library calls it',
    ),
    ...found('stamp-late', 'mistake', late, 'stamp a renewal right before its command is sent'),
  ];
}

function* toldRenewals({ input: { history }, ops }: AdapterRecord): Iterable<Claimed> {
  const { notices } = history;
  for (let at = 0; at < notices.count; at++) {
    const row = notices.hold[at]!;
    if (notices.type[at] !== NOTICE.renewed || row < 0) continue;
    const [client, key] = [ops.clients[notices.client[at]!]!, ops.keys[ops.key[row]!]!];
    yield { client, key, what: 'renewed', sentNs: notices.clientNs[at]!, readNs: notices.atNs[at]! };
  }
}

function* extensions(record: AdapterRecord): Iterable<Claimed> {
  for (const { client, key, row, sentNs, readNs } of record.answered('extend', 'ok')) {
    const saidNs = record.ops.leaseFromNs[row]!;
    yield { client, key, what: 'extended', sentNs: Number.isNaN(saidNs) ? sentNs : saidNs, readNs };
  }
}

/**
 * On how many nodes a command of the client, run between the two times, may have given the key a new time or a new value.
 * It may be read long after it ran.
 */
function renewedOn(record: AdapterRecord, { client, key }: Claimed, fromNs: number, untilNs: number): number {
  return record.evidence.nodes.filter((node) => {
    const changes = record.evidence.readingOf(node)?.changes(key).list ?? [];
    return changes.some(
      ({ how, by, atNs, ranFromNs, applied, after }) =>
        how === 'command' &&
        (by?.script?.client ?? by?.client) === client &&
        atNs >= fromNs &&
        ranFromNs <= untilNs &&
        applied !== 'no' &&
        after.exists !== 'no',
    );
  }).length;
}

function releasesThatLeft(record: AdapterRecord): AdapterFinding[] {
  const seen = record.answered('release', 'ok').flatMap((operation): Sighting[] => {
    const { client, key, row, readNs } = operation;
    const granted = record.operations[record.ops.hold[row]!];
    if (!granted) return [];
    const untilNs = Math.min(readNs + SETTLED_NS, record.nextAskedNs(operation));
    if (record.holdsBeside(client, key, readNs, granted.row)) return [];
    const left = record.stillStored(record.takes(granted), key, untilNs);
    if (left.length < record.needed) return [];
    return [
      {
        text: `${client} said at ${moment(readNs)} that it had released ${key}, and ${left[0]!.node} still had its owner ${duration(untilNs - readNs)} later`,
      },
    ];
  });
  return found(
    'release-left-key',
    'mistake',
    seen,
    'answer `ok` to a release only where the server answered that the key was removed; "not yours" is `fail`',
  );
}

function failedReleases(record: AdapterRecord): AdapterFinding[] {
  const seen = record.answered('release', 'fail').flatMap((operation): Sighting[] => {
    const { client, key, row, sentNs, readNs, reason } = operation;
    const granted = record.operations[record.ops.hold[row]!];
    if (!granted) return [];
    // A lock of several keys has lost it with the first that its lease ran out on, and still removes the others.
    if (readNs >= granted.sentNs + record.ops.leaseMs[granted.row]! * 1e6) return [];
    const values = new Map(record.takes(granted).map(({ node, value }) => [node, value]));
    const removing = record.evidence.nodes.flatMap((node) =>
      record
        .requests(node, operation, sentNs, readNs)
        .filter((write) => write.ranNs >= sentNs && removes(write, values.get(node)) === 'yes'),
    );
    if (removing.length < record.needed) return [];
    const [first] = removing;
    return [
      {
        text: `${client} answered fail (${reason}) to its release of ${key} at ${moment(readNs)}, and its own ${first!.command} had removed it from ${first!.node}`,
      },
    ];
  });
  return found(
    'fail-though-done',
    'mistake',
    seen,
    'answer `info` where a command went without an answer and was sent again: the second answer is the echo of the first',
  );
}

/**
 * Of one server alone: what several have stored of a try that came to nothing is given back or left to its lease, and its caller
 * does not hold it either way.
 */
function failedAcquires(record: AdapterRecord): AdapterFinding[] {
  const { ops, evidence } = record;
  if (evidence.majority !== undefined) return [];
  const seen = record.answered('acquire', 'fail').flatMap((operation): Sighting[] => {
    const { client, key, row, sentNs, readNs, reason } = operation;
    if (record.holdsBeside(client, key, sentNs, row)) return [];
    const untilNs = Math.min(readNs + SETTLED_NS, record.nextAskedNs(operation));
    const leaseMs = ops.leaseMs[row]!;
    const takes = record.takes(operation).filter(({ ranNs }) => ranNs >= sentNs);
    const left = record
      .stillStored(takes, key, untilNs)
      .filter(
        ({ ttlMs = Number.POSITIVE_INFINITY, ranNs }) => ttlMs - (untilNs - ranNs) / 1e6 > LEFT_TO_MATTER * leaseMs,
      );
    const [first] = left;
    if (!first) return [];
    return [
      {
        text: `${client} answered fail (${reason}) to its acquire of ${key} at ${moment(readNs)}, and ${first.node} had stored its owner ${duration(readNs - first.ranNs)} before, for a lease`,
      },
    ];
  });
  return found(
    'fail-though-done',
    'mistake',
    seen,
    'answer `fail` only where nothing was sent or the answer was no; a time-out, or a connection that was reset, is `info`',
  );
}
