/**
 * Releases everywhere when one node did not extend, as a failed extension is the end of the lock to it; a majority may have
 * extended, and the lease that was granted still runs. The idea is from go-redsync/redsync#151.
 *
 * One node is down. At the first extension the lock is given away from under its holder, which hears that it was not extended
 * and works on in what is left of the lease that it has.
 */
import { refused } from '../define-lock.js';
import { answerOf, giveBack, prolong } from '../owned-key.js';
import { redlockFromParts } from './redlock-from-parts.js';

export default redlockFromParts('broken/extend-error-releases', {
  async extend(asked, _, leaseMs) {
    const answers = await Promise.all(asked.map((part) => answerOf(prolong(part, leaseMs))));
    if (answers.every(({ is }) => is === 'yes')) return true;
    await Promise.all(asked.map((part) => answerOf(giveBack(part))));
    throw refused('not extended on all nodes');
  },
});
