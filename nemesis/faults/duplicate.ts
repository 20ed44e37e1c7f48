/**
 * Links on which some packets come twice. TCP throws the second copy away, so a lock client can see no more of it than a
 * delay: no run counts it as a strike by itself.
 */
import { wholeNumber } from './args.js';
import { degradingFault } from './degraded-links.js';

const DUPLICATE_PPM = 100_000;

export const duplicate = degradingFault({
  name: 'duplicate',
  summary: 'some packets come twice over links, which TCP hides',
  does: 'Every packet comes twice with probability `duplicatePpm`, each by itself. TCP throws the second copy away: nothing is carried out twice, and a run in which nothing else struck proves nothing.',
  breaks: 'Nothing: TCP hides it. It is there to be put beside others.',
  args: {
    duplicatePpm: {
      means: `how many of a million; ${DUPLICATE_PPM} if not given`,
      unit: 'ppm',
      check: wholeNumber(1, 1_000_000),
    },
  },
  drawn: { duplicatePpm: [50_000, 300_000] },
  shape: (argument) => ({ duplicatePpm: argument('duplicatePpm', DUPLICATE_PPM) }),
  inWords: ({ duplicatePpm }) => `${duplicatePpm! / 10_000} % twice`,
});
