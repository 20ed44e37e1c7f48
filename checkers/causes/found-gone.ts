/**
 * Whether a holder's lock had asked servers for what they had stored for it, and that was gone: what struck its client after that has not
 * kept it from renewing.
 */
import { stores } from '../../harness/record/facts/commands/changes.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import type { Grant } from '../../harness/record/facts/grants.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';
import { tenureOf } from './tenure.js';

/** By that instant. Of independent nodes: on so many that the others are no majority. */
export function hadFoundGone(hold: Hold, byNs: number, evidence: Evidence): boolean {
  const isGone = ({ node, write, took }: Grant) => {
    const writes = evidence.writes(node, hold.key);
    const next = writes.find(({ atNs }) => atNs > byNs);
    const [loss] = took === true ? tenureOf(write, { hold, write }, evidence, next).losses : [];
    if (loss === undefined || stores(loss.after, write.value!) !== 'no') return false;
    return writes.some(({ client, observation, atNs }) => {
      return client === hold.client && observation > loss.line && atNs <= byNs;
    });
  };
  const gone = evidence.grantsOf(hold).filter(isGone).length;
  const asked = evidence.majority === undefined ? 1 : evidence.voters.length;
  return asked - gone < (evidence.majority ?? 1);
}
