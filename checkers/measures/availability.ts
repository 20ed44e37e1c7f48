/**
 * Measures for how long locks could not be acquired, and how long it took after each fault until they could again. Never
 * decides.
 *
 * **Unavailable** is what tries show, and only that. A try that failed without a proper answer (refused for another reason
 * than that somebody holds or queues, or of unknown outcome) proves it from its beginning to its end, but not before the last
 * proper answer that anybody got (a grant, or `held`), and not while somebody certainly held under a running lease: one
 * client that is cut off for 5 s while others go on counts for no more than the time since the last of their answers. Between
 * two such tries without a proper answer between them it is taken to have gone on. So it is a lower bound where no client
 * tried. Tries that ended with their own client's death prove nothing.
 *
 * **Recovery** is the time from a fault's blow (of a composite: its last), and from its healing, to the first grant of an
 * acquire that was *begun* after it; so it contains what a client waits for those who hold rightly.
 */

import { byKey, countBelow, sortedBy } from '../../harness/record/facts/by-key.js';
import { nameOfFault, strikeOf } from '../../harness/record/facts/fault-names.js';
import { type FaultInForce, faultsInForce } from '../../harness/record/facts/faults.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { holdsOf } from '../../harness/record/facts/holds.js';
import { intervalsOf } from '../../harness/record/facts/intervals.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { CheckerFindings, Measurement } from '../../harness/vocabulary/verdict.js';

/** Refusals by a lock that works: somebody holds it, or is to have it next. */
const PROPER_REFUSALS = ['held', 'queued-behind'];

/** What the measurement of a key is about where it is not about a fault. */
const WHOLE_RUN = 'the whole run';

function measureAvailability({ history }: CheckInput): CheckerFindings {
  const { operations: ops } = history;
  const faults = faultsInForce(history);
  const measurements: Measurement[] = [];
  for (const rows of byKey(ops.key, ops.count, ops.keys.length, (row) => ops.op[row] === OP.acquire)) {
    if (rows.length === 0) continue;
    const tries = new Tries(history, rows);
    measurements.push(tries.availability());
    for (const fault of faults) measurements.push(...tries.recovery(fault), ...tries.availabilityUnder(fault));
  }
  return {
    verdict: 'valid',
    notes: [],
    violations: [],
    stats: {
      ...worst('recoveryAfterStrikeMsMax', measurements, ['recovery', 'afterStrikeMs'], Math.max),
      ...worst('recoveryAfterHealMsMax', measurements, ['recovery', 'afterHealMs'], Math.max),
      ...worst('availablePercentMin', measurements, ['availability', 'availablePercent'], Math.min),
    },
    measurements,
  };
}

export const availability: Checker = {
  name: 'availability',
  summary: 'measures how long locks could not be acquired, and how soon after each fault they could again',
  properties: [],
  judges: { models: 'all', plays: false },
  check: measureAvailability,
};

/** The worst of what was measured, as a counter for the report. */
function worst(
  stat: string,
  measurements: readonly Measurement[],
  [name, value]: readonly [name: string, value: string],
  worse: (a: number, b: number) => number,
): Record<string, number> {
  const values = measurements.flatMap((one) => (one.name === name ? (one.values[value] ?? []) : []));
  return values.length > 0 ? { [stat]: values.reduce((a, b) => worse(a, b)) } : {};
}

/** A time in which a key could not be acquired; `row` is the try that showed it to the end. */
interface Outage {
  fromNs: number;
  untilNs: number;
  row: number;
}

/** All tries to have one key. */
class Tries {
  private readonly key: string;
  private readonly callNs: Float64Array;
  private readonly returnNs: Float64Array;
  private readonly byCall: Int32Array;
  private readonly grantsByCall: Int32Array;
  /** Of the grants from each place of `grantsByCall` on, the one that was had first. */
  private readonly firstHad: Int32Array;
  /** In order; they do not overlap. */
  private readonly outages: readonly Outage[];
  private readonly fromNs: number;
  private readonly untilNs: number;

  constructor(
    private readonly history: History,
    rows: Int32Array,
  ) {
    const { operations: ops } = history;
    this.key = ops.keys[ops.key[rows[0]!]!]!;
    const { callNs, returnNs } = intervalsOf(history);
    this.callNs = callNs;
    this.returnNs = returnNs;
    this.byCall = sortedBy(rows, (a, b) => callNs[a]! - callNs[b]!);
    this.grantsByCall = this.byCall.filter((row) => ops.outcome[row] === OUTCOME.ok);
    this.firstHad = this.grantsByCall.slice();
    for (let at = this.firstHad.length - 2; at >= 0; at--)
      if (returnNs[this.firstHad[at + 1]!]! < returnNs[this.firstHad[at]!]!) this.firstHad[at] = this.firstHad[at + 1]!;
    this.outages = this.findOutages(rows);
    this.fromNs = callNs[this.byCall[0]!]!;
    this.untilNs = this.fromNs;
    for (const row of rows)
      if (returnNs[row]! < Number.POSITIVE_INFINITY) this.untilNs = Math.max(this.untilNs, returnNs[row]!);
  }

  /** From the first try to the end of the last. */
  availability(): Measurement {
    const { fromNs, untilNs } = this;
    return this.measured(WHOLE_RUN, fromNs, untilNs);
  }

