/** Slots of a Cluster, and what its nodes say of them. */

/** A slot on its way. `to`: it is given away (MIGRATING), `from`: it comes (IMPORTING); ids of nodes. */
export type MovingSlot = { slot: number; to: string } | { slot: number; from: string };

/** What one node of a Cluster says of slots (`CLUSTER NODES`). */
export interface SlotView {
  /** Its own id. */
  id: string;
  /** Slots on their way; nodes tell so only of themselves. */
  moving: readonly MovingSlot[];
  /** The address of who serves a slot; undefined: nobody. */
  ownerOf(slot: number): string | undefined;
}
