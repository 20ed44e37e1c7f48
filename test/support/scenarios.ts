import { NOT_IN_VIRTUAL_TIME } from '../../harness/runtimes/provides.js';
import type { Scenario } from '../../harness/vocabulary/workload.js';

/** Each client of theirs is a JVM, and some last for leases of seconds. `test/runs/sharing/redisson-plays.test.ts` plays them by version. */
const AT_NIGHT: ReadonlySet<string> = new Set([
  'redisson-3-failed-renewal',
  'redisson-closed-while-held',
  'redisson-downgrade',
  'redisson-failed-renewal',
  'redisson-failed-unlock',
  'redisson-interrupted-lock',
  'redisson-kept-object',
  'redisson-multi-lock-in-rounds',
  'redisson-multi-node-forgets',
  'redisson-nested-write-adds-up',
  'redisson-slot-on-its-way',
  'redisson-renewal-entry-left',
  'redisson-wait-by-the-wall-clock',
  'redisson-watchdog-by-default',
  'redisson-watchdog-of-100-ms',
]);

export function isAtNight({ name }: Pick<Scenario, 'name'>): boolean {
  return AT_NIGHT.has(name);
}

/** Why a scenario is not played in virtual time; undefined: it is. */
export function notInVirtualTime({ lock, needs = [] }: Pick<Scenario, 'lock' | 'needs'>): string | undefined {
  if (lock.startsWith('redisson/')) return 'needs a program in another language (Redisson adapters)';
  return needs.includes('slots-at-once') ? `needs ${NOT_IN_VIRTUAL_TIME['slots-at-once']}` : undefined;
}
