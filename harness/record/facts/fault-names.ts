import type { FaultEvent, FaultInForce } from './faults.js';
import { listed } from './words.js';

/** "failover of r1 (step 2 of the plan)". */
export function nameOfFault(fault: FaultInForce): string {
  const { targets } = strikeOf(fault);
  return `${fault.fault}${targets.length > 0 ? ` of ${listed(targets)}` : ''} (step ${fault.step + 1} of the plan)`;
}

/** The record of its blow; of a composite, the last one: until then the lock may go on as if nothing were. */
export function strikeOf({ records }: FaultInForce): FaultEvent {
  return records.find(({ state }) => state === 'strike')!;
}
