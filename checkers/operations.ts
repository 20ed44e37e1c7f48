/**
 * A history's operations: every invoke with its completion, where there is one, in the order of the invokes.
 *
 * It also says which clients' own stamps can be relied on, since everything that is decided from a history stands on
 * sent ≤ began ≤ ended ≤ read.
 */
import type { History, HistoryEvent } from '../harness/api.js';
import { once } from './once.js';
import { moment } from './words.js';

export type Invoke = Extract<HistoryEvent, { type: 'invoke' }>;
export type Completion = Extract<HistoryEvent, { type: 'ok' | 'fail' | 'info' }>;

export interface Operation {
  readonly invoke: Invoke;
  /** Absent where the client never answered and the harness recorded no outcome. */
  completion?: Completion;
}

/** A completion without an invoke is left out: reading a history refuses it. */
export const operationsOf = once((history: History): readonly Operation[] => {
  const operations: Operation[] = [];
  const open = new Map<string, Map<number, Operation>>();
  for (const event of history.events) {
    if (event.type === 'invoke') {
      const operation: Operation = { invoke: event };
      operations.push(operation);
      const ofClient = open.get(event.client);
      if (ofClient) ofClient.set(event.id, operation);
      else open.set(event.client, new Map([[event.id, operation]]));
    } else if (event.type === 'ok' || event.type === 'fail' || event.type === 'info') {
      const ofClient = open.get(event.client);
      const operation = ofClient?.get(event.id);
      if (operation) operation.completion = event;
      ofClient?.delete(event.id);
    }
  }
  return operations;
});

/** The first stamp of a client that cannot be true. */
export interface StampBreach {
  client: string;
  /** History index. */
  history: number;
  text: string;
}

/**
 * Clients whose stamps break sent ≤ began ≤ (lease runs from) ≤ ended ≤ read, each with its first breach. One wrong stamp
 * condemns all of that process's: it is not known in which other answers its clock was wrong.
 */
export function stampBreaches(history: History, operations: readonly Operation[]): Map<string, StampBreach> {
  const breaches = new Map<string, StampBreach>();
  const expect = (
    client: string,
    index: number,
    stamps: readonly (readonly [what: string, ns: number | undefined])[],
  ) => {
    if (breaches.has(client)) return;
    let [before, latest] = ['', Number.NEGATIVE_INFINITY];
    for (const [what, ns] of stamps) {
      if (ns === undefined) continue;
      if (ns < latest) {
        breaches.set(client, {
          client,
          history: index,
          text: `${what} ${moment(ns)} lies before ${before} ${moment(latest)}`,
        });
        return;
      }
      [before, latest] = [what, ns];
    }
  };
  for (const { invoke, completion } of operations) {
    if (!completion) continue;
    expect(invoke.client, completion.i, [
      ['sent', invoke.atNs],
      ['began', completion.beganNs],
      ['lease from', completion.grantSentNs ?? completion.sentNs],
      ['ended', completion.endedNs],
      ['read', completion.atNs],
    ]);
  }
  for (const event of history.events) {
    if (event.type === 'renewed') {
      expect(event.client, event.i, [
        ['renewal sent', event.sentNs],
        ['read', event.atNs],
      ]);
    } else if (event.type === 'lost') {
      expect(event.client, event.i, [
        ['lost', event.clientNs],
        ['read', event.atNs],
      ]);
    }
  }
  return breaches;
}
