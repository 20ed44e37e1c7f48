/** The twin of `extend-error-releases`: a majority is enough, and without one the lease that was granted still runs. */
import { answerOf, prolong } from '../owned-key.js';
import { redlockFromParts } from './redlock-from-parts.js';

export default redlockFromParts('broken/extend-error-releases-mended', {
  async extend(asked, quorum, leaseMs) {
    const answers = await Promise.all(asked.map((part) => answerOf(prolong(part, leaseMs))));
    if (answers.filter(({ is }) => is === 'yes').length >= quorum) return true;
    throw new Error('not extended on a majority of the nodes');
  },
});
