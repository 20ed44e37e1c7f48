/**
 * Stamps that lie outside of the command that they are of. A stamp is late where MONITOR had been read to say the command before
 * the instant that the stamp names: both times are of the harness's clock, so no wall clock and no busy machine can make it so.
 * A stamp that is too early accuses nobody, and is not looked for.
 */

import type { KeyWrite } from '../../harness/record/facts/key-writes.js';
import { protocolBreaksOf } from '../../harness/record/facts/protocol-breaks.js';
import { duration, moment } from '../../harness/record/facts/words.js';
import { OP } from '../../harness/record/history-table.js';
import { type AdapterFinding, found, type Sighting } from './finding.js';
import type { AdapterRecord, Operation } from './record.js';

const BY_HASH =
  'stamp what is sent by its hash too: the library sends EVALSHA with the hash of a script, not its text, once the server knows it';

export function stampRules(record: AdapterRecord): AdapterFinding[] {
  return [...lateGrants(record), ...lateReleases(record), ...missing(record)];
}

function lateGrants(record: AdapterRecord): AdapterFinding[] {
  const [one, several]: [Sighting[], Sighting[]] = [[], []];
  for (const operation of record.answered('acquire', 'ok')) {
    const { row, client, key } = operation;
    const saidNs = record.ops.leaseFromNs[row]!;
    if (Number.isNaN(saidNs)) continue;
    const takes = record.takes(operation);
    // Of nodes that were asked in turn the first counts, where it has what the last has: an earlier try was given back.
    const granted = record
      .stillStored(takes, key, operation.readNs)
      .filter((take) => take.value === takes.at(-1)?.value && wasLastAsked(record, take, operation))
      .map((take) => record.leaseFrom(take, operation));
    const early = granted.filter(({ atNs }) => atNs < saidNs).sort((a, b) => a.atNs - b.atNs)[0];
    if (!early) continue;
    const text = `${client} said that the granted attempt for ${key} left at ${moment(saidNs)}, and ${early.node} had run its ${early.command} ${duration(saidNs - early.atNs)} before`;
    (granted.some(({ atNs }) => atNs >= saidNs) ? several : one).push({ text });
  }
  return [
    ...found(
      'stamp-late',
      'mistake',
      one,
      'take `grantSent` right before the granting command is sent, not when its answer is there',
    ),
    ...found(
      'stamp-late',
      'mistake',
      several,
      'of an attempt that asks several nodes give the stamp of the first command as `grantSent`, not of the last: the lease of the first node runs from there',
    ),
  ];
}

/** Not one that a later try of the same operation found taken, by its own earlier one: that node is no part of what was granted. */
function wasLastAsked(record: AdapterRecord, take: KeyWrite, operation: Operation): boolean {
  // It may have been asked once more when a majority had answered.
  const later = record.requests(take.node, operation, take.atNs, record.nextAskedNs(operation));
  return !later.some(({ effect, observation }) => observation > take.observation && effect !== 'prolong');
}

function lateReleases(record: AdapterRecord): AdapterFinding[] {
  const seen = record.answered('release', 'ok').flatMap((operation): Sighting[] => {
    const { row, client, key, sentNs, readNs } = operation;
    const beganNs = record.ops.beganNs[row]!;
    if (Number.isNaN(beganNs)) return [];
    const early = record.evidence.nodes
      .flatMap((node) => record.requests(node, operation, sentNs, readNs))
      .find(({ effect, atNs }) => effect === 'remove' && atNs < beganNs);
    if (!early) return [];
    return [
      {
        text: `${client} said that its release of ${key} began at ${moment(beganNs)}, and ${early.node} had run its ${early.command} ${duration(beganNs - early.atNs)} before`,
      },
    ];
  });
  return found('stamp-late', 'mistake', seen, 'take `began` of a release right before the library is called');
}

function missing(record: AdapterRecord): AdapterFinding[] {
  const acquires = record.answered('acquire');
  const grants = record.answered('acquire', 'ok');
  const isStamped = ({ row }: Operation) => !Number.isNaN(record.ops.leaseFromNs[row]!);
  const unstamped = grants.filter((one) => !isStamped(one));
  const broken = brokenAcquires(record, acquires);
  const inDoubt = acquires.filter(({ outcome, readNs }) => outcome === 'info' && readNs < record.firstFaultNs);
  const hidden = [...unstamped, ...broken, ...inDoubt].filter((one) => {
    const takes = record.takes(one);
    return takes.length > 0 && takes.every(wentByHash);
  });
  // Told apart from other reasons for a missing stamp only by grants that went otherwise, and have one.
  const shown = grants.filter(isStamped).flatMap((one) => record.takes(one));
  const isHidden = hidden.length > 0 && shown.length > 0 && !shown.some(wentByHash);
  if (isHidden) {
    const [first] = hidden;
    const text = `${first!.client} was granted ${first!.key} by an EVALSHA at ${moment(first!.sentNs)} and ${saidOf(record, first!)}, while grants by other commands are stamped`;
    return found('stamp-missing', 'mistake', [{ text }, ...hidden.slice(1).map(() => ({ text }))], BY_HASH);
  }
  if (unstamped.length === 0) return [];
  const text = `${unstamped.length} of ${grants.length} grants came without \`grantSent\`: their leases are taken to run from \`began\``;
  return found(
    'stamp-missing',
    'advice',
    unstamped.map(() => ({ text })),
    'say when the granted attempt left: after a wait the lease is taken to be shorter than it is, and less is found',
  );
}

function wentByHash({ command }: KeyWrite): boolean {
  return command === 'EVALSHA' || command === 'EVALSHA_RO';
}

function saidOf({ ops }: AdapterRecord, { row, outcome }: Operation): string {
  if (outcome === 'ok') return 'did not say when it was sent';
  return outcome === 'info'
    ? `answered info: ${ops.reasons[ops.reason[row]!] ?? ''}`
    : 'gave no answer that could be used';
}

/** Acquires whose answer was lost because of the stamp of their lease. */
function brokenAcquires({ input }: AdapterRecord, acquires: readonly Operation[]): Operation[] {
  const lost = protocolBreaksOf(input.history).filter(({ what }) => what.includes('the lease is said to run from'));
  return lost.flatMap(
    ({ client, lost: answer }) =>
      acquires.find((one) => one.client === client && isOperation(one, answer?.id, input.history.operations)) ?? [],
  );
}

function isOperation({ row }: Operation, id: number | undefined, ops: AdapterRecord['ops']): boolean {
  return ops.id[row] === id && ops.op[row] === OP.acquire;
}
