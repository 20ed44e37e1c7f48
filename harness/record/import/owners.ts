/**
 * Who owns what each operation acquires or releases: its process, or whom a field names that the user says is the owner.
 *
 * An operation takes the owner that its invoke or its completion names. Where neither does (it has failed, say), it is that
 * of its process's other operations: the last before it, else the first after it. A process that never names one owns for
 * itself.
 */
import type { EventColumns } from './event-columns.js';
import { TYPE } from './event-columns.js';

export interface RecordedOwners {
  /** Names, by what `of` holds. */
  names: readonly string[];
  /** By row of an invoke. */
  of: Int32Array;
  /** What was done about owners, for people. */
  notes: string[];
}

/** `order`: rows in the order of their events; undefined: as they stand. */
export function recordedOwnersOf(
  events: EventColumns,
  order: Int32Array | undefined,
  field: string | undefined,
): RecordedOwners {
  const { process, owner, type } = events.column;
  const of = new Int32Array(events.count).fill(NONE);
  if (field === undefined) {
    for (let row = 0; row < events.count; row++) of[row] = process.at(row);
    return { names: events.names.processes.texts, of, notes: [] };
  }
  const names = [...events.names.owners.texts];
  const last = new Map<number, number>();
  const open = new Map<number, number>();
  /** Invokes of a process that come before it names an owner. */
  const waiting = new Map<number, number[]>();
  let unnamed = 0;
  for (let place = 0; place < events.count; place++) {
    const row = order?.[place] ?? place;
    const one = process.at(row);
    const given = owner.at(row);
    if (given >= 0) {
      last.set(one, given);
      for (const before of waiting.get(one) ?? []) of[before] = given;
      waiting.delete(one);
    }
    if (type.at(row) === TYPE.invoke) {
      open.set(one, row);
      of[row] = given;
      if (given >= 0) continue;
      unnamed++;
      of[row] = last.get(one) ?? NONE;
      if (of[row] === NONE) waiting.set(one, [...(waiting.get(one) ?? []), row]);
    } else if (given >= 0 && open.has(one)) {
      const invoke = open.get(one)!;
      if (owner.at(invoke) < 0) unnamed--;
      of[invoke] = given;
      open.delete(one);
    } else {
      open.delete(one);
    }
  }
  let alone = 0;
  for (const [one, rows] of waiting) {
    alone++;
    names.push(events.names.processes.texts[one]!);
    for (const row of rows) of[row] = names.length - 1;
  }
  return { names, of, notes: [...notesOf(events, of, names, field), ...unnamedNotes(unnamed, alone, field)] };
}

const NONE = -1;

function unnamedNotes(unnamed: number, alone: number, field: string): string[] {
  if (unnamed === 0) return [];
  const others = alone === 0 ? '' : `; ${alone} of these name none at all, and own for themselves`;
  return [`${unnamed} operations name no ${field}: their process's other operations say who owns${others}`];
}

/** Which threads of an owner hold is told apart by nothing: an owner that is several processes at once may seem beside itself. */
function notesOf(events: EventColumns, of: Int32Array, names: readonly string[], field: string): string[] {
  const processes = new Map<number, Set<number>>();
  for (let row = 0; row < events.count; row++) {
    if (of[row] === NONE) continue;
    const known = processes.get(of[row]!) ?? new Set<number>();
    processes.set(of[row]!, known.add(events.column.process.at(row)));
  }
  const shared = [...processes].filter(([, some]) => some.size > 1);
  const [owner, some] = shared[0] ?? [];
  if (owner === undefined) return [];
  const others = shared.length === 1 ? '' : `, and ${shared.length - 1} more such`;
  const text = `${field} ${names[owner]} is ${some!.size} processes${others}`;
  return [`${text}: nothing tells them apart, so what one holds another may release`];
}
