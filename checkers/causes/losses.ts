/**
 * What the deployment did to grants, counted and in words for anybody.
 *
 * What is counted is grants, not overlaps: a grant that was lost once may stand in many overlaps. An overlap of two holders is of
 * one lost grant, that of the earlier one. Of more holders at once it is not known whose was lost, so there overlaps are counted;
 * and so are findings of other kinds.
 */

import { countOfClass } from '../../harness/record/facts/classes.js';
import { listed, plural } from '../../harness/record/facts/words.js';
import { CLASSES } from '../../harness/record/schemas/violation-class.js';
import type { CauseName, Violation } from '../../harness/vocabulary/verdict.js';
import { causePhrase } from './descriptions.js';

/** How the link of a chain ends that tells which node took over: all that one takeover lost has this link in common. */
export const WAS_REPLICA = 'was a replica';
export const SAYS_PRIMARY = 'says that it is the primary';

/** What was lost for one cause: so many grants, by so many takeovers, where these are known. */
interface Lost {
  grants: number;
  takeovers: number;
}

interface LossWords {
  /** As in the verdict: `a failover lost 81 grants`. */
  short(lost: Lost): string;
  /** After the service's name: `lost 81 grants in a failover`. */
  long(lost: Lost): string;
}

const grants = (value: number) => plural(value, 'grant');
const renewals = (value: number) => plural(value, 'renewal');
const failovers = (value: number) => (value === 1 ? 'a failover' : value === 0 ? 'failovers' : `${value} failovers`);

const byFailover = (what: (value: number) => string): LossWords => ({
  short: ({ grants: many, takeovers }) => `${failovers(takeovers)} lost ${what(many)}`,
  long: ({ grants: many, takeovers }) => `lost ${what(many)} in ${failovers(takeovers)}`,
});

const WORDS: Record<string, LossWords> = {
  'failover-lost-write': byFailover(grants),
  'failover-lost-renewal': byFailover(renewals),
  'failover-lost-row': byFailover(grants),
  'failover-lost-extension': byFailover(renewals),
  'split-brain': {
    short: ({ grants: many }) => `a replaced primary granted ${plural(many, 'held lock')} again`,
    long: ({ grants: many }) => `granted ${plural(many, 'held lock')} again, by a primary that had been replaced`,
  },
  'session-lost': {
    short: ({ grants: many }) => `${grants(many)} went with a server's sessions`,
    long: ({ grants: many }) => `lost ${grants(many)} with a server's sessions`,
  },
  'node-forgot': {
    short: ({ grants: many }) => `a server that restarted forgot ${grants(many)}`,
    long: ({ grants: many }) => `forgot ${grants(many)} in a restart`,
  },
  evicted: {
    short: ({ grants: many }) => `a full server evicted ${grants(many)}`,
    long: ({ grants: many }) => `evicted ${grants(many)} from a full server, which noeviction prevents`,
  },
  'clock-jumped': {
    short: ({ grants: many }) => `a clock that jumped ended ${grants(many)} early`,
    long: ({ grants: many }) => `ended ${grants(many)} early, by a clock that jumped`,
  },
  'clock-ran-fast': {
    short: ({ grants: many }) => `a clock that ran fast ended ${grants(many)} early`,
    long: ({ grants: many }) => `ended ${grants(many)} early, by a clock that ran fast`,
  },
  'released-by-other': {
    short: ({ grants: many }) => `a stranger's command removed ${grants(many)}`,
    long: ({ grants: many }) => `removed ${grants(many)} at a stranger's command, which access rules prevent`,
  },
};

/** What the deployment lost, of violations that blame it: `a failover lost 81 grants and a full server evicted 2 grants`. */
export function lossesIn(violations: readonly Violation[], form: keyof LossWords): string {
  const byCause = new Map<CauseName, Violation[]>();
  for (const violation of violations)
    byCause.set(violation.cause.name, [...(byCause.get(violation.cause.name) ?? []), violation]);
  return listed([...byCause].map(([name, ofIt]) => lossIn(name, ofIt, form)));
}

function lossIn(name: CauseName, violations: readonly Violation[], form: keyof LossWords): string {
  const isPair = ({ class: of, kind, holds }: Violation) =>
    of === 'exclusion' && kind === 'overlap' && holds.length === 2;
  const pairs = violations.filter(isPair);
  const others = listed(countsOf(violations.filter((one) => !isPair(one))));
  const words = Object.hasOwn(WORDS, name) ? WORDS[name] : undefined;
  if (words && pairs.length > 0) {
    const lost = new Set(pairs.map(({ holds: [first] }) => `${first!.client} ${first!.id}`));
    const told = words[form]({ grants: lost.size, takeovers: takeoversIn(pairs) });
    return form === 'short' || others === '' ? told : `${told} (and by that ${others})`;
  }
  const all = listed(countsOf(violations));
  return form === 'short' ? `${all}: ${causePhrase(name)}` : `is to blame for ${all} (${causePhrase(name)})`;
}

function countsOf(violations: readonly Violation[]): string[] {
  return CLASSES.flatMap((name) => {
    const times = violations.filter((violation) => violation.class === name).length;
    return times > 0 ? [countOfClass(times, name)] : [];
  });
}

function takeoversIn(violations: readonly Violation[]): number {
  const lines = violations.flatMap(({ cause }) =>
    cause.chain.flatMap(({ text, observation }) =>
      text.endsWith(WAS_REPLICA) || text.endsWith(SAYS_PRIMARY) ? [observation] : [],
    ),
  );
  return new Set(lines.filter((line) => line !== undefined)).size;
}
