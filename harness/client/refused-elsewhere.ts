/**
 * Connections of this process that were refused where no server of a run ever is: at the client's own host. A lock that connects to
 * localhost:6379 instead of the topology that it is given is the most usual mistake of a first adapter, and its client library may
 * retry without a word and without end.
 */
import { subscribe } from 'node:diagnostics_channel';
import { errorMonitor } from 'node:events';
import type { Socket } from 'node:net';
import type { Endpoint, TopologyDescription } from '../vocabulary/topology.js';

/** `127.0.0.1:6379` where the error says that a connection to this host was refused, whether alone or as one of several. */
export function refusedHere(error: unknown): string | undefined {
  const { code, address, port, errors } = (error ?? {}) as Partial<NodeJS.ErrnoException & AggregateError & Refusal>;
  if (Array.isArray(errors)) return errors.map(refusedHere).find((place) => place !== undefined);
  if (code !== 'ECONNREFUSED' || typeof address !== 'string') return undefined;
  return isThisHost(address) ? `${address.includes(':') ? `[${address}]` : address}:${port}` : undefined;
}

interface Refusal {
  address: string;
  port: number;
}

/** Whether a server of this topology is at the client's own host, as where an author tries a client by hand. */
export function isServedHere(topology: TopologyDescription): boolean {
  const {
    node,
    nodes = [],
    sentinels = [],
  } = topology as { node?: Endpoint; nodes?: Endpoint[]; sentinels?: Endpoint[] };
  return [...(node ? [node] : []), ...nodes, ...sentinels].some(({ host }) => isThisHost(host) || host === 'localhost');
}

/** For the lock's author, in one line. */
export function elsewhereInWords(place: string): string {
  return `it connects to ${place}, where no server of the run is: take the client of topology.redis(), or the addresses in topology.description`;
}

/**
 * Watches every connection that this process makes from now on. The result says where the first was refused at this host; undefined: none
 * was, or another host was reached, and then what was refused may be of no matter to the lock. `isHere`: whether an address is this host's.
 */
export function watchRefusals(isHere = isThisHost): () => string | undefined {
  let first: string | undefined;
  let isReached = false;
  subscribe('net.client.socket', (message) => {
    const { socket } = message as { socket: Socket };
    socket.on('connect', () => {
      const { remoteAddress } = socket;
      isReached ||= remoteAddress !== undefined && !isHere(remoteAddress);
    });
    // A listener for `error` would keep alive a process that nobody listens for.
    socket.on(errorMonitor as unknown as 'error', (error: unknown) => {
      first ??= refusedHere(error);
    });
  });
  return () => (isReached ? undefined : first);
}

function isThisHost(address: string): boolean {
  return /^(127\.|::1$|::ffff:127\.)/.test(address);
}
