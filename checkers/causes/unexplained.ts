import type { Cause, CauseLink } from '../../harness/vocabulary/verdict.js';

export const NO_CHAIN = 'No complete chain of evidence shows why.';

/**
 * The cause of what no complete chain of evidence explains: the links are what is known, and blame nothing. `sentence`: what of it
 * is proven, and what is not.
 */
export function unexplained(chain: CauseLink[], sentence = NO_CHAIN): Cause {
  return { name: 'unexplained', sentence, chain };
}
