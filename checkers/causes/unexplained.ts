import type { Cause, CauseLink } from '../../harness/vocabulary/verdict.js';

/** The cause of what no complete chain of evidence explains: the links are what is known, and blame nothing. */
export function unexplained(chain: CauseLink[]): Cause {
  return { name: 'unexplained', sentence: 'No complete chain of evidence shows why.', chain };
}
