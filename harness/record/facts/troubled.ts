/** Whether something outside of a client's lock may have had a part in what the client met. */
import type { History } from '../../vocabulary/history.js';
import { othersThan } from './clients.js';
import { effectsOf, SETTLE_NS } from './effects.js';

/**
 * Whether a fault was in force between the two instants (ns since the epoch) or within 10 s before, but on other clients, or
 * harness or machine stood still meanwhile.
 */
export function mayHaveBeenTroubled(history: History, client: string, fromNs: number, untilNs: number): boolean {
  const stoodStill = history.rare.some(
    (event) => event.type === 'disturbance' && event.atNs >= fromNs && event.beganNs <= untilNs,
  );
  if (stoodStill) return true;
  const others = othersThan(history, client);
  return effectsOf(history)
    .footprints()
    .some(
      ({ names, earliestNs, latestNs }) =>
        earliestNs <= untilNs &&
        latestNs >= fromNs - SETTLE_NS &&
        (names.size === 0 || ![...names].every((name) => others.has(name))),
    );
}
