/** The client slots of a run: which processes filled each, what they held and what they were refused. */

import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History, OpName } from '../../harness/vocabulary/history.js';
import type { HoldTable } from '../input.js';

export interface Life {
  client: string;
  fromNs: number;
  upLine: number;
  /** Absent while it lived to the end of the record. */
  down?: { atNs: number; line: number; reason: string };
}

/** An operation that did not succeed. */
export interface Miss {
  outcome: 'fail' | 'info';
  op: OpName;
  atNs: number;
  client: string;
  key: string;
  reason: string;
  line: number;
}

export interface Slot {
  name: string;
  lives: Life[];
  /** Numbers of holds, in order of their beginning. */
  holds: Int32Array;
  /** Rows of operations that did not succeed, in order of their end. */
  misses: Int32Array;
}

export interface Slots {
  /** In natural order; those that never came up (by the number of clients asked for) are there with no life. */
  slots: Slot[];
  /** By the name of a client process, and by the slot's own. */
  byClient: ReadonlyMap<string, Slot>;
}

const NONE = new Int32Array();

export function slotsOf(history: History, holds: HoldTable, wanted: number): Slots {
  const slots = new Map<string, Slot>();
  const byClient = new Map<string, Slot>();
  const slotOf = (client: string, named = client.replace(/\.\d+$/, '')): Slot => {
    const known = byClient.get(client);
    if (known !== undefined) return known;
    const slot = slots.get(named) ?? { name: named, lives: [], holds: NONE, misses: NONE };
    slots.set(named, slot);
    byClient.set(named, slot).set(client, slot);
    return slot;
  };
  for (const event of history.rare) {
    if (event.type === 'client-up') {
      slotOf(event.client, event.slot).lives.push({ client: event.client, fromNs: event.atNs, upLine: event.i });
    } else if (event.type === 'client-down') {
      const life = slotOf(event.client).lives.find((one) => one.client === event.client);
      if (life !== undefined) life.down = { atNs: event.endNs, line: event.i, reason: event.reason };
    }
  }
  const { clients, client, count } = history.operations;
  const slotFor = clients.map((name) => slotOf(name));
  const heldBy = grouped(holds.count, (k) => slotFor[holds.client[k]!]);
  for (const [slot, own] of heldBy) slot.holds = own.sort((a, b) => holds.fromNs[a]! - holds.fromNs[b]!);
  const missedBy = grouped(count, (row) => (isMiss(history, row) ? slotFor[client[row]!] : undefined));
  for (const [slot, own] of missedBy) slot.misses = own.sort((a, b) => missNs(history, a) - missNs(history, b));
  // Slots are named c1, c2, …: those that no client ever filled are lanes too, or their absence goes unnoticed.
  if ([...slots.keys()].every((name) => /^c\d+$/.test(name)))
    for (let n = 1; n <= wanted && slots.size < wanted; n++) slotOf(`c${n}`);
  const natural = new Intl.Collator('en', { numeric: true });
  const sorted = [...slots.values()].sort((a, b) => natural.compare(a.name, b.name));
  return { slots: sorted, byClient };
}

/** What an operation that did not succeed has to tell. */
export function missOf(history: History, row: number): Miss {
  const { operations: ops } = history;
  const reason = ops.reason[row]!;
  return {
    outcome: ops.outcome[row] === OUTCOME.info ? 'info' : 'fail',
    op: OP_NAMES[ops.op[row]!]!,
    atNs: missNs(history, row),
    client: ops.clients[ops.client[row]!]!,
    key: ops.keys[ops.key[row]!]!,
    reason: reason < 0 ? '' : ops.reasons[reason]!,
    line: ops.completionLine[row]!,
  };
}

/** When it was known to have failed. */
export function missNs({ operations: ops }: History, row: number): number {
  const endedNs = ops.endedNs[row]!;
  return Number.isNaN(endedNs) ? ops.readNs[row]! : endedNs;
}

const OP_NAMES = Object.keys(OP) as OpName[];

function isMiss({ operations: ops }: History, row: number): boolean {
  const outcome = ops.outcome[row];
  return (outcome === OUTCOME.fail || outcome === OUTCOME.info) && ops.op[row] !== OP.clock;
}

/** The numbers below `count`, by group; those without one are left out. */
function grouped<Group>(count: number, groupOf: (n: number) => Group | undefined): Map<Group, Int32Array> {
  const sizes = new Map<Group, number>();
  for (let n = 0; n < count; n++) {
    const group = groupOf(n);
    if (group !== undefined) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  }
  const groups = new Map([...sizes].map(([group, size]) => [group, { numbers: new Int32Array(size), filled: 0 }]));
  for (let n = 0; n < count; n++) {
    const group = groupOf(n);
    const own = group === undefined ? undefined : groups.get(group);
    if (own) own.numbers[own.filled++] = n;
  }
  return new Map([...groups].map(([group, { numbers }]) => [group, numbers]));
}
