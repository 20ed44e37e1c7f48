/**
 * `results.json`: its form, from which `docs/results.schema.json` is made (`npm run docs`).
 *
 * JSON has no Infinity: a time without end is written as null, and read back as what it was.
 */
import * as z from 'zod';
import type {
  CauseName,
  CheckerResult,
  Hold,
  PropertyWords,
  Results,
  VerdictWords,
  Violation,
  ViolationClass,
} from '../../vocabulary/verdict.js';
import { blameSchema } from './blame.js';
import { describes } from './describes.js';
import { CLASSES, violationClassSchema } from './violation-class.js';

const endless = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.POSITIVE_INFINITY);
const unmeasured = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.NaN);

const count = z.int().min(0);
const lines = z.array(count).describe('Lines of history.jsonl, counted from 0.');
const counters = z.record(z.string(), unmeasured).describe('Counters, by name; units are last in the name.');

type Counted = z.ZodOptional<typeof count>;

export const foundSchema = z
  .object(Object.fromEntries(CLASSES.map((name) => [name, count.optional()])) as Record<ViolationClass, Counted>)
  .describe('How many violations of each class, all of them.')
  .meta({ id: 'found' });

const stats = counters.meta({ id: 'stats' });

const hold = describes<Hold>()(
  z
    .object({
      client: z.string(),
      key: z.string(),
      id: count.describe('Of the acquire, its client’s own.'),
      fromNs: endless.describe('From here on the client held it for certain.'),
      untilNs: endless.describe('Release began, client killed, told that it was lost, or the record ended.'),
      endedBy: z.enum(['release', 'client-down', 'lost', 'history-end']),
      leaseEndNs: endless.describe('Last successful grant or renewal sent, plus the lease.'),
      grantSentNs: endless.describe('When the attempt that was granted left the client.'),
      leaseMs: endless,
      mode: z.enum(['read', 'write']).optional(),
      token: z.number().describe('Fencing token.').optional(),
      validForMs: z.number().describe('As the lock said.').optional(),
      evidence: lines,
      released: z.enum(['ok', 'fail', 'info']).optional(),
    })
    .meta({ id: 'hold' }),
);

const link = z
  .object({
    atNs: endless.describe('When.'),
    text: z.string(),
    history: count.describe('Line of history.jsonl, from 0.').optional(),
    observation: count.describe('Line of observations.jsonl, from 0.').optional(),
  })
  .meta({ id: 'link' });

const causeName: z.ZodType<CauseName, CauseName> = z.string();

const cause = z
  .object({
    name: causeName.describe('`unexplained` where not every link was observed.'),
    phrase: z.string().describe('The cause in a few words. Earlier versions do not have it.').optional(),
    sentence: z.string(),
    chain: z.array(link).describe('The evidence, link by link.'),
  })
  .meta({ id: 'cause' });

const violation = describes<Violation>()(
  z
    .object({
      class: violationClassSchema,
      kind: z.string().describe('overlap, deadlock, ...'),
      key: z.string().describe('The lock.'),
      fromNs: endless.describe('When it began.'),
      untilNs: endless.describe('When it ended.'),
      holds: z.array(hold).describe('Of an overlap the earlier grant first.'),
      evidence: lines,
      proof: z.string().describe('The proof in one sentence.'),
      cause,
      blame: blameSchema.describe('Whose mistake it is. Earlier versions do not have it.').optional(),
      known: z
        .enum(['fails', 'allowed'])
        .describe('Where such findings were known before the run: whether they fail it all the same.')
        .optional(),
    })
    .meta({ id: 'violation' }),
);

const measurement = z
  .object({
    name: z.string().describe('recovery, availability, latency, loss-to-notice, ...'),
    of: z.string().describe('Whom or what it is about.'),
    key: z.string().optional(),
    fromNs: endless.describe('The time that it is about.').optional(),
    untilNs: endless.describe('Its end.').optional(),
    values: counters,
    evidence: lines,
  })
  .meta({ id: 'measurement' });

const property = describes<PropertyWords>()(
  z
    .object({
      class: violationClassSchema.optional(),
      holds: z.string().describe('What is true of the run where it holds.'),
      broken: z.string().describe('What is true where it is broken; without a class: where it is left open.'),
    })
    .meta({ id: 'property' }),
);

