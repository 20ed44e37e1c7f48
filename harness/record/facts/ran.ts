/**
 * When a client ran, as far as that is proven: by stamps of its own. A process that nothing is known to have stopped may all the
 * same not have run, on a busy machine say, and no record tells of that. In virtual time there is no such machine: what no fault
 * stops there runs whenever it has something to do.
 */
import type { History } from '../../vocabulary/history.js';
import type { Hold } from '../../vocabulary/verdict.js';
import { firstIndex } from './first-index.js';
import { once } from './once.js';
import { trustedClients } from './operations.js';

/**
 * Two of its stamps that are so far apart, nanoseconds, are of different turns of its event loop: by the second it did what had
 * been due at the first.
 */
const APART_NS = 250e6;

/** Whether time stood still while anybody was at work. */
export const isInVirtualTime = once((history: History): boolean =>
  history.rare.some((event) => event.type === 'deployment' && event.exactStamps === true),
);

/** When each client began and ended its operations, by its own stamps, ns since the epoch, in order. */
const stampsOf = once((history: History): ReadonlyMap<string, Float64Array> => {
  const { operations: ops } = history;
  const trusted = trustedClients(history);
  const found = new Map<string, number[]>();
  for (let row = 0; row < ops.count; row++) {
    if (!trusted[ops.client[row]!]) continue;
    const client = ops.clients[ops.client[row]!]!;
    const stamps = found.get(client) ?? [];
    found.set(client, stamps);
    stamps.push(...[ops.beganNs[row]!, ops.endedNs[row]!].filter((ns) => !Number.isNaN(ns)));
  }
  return new Map([...found].map(([client, stamps]) => [client, Float64Array.from(stamps).sort()]));
});

/** When it last showed by a stamp of its own that it ran, those of its notices too, ns since the epoch; -Infinity: never. */
export function lastRanNs(client: string, history: History): number {
  const { notices, operations } = history;
  const of = operations.clients.indexOf(client);
  const told = notices.clientNs.filter((_, row) => notices.client[row] === of);
  const last = stampsOf(history).get(client)?.at(-1) ?? Number.NEGATIVE_INFINITY;
  return told.reduce((latest, ns) => Math.max(latest, ns), last);
}

/**
 * Two instants, ns since the epoch, at which the client ran, or could, when its lease was over and it had not been told so, far
 * enough apart that its lock had the time to tell it; undefined where the record does not show them. That no fault stopped the client
 * meanwhile is for the caller to see.
 */
export function ranUntold(
  { client, leaseEndNs, untilNs }: Hold,
  history: History,
): readonly [number, number] | undefined {
  if (isInVirtualTime(history)) return untilNs - leaseEndNs >= APART_NS ? [leaseEndNs, untilNs] : undefined;
  const stamps = stampsOf(history).get(client) ?? new Float64Array();
  const firstAfter = (ns: number) => firstIndex(stamps.length, (at) => stamps[at]! > ns);
  const [first, last] = [stamps[firstAfter(leaseEndNs)], stamps[firstAfter(untilNs) - 1]];
  return first !== undefined && last !== undefined && last - first >= APART_NS ? [first, last] : undefined;
}
