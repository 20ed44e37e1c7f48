/** Links on which everything comes later. Nothing is lost, and packets keep their order. */
import { wholeNumber } from './args.js';
import { degradingFault } from './degraded-links.js';

const DELAY_MS = 50;
const DELAY_MS_MAX = 60_000;

export const delay = degradingFault({
  name: 'delay',
  summary: 'what is sent over links comes later, evenly or with jitter',
  does: 'Every packet is held back for `delayMs`, more or less by up to `jitterMs`; packets keep their order.',
  breaks:
    'What a client does in two commands takes two round trips, so the gap between GET and DEL becomes as wide as the link is slow: a lock that expires in it is deleted under its next holder. Locks that do not take what the answer took off the lease hold too long.',
  args: {
    delayMs: {
      means: `by how much; ${DELAY_MS} if not given`,
      unit: 'ms',
      check: wholeNumber(0, DELAY_MS_MAX),
    },
    jitterMs: {
      means: 'how much less or more at the most, never less than nothing; 0 if not given',
      unit: 'ms',
      check: wholeNumber(0, DELAY_MS_MAX),
    },
  },
  drawn: { delayMs: [10, 50, 200], jitterMs: [0, 5, 50] },
  shape(argument) {
    const delayMs = argument('delayMs', DELAY_MS);
    return { delayMs, jitterMs: Math.min(delayMs, argument('jitterMs', 0)) };
  },
  inWords: ({ delayMs, jitterMs }) => `${delayMs} ms later${jitterMs ? `, ${jitterMs} ms more or less` : ''}`,
});
