/** Links that carry little: what is more waits, and so comes late. */
import { wholeNumber } from './args.js';
import { degradingFault } from './degraded-links.js';

const RATE_KBPS = 10;

export const rate = degradingFault({
  name: 'rate',
  summary: 'links carry only so many kilobytes a second',
  does: 'Every link carries `rateKbps` kilobytes a second, headers included; what is more waits its turn. A SET of a lock is about 0.15 kilobytes.',
  breaks: 'As `delay`, and the busier the link the later: polling clients delay their own renewals and releases.',
  args: {
    rateKbps: {
      means: `how much; ${RATE_KBPS} if not given`,
      unit: 'kB/s',
      check: wholeNumber(1, 1_000_000),
    },
  },
  drawn: { rateKbps: [2, 10, 50] },
  shape: (argument) => ({ rateKbps: argument('rateKbps', RATE_KBPS) }),
  inWords: ({ rateKbps }) => `${rateKbps} kB/s at the most`,
});
