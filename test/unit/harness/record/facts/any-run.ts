/** Histories of any run at all: whatever the scheduler can record of a few clients, their deaths, losses and renewals among it. */
import fc from 'fast-check';
import type { Completion, HistoryBody, HistoryEvent, OpName } from '../../../../../harness/vocabulary/history.js';
import type { LeaseKind } from '../../../../../harness/vocabulary/protocol.js';

export const MS = 1e6;
const KEYS = ['lock:0', 'lock:1'];

/** Draws that a history is made of; the same draws give the same history. */
export type Step = { client: number; does: number; gapMs: number; draws: readonly number[] };

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    client: fc.nat({ max: 2 }),
    does: fc.nat({ max: 99 }),
    gapMs: fc.integer({ min: 0, max: 60 }),
    draws: fc.array(fc.nat({ max: 999 }), { minLength: 5, maxLength: 5 }),
  }),
  { maxLength: 60, size: 'max' },
);

interface Actor {
  name: string;
  generation: number;
  nextId: number;
  running?: { id: number; op: OpName; hold?: number; key: string; sentNs: number };
  /** Not released yet, as the scheduler knows it. */
  holds: { id: number; key: string; invokedNs: number; takenNs: number }[];
}

/** Plays what the scheduler can record: one operation at a time for each client, stamps between sent and read. */
export function played(all: readonly Step[]): HistoryEvent[] {
  const events: HistoryEvent[] = [];
  let nowNs = 0;
  const record = (body: HistoryBody) => events.push({ i: events.length, atNs: nowNs, ...body });
  const actors = [1, 2, 3].map((n): Actor => ({ name: `c${n}`, generation: 1, nextId: 1, holds: [] }));
  for (const { client: n, does, gapMs, draws } of all) {
    nowNs += gapMs * MS;
    const actor = actors[n]!;
    const { name: client, running, holds } = actor;
    const pick = draws[0]!;
    const within = (fromNs: number, draw: number) => fromNs + Math.floor(((nowNs - fromNs) * draw) / 999);
    const comeBack = () => {
      actor.generation++;
      actor.name = `c${n + 1}.${actor.generation}`;
      actor.nextId = 1;
      actor.holds = [];
      actor.running = undefined;
    };
    const complete = (type: 'ok' | 'fail' | 'info', withStamps: boolean) => {
      const { id, op, key, hold, sentNs } = running!;
      const completion: Completion = {};
      if (withStamps) {
        const [began, lease, ended] = [draws[1]!, draws[2]!, draws[3]!].sort((a, b) => a - b);
        completion.beganNs = within(sentNs, began!);
        completion.endedNs = within(sentNs, ended!);
        if (draws[4]! % 2) completion[op === 'acquire' ? 'grantSentNs' : 'sentNs'] = within(sentNs, lease!);
      }
      if (type !== 'ok') completion.reason = 'x';
      if (type === 'ok' && op === 'acquire' && draws[4]! % 3 === 0) completion.token = draws[4]!;
      if (type === 'ok' && (op === 'acquire' || op === 'extend') && pick % 3 === 0) completion.validForMs = pick % 300;
      record({ type, client, id, op, key, ...(hold !== undefined && { hold }), ...completion });
      actor.running = undefined;
      if (op === 'acquire' && type === 'ok') {
        const takenNs = completion.grantSentNs ?? completion.beganNs ?? sentNs;
        holds.push({ id, key, invokedNs: sentNs, takenNs });
      }
      if (op === 'release') actor.holds = holds.filter((one) => one.id !== hold);
    };
    const held = holds[pick % (holds.length || 1)];
    if (held && does >= 80) {
      // What was not taken yet cannot be lost: then its client's stamps would count for nothing, from the first one on.
      const ns = within(does < 92 ? held.invokedNs : held.takenNs, draws[1]!);
      const about = { client, hold: held.id, key: held.key };
      if (does < 92) record({ type: 'renewed', ...about, sentNs: ns, leaseMs: draws[2]! % 200 });
      else record({ type: 'lost', ...about, clientNs: ns });
    } else if (running && does < 8) {
      // Its death is noticed before the answer that will not come; or an answer was read, and is recorded after.
      record({ type: 'client-down', client, endNs: within(running.sentNs, draws[1]!), reason: 'x' });
      complete(does < 6 ? 'info' : 'ok', does % 2 === 1);
      comeBack();
    } else if (running) {
      const type = does < 60 ? 'ok' : does < 72 ? 'fail' : 'info';
      complete(type, does % 4 !== 0);
      if (type === 'info') {
        nowNs += (draws[4]! % 20) * MS;
        record({ type: 'client-down', client, endNs: nowNs - (draws[3]! % 5) * 1_000, reason: 'x' });
        comeBack();
      }
    } else if (does < 4) {
      record({ type: 'client-down', client, endNs: nowNs, reason: 'x' });
      comeBack();
    } else {
      const id = actor.nextId++;
      const op: OpName = !held || does < 30 ? 'acquire' : does < 55 ? 'extend' : does < 62 ? 'read' : 'release';
      const key = op === 'acquire' ? KEYS[pick % 2]! : held!.key;
      const hold = op === 'acquire' ? {} : { hold: held!.id };
      const leaseMs = op === 'acquire' || op === 'extend' ? { leaseMs: draws[1]! % 300 } : {};
      const mode = op === 'acquire' && does % 3 === 0 ? ({ mode: does % 2 ? 'read' : 'write' } as const) : {};
      record({ type: 'invoke', client, id, op, key, ...hold, ...leaseMs, ...mode });
      actor.running = { id, op, key, ...hold, sentNs: nowNs };
    }
  }
  return events;
}

/** The first event of a run whose locks have such leases. */
export function up(lease: LeaseKind): HistoryEvent {
  const who = { client: 'c1', slot: 'c1', host: 'c1', address: '10.77.0.9' };
  return { i: 0, atNs: 0, type: 'client-up', ...who, lock: 'x', features: [], lease };
}
