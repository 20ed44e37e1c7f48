/**
 * What the breaks of a client's protocol make of a verdict. Never accuses: a client that contradicts itself may sit on a sound
 * lock.
 *
 * An answer that breaks the protocol is lost. A lock whose stamps are wrong loses all of its grants that way: its holders may
 * stand side by side, and the history shows none of them. Such a run cannot be said to have held. A client that breaks the
 * protocol while it waits for no such answer is killed for it like one that crashes: its holds end there, and none is hidden.
 */
import { type ClientBreak, protocolBreaksOf } from '../../harness/record/facts/protocol-breaks.js';
import { moment, plural } from '../../harness/record/facts/words.js';
import type { OpName } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings } from '../../harness/vocabulary/verdict.js';

/** Operations that a hold begins with, or goes on by. */
const HOLDING: readonly OpName[] = ['acquire', 'extend'];

function findWhatIsHidden({ history }: CheckInput): CheckerFindings {
  const breaks = protocolBreaksOf(history);
  const hiding = breaks.filter(({ lost }) => lost !== undefined && HOLDING.includes(lost.op));
  const harmless = breaks.filter((one) => !hiding.includes(one));
  return {
    verdict: hiding.length > 0 ? 'unknown' : 'valid',
    notes: [
      ...(hiding.length > 0 ? [hidden(hiding)] : []),
      ...(harmless.length > 0 ? [`${told(harmless)}; no hold is hidden by that`] : []),
    ],
    violations: [],
    stats: breaks.length > 0 ? { protocolBreaks: breaks.length, answersLost: hiding.length } : {},
  };
}

export const protocolBreaks: Checker = {
  name: 'protocol',
  summary: 'no hold is hidden by a client that broke the protocol',
  properties: [
    {
      holds: 'No hold is hidden by a client that broke the protocol',
      broken: 'Holds are hidden by clients that broke the protocol',
      kinds: {},
    },
  ],
  judges: { models: 'all', plays: true },
  check: findWhatIsHidden,
};

function hidden(breaks: readonly ClientBreak[]): string {
  return `${told(breaks)}; so ${plural(breaks.length, 'answer')} to an acquire or an extension ${breaks.length === 1 ? 'is' : 'are'} lost, and what was held by that is not known. Mend the client: docs/protocol.md, "Stamps" and "When the protocol is broken"`;
}

function told(breaks: readonly ClientBreak[]): string {
  const { client, atNs, what } = breaks[0]!;
  return `${plural(breaks.length, 'time')} a client broke the protocol, first ${client} at ${moment(atNs)}: ${what}`;
}
