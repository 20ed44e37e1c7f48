/**
 * Which holds a fault struck: those during which one that concerns them was in force. Faults on servers concern all holds, one on
 * clients only theirs. Never accuses; what is struck is what a pass is worth something about.
 *
 * A strike is one injection and its healing that met at least one hold. It is what a pass is counted by: a fault on a server meets
 * every hold there is at once, and these are one try of the lock, not many. Injections that overlap in time are one strike.
 */
import { clientsCanSee, type FaultInForce, faultsInForce } from '../../harness/record/facts/faults.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { History } from '../../harness/vocabulary/history.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { HoldLength, StruckByFault } from '../../harness/vocabulary/verdict.js';

/** How many holds these faults struck, each counted once. */
export function countStruck(holds: Holds, faults: readonly FaultInForce[], history: History): number {
  const strikes = new Strikes(holds, faults, history.operations.clients);
  let struck = 0;
  for (let k = 0; k < holds.count; k++) if (strikes.touch(k)) struck++;
  return struck;
}

/** How many strikes these faults made. */
export function countStrikes(holds: Holds, faults: readonly FaultInForce[], history: History): number {
  return together(faults).filter((some) => new Strikes(holds, some, history.operations.clients).touchAny()).length;
}

function lengthsMet(strikes: Strikes, lengths: readonly (HoldLength | undefined)[]): Set<HoldLength> {
  const met = new Set<HoldLength>();
  lengths.forEach((length, k) => {
    if (length !== undefined && !met.has(length) && strikes.touch(k)) met.add(length);
  });
  return met;
}

/** Those that a client can see, by what overlaps in time. They come in the order in which they began. */
function together(faults: readonly FaultInForce[]): FaultInForce[][] {
  const groups: { untilNs: number; faults: FaultInForce[] }[] = [];
  for (const fault of faults.filter(clientsCanSee)) {
    const last = groups.at(-1);
    if (last && fault.fromNs <= last.untilNs) {
      last.untilNs = Math.max(last.untilNs, fault.untilNs);
      last.faults.push(fault);
    } else groups.push({ untilNs: fault.untilNs, faults: [fault] });
  }
  return groups.map((group) => group.faults);
}

/**
 * The same for each fault of the plan, also for one that struck none, by how long the hold lasted. A hold that two faults struck
 * counts for both, and so does a strike of both. Undefined: nothing was planned.
 */
export function struckByFault({ history, plan, config }: CheckInput): StruckByFault | undefined {
  if (plan.steps.length === 0) return undefined;
  const holds = holdsOf(history);
  const inForce = faultsInForce(history);
  const lengths = Array.from({ length: holds.count }, (_, k) => lengthOf(holds, k, config.leaseMs));
  const counted = (counts: (k: number) => boolean) => {
    const by: Record<HoldLength, number> = { brief: 0, short: 0, long: 0, over: 0 };
    lengths.forEach((length, k) => {
      if (length !== undefined && counts(k)) by[length]++;
    });
    return by;
  };
  const groups = together(inForce);
  const names = [...new Set(plan.steps.map(faultOf))].sort();
  return {
    holds: counted(() => true),
    faults: names.map((fault) => {
      const isIts = ({ step }: FaultInForce) => plan.steps[step] !== undefined && faultOf(plan.steps[step]) === fault;
      const struck = new Strikes(holds, inForce.filter(isIts), history.operations.clients);
      const strikes: Record<HoldLength, number> = { brief: 0, short: 0, long: 0, over: 0 };
      for (const its of groups.map((group) => group.filter(isIts)).filter((some) => some.length > 0))
        for (const length of lengthsMet(new Strikes(holds, its, history.operations.clients), lengths))
          strikes[length]++;
      return { fault, struck: counted((k) => struck.touch(k)), strikes };
    }),
  };
}

/** As `--nemesis` has it: with `:client` where it strikes clients, be it the one that holds a lock. */
function faultOf({ fault, target }: Pick<PlanStep, 'fault' | 'target'>): string {
  return target === 'client' || target === 'holder' ? `${fault}:client` : fault;
}

/** Undefined: it was lost before its client had the answer. */
function lengthOf({ fromNs, untilNs, leaseMs }: Holds, k: number, usualLeaseMs: number): HoldLength | undefined {
  const parts = (untilNs[k]! - fromNs[k]!) / 1e6 / (leaseMs[k]! || usualLeaseMs);
  if (!(parts > 0)) return undefined;
  if (parts < 1 / 10) return 'brief';
  if (parts < 1 / 3) return 'short';
  return parts <= 1 ? 'long' : 'over';
}

class Strikes {
  private readonly covered: Covered;
  private readonly byClient: FaultInForce[][];

  constructor(
    private readonly holds: Holds,
    faults: readonly FaultInForce[],
    clients: readonly string[],
  ) {
    const seen = faults.filter(clientsCanSee);
    const isClient = new Set(clients);
    this.covered = new Covered(
      seen.filter((fault) =>
        fault.records.some(({ targets }) => targets.length === 0 || targets.some((name) => !isClient.has(name))),
      ),
    );
    this.byClient = clients.map((client) =>
      seen.filter((fault) => fault.records.some(({ targets }) => targets.includes(client))),
    );
  }

  touchAny(): boolean {
    for (let k = 0; k < this.holds.count; k++) if (this.touch(k)) return true;
    return false;
  }

  /** Whether one of them was in force during that hold, and concerned it. */
  touch(k: number): boolean {
    const { holds } = this;
    const [fromNs, untilNs] = [holds.fromNs[k]!, holds.untilNs[k]!];
    if (untilNs <= fromNs) return false;
    const endNs = holds.endedByDeath(k) ? untilNs + READ_BACK_NS : untilNs;
    const onClient = this.byClient[holds.client[k]!]!;
    return (
      this.covered.touches(fromNs, untilNs) || onClient.some((fault) => fault.untilNs > fromNs && fault.fromNs <= endNs)
    );
  }
}

/** A strike is recorded when it has been read back, and by then the hold that a kill ended is over. */
const READ_BACK_NS = 2e9;

/** The times during which at least one fault was in force. */
class Covered {
  private readonly spans: [fromNs: number, untilNs: number][] = [];

  constructor(faults: readonly FaultInForce[]) {
    for (const { fromNs, untilNs } of faults) {
      const last = this.spans.at(-1);
      if (last && fromNs <= last[1]) last[1] = Math.max(last[1], untilNs);
      else this.spans.push([fromNs, untilNs]);
    }
  }

  touches(fromNs: number, untilNs: number): boolean {
    return this.spans.some((span) => span[0] < untilNs && span[1] > fromNs);
  }
}
