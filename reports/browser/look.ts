/** What is under the pointer, and what was true at a moment, in words. The same numbers as in the history, to the microsecond. */
import { duration, exactMoment, moment, plural, wallTime } from '../../harness/record/facts/words.js';
import {
  type FaultBand,
  HOLD_ENDS,
  type HoldList,
  type OwnerList,
  type PageData,
  TRY_OPS,
  TRY_OUTCOMES,
  type TryList,
} from '../data/page-data.js';
import { roleWords, touchesLane } from './draw-lanes.js';
import { endOf, firstWhere, type Lane, SIZES } from './lanes.js';

export type Words = string[];

const ns = (us: number) => us * 1e3;
const span = (fromUs: number, untilUs: number) =>
  Number.isFinite(untilUs)
    ? `${exactMoment(ns(fromUs))} – ${exactMoment(ns(untilUs))} (${duration(ns(untilUs - fromUs))})`
    : `from ${exactMoment(ns(fromUs))} on`;

/** The first line is what it is; empty where there is nothing. `nearUs`: how far off still counts as pointed at. */
export function underPointer(data: PageData, lane: Lane, us: number, y: number, nearUs: number): Words {
  const found = [...violationWords(data, lane, us, nearUs)];
  if (lane.kind === 'slot') {
    const row = lane.rows.find((one) => y >= one.y && y < one.y + SIZES.bar + 1);
    const held =
      row === undefined ? undefined : near(row.holds.length, (n) => holdAt(lane.slot.holds, row.holds[n]!), us, nearUs);
    if (row !== undefined && held !== undefined) found.push(...holdWords(data, lane, row.holds[held]!));
    else if (y >= lane.triesY - 2) {
      const { tries } = lane.slot;
      const n = near(
        tries.fromUs.length,
        (at) => [tries.fromUs[at]!, endOf(tries.fromUs, tries.lengthUs, at)],
        us,
        nearUs,
      );
      if (n !== undefined) found.push(...tryWords(data, lane, tries, n));
    }
    const gone = lane.slot.lives.find(({ untilUs }) => untilUs >= 0 && Math.abs(untilUs - us) <= nearUs);
    if (gone !== undefined) found.push(`${gone.client} was gone at ${exactMoment(ns(gone.untilUs))}: ${gone.reason}`);
  }
  if (lane.kind === 'node') {
    const key = lane.keys.find((one) => y >= one.y && y < one.y + SIZES.owner + 1);
    if (key === undefined) {
      const role = lane.node.roles.find(({ fromUs, untilUs }) => fromUs <= us && us < untilUs);
      if (role !== undefined)
        found.push(
          `${lane.name}: ${roleWords(role)}`,
          span(role.fromUs, role.untilUs),
          ...(role.reason === '' ? [] : [role.reason]),
        );
    } else {
      const list = lane.node.owners[key.key]!;
      const n = near(list.fromUs.length, (at) => [list.fromUs[at]!, endOf(list.fromUs, list.lengthUs, at)], us, nearUs);
      if (n !== undefined) found.push(...ownerWords(lane.name, data.keys[key.key] ?? '', list, n));
    }
    for (const { atUs, key: evicted } of lane.node.evictions)
      if (Math.abs(atUs - us) <= nearUs)
        found.push(
          `${lane.name} evicted ${data.keys[evicted] ?? 'a key'} at ${exactMoment(ns(atUs))}: its memory was full`,
        );
  }
  for (const fault of data.faults)
    for (const touch of fault.touches)
      if (touchesLane(touch.host, lane) && touch.fromUs <= us && us <= touch.untilUs)
        found.push(
          `${fault.number} ${fault.name}: ${touch.host} ${touch.kinds.join(', ')}, ${span(touch.fromUs, touch.untilUs)}`,
        );
  return found;
}

export function faultWords(fault: FaultBand): Words {
  return [
    `${fault.number} ${fault.name} on ${fault.targets.join(', ')}`,
    `${span(fault.fromUs, fault.untilUs)}${fault.open ? ', no heal in the record' : ''}`,
    ...fault.did.map(({ atUs, text }) => `${exactMoment(ns(atUs))} ${text}`),
  ];
}

