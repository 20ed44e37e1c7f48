/** Lock client processes and the places that they fill. */
import type { History, HistoryEvent } from '../../vocabulary/history.js';

type Up = Extract<HistoryEvent, { type: 'client-up' }>;

/** The names under which faults tell of a client: its process and its place, and those of the process that it is a caller in. */
export function clientNames({ rare }: History, client: string): ReadonlySet<string> {
  const up = rare.find((event): event is Up => event.type === 'client-up' && event.client === client);
  return new Set(up ? namesOfClient(up) : [client]);
}

/** Names of all lock client processes, their callers and their places. */
export function allClientNames({ rare }: History): Set<string> {
  return new Set(rare.flatMap((event) => (event.type === 'client-up' ? namesOfClient(event) : [])));
}

/** The place of a process is called as its host. */
export function namesOfClient({ client, slot, process, host }: Up): string[] {
  return process === undefined ? [client, slot] : [client, slot, process, host];
}

/** Processes whose lock says that it renews by itself what they hold. */
export function renewingClients({ rare }: History): Set<string> {
  return new Set(
    rare.flatMap((event) => (event.type === 'client-up' && event.features.includes('renews') ? [event.client] : [])),
  );
}

/** Those of all but this one. */
export function othersThan(history: History, client: string): ReadonlySet<string> {
  const others = allClientNames(history);
  for (const own of clientNames(history, client)) others.delete(own);
  return others;
}
