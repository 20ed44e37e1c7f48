/** What one node of a Cluster believes of all of them: its answer to CLUSTER NODES. Pure. */
import type { MovingSlot } from '../vocabulary/slots.js';

export interface ClusterMember {
  id: string;
  /** Empty while the node that was asked does not know it. */
  address: string;
  /** `master`, `slave`, `myself`, `fail?`, `fail`, `handshake`, `noaddr`, ... */
  flags: ReadonlySet<string>;
  /** Of a replica: whose. */
  primaryId: string | undefined;
  /** Whether the two are connected; true of the member itself. */
  linked: boolean;
  slots: readonly SlotRange[];
  /** Slots on their way: nodes tell so only of themselves. */
  moving: readonly MovingSlot[];
}

/** Both included. */
export interface SlotRange {
  from: number;
  to: number;
}

/** Reads the answer; of lines that are none of its form (of a later version, say) it throws. */
export function parseClusterNodes(reply: string): ClusterMember[] {
  return reply
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map(parseMember);
}

/** The member that serves a slot, in this view. */
export function ownerOf(slot: number, members: readonly ClusterMember[]): ClusterMember | undefined {
  return members.find(({ slots }) => includesSlot(slots, slot));
}

/** How many slots these are. */
export function countOf(slots: readonly SlotRange[]): number {
  return slots.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

/** Whether a slot is among these. */
export function includesSlot(slots: readonly SlotRange[], slot: number): boolean {
  return slots.some(({ from, to }) => slot >= from && slot <= to);
}

/** `<id> <ip:port@cport[,hostname[,...]]> <flags> <primary or -> <ping> <pong> <epoch> <link> <slot> <slot> ...` */
function parseMember(line: string): ClusterMember {
  const [id, endpoint, flags, primary, , , , link, ...slots] = line.split(' ');
  const address = /^(.*):\d+@\d+/.exec(endpoint ?? '')?.[1];
  if (!id || address === undefined || !flags || !primary || !link)
    throw new Error(`not a line of CLUSTER NODES: ${line}`);
  return {
    id,
    address,
    flags: new Set(flags.split(',')),
    primaryId: primary === '-' ? undefined : primary,
    linked: link === 'connected',
    slots: slots.flatMap(parseSlots),
    moving: slots.flatMap(parseMoving),
  };
}

/** `0-5460`, `77`; slots on their way (`[77->-id]`) still belong to the node that lists them without brackets. */
function parseSlots(text: string): SlotRange[] {
  const range = /^(\d+)(?:-(\d+))?$/.exec(text);
  return range ? [{ from: Number(range[1]), to: Number(range[2] ?? range[1]) }] : [];
}

function parseMoving(text: string): MovingSlot[] {
  const [, slot, way, id] = /^\[(\d+)-([<>])-(\w+)\]$/.exec(text) ?? [];
  if (slot === undefined || id === undefined) return [];
  return [way === '>' ? { slot: Number(slot), to: id } : { slot: Number(slot), from: id }];
}
