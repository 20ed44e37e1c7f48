/**
 * Measures how late clients learned that they had lost a lock. Never decides.
 *
 * A hold is lost, whatever its client believes, as soon as its lease is over, or as another client had the same key, granted
 * certainly later (`hold-order.ts`); whichever is first, if the client acted on after it. The client learned of it by a
 * `lost` notice, by an extension that was refused, or by a release that was: the first of them. One that never did acted on
 * until it ended its hold by itself, or the run ended.
 *
 * Excludes the lease of a lock which renews itself and does not say when (feature `renews`, and no `renewed` notice of that
 * client's): how far it ran is unknown. Of a semaphore and of readers the lease alone counts: others may hold beside them.
 */

import { renewingClients } from '../../harness/record/facts/clients.js';
import { Earliest } from '../../harness/record/facts/earliest.js';
import { nextHolders } from '../../harness/record/facts/hold-order.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { trustedClients } from '../../harness/record/facts/operations.js';
import { NOTICE, OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Measurement } from '../../harness/vocabulary/verdict.js';
import { summaryOfNs } from './quantiles.js';

const QUANTILES = { p50: 0.5, p99: 0.99 };
/** The worst holds that are shown one by one, of those whose client learned of it and of those whose never did. */
const WORST_SHOWN = 5;

/** A hold that was lost at `lostNs`, and whose client knew, or ended it, at `untilNs`. */
interface Unaware {
  hold: number;
  lostNs: number;
  untilNs: number;
}

function measureLossToNotice(input: CheckInput): CheckerFindings {
  const { history } = input;
  const holds = holdsOf(history);
  const lostNs = lossesOf(input, holds);
  const toldNs = noticesOf(history, holds);
  const late = new Lateness(holds);
  const never = new Lateness(holds);
  for (let hold = 0; hold < holds.count; hold++) {
    // Ended in time, or told in time: nothing was lost unawares.
    if (!(lostNs[hold]! < Math.min(holds.untilNs[hold]!, toldNs[hold]!))) continue;
    if (toldNs[hold]! < Number.POSITIVE_INFINITY) late.add({ hold, lostNs: lostNs[hold]!, untilNs: toldNs[hold]! });
    else never.add({ hold, lostNs: lostNs[hold]!, untilNs: holds.untilNs[hold]! });
  }
  return {
    verdict: 'valid',
    notes: [],
    violations: [],
    stats: { lossesNoticed: late.count, lossesNeverNoticed: never.count },
    measurements: [
      ...late.measurements('holds whose client learned that they were lost', 'learned that it was lost'),
      ...never.measurements('holds whose client never learned that they were lost', 'never learned that it was lost'),
    ],
  };
}

export const lossToNotice: Checker = {
  name: 'loss-to-notice',
  summary: 'measures how long clients went on before they knew that they had lost a lock',
  properties: [],
  judges: { models: 'all', plays: false },
  check: measureLossToNotice,
};

/** By number of the hold: the first instant at which it was lost; Infinity: it is not known that it ever was. */
function lossesOf({ history, model }: CheckInput, holds: Holds): Float64Array {
  const next = nextHolders(holds, history.operations.keys.length, model);
  const silent = renewsSilently(history);
  return Float64Array.from(next, (after, k) => {
    const takenNs = after < 0 ? Number.POSITIVE_INFINITY : holds.fromNs[after]!;
    const leaseEndNs = silent[holds.client[k]!] ? Number.POSITIVE_INFINITY : holds.leaseEndNs[k]!;
    // A grant that came after its lease had ended was lost when it came.
    return Math.max(holds.fromNs[k]!, Math.min(takenNs, leaseEndNs));
  });
}

/** By client: 1 where its lock renews its holds and has never said when. */
function renewsSilently(history: History): Uint8Array {
  const { operations: ops, notices } = history;
  const renews = renewingClients(history);
  const silent = Uint8Array.from(ops.clients, (client) => (renews.has(client) ? 1 : 0));
  for (let at = 0; at < notices.count; at++) if (notices.type[at] === NOTICE.renewed) silent[notices.client[at]!] = 0;
  return silent;
}

/** By number of the hold: when its client first learned that it is lost, or cannot be kept any longer; Infinity: never. */
function noticesOf(history: History, holds: Holds): Float64Array {
  const { operations: ops, notices } = history;
  const { returnNs } = intervalsOf(history);
  const numbers = holds.ofRow;
  const trusted = trustedClients(history);
  const toldNs = new Float64Array(holds.count).fill(Number.POSITIVE_INFINITY);
  const tell = (acquire: number, ns: number) => {
    const k = acquire < 0 ? -1 : numbers[acquire]!;
    if (k >= 0 && ns < toldNs[k]!) toldNs[k] = ns;
  };
  for (let row = 0; row < ops.count; row++)
    if (ops.outcome[row] === OUTCOME.fail && (ops.op[row] === OP.extend || ops.op[row] === OP.release))
      tell(ops.hold[row]!, returnNs[row]!);
  for (let at = 0; at < notices.count; at++)
    if (notices.type[at] === NOTICE.lost)
      tell(notices.hold[at]!, trusted[notices.client[at]!] ? notices.clientNs[at]! : notices.atNs[at]!);
  return toldNs;
}

/** Holds of one kind: all are measured, and the worst shown. */
class Lateness {
  private readonly lengthsNs: Float64Array;
  private readonly worst = new Earliest<Unaware>(
    WORST_SHOWN,
    (a, b) => b.untilNs - b.lostNs - (a.untilNs - a.lostNs) || a.hold - b.hold,
  );

  constructor(private readonly holds: Holds) {
    this.lengthsNs = new Float64Array(holds.count);
  }

  get count(): number {
    return this.worst.count;
  }

  add(one: Unaware): void {
    this.lengthsNs[this.count] = one.untilNs - one.lostNs;
    this.worst.add(one);
  }

  /** A summary of `all`, then the worst `one` by one; nothing if there are none. */
  measurements(all: string, one: string): Measurement[] {
    const values = summaryOfNs(this.lengthsNs.slice(0, this.count), QUANTILES);
    if (!values) return [];
    return [
      { name: 'loss-to-notice', of: all, values, evidence: [] },
      ...this.worst.list().map(({ hold: k, lostNs, untilNs }): Measurement => {
        const { client, key, evidence } = this.holds.hold(k);
        const of = `${client}'s hold of ${key}, ${one}`;
        const values = { unawareMs: (untilNs - lostNs) / 1e6 };
        return { name: 'loss-to-notice', of, key, fromNs: lostNs, untilNs, values, evidence };
      }),
    ];
  }
}