const checker = describes<CheckerResult>()(
  z
    .object({
      checker: z.string(),
      properties: z
        .array(property)
        .describe('What it decides; empty: it only measures. Earlier versions do not have it.')
        .optional(),
      verdict: z.enum(['valid', 'invalid', 'unknown']),
      notes: z.array(z.string()),
      violations: z.array(violation),
      found: foundSchema.optional(),
      open: z
        .array(violationClassSchema)
        .describe('Classes of which it cannot be determined whether there is more, though the verdict is invalid.')
        .optional(),
      notJudged: z.string().describe('Why there was nothing to judge, though the verdict is valid.').optional(),
      weak: z
        .string()
        .describe('Why it is worth little, though the verdict is valid. Earlier versions do not have it.')
        .optional(),
      second: z
        .object({
          agreed: count.describe('Of how many keys both procedures say the same.'),
          open: z.array(z.string()).describe('Keys that only one of them decided, each with the reason.'),
          disagreed: z.array(z.string()).describe('Where they say the contrary, with both proofs.'),
        })
        .describe('What a second procedure says of the same keys. Earlier versions do not have it.')
        .optional(),
      stats,
      measurements: z.array(measurement).optional(),
    })
    .meta({ id: 'checker' }),
);

const reading = z
  .object({
    reading: z.string(),
    title: z.string(),
    verdict: z.enum(['valid', 'invalid', 'unknown']),
    procedure: z.string().describe('Which procedures decided.'),
    found: count,
    proofs: z.array(z.string()).describe('The first of them.'),
    notes: z.array(z.string()),
  })
  .meta({ id: 'reading' });

const words = describes<VerdictWords>()(
  z
    .object({
      verdict: z
        .string()
        .describe(
          'The verdict and whose mistake it is: VIOLATED by the lock; HELD in 64 strikes (412 holds struck); PASSED, WITH 81 DOUBLE HOLDS ALLOWED BY --fail-on lock.',
        ),
      lock: z.string().describe("What was found of the lock's own, or that nothing was, and what that is worth."),
      deployment: z.string().describe('What servers lost or gave away, and whether such a lock can be safe on them.'),
      leases: z.string().describe('Who went on past a lease, and what contains that.'),
      stronger: z
        .string()
        .describe(
          'Where no mistake of the lock was found and that is worth little: the command that makes it worth more.',
        )
        .optional(),
    })
    .meta({ id: 'words' }),
);

const lengths = z
  .object({ brief: count, short: count, long: count, over: count })
  .meta({ id: 'lengths' })
  .describe(
    'Holds by how long they lasted: less than a tenth of the lease, less than a third, up to all of it, longer.',
  );

export const resultsSchema = describes<Results>()(
  z
    .object({
      version: z.literal(2),
      runId: z.string(),
      verdict: z.enum(['held', 'violated', 'unknown']),
      exitStatus: z.literal([0, 1, 2]).describe('0 held, 1 a property was violated, 2 cannot tell.'),
      words: words.optional().describe('What every report begins with. Earlier versions do not have it.'),
      headline: z.string().describe('One sentence.'),
      reasons: z.array(z.string()).describe('Why it is unknown, what weakens the verdict, what was left out.'),
      violations: z
        .array(violation)
        .describe(
          "What fails the run, then what may, then the rest; of each the lock's own mistakes first, then the unexplained, the deployment's and the lease's. Of many the first of each class; `found` counts all.",
        ),
      ownMistakes: z
        .enum(['found', 'none', 'unknown'])
        .describe(
          "Whether anything is the lock's own mistake, whatever fails the run; unknown: it cannot be told. Earlier versions do not have it.",
        )
        .optional(),
      open: z
        .array(z.string())
        .describe('What cannot be told of what may fail the run: where nothing fails it, it is unknown for these.')
        .optional(),
      checkers: z.array(checker),
      found: foundSchema,
      readings: z
        .array(reading)
        .describe(
          'Whether the history can be explained at all, under each reading of what it leaves open. Decides nothing.',
        ),
      strength: z.string().describe('How much a pass is worth.').optional(),
      virtualTime: z.string().describe('That it was played in virtual time, and why. Absent: in real time.').optional(),
      stats,
      struck: z
        .object({
          holds: lengths.describe('All of them, struck or not.'),
          faults: z
            .array(
              z.object({
                fault: z.string(),
                struck: lengths,
                strikes: lengths
                  .describe('In how many strikes it met such a hold. Earlier versions do not have it.')
                  .optional(),
              }),
            )
            .describe('Each fault of the plan, `:client` behind its name where it was on clients.'),
        })
        .describe(
          'How many holds were struck by which fault, and in how many strikes (an injection and its healing that met a hold; what overlaps in time is one); one that two struck counts for both. Absent: no faults were planned. Earlier versions do not have it.',
        )
        .optional(),
      reproduce: z.string().describe('The command that runs it again.'),
    })
    .meta({
      title: 'lock-torture: results.json of a run, version 2',
      description:
        "What a run came to. Times are nanoseconds since the run's epoch by the monotonic clock that no fault touches; null stands for a time without end.",
    }),
);
