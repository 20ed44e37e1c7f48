/**
 * The phrases of `build.ts` where a test is about single events: each line of a test is one event, and its place is its line.
 *
 *     const input = checkInput([
 *       grant('c1', 1, { at: 1, until: 1.1, token: 7 }),  // two events: invoke and ok
 *       ...
 *     ].flat());
 *
 * Times are seconds since the epoch of the run. The harness reads an answer when the client had it.
 */

import type { FaultEffect, FaultRecord, HistoryBody, OpName } from '../../../harness/vocabulary/history.js';
import type { Deadlines, LockModel } from '../../../harness/vocabulary/protocol.js';
import type { CheckInput } from '../../../harness/vocabulary/run.js';
import { KEY, LEASE_MS, ns, Story, type Told } from './build.js';

export { KEY, LEASE_MS, ns, type Told };

export interface OperationOptions {
  /** When the client began it and had the answer. */
  at: number;
  until?: number;
  key?: string;
  /** `none`: no answer was recorded. */
  type?: 'ok' | 'fail' | 'info' | 'none';
  reason?: string;
  hold?: number;
  leaseMs?: number;
  mode?: 'read' | 'write';
  /** When the attempt that was granted left; absent: when the operation began. */
  grantSent?: number;
  token?: number;
  value?: number;
  version?: number;
  /** False: the client does not stamp. */
  stamps?: boolean;
}

/** One operation: its invoke and what became of it. */
export function operation(op: OpName, client: string, id: number, options: OperationOptions): Told[] {
  const { at, until = at + 0.001, key = KEY, type = 'ok', reason, hold, mode, grantSent, token } = options;
  const { value, version, stamps = true, leaseMs = op === 'acquire' ? LEASE_MS : undefined } = options;
  const common = { client, id, op, key, ...(hold !== undefined && { hold }) };
  const invoke: HistoryBody = {
    type: 'invoke',
    ...common,
    ...(leaseMs !== undefined && { leaseMs }),
    ...(mode !== undefined && { mode }),
    ...(op === 'write' && value !== undefined && { value }),
  };
  if (type === 'none') return [{ at, body: invoke }];
  const completion: HistoryBody = {
    type,
    ...common,
    ...(stamps && type !== 'info' && { beganNs: ns(at), endedNs: ns(until) }),
    ...(reason !== undefined && { reason }),
    ...(grantSent !== undefined && { grantSentNs: ns(grantSent) }),
    ...(token !== undefined && { token }),
    ...(op === 'read' && value !== undefined && { value }),
    ...(version !== undefined && { version }),
  };
  return [
    { at, body: invoke },
    { at: until, body: completion },
  ];
}

export const acquire = (client: string, id: number, options: OperationOptions) =>
  operation('acquire', client, id, options);
export const release = (client: string, id: number, options: OperationOptions & { hold: number }) =>
  operation('release', client, id, options);
export const read = (client: string, id: number, options: OperationOptions & { hold: number }) =>
  operation('read', client, id, options);
export const write = (client: string, id: number, options: OperationOptions & { hold: number }) =>
  operation('write', client, id, options);

export function queued(client: string, hold: number, at: number): Told {
  return { at, body: { type: 'step', client, name: 'queued', clientNs: ns(at), hold } };
}

export function fault(
  at: number,
  step: number,
  name: string,
  state: FaultRecord['state'],
  targets: string[] = ['r1'],
  effects: FaultEffect[] = [],
): Told {
  return { at, body: { type: 'fault', step, fault: name, state, targets, did: `${name} ${state}`, effects } };
}

export function clientUp(client: string, slot = client, features: string[] = [], deadlines?: Deadlines): Told {
  const what = { lock: 'literal', features, ...(deadlines && { deadlines }) };
  return { at: 0, body: { type: 'client-up', client, slot, host: slot, address: '10.77.0.9', ...what } };
}

export function clientDown(client: string, at: number): Told {
  return { at, body: { type: 'client-down', client, endNs: ns(at), reason: 'killed by the nemesis' } };
}

export function stall(at: number, ms: number): Told {
  return {
    at: at + ms / 1_000,
    body: { type: 'disturbance', disturbance: 'harness-stall', ms, beganNs: ns(at) },
  };
}

/** The same of a lock whose holds nothing ends but their holders. */
export function clientUpWithoutLeases(client: string): Told {
  const { at, body } = clientUp(client);
  return { at, body: { ...body, lease: 'none' } as HistoryBody };
}

/** Lines are given by time; what has the same time keeps its order. */
export function checkInput(told: readonly Told[], model: LockModel = { kind: 'mutex' }): CheckInput {
  return new Story(false)
    .promised(model)
    .configured({ keys: [KEY] })
    .tell(told)
    .input();
}
