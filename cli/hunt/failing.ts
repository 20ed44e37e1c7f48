/** What of a hunt's findings fails it. */
import type { FailOn } from '../../harness/vocabulary/verdict.js';
import type { Discovery } from './schedule.js';

export function failsBy({ class: kind, blame }: Discovery, failOn: readonly FailOn[]): boolean {
  return failOn.includes(kind) || (failOn.includes('lock') && blame === 'lock');
}

/** Where the lock's own mistakes count, one whose cause is not known may be one. */
export function isOpen(found: readonly Discovery[], failOn: readonly FailOn[]): boolean {
  return failOn.includes('lock') && found.some(({ blame }) => blame === 'unexplained');
}
