/** Where a client of a guided schedule is, and what can be done next. */
import type { OrderAction } from './actions.js';

export interface GuidedClient {
  name: string;
  n: number;
  next: number;
  isRunning: boolean;
  /** What it was granted and has not begun to release. */
  holds: number[];
  /** Continues it; absent: it runs. */
  stopped?: { heal(): Promise<void>; passings: number };
  /** It died, or does not know how its last operation ended. */
  isOver: boolean;
}

export interface Possible {
  action: OrderAction;
  carryOut(): Promise<void> | void;
}
