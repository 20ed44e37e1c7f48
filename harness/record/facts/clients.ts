/** Lock client processes and the places that they fill. */
import type { History } from '../../vocabulary/history.js';

/** The names under which faults tell of a client: its process and its place. */
export function clientNames({ rare }: History, client: string): ReadonlySet<string> {
  const up = rare.find((event) => event.type === 'client-up' && event.client === client);
  return new Set(up?.type === 'client-up' ? [client, up.slot] : [client]);
}

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
