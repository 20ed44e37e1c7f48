/** Links that lose some packets. TCP sends them again, later each time, so its users see delays, and then time-outs. */
import { wholeNumber } from './args.js';
import { degradingFault } from './degraded-links.js';

const LOSS_PPM = 100_000;

export const loss = degradingFault({
  name: 'loss',
  summary: 'links lose some of the packets',
  does: 'Every packet is lost with probability `lossPpm`, each by itself. TCP sends lost ones again after 0.2 s and longer, so some commands and answers come late or not in time.',
  breaks:
    'As `delay`, by fits and starts: a renewal that is lost twice comes when the lease is over. What was carried out and not answered in time is an orphaned key to locks that take a time-out for "not acquired".',
  args: {
    lossPpm: {
      means: `how many of a million; ${LOSS_PPM} if not given`,
      unit: 'ppm',
      check: wholeNumber(1, 1_000_000),
    },
  },
  drawn: { lossPpm: [50_000, 200_000, 400_000] },
  shape: (argument) => ({ lossPpm: argument('lossPpm', LOSS_PPM) }),
  inWords: ({ lossPpm }) => `${lossPpm! / 10_000} % lost`,
});
