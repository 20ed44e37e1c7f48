/** The faults of a run, put together from their records: when each was in force and what was done. */
import type { FaultRecord, History, HistoryEvent } from '../../vocabulary/history.js';

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

/** Records that say that something planned could not be done, or not undone. */
export function faultFailures(history: History): FaultEvent[] {
  return history.rare.filter(
    (event): event is FaultEvent => event.type === 'fault' && (event.state === 'failed' || event.state === 'refused'),
  );
}

/** What the hosts themselves showed as not undone when everything was to be healed. */
export function unhealed(history: History): string[] {
  return faultFailures(history).flatMap(({ step, fault, proof, did }) =>
    step < 0 && fault === 'heal' ? [proof ?? did] : [],
  );
}

/**
 * What befell the run without any plan: a full disk, a server that ended by itself. The disk first: a server that cannot
 * write any more may well end before the harness meets the same.
 */
export function mishaps(history: History): FaultEvent[] {
  const found = faultFailures(history).filter(({ step, fault }) => step < 0 && fault !== 'heal');
  return [...found.filter(({ fault }) => fault === 'disk'), ...found.filter(({ fault }) => fault !== 'disk')];
}

/** The record of a fault that names `host` among what it struck or cut off. */
export function recordConcerning(fault: FaultInForce, host: string): FaultEvent | undefined {
  return fault.records.find(
    (record) =>
      record.state !== 'heal' &&
      (record.targets.includes(host) ||
        record.forgot?.includes(host) ||
        record.cut?.some((pair) => pair.includes(host))),
  );
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
