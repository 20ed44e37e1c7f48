/**
 * What can happen next in an exhausted schedule, and which of it depends on what.
 *
 * Independent are, in every state: what one client does or hears, and what another asks the server; and what two clients do that
 * nobody else can see. Time is a dependency of everything, because keys expire; and all that reaches a server depends on all else that
 * does, because a script may touch keys that it does not name.
 */

/** Names of the faults that a bound allows; `wait`: a client's next timer is due before anything else happens. */
export const EXHAUSTED_FAULTS = ['stop', 'crash', 'lost request', 'lost answer', 'late message', 'wait'] as const;
export type ExhaustedFault = (typeof EXHAUSTED_FAULTS)[number];

export interface OrderAction {
  /** `c1 acquires #1`, `c1 > r1 #2 comes`, `stop c1`, `the lease passes`. */
  id: string;
  /** Whose it is; absent: everybody's. */
  client?: string;
  /** A server hears of it. */
  isServers?: true;
  /** It may begin or end a hold, as others can tell. */
  isVisible?: true;
  fault?: ExhaustedFault;
}

/** Whether the order of the two, or that one of them was done first, can make a difference. */
export function areDependent(one: OrderAction, other: OrderAction): boolean {
  if (one.client === undefined || other.client === undefined || one.client === other.client) return true;
  // There are only so many faults: one may take the other's place.
  if (one.fault !== undefined && other.fault !== undefined) return true;
  return (one.isServers && other.isServers) === true || (one.isVisible && other.isVisible) === true;
}
