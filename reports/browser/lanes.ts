/** Where everything is drawn: a lane for each client, Redis node, and other host that a fault struck. */
import { MOST_KEY_ROWS, type NodeLane, type PageData, type SlotLane } from '../data/page-data.js';

/** CSS pixels. */
export const SIZES = { bar: 15, tries: 8, role: 13, owner: 11, host: 13, gap: 6, heading: 20 };
/** Holds of one slot at the same time that get a row each; more share the last. */
const MOST_ROWS = 4;

/** One row of bars of a slot. */
export interface BarRow {
  y: number;
  /** Indexes into the slot's holds, in order; of one row none overlaps another, but for the last. */
  holds: Int32Array;
}

export type Lane =
  | { kind: 'slot'; name: string; y: number; height: number; slot: SlotLane; rows: BarRow[]; triesY: number }
  | { kind: 'node'; name: string; y: number; height: number; node: NodeLane; keys: { key: number; y: number }[] }
  | { kind: 'host'; name: string; y: number; height: number };

export interface Layout {
  lanes: Lane[];
  headings: { y: number; text: string }[];
  height: number;
}

export function layOut(data: PageData): Layout {
  const lanes: Lane[] = [];
  const headings: Layout['headings'] = [];
  let y = 0;
  const heading = (text: string) => {
    headings.push({ y, text });
    y += SIZES.heading;
  };
  if (data.slots.length > 0) heading('CLIENTS: what each held');
  for (const slot of data.slots) {
    const rows = rowsOf(slot);
    const height = rows.length * (SIZES.bar + 1) + SIZES.tries;
    const placed = rows.map((holds, at) => ({ y: y + at * (SIZES.bar + 1), holds: Int32Array.from(holds) }));
    lanes.push({ kind: 'slot', name: slot.name, y, height, slot, rows: placed, triesY: y + height - SIZES.tries });
    y += height + SIZES.gap;
  }
  const shown = keysShown(data);
  if (data.nodes.length > 0) heading('SERVERS: what each node believed: its role; by key, whom it took for the owner');
  for (const node of data.nodes) {
    // Of a Cluster each node has some keys and never sees the others.
    const own = shown.filter((key) => (node.owners[key]?.fromUs.length ?? 0) > 0);
    const keys = own.map((key, at) => ({ key, y: y + SIZES.role + 1 + at * (SIZES.owner + 1) }));
    const height = SIZES.role + 1 + keys.length * (SIZES.owner + 1);
    lanes.push({ kind: 'node', name: node.name, y, height, node, keys });
    y += height + SIZES.gap;
  }
  if (data.hosts.length > 0) heading('OTHER HOSTS that a fault touched');
  for (const name of data.hosts) {
    lanes.push({ kind: 'host', name, y, height: SIZES.host });
    y += SIZES.host + SIZES.gap;
  }
  return { lanes, headings, height: y };
}

/** Keys with violations first: their rows are what a reader looks for. */
function keysShown(data: PageData): number[] {
  const violated = data.violations.map(({ key }) => data.keys.indexOf(key)).filter((key) => key >= 0);
  const all = [...new Set([...violated, ...data.keys.keys()])].slice(0, MOST_KEY_ROWS);
  return all.sort((a, b) => a - b);
}

function rowsOf({ holds }: SlotLane): number[][] {
  const ends: number[] = [];
  const rows: number[][] = [[]];
  for (let n = 0; n < holds.fromUs.length; n++) {
    const from = holds.fromUs[n]!;
    let row = ends.findIndex((end) => end <= from);
    if (row < 0) row = Math.min(ends.length, MOST_ROWS - 1);
    ends[row] = Math.max(ends[row] ?? 0, endOf(holds.fromUs, holds.lengthUs, n));
    rows[row] ??= [];
    rows[row]!.push(n);
  }
  return rows;
}

/** When entry `n` of a list ended; Infinity: it had no end. */
export function endOf(fromUs: readonly number[], lengthUs: readonly number[], n: number): number {
  const length = lengthUs[n]!;
  return length < 0 ? Number.POSITIVE_INFINITY : fromUs[n]! + length;
}

/** The first place in `0 … count` from which on `isAfter` is true; it must be false up to some place, then true. */
export function firstWhere(count: number, isAfter: (n: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAfter(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
