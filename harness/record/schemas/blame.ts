/** Whose mistake findings are: every list of it is made from this one, and its order is the order in which findings are told. */
import * as z from 'zod';
import type { Blame, BlameName, FailOn } from '../../vocabulary/verdict.js';
import { describes } from './describes.js';
import { CLASSES } from './violation-class.js';

const MEANING: Record<BlameName, string> = {
  lock: 'it did what no lock may do',
  unexplained: 'whose mistake it is is not proven',
  deployment: 'a server lost, or gave away, what it had granted',
  lease: 'a client went on past its lease, which no lock with a lease prevents',
};

/** Whom findings blame, in the order in which they are told. */
export const BLAMES = Object.keys(MEANING) as readonly BlameName[];

/** Everything that `--fail-on` names. */
export const FAIL_ON: readonly FailOn[] = [...CLASSES, 'lock'];

export const blameSchema = describes<Blame>()(
  z
    .object({
      on: z.enum(BLAMES).describe(`${BLAMES.map((name) => `${name}: ${MEANING[name]}`).join('; ')}.`),
      theory: z.string().describe('What a lock must do, or what prevents it or makes it rarer.'),
      link: z.string().describe('Where to read more.').optional(),
    })
    .meta({ id: 'blame' }),
);