  /** While the fault was in force; nothing where no try began meanwhile. */
  availabilityUnder(fault: FaultInForce): Measurement[] {
    const fromNs = strikeOf(fault).atNs;
    const untilNs = Math.min(fault.untilNs, this.history.endNs);
    if (!(untilNs > fromNs) || this.begunBetween(fromNs, untilNs) === 0) return [];
    return [this.measured(nameOfFault(fault), fromNs, untilNs)];
  }

  /** Nothing where no try began after the blow. */
  recovery(fault: FaultInForce): Measurement[] {
    const { endNs } = this.history;
    const strike = strikeOf(fault);
    const heal = fault.records.find(({ state }) => state === 'heal');
    const values: Record<string, number> = {};
    const lines = [strike.i, ...(heal ? [heal.i] : [])];
    const measure = (sinceNs: number, after: string, never: string) => {
      if (this.begunBetween(sinceNs, Number.POSITIVE_INFINITY) === 0) return;
      const grant = this.firstGrantAfter(sinceNs);
      if (grant < 0) values[never] = (endNs - sinceNs) / 1e6;
      else {
        values[after] = (this.returnNs[grant]! - sinceNs) / 1e6;
        lines.push(this.history.operations.completionLine[grant]!);
      }
    };
    measure(strike.atNs, 'afterStrikeMs', 'noneAfterStrikeForMs');
    if (heal) measure(heal.atNs, 'afterHealMs', 'noneAfterHealForMs');
    if (Object.keys(values).length === 0) return [];
    const evidence = [...new Set(lines)].sort((a, b) => a - b);
    const untilNs = Math.min(fault.untilNs, endNs);
    return [
      { name: 'recovery', of: nameOfFault(fault), key: this.key, fromNs: strike.atNs, untilNs, values, evidence },
    ];
  }

  private measured(of: string, fromNs: number, untilNs: number): Measurement {
    const { operations: ops } = this.history;
    let [unavailableNs, outages, longestNs, longest] = [0, 0, 0, -1];
    for (let at = this.firstOutageAfter(fromNs); at < this.outages.length; at++) {
      const outage = this.outages[at]!;
      if (outage.fromNs >= untilNs) break;
      const ns = Math.min(outage.untilNs, untilNs) - Math.max(outage.fromNs, fromNs);
      unavailableNs += ns;
      outages++;
      if (ns > longestNs) [longestNs, longest] = [ns, outage.row];
    }
    const wholeNs = untilNs - fromNs;
    const values = {
      availablePercent: wholeNs > 0 ? 100 * (1 - unavailableNs / wholeNs) : 100,
      unavailableMs: unavailableNs / 1e6,
      outages,
      longestOutageMs: longestNs / 1e6,
    };
    const evidence = longest < 0 ? [] : [ops.invokeLine[longest]!, ops.completionLine[longest]!];
    return { name: 'availability', of, key: this.key, fromNs, untilNs, values, evidence };
  }

  private begunBetween(fromNs: number, untilNs: number): number {
    return countBelow(this.byCall, this.callNs, untilNs) - countBelow(this.byCall, this.callNs, fromNs, 'or equal');
  }

  private firstGrantAfter(ns: number): number {
    return this.firstHad[countBelow(this.grantsByCall, this.callNs, ns, 'or equal')] ?? -1;
  }

  private firstOutageAfter(ns: number): number {
    return firstIndex(this.outages.length, (at) => this.outages[at]!.untilNs > ns);
  }

  private findOutages(rows: Int32Array): Outage[] {
    const { callNs, returnNs } = this;
    const { operations: ops } = this.history;
    const holds = holdsOf(this.history);
    const numbers = holds.ofRow;
    const isProper = ops.reasons.map((reason) => PROPER_REFUSALS.includes(reason));
    const byReturn = sortedBy(rows, (a, b) => returnNs[a]! - returnNs[b]! || ops.outcome[a]! - ops.outcome[b]!);
    const diedNs = this.deaths();
    const outages: Outage[] = [];
    let properNs = Number.NEGATIVE_INFINITY;
    let heldUntilNs = Number.NEGATIVE_INFINITY;
    let current: Outage | undefined;
    for (const row of byReturn) {
      const ok = ops.outcome[row] === OUTCOME.ok;
      if (ok || (ops.outcome[row] === OUTCOME.fail && isProper[ops.reason[row]!])) {
        properNs = returnNs[row]!;
        const k = ok ? numbers[row]! : -1;
        if (k >= 0) heldUntilNs = Math.max(heldUntilNs, Math.min(holds.untilNs[k]!, holds.leaseEndNs[k]!));
        current = undefined;
        continue;
      }
      if (ops.outcome[row] === OUTCOME.none || diedNs[ops.client[row]!]! < returnNs[row]!) continue;
      const fromNs = Math.max(callNs[row]!, properNs, heldUntilNs);
      if (!(returnNs[row]! > fromNs)) continue;
      if (current) {
        current.fromNs = Math.min(current.fromNs, fromNs);
        current.untilNs = returnNs[row]!;
        current.row = row;
      } else {
        current = { fromNs, untilNs: returnNs[row]!, row };
        outages.push(current);
      }
    }
    return outages;
  }

  /** By client: the last instant at which its process may have acted; Infinity: it did not die. */
  private deaths(): number[] {
    const { operations: ops, rare } = this.history;
    const diedNs = new Map<string, number>();
    for (const event of rare) if (event.type === 'client-down') diedNs.set(event.client, event.endNs);
    return ops.clients.map((client) => diedNs.get(client) ?? Number.POSITIVE_INFINITY);
  }
}
