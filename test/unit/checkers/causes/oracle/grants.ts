/** What is known for certain of each request for the lock: where it was stored, and how it came to be there no more. */

/** What a time to live follows from. */
export interface Asked {
  ns: number;
  wallMs: number;
  ttlMs: number;
  /** How far the clock by which it was reckoned had been moved, and had drifted. */
  jumpedMs: number;
  driftedMs: number;
  /** Which client asked. */
  by: string;
}

export type LossReason =
  | { how: 'evicted' }
  /** A restart; what came in its place from an older snapshot. */
  | { how: 'forgot'; to?: Attempt }
  /** The node was made a replica of one that had never had it. */
  | { how: 'resync' }
  /** By a SET that asked nothing. */
  | { how: 'overwritten'; to: Attempt }
  /** By a script that took its owner for its own. */
  | { how: 'reentered'; to: Attempt }
  /**
   * `by` is absent for strangers; `compared`: it was asked whether it is the remover's own; `of`: the grant of the hold that was
   * released so; `extends`: it was to be given more time, and was given none.
   */
  | { how: 'deleted'; by?: string; compared: boolean; of?: Attempt; extends?: boolean }
  /** By a script, which was told that it is over; how far off the clocks of its client, and of the holder's when that was stored, were. */
  | { how: 'taken-over'; to: Attempt; aheadMs: number; behindMs: number; rightUntilMs: number; rightNowMs: number }
  /** Its time was over by that node's clock. */
  | { how: 'expired'; asked: Asked; wallMs: number; jumpedMs: number; driftedMs: number };

export type Loss = LossReason & {
  node: string;
  atNs: number;
  /** What was lost. */
  copy: Copy;
  /** Its line in the record is missing. */
  isUnseen: boolean;
};

/** One request for the lock, to one node or to several. */
export interface Attempt {
  readonly client: string;
  readonly value: string;
  /** It asks for nobody. */
  readonly isBlind: boolean;
  readonly leaseMs: number;
  sentNs: number;
  /** By node that a client asked: when it was carried out there. */
  readonly stored: Map<string, number>;
  /** By node: when it came there, be it by replication. */
  readonly reached: Map<string, number>;
  readonly losses: Loss[];
  /** Every end that a client had a node give it, by that node's clock. */
  readonly prolonged: { node: string; ns: number; by: string; ttlMs: number; expiresMs: number }[];
  /** What was there, of its client's own, and was taken for this grant, which stored nothing. */
  adopted?: Adopted;
  /** On independent nodes: where it was so. */
  readonly adoptedOn: Map<string, Adopted>;
}

export interface Adopted {
  copy: Copy;
  node: string;
  atNs: number;
}

/** What a node stores of it. */
export interface Copy {
  readonly attempt: Attempt;
  readonly value: string;
  readonly isHash: boolean;
  expiresMs: number;
  asked: Asked;
  /** Until when it is held, by the clock of the client that said so last; and how far off that was. */
  told?: { untilMs: number; offMs: number };
  /** Every end that was given to this value while it was there, by that node's clock, in order, and who gave it. */
  ends: { by: string; expiresMs: number }[];
  /** Until when it would be there, by that node's clock, had the node not forgotten who prolonged it. */
  forgottenUntilMs?: number | undefined;
}

/** A hold, as its client lived through it. */
export interface LivedHold {
  readonly client: string;
  readonly id: number;
  readonly attempt: Attempt;
  readonly fromNs: number;
  /** For how long it is to be worked under, milliseconds. */
  readonly workMs: number;
  /** Whether its lock was to be kept by renewing. */
  readonly renews: boolean;
  leaseEndNs: number;
  /** Whether a renewal could not be answered because the client was cut off. */
  renewalCut: boolean;
  over: boolean;
  /** When it was, by its client's own doing. */
  overNs: number;
  token: number | undefined;
  /** Where and when its token was counted up. */
  draw: { node: string; ns: number } | undefined;
}
