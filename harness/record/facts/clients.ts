/** Lock client processes and the places that they fill. */
import type { History } from '../../vocabulary/history.js';

/** The names under which faults tell of a client: its process and its place. */
export function clientNames({ rare }: History, client: string): ReadonlySet<string> {
  const up = rare.find((event) => event.type === 'client-up' && event.client === client);
  return new Set(up?.type === 'client-up' ? [client, up.slot] : [client]);
}

/** Names of all lock client processes and their places. */
export function allClientNames({ rare }: History): Set<string> {
  return new Set(rare.flatMap((event) => (event.type === 'client-up' ? [event.client, event.slot] : [])));
}

/** Those of all but this one. */
export function othersThan(history: History, client: string): ReadonlySet<string> {
  const others = allClientNames(history);
  for (const own of clientNames(history, client)) others.delete(own);
  return others;
}
