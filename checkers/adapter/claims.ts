/** What an adapter claims in its handshake and does not show, and leases that are not what was asked for. */

import { NOTICE, OP } from '../../harness/record/history-table.js';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import { type AdapterFinding, found, type Sighting } from './finding.js';
import type { AdapterRecord, Operation } from './record.js';

/** A unit is confused where the ratio is a thousand, more or less what is rounded. */
const THOUSAND = { from: 950, until: 1_050 };
/** What no lease in milliseconds that was taken for one loses to rounding. */
const TINY = 0.01;
/** What a server keeps less than it was said to: beyond what a lock takes off for clocks, and a round trip. */
const SHORTER = 0.9;
/** So many times show what once may be chance. */
const OFTEN = 3;

export function claimRules(record: AdapterRecord): AdapterFinding[] {
  return [...leases(record), ...names(record), ...features(record)];
}

function leases(record: AdapterRecord): AdapterFinding[] {
  const { ops } = record;
  const [unit, shorter]: [Sighting[], Sighting[]] = [[], []];
  for (const operation of record.answered('acquire', 'ok')) {
    const { row, client, key } = operation;
    const askedMs = ops.leaseMs[row]!;
    const [take] = record.takes(operation);
    const said = ops.validForMs[row]!;
    const ttlMs = take && record.leaseFrom(take, operation).ttlMs;
    if (ttlMs !== undefined && isOtherUnit(ttlMs, askedMs))
      unit.push({
        text: `${client} was asked to take ${key} for ${askedMs} ms, and ${take!.node} keeps it for ${ttlMs} ms`,
      });
    else if (ttlMs !== undefined && ttlMs < SHORTER * (Number.isNaN(said) ? askedMs : Math.min(said, askedMs)))
      shorter.push({
        text: `${client} was asked to take ${key} for ${askedMs} ms and ${Number.isNaN(said) ? 'said nothing of it' : `said ${said} ms`}, and ${take!.node} keeps it for ${ttlMs} ms`,
      });
    if (!Number.isNaN(said) && isOtherUnit(said, askedMs) && said > askedMs)
      unit.push({ text: `${client} said that ${key}, taken for ${askedMs} ms, is valid for ${said} ms` });
  }
  const { notices } = record.input.history;
  for (let at = 0; at < notices.count; at++) {
    const row = notices.hold[at]!;
    const leaseMs = notices.leaseMs[at]!;
    if (notices.type[at] !== NOTICE.renewed || row < 0 || !isOtherUnit(leaseMs, ops.leaseMs[row]!)) continue;
    unit.push({ text: `a renewal of a lease of ${ops.leaseMs[row]} ms was said to be for ${leaseMs} ms` });
  }
  return [
    ...found(
      'lease-unit',
      'mistake',
      unit,
      'leases and `validForMs` are milliseconds; PX takes them, EX takes seconds',
    ),
    ...found(
      'lease-shorter',
      'mistake',
      shorter,
      'say in `validForMs` how long the lease is that servers were asked for, or round it up',
    ),
  ];
}

function isOtherUnit(ms: number, askedMs: number): boolean {
  const ratio = ms / askedMs;
  return (ratio >= THOUSAND.from && ratio <= THOUSAND.until) || (ms > 0 && ratio < TINY);
}

function names(record: AdapterRecord): AdapterFinding[] {
  const granted = new Set(record.answered('acquire', 'ok').map(({ key }) => key));
  const unseen = [...granted].filter((key) => !record.isNamed(key));
  return found(
    'names-unknown',
    'advice',
    unseen.map((key) => ({ text: `${key} was granted, and no command of a client names it` })),
    'say in the handshake under which names keys are kept (`"keys": ["mutex:{key}"]`): without that little can be explained',
  );
}

type Up = Extract<HistoryEvent, { type: 'client-up' }>;

function features(record: AdapterRecord): AdapterFinding[] {
  const { history } = record.input;
  const up = history.rare.find((event): event is Up => event.type === 'client-up');
  if (!up) return [];
  const claims = (feature: string) => up.features.includes(feature);
  const told = (type: keyof typeof NOTICE) =>
    history.notices.type.slice(0, history.notices.count).includes(NOTICE[type]);
  const grants = record.answered('acquire', 'ok');
  const tokens = grants.filter(({ row }) => !Number.isNaN(record.ops.token[row]!));
  const nested = nestedTries(record);
  const notShown: Sighting[] = [];
  const says = (isSo: boolean, text: string) => isSo && notShown.push({ text });

  const extended = record.answered('extend');
  says(
    claims('extend') && extended.length >= OFTEN && extended.every(({ outcome }) => outcome !== 'ok'),
    `extend: none of ${extended.length} extensions succeeded (${extended[0]?.reason ?? ''})`,
  );
  says(
    claims('fencing') && tokens.length < grants.length,
    `fencing: ${grants.length - tokens.length} of ${grants.length} grants came without a token`,
  );
  const long = longHolds(record);
  says(
    claims('renews') && !told('renewed') && long >= OFTEN,
    `renews: ${long} holds outlasted their lease, and no renewal was told`,
  );
  says(
    claims('reentrant') && nested.length >= OFTEN && nested.every(({ outcome }) => outcome !== 'ok'),
    `reentrant: none of ${nested.length} grants to who held already succeeded (${nested[0]?.reason ?? ''})`,
  );
  const waited = grants.filter(({ sentNs, readNs }) => readNs - sentNs > WAITED_NS);
  says(
    up.model?.kind === 'fair' && !told('step') && waited.length >= OFTEN,
    `fair: ${waited.length} clients waited, and none said the step \`queued\``,
  );

  const unclaimed: Sighting[] = [];
  if (told('renewed') && !claims('renews')) unclaimed.push({ text: 'renewals were told' });
  if (tokens.length > 0 && !claims('fencing')) unclaimed.push({ text: 'grants had a token' });
  return [
    ...notShown.flatMap((seen) =>
      found(
        'feature-not-shown',
        'mistake',
        [seen],
        'take it out of `features`, or do and say it as docs/protocol.md has it',
      ),
    ),
    ...found(
      'feature-not-claimed',
      'advice',
      unclaimed,
      'add the word to `features` (`renews`, `fencing`): what is not claimed is not judged',
    ),
  ];
}

/** A grant that took so long had to wait. */
const WAITED_NS = 200e6;

/** Acquires of a client that held the key already. */
function nestedTries(record: AdapterRecord): Operation[] {
  return record
    .answered('acquire')
    .filter(
      ({ client, key, sentNs, row, outcome }) => outcome !== 'none' && record.holdsBeside(client, key, sentNs, row),
    );
}

/** How many holds were released in good order after more than a lease, and were not struck: a client that is stopped renews nothing. */
function longHolds({ holds, ops, firstFaultNs }: AdapterRecord): number {
  let long = 0;
  for (let k = 0; k < holds.count; k++) {
    const lastedMs = (holds.untilNs[k]! - holds.fromNs[k]!) / 1e6;
    if (lastedMs > 1.2 * holds.leaseMs[k]! && holds.untilNs[k]! < firstFaultNs && ops.op[holds.row[k]!] === OP.acquire)
      long++;
  }
  return long;
}
