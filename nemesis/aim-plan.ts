/** Which steps of a search's plans are aimed, and at what. */
import fc from 'fast-check';
import type { Aim, PlanStep } from '../harness/vocabulary/faults.js';
import { faults } from './faults/index.js';

/** Of so many steps that can be aimed one is. */
const STEPS_AN_AIM = 2;
/** Nearly all requests are tries that are refused: those that are not are aimed at as often as any. */
const MOMENTS: readonly Pick<Aim, 'side' | 'event'>[] = [
  { side: 'before', event: 'request' },
  { side: 'after', event: 'request' },
  { side: 'before', event: 'going-on' },
  { side: 'after', event: 'going-on' },
  { side: 'after', event: 'change' },
  { side: 'after', event: 'change' },
  { side: 'after', event: 'change' },
  { side: 'before', event: 'expiry' },
  { side: 'after', event: 'expiry' },
];
/** When they are waited for is drawn by itself: with more, all of them might come too late. */
const MOST = { request: 4, 'going-on': 2, change: 2, expiry: 1 } as const;
/**
 * These have a course of their own before they are in force, or wait for what they break: an answer, say, that would not come as long
 * as the request waits for them. Those of one role have one, too.
 */
const OF_THEIR_OWN_COURSE = ['lost-reply', 'reset-on-reply', 'slow', 'strobe'];

/** One for each of so many steps. Undefined: that step is not aimed. */
export function drawnAims(steps: number): fc.Arbitrary<(Aim | undefined)[]> {
  const aim = fc
    .record({
      isAimed: fc.integer({ min: 1, max: STEPS_AN_AIM }).map((one) => one === 1),
      moment: fc.constantFrom(...MOMENTS),
      part: fc.integer({ min: 0, max: 999 }),
    })
    .map(({ isAimed, moment, part }) => {
      const count = 1 + Math.floor((part * MOST[moment.event]) / 1_000);
      return isAimed ? { ...moment, count } : undefined;
    });
  return fc.array(aim, { minLength: steps, maxLength: steps });
}

/** The steps, each with its aim where it can have that. */
export function aimedAt(steps: readonly PlanStep[], aims: readonly (Aim | undefined)[]): PlanStep[] {
  return steps.map((step, n) => {
    const aim = aims[n];
    if (!aim || !('atMs' in step) || !canBeAimed(step)) return step;
    return aim.event !== 'expiry' || leavesALease(steps.slice(0, n)) ? { ...step, aim } : step;
  });
}

function canBeAimed({ fault }: PlanStep): boolean {
  const { needs, targets } = faults[fault]!;
  return targets.length > 1 && !needs.includes('turns') && !OF_THEIR_OWN_COURSE.includes(fault);
}

/** The lease of who gives back in time never ends: something must have happened to a holder before. */
function leavesALease(before: readonly PlanStep[]): boolean {
  return before.some(({ target }) => target === 'holder');
}
