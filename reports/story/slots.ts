/** The client slots of a run: which processes filled each, what they held and what they were refused. */
import type { History, Hold, OpName } from '../../harness/api.js';

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
  /** In order of `fromNs`. */
  holds: Hold[];
  misses: Miss[];
}

export interface Slots {
  /** In natural order; those that never came up (by the number of clients asked for) are there with no life. */
  slots: Slot[];
  /** By the name of a client process, and by the slot's own. */
  byClient: ReadonlyMap<string, Slot>;
}

export function slotsOf(history: History, holds: readonly Hold[], wanted: number): Slots {
  const slots = new Map<string, Slot>();
  const byClient = new Map<string, Slot>();
  const slotOf = (client: string, named = client.replace(/\.\d+$/, '')): Slot => {
    const known = byClient.get(client);
    if (known !== undefined) return known;
    const slot = slots.get(named) ?? { name: named, lives: [], holds: [], misses: [] };
    slots.set(named, slot);
    byClient.set(named, slot).set(client, slot);
    return slot;
  };
  for (const event of history.events) {
    if (event.type === 'client-up') {
      slotOf(event.client, event.slot).lives.push({ client: event.client, fromNs: event.atNs, upLine: event.i });
    } else if (event.type === 'client-down') {
      const life = slotOf(event.client).lives.find((one) => one.client === event.client);
      if (life !== undefined) life.down = { atNs: event.endNs, line: event.i, reason: event.reason };
    } else if ((event.type === 'fail' || event.type === 'info') && event.op !== 'clock') {
      slotOf(event.client).misses.push({
        outcome: event.type,
        op: event.op,
        atNs: event.endedNs ?? event.atNs,
        client: event.client,
        key: event.key,
        reason: event.reason ?? '',
        line: event.i,
      });
    }
  }
  for (const hold of holds) slotOf(hold.client).holds.push(hold);
  // Slots are named c1, c2, …: those of them that nobody ever filled are lanes too, or their absence goes unnoticed.
  if ([...slots.keys()].every((name) => /^c\d+$/.test(name)))
    for (let n = 1; n <= wanted && slots.size < wanted; n++) slotOf(`c${n}`);
  const natural = new Intl.Collator('en', { numeric: true });
  const sorted = [...slots.values()].sort((a, b) => natural.compare(a.name, b.name));
  for (const slot of sorted) slot.holds.sort((a, b) => a.fromNs - b.fromNs);
  return { slots: sorted, byClient };
}
