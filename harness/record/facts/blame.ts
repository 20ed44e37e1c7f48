/** Whose mistake a finding is in words, and what that has to do with whether it fails the run. Every other place asks here. */
import type { Blame, BlameName, FailOn, Violation, ViolationClass } from '../../vocabulary/verdict.js';

interface Blamed {
  blame?: Pick<Blame, 'on'>;
}

/** Whom it blames; a violation of a record from elsewhere, or of an earlier version, has nothing proven. */
export function blamedOn({ blame }: Blamed): BlameName {
  return blame?.on ?? 'unexplained';
}

const WHOSE: Record<BlameName, string> = {
  lock: "the lock's mistake",
  unexplained: 'unexplained',
  deployment: "the deployment's",
  lease: "the lease's",
};

/** `the lock's mistake`, `the deployment's`. */
export function whose(name: BlameName): string {
  return WHOSE[name];
}

/** What a finding does to the verdict; `open`: it is not known whether it is the lock's mistake, which would fail the run. */
export type Bearing = 'fails' | 'open' | 'allowed';

/** In the order in which they are told. */
export const BEARINGS: readonly Bearing[] = ['fails', 'open', 'allowed'];

export function bearingOf(violation: Pick<Violation, 'class' | 'known'> & Blamed, failOn: readonly FailOn[]): Bearing {
  if (violation.known === 'allowed') return 'allowed';
  if (failOn.includes(violation.class)) return 'fails';
  if (!failOn.includes('lock')) return 'allowed';
  const on = blamedOn(violation);
  return on === 'lock' ? 'fails' : on === 'unexplained' ? 'open' : 'allowed';
}

/** Whether a finding of this class may fail the run, by its class or by whom it blames. */
export function canFail(name: ViolationClass, failOn: readonly FailOn[]): boolean {
  return failOn.includes(name) || failOn.includes('lock');
}
