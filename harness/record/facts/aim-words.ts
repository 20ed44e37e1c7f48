/** What a step of a plan is aimed at, for people. */
import type { Aim } from '../../vocabulary/faults.js';

const WHAT: Readonly<Record<Aim['event'], string>> = {
  request: 'request',
  'going-on': 'request that a client goes on with',
  change: 'request that is answered otherwise than the one before',
  expiry: 'end of a lease',
};

/** "before the 3rd request" */
export function aimWords({ side, event, count }: Aim): string {
  return `${side} the ${nth(count)} ${WHAT[event]}`;
}

function nth(count: number): string {
  const isTeen = count % 100 >= 11 && count % 100 <= 13;
  return `${count}${(!isTeen && ['st', 'nd', 'rd'][(count % 10) - 1]) || 'th'}`;
}
