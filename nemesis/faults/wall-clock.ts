/** What all faults share that move wall clocks. */

import type { ReadWallMs } from '../levers/clock.js';
import type { CountedLoss } from '../levers/memory.js';
import type { NemesisContext } from '../striking/context.js';
import { isNode, namesOf, type Struck } from '../striking/targets.js';
import { countLoss } from './take-down.js';

/** How to ask the program that was struck for the time, once its clock was moved. */
export function wallClockOf(struck: Struck, { at }: Pick<NemesisContext, 'at'>): ReadWallMs {
  if (struck.kind === 'node') return () => struck.node.clockMs();
  return async () => {
    // A client that stands at a step answers nothing; its clock was moved while it stood.
    if (at?.client === struck.client) await at.goOnNow();
    return struck.client.wallMs();
  };
}

/**
 * Keys on a node whose clock gains on the others expire early: of independent nodes never more than a minority may, as
 * with forgetting. Where nodes replicate, one primary decides for all of them, and nothing is counted.
 */
export function countEarlyExpiry(struck: readonly Struck[], context: NemesisContext): CountedLoss {
  const data = struck.filter(isNode).filter(({ node }) => node.kind === 'redis');
  return countLoss(context.topology.replicated ? [] : namesOf(data), context);
}
