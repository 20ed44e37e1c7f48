/** Lock client processes and the places that they fill. */
import type { History } from '../../vocabulary/history.js';

/** Names of all lock client processes and their places, but for this one's. */
export function othersThan({ rare }: History, client: string): ReadonlySet<string> {
  const others = new Set<string>();
  let place = client;
  for (const event of rare) {
    if (event.type !== 'client-up') continue;
    if (event.client === client) place = event.slot;
    others.add(event.client).add(event.slot);
  }
  others.delete(client);
  others.delete(place);
  return others;
}
