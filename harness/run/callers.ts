/** Callers of a lock client process: what they are called, and what a process's coming up is to the history. */
import type { HistoryBody } from '../vocabulary/history.js';
import type { Host } from '../vocabulary/host.js';
import type { HandshakeValue } from '../vocabulary/protocol.js';

/** What the protocol calls callers. */
export const CALLERS = 'abcdefghijklmnopqrstuvwxyz';

/** What the history calls the callers of a process, or the places that they fill: c1-a, c1-b; c1 if there is but one. */
export function callerNames(name: string, callers: number): readonly string[] {
  return callers === 1 ? [name] : Array.from({ length: callers }, (_, n) => `${name}-${CALLERS[n]}`);
}

/** A process has come up, with all of its callers. */
export function comingUp(
  name: string,
  callers: readonly string[],
  host: Host,
  said: HandshakeValue,
): Extract<HistoryBody, { type: 'client-up' }>[] {
  const slots = callerNames(host.name, callers.length);
  return callers.map((client, n) => ({
    type: 'client-up',
    client,
    slot: slots[n]!,
    ...(client !== name && { process: name }),
    host: host.name,
    address: host.address,
    lock: said.lock,
    features: said.features,
    ...(said.model && { model: said.model }),
    ...(said.lease && { lease: said.lease }),
    ...(said.deadlines && { deadlines: said.deadlines }),
    ...(said.keys && { keys: said.keys }),
  }));
}
