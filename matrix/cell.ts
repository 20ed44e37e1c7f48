/** What the safety matrix is made of. */

/** How a lock fares under a fault. */
export type CellOutcome =
  /** Nothing is found; waiting for a lease at most counts as nothing. */
  | 'safe'
  /** Two held at once, both leases running. */
  | 'exclusion'
  /** A holder acts on after its lease, and only that. */
  | 'stale'
  /** What the lock protects took a stale write or lost an update, or a token was repeated. */
  | 'harm'
  /** The lock stands still, keeps clients waiting or leaves something behind; and nothing of the above. */
  | 'liveness'
  /** The service cannot be asked: the fault is refused there, with the reason. */
  | 'refused';

/** One lock under one fault, what must come of it, and why. */
export interface Cell {
  fault: string;
  lock: string;
  topology: string;
  expect: CellOutcome;
  /** Flags of `run` beside lock and topology, or the scenario that is played with them. */
  by: Flags | Play;
  reason: string;
}

export type Flags = { flags: readonly string[] };
export type Play = { scenario: string };

/** `<fault>/<lock>@<topology>`: unlike any other of the matrix. */
export function nameOf({ fault, lock, topology }: Cell): string {
  return `${fault}/${lock}@${topology}`;
}
