/** The faults of a run, put together from their records: when each was in force and what was done. */
import type { FaultEffect, FaultRecord, History, HistoryEvent } from '../../vocabulary/history.js';

export type FaultEvent = Extract<HistoryEvent, { type: 'fault' }>;

/** A fault that certainly struck. */
export interface FaultInForce {
  step: number;
  fault: string;
  /** Everything recorded of it, in order. */
  records: FaultEvent[];
  /** From its first record that says that something was done: a composite takes force long before its last blow. */
  fromNs: number;
  /** When it was undone; Infinity where no record says that it was. */
  untilNs: number;
}

/** Steps that were struck, in the order of their first records. A failure after the strike is one of healing. */
export function faultsInForce(history: History): FaultInForce[] {
  return [...byStep(history).values()].flatMap((records) => {
    const has = (state: FaultRecord['state']) => records.find((record) => record.state === state);
    if (!has('strike')) return [];
    const [first] = records;
    return [
      {
        step: first!.step,
        fault: first!.fault,
        records,
        fromNs: first!.atNs,
        untilNs: has('heal')?.atNs ?? Number.POSITIVE_INFINITY,
      },
    ];
  });
}

/**
 * What keeps clients from noticing a fault: of it they see no more than they may see without any, so it strikes nothing by itself.
 *
 * - `tcp`: packets that come twice or out of order, which TCP puts right.
 * - `order`: who is heard first of those who ask at about the same time, which chance decides without the fault.
 */
export type Hiding = 'tcp' | 'order';

/** Undefined for one that a lock client can notice. */
export function hidingOf({ records }: FaultInForce): Hiding | undefined {
  const effects = records.flatMap((record) => record.effects);
  const hidden = effects.map(hidingOfEffect);
  return hidden.includes(undefined) ? undefined : hidden[0];
}

function hidingOfEffect(effect: FaultEffect): Hiding | undefined {
  if (effect.kind === 'heard-after') return 'order';
  if (effect.kind !== 'degraded') return undefined;
  return effect.delayMs + effect.jitterMs + effect.lossPpm + effect.rateKbps === 0 ? 'tcp' : undefined;
}

/** Whether it is one that a lock client can notice. */
export function clientsCanSee(fault: FaultInForce): boolean {
  return hidingOf(fault) === undefined;
}

/** Records that say that something planned could not be done, or not undone. */
export function faultFailures(history: History): FaultEvent[] {
  return history.rare.filter(
    (event): event is FaultEvent => event.type === 'fault' && (event.state === 'failed' || event.state === 'refused'),
  );
}

/** Strikes at a step of a lock that came after its client may have gone on. */
export function lateStrikes(history: History): FaultEvent[] {
  return lateRecords(history).filter(({ state }) => state !== 'heal');
}

/** Why links were not what a play or a plan asked for: what they carried was later than it allows. */
export function lateLinks(history: History): string[] {
  return lateRecords(history).flatMap(({ state, fault, late }) =>
    state === 'heal' ? [`${LATE_LINK} (${fault}: ${late})`] : [],
  );
}

/** What such a reason begins with. */
export const LATE_LINK = 'a link carried something later than was allowed';

function lateRecords(history: History): FaultEvent[] {
  return history.rare.filter((event): event is FaultEvent => event.type === 'fault' && event.late !== undefined);
}

/** What the hosts themselves showed as not undone when everything was to be healed. */
export function unhealed(history: History): string[] {
  return faultFailures(history).flatMap(({ mishap, proof, did }) => (mishap === 'unhealed' ? [proof ?? did] : []));
}

/**
 * What befell the run without any plan: a full disk, a server that ended by itself. The disk first: a server that cannot
 * write any more may well end before the harness meets the same.
 */
export function mishaps(history: History): FaultEvent[] {
  const found = faultFailures(history).filter(({ mishap }) => mishap !== undefined && mishap !== 'unhealed');
  return [...found.filter(({ mishap }) => mishap === 'disk'), ...found.filter(({ mishap }) => mishap !== 'disk')];
}

/** Every host and process that an effect is on. */
export function namesInEffect(effect: FaultEffect): readonly string[] {
  return 'pairs' in effect ? effect.pairs.flat() : effect.who;
}

/** Every host and process that a record names, be it as a target or as what something was done to. */
export function namesInRecord({ targets, effects }: FaultRecord): string[] {
  return [...targets, ...effects.flatMap(namesInEffect)];
}

function byStep(history: History): Map<number, FaultEvent[]> {
  const steps = new Map<number, FaultEvent[]>();
  for (const event of history.rare) {
    if (event.type !== 'fault' || event.step < 0) continue;
    const records = steps.get(event.step);
    if (records) records.push(event);
    else steps.set(event.step, [event]);
  }
  return steps;
}
