import { NOT_IN_VIRTUAL_TIME } from '../../harness/runtimes/provides.js';
import type { Scenario } from '../../harness/vocabulary/workload.js';

/** Why a scenario is not played in virtual time; undefined: it is. */
export function notInVirtualTime({ lock, needs = [] }: Pick<Scenario, 'lock' | 'needs'>): string | undefined {
  if (lock.startsWith('redisson/')) return 'needs a program in another language (Redisson adapters)';
  return needs.includes('slots-at-once') ? `needs ${NOT_IN_VIRTUAL_TIME['slots-at-once']}` : undefined;
}