/** Who held, and what each server believed, at one moment; with the wall clock by which servers write their logs. */
export function stateAt(data: PageData, lanes: readonly Lane[], us: number): { title: string; lines: Words } {
  const wall = data.epochWallMs === undefined ? undefined : wallTime(data.epochWallMs, ns(us));
  const lines: string[] = [];
  for (const mark of data.violations)
    if (mark.fromUs <= us && us <= mark.untilUs) lines.push(`Violation ${mark.number}: ${mark.what}`);
  for (const lane of lanes) {
    const struck = data.faults.flatMap((fault) =>
      fault.touches
        .filter((touch) => touchesLane(touch.host, lane) && touch.fromUs <= us && us <= touch.untilUs)
        .map(({ kinds }) => `${kinds.join(', ')} by ${fault.number}`),
    );
    const words = lane.kind === 'slot' ? slotAt(data, lane, us) : lane.kind === 'node' ? nodeAt(data, lane, us) : [];
    if (words.length + struck.length > 0) lines.push(`${lane.name}: ${[...struck, ...words].join('; ')}`);
  }
  return { title: `At ${exactMoment(ns(us))}${wall === undefined ? '' : ` (${wall})`}`, lines };
}

function slotAt(data: PageData, lane: Extract<Lane, { kind: 'slot' }>, us: number): Words {
  const { holds, tries, lives } = lane.slot;
  const words: string[] = [];
  for (const row of lane.rows) {
    const at = firstWhere(row.holds.length, (n) => holdAt(holds, row.holds[n]!)[1] >= us);
    const n = row.holds[at];
    if (n === undefined) continue;
    const [fromUs] = holdAt(holds, n);
    const key = data.keys[holds.key[n]!] ?? 'several keys';
    const who = lives[holds.life[n]!]?.client ?? lane.name;
    if (fromUs <= us)
      words.push(
        holds.count[n]! > 1
          ? `held ${plural(holds.count[n]!, 'time')} around then`
          : `${who} holds ${key}, ${leaseLeft(holds.leaseUs[n]!, fromUs, us)}`,
      );
    else if (fromUs - holds.waitUs[n]! <= us) words.push(`waits for ${key}, and gets it at ${moment(ns(fromUs))}`);
  }
  const at = firstWhere(tries.fromUs.length, (n) => endOf(tries.fromUs, tries.lengthUs, n) >= us);
  if (at < tries.fromUs.length && tries.fromUs[at]! <= us && tries.count[at] === 1)
    words.push(
      `${TRY_OPS[tries.op[at]!]} of ${data.keys[tries.key[at]!]} under way, to end as: ${outcomeWords(data, tries, at)}`,
    );
  return words;
}

function nodeAt(data: PageData, lane: Extract<Lane, { kind: 'node' }>, us: number): Words {
  const role = lane.node.roles.find(({ fromUs, untilUs }) => fromUs <= us && us < untilUs);
  const owners = lane.keys.flatMap(({ key }) => {
    const list = lane.node.owners[key]!;
    const n = firstWhere(list.fromUs.length, (at) => endOf(list.fromUs, list.lengthUs, at) > us);
    if (n >= list.fromUs.length || list.fromUs[n]! > us) return [];
    return [`${data.keys[key]} → ${list.names[list.owner[n]!]}, ${leaseLeft(list.leaseUs[n]!, list.fromUs[n]!, us)}`];
  });
  return [...(role === undefined ? [] : [roleWords(role)]), ...owners];
}

function leaseLeft(leaseUs: number, fromUs: number, us: number): string {
  if (leaseUs < 0) return 'no expiry';
  const left = fromUs + leaseUs - us;
  return left >= 0 ? `lease left ${duration(ns(left))}` : `lease over for ${duration(ns(-left))}`;
}

function holdAt({ fromUs, lengthUs }: HoldList, n: number): [number, number] {
  return [fromUs[n]!, endOf(fromUs, lengthUs, n)];
}

