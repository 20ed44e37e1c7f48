/**
 * Which findings are one mistake that shows in several ways. Findings with different causes are different mistakes, so this says
 * yes only where a cause is shared or one of the two has none, and where in doubt no.
 */
import { type Discovery, fingerprintOf } from './schedule.js';

/** A finding and the schedule that shows it. */
export interface ShownFinding {
  found: Discovery;
  fingerprint: string;
  /** The number of the schedule that found it. */
  schedule: number;
  /** All that its schedule shows, as far as that was shrunk. */
  shows: readonly Discovery[];
  isMinimal: boolean;
}

/** `told`: a finding that the user hears of anyway. */
export function isSameMistake(one: ShownFinding, told: ShownFinding): boolean {
  const isByMinimal = (told.isMinimal && shows(told, one)) || (one.isMinimal && shows(one, told));
  const { blame, cause } = one.found;
  const hasCause = cause !== 'unexplained';
  if (blame === told.found.blame && cause === told.found.cause)
    return isByMinimal || (hasCause && one.schedule === told.schedule);
  // Beside what every lock shows here something unexplained may be the lock's own; beside the lock's own it has its explanation.
  return !hasCause && told.found.blame === 'lock' && isByMinimal;
}

function shows(by: ShownFinding, one: ShownFinding): boolean {
  return by.shows.some((shown) => fingerprintOf(shown) === one.fingerprint);
}
