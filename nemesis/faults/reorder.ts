/**
 * Links on which some packets are overtaken. TCP puts them in order again, so a lock client can see no more of it than a
 * delay: no run counts it as a strike by itself.
 */
import { wholeNumber } from './args.js';
import { degradingFault } from './degraded-links.js';

const REORDER_PPM = 100_000;
const GAP_MS = 10;

export const reorder = degradingFault({
  name: 'reorder',
  summary: 'some packets are overtaken by later ones on links, which TCP hides',
  does: 'Every packet is held back for `gapMs` with probability `reorderPpm`, and those behind it overtake it. TCP puts them in order again: commands stay in order, and a run in which nothing else struck proves nothing.',
  breaks: 'Nothing: TCP hides it. It is there to be put beside others.',
  args: {
    reorderPpm: {
      means: `how many of a million; ${REORDER_PPM} if not given`,
      unit: 'ppm',
      check: wholeNumber(1, 1_000_000),
    },
    gapMs: {
      means: `for how long they are held back; ${GAP_MS} if not given`,
      unit: 'ms',
      check: wholeNumber(1, 10_000),
    },
  },
  drawn: { reorderPpm: [50_000, 300_000], gapMs: [5, 20] },
  shape: (argument) => ({ reorderPpm: argument('reorderPpm', REORDER_PPM), gapMs: argument('gapMs', GAP_MS) }),
  inWords: ({ reorderPpm, gapMs }) => `${reorderPpm! / 10_000} % overtaken, ${gapMs} ms late`,
});