/** The entry that spans the moment, else the nearest within `nearUs`. They are in order, and do not overlap but for a few. */
function near(count: number, at: (n: number) => [number, number], us: number, nearUs: number): number | undefined {
  const first = firstWhere(count, (n) => at(n)[1] >= us - nearUs);
  let best: number | undefined;
  let bestUs = Number.POSITIVE_INFINITY;
  for (let n = first; n < Math.min(count, first + 8); n++) {
    const [fromUs, untilUs] = at(n);
    const offUs = us < fromUs ? fromUs - us : Math.max(0, us - untilUs);
    if (offUs > nearUs || offUs >= bestUs) continue;
    best = n;
    bestUs = offUs;
  }
  return best;
}

function violationWords(data: PageData, lane: Lane, us: number, nearUs: number): Words {
  return data.violations
    .filter(
      ({ fromUs, untilUs, slots }) => fromUs - nearUs <= us && us <= untilUs + nearUs && slots.includes(lane.name),
    )
    .slice(0, 3)
    .map(({ number, name, what }) => `Violation ${number}, ${name}: ${what}`);
}

function holdWords(data: PageData, lane: Extract<Lane, { kind: 'slot' }>, n: number): Words {
  const { holds, lives } = lane.slot;
  const [fromUs, untilUs] = holdAt(holds, n);
  const key = data.keys[holds.key[n]!] ?? 'several keys';
  const client = lives[holds.life[n]!]?.client ?? lane.name;
  if (holds.count[n]! > 1)
    return [
      `${client}: ${holds.count[n]} holds of ${key}, drawn as one`,
      span(fromUs, untilUs),
      `held for ${holds.full[n]} % of that time`,
    ];
  const leaseEnd = fromUs + holds.leaseUs[n]!;
  const lease = holds.leaseUs[n]! < 0 ? 'no end of its lease' : `lease until ${exactMoment(ns(leaseEnd))}`;
  const stale = holds.leaseUs[n]! >= 0 && untilUs > leaseEnd ? `, past it for ${duration(ns(untilUs - leaseEnd))}` : '';
  return [
    `${client} (hold #${holds.id[n]}) held ${key}`,
    `${span(fromUs, untilUs)}, ended by ${HOLD_ENDS[holds.end[n]!] ?? '?'}`,
    `${lease}${stale}; waited ${duration(ns(holds.waitUs[n]!))} for it`,
    ...(holds.token[n]! < 0 ? [] : [`token ${holds.token[n]}`]),
    `history line ${holds.line[n]}`,
  ];
}

function outcomeWords(data: PageData, tries: TryList, n: number): string {
  const reason = data.reasons[tries.reason[n]!];
  return `${TRY_OUTCOMES[tries.outcome[n]!]}${reason === undefined ? '' : `: ${reason}`}`;
}

function tryWords(data: PageData, lane: Extract<Lane, { kind: 'slot' }>, tries: TryList, n: number): Words {
  const client = lane.slot.lives[tries.life[n]!]?.client ?? lane.name;
  const many = tries.count[n]! > 1 ? ` and ${tries.count[n]! - 1} more until then` : '';
  return [
    `${client}: ${TRY_OPS[tries.op[n]!]} of ${data.keys[tries.key[n]!] ?? '?'} ${outcomeWords(data, tries, n)}${many}`,
    span(tries.fromUs[n]!, endOf(tries.fromUs, tries.lengthUs, n)),
    `history line ${tries.line[n]}`,
  ];
}

function ownerWords(node: string, key: string, list: OwnerList, n: number): Words {
  const fromUs = list.fromUs[n]!;
  const expires =
    list.leaseUs[n]! < 0 ? 'it would not expire' : `it was to expire at ${exactMoment(ns(fromUs + list.leaseUs[n]!))}`;
  return [
    `${node} took ${list.names[list.owner[n]!]} for the owner of ${key}`,
    span(fromUs, endOf(list.fromUs, list.lengthUs, n)),
    expires,
  ];
}
