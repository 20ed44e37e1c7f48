/**
 * Does the run prove anything? A lock without contention, or one that no fault touched while it was held, has not been
 * tested, and "no overlap" says nothing about it: then the verdict is `unknown`, with the reason. Never accuses.
 */

import { byKey } from '../../harness/record/facts/by-key.js';
import {
  clientsCanSee,
  type FaultInForce,
  faultFailures,
  faultsInForce,
  lateStrikes,
} from '../../harness/record/facts/faults.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { type Holds, holdsOf } from '../../harness/record/facts/holds.js';
import { sortNearlySorted } from '../../harness/record/facts/nearly-sorted.js';
import { duration, listed, moment, plural } from '../../harness/record/facts/words.js';
import { OP, OUTCOME } from '../../harness/record/history-table.js';
import type { History, Observations, RareObservation } from '../../harness/vocabulary/history.js';
import type { Checker, CheckInput, LeastWorth } from '../../harness/vocabulary/run.js';
import type { CheckerFindings } from '../../harness/vocabulary/verdict.js';
import { mostGone, nobodyGranted } from './nobody-granted.js';
import { boundPercent, ENOUGH_STRIKES, WITHOUT_FAULTS } from './strength.js';
import { countStrikes, countStruck } from './struck.js';

/**
 * Fewer holds than this, or than two a client, are too few to say anything. How many there can be is up to the keys, not to
 * the clients: fifty that queue for three locks get no more of them than ten do, and beyond those the rule asks no more.
 */
const HOLDS_AT_LEAST = 10;
const CLIENTS_THAT_COUNT = 10;

function findWhatIsUntested(input: CheckInput): CheckerFindings {
  const holds = holdsOf(input.history);
  const faults = faultsInForce(input.history);
  const struckHolds = countStruck(holds, faults, input.history);
  const strikes = countStrikes(holds, faults, input.history);
  const contended = contendedTries(holds, input.history);
  // What explains others comes before them.
  const reasons = [
    ...explainingReasons(input),
    ...noContention(holds, contended),
    ...faultsThatNeverStruck(faults, input),
    ...failoverThatNeverHappened(faults, input),
    ...(input.plan.steps.length > 0 && struckHolds === 0
      ? ['no fault was in force while a lock that it concerns was held']
      : []),
    ...fewerThanAsked({ holds: proven(holds), strikes, struckHolds }, input),
  ];
  const still = stoodStill(input.history);
  const weak = whyWeak(strikes, input);
  return {
    verdict: reasons.length > 0 ? 'unknown' : 'valid',
    ...(reasons.length === 0 && weak !== undefined && { weak }),
    notes: still && !still.isTooLong ? [...reasons, still.text] : reasons,
    violations: [],
    stats: {
      holds: proven(holds),
      strikes,
      struckHolds,
      contendedTries: contended,
      faultsStruck: faults.filter(clientsCanSee).length,
      ...acquires(input.history),
    },
  };
}

/** Why nothing can be told of a run, where that is why whatever else is open is open. */
export function explainingReasons(input: CheckInput): string[] {
  const still = stoodStill(input.history);
  const nobody = nobodyGranted(input);
  return [
    ...(still?.isTooLong ? [still.text] : []),
    ...(nobody === undefined ? [] : [nobody]),
    ...tooFew(holdsOf(input.history), input),
  ];
}

export const vacuity: Checker = {
  name: 'vacuity',
  summary: 'the run was worth something: enough holds, contention, and faults that touched a held lock',
  properties: [
    {
      holds: 'The run tested the lock: enough holds, contention, and where faults were planned strikes at held locks',
      broken: 'The run did not test the lock enough for a verdict',
      kinds: {},
    },
  ],
  judges: { models: 'all', plays: false },
  check: findWhatIsUntested,
};

function acquires({ operations: ops }: History): Record<string, number> {
  const counts = [0, 0, 0, 0];
  for (let row = 0; row < ops.count; row++) if (ops.op[row] === OP.acquire) counts[ops.outcome[row]!]!++;
  const of = (outcome: number) => counts[outcome]!;
  return {
    acquiresOk: of(OUTCOME.ok),
    acquiresFail: of(OUTCOME.fail),
    acquiresInfo: of(OUTCOME.info) + of(OUTCOME.none),
  };
}

/** Those that lasted: one that was lost before its client had the answer protected nothing, and proves nothing. */
function proven({ count, fromNs, untilNs }: Holds): number {
  let lasted = 0;
  for (let k = 0; k < count; k++) if (untilNs[k]! > fromNs[k]!) lasted++;
  return lasted;
}

function tooFew(holds: Holds, input: CheckInput): string[] {
  const { config } = input;
  const clients = Math.min(config.clients, CLIENTS_THAT_COUNT);
  const least = Math.max(HOLDS_AT_LEAST, 2 * clients);
  const count = proven(holds);
  if (count >= least) return [];
  const rule = `${HOLDS_AT_LEAST}, or two for each of ${clients === config.clients ? '' : 'up to '}${plural(clients, 'client')}`;
  const gone = nobodyGranted(input) === undefined ? mostGone(input) : undefined;
  const why = gone === undefined ? '' : `: ${gone}`;
  return [`there were only ${plural(count, 'hold')}; fewer than ${least} prove nothing (${rule})${why}`];
}

/** What whoever started the run wants it to have, above what makes it worth anything. */
function fewerThanAsked(counts: Required<LeastWorth>, { config: { atLeast }, plan }: CheckInput): string[] {
  const fewer = (count: number, least: number | undefined, what: string, flag: string) =>
    least === undefined || count >= least ? [] : [`there were only ${plural(count, what)}; ${flag} asks for ${least}`];
  return [
    ...fewer(counts.holds, atLeast?.holds, 'hold', '--min-holds'),
    // Without faults there is no strike, and what a pass is worth is counted by holds.
    ...(plan.steps.length > 0
      ? [
          ...fewer(counts.strikes, atLeast?.strikes, 'strike', '--min-strikes'),
          ...fewer(counts.struckHolds, atLeast?.struckHolds, 'struck hold', '--min-struck-holds of an earlier version'),
        ]
      : []),
  ];
}

/** Why the run, though it is worth a verdict, is not worth much of one; undefined: it is. */
function whyWeak(strikes: number, { plan }: CheckInput): string | undefined {
  if (plan.steps.length === 0) return WITHOUT_FAULTS;
  if (strikes === 0 || strikes >= ENOUGH_STRIKES) return undefined;
  return `${plural(strikes, 'strike')} met a held lock, so up to ${boundPercent(strikes)} % of such may go wrong, at 95 % confidence; ${ENOUGH_STRIKES} make that 5 %`;
}

/** As much of a run, or less than a second of it, a busy machine may take without a word. */
const STILL_UNTOLD = 0.02;
const STILL_UNTOLD_NS = 1e9;
/**
 * With more of it the run proves nothing. A harness that stands still asks for nothing, and strikes late: a run is told as one of so many
 * seconds, and then had less than three quarters of them.
 */
const STILL_AT_MOST = 0.25;

/** For how long the harness stood still while clients worked; undefined: not for long enough to be told. */
function stoodStill({ rare, endNs }: History): { text: string; isTooLong: boolean } | undefined {
  const began = rare.find((event) => event.type === 'phase');
  const healed = rare.find((event) => event.type === 'phase' && event.phase === 'heal');
  const [fromNs, untilNs] = [began?.atNs ?? 0, healed?.atNs ?? endNs];
  let stillNs = 0;
  let firstNs = Number.POSITIVE_INFINITY;
  let sinceNs = fromNs;
  const stalls = rare.flatMap((event) =>
    event.type === 'disturbance' && event.disturbance === 'harness-stall' ? [event] : [],
  );
  // What two looks tell of the same time counts once.
  for (const { beganNs, ms } of stalls.sort((a, b) => a.beganNs - b.beganNs)) {
    const endedNs = Math.min(untilNs, beganNs + ms * 1e6);
    if (endedNs <= sinceNs) continue;
    firstNs = Math.min(firstNs, Math.max(fromNs, beganNs));
    stillNs += endedNs - Math.max(sinceNs, beganNs);
    sinceNs = endedNs;
  }
  const wholeNs = untilNs - fromNs;
  if (stillNs < STILL_UNTOLD_NS || stillNs < STILL_UNTOLD * wholeNs) return undefined;
  const isTooLong = stillNs > STILL_AT_MOST * wholeNs;
  const text = `the harness stood still for ${duration(stillNs)} of ${duration(wholeNs)}, from ${moment(firstNs)} on`;
  return { text: isTooLong ? `${text}: what it has seen proves nothing` : text, isTooLong };
}

function noContention(holds: Holds, contended: number): string[] {
  const reasons: string[] = [];
  if (contended === 0) reasons.push('no client tried to take a lock while another one held it');
  if (!changedHands(holds)) reasons.push('no lock was ever held by two different clients in turn');
  return reasons;
}

function changedHands({ count, key, client }: Holds): boolean {
  const holder: number[] = [];
  for (let k = 0; k < count; k++) {
    const before = holder[key[k]!];
    if (before !== undefined && before !== client[k]) return true;
    holder[key[k]!] = client[k]!;
  }
  return false;
}

/** Acquires, whatever came of them, during which another client held the key. */
function contendedTries(holds: Holds, { operations: ops }: History): number {
  const indexes = heldByOthers(holds, ops.keys.length);
  let tries = 0;
  for (let row = 0; row < ops.count; row++) {
    if (ops.op[row] !== OP.acquire || ops.outcome[row] === OUTCOME.none) continue;
    if (indexes[ops.key[row]!]?.during(ops.sentNs[row]!, ops.readNs[row]!, ops.client[row]!)) tries++;
  }
  return tries;
}

/** For each key. */
function heldByOthers(holds: Holds, keys: number): HeldByOthers[] {
  return byKey(holds.key, holds.count, keys).map((ofKey) => new HeldByOthers(holds, ofKey));
}

/** Answers "did somebody else hold it in this time?" in O(log n): holds by their beginning, and who had held on longest. */
class HeldByOthers {
  private readonly fromNs: Float64Array;
  /** For each prefix, the two latest ends by different clients, and whose the latest is. */
  private readonly client: Int32Array;
  private readonly untilNs: Float64Array;
  private readonly nextUntilNs: Float64Array;

  constructor(holds: Holds, ofKey: Int32Array) {
    sortNearlySorted(ofKey, (a, b) => holds.fromNs[a]! - holds.fromNs[b]!);
    this.fromNs = Float64Array.from(ofKey, (k) => holds.fromNs[k]!);
    this.client = new Int32Array(ofKey.length);
    this.untilNs = new Float64Array(ofKey.length);
    this.nextUntilNs = new Float64Array(ofKey.length);
    let [longest, latestNs, nextNs] = [-1, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
    ofKey.forEach((k, at) => {
      const [client, untilNs] = [holds.client[k]!, holds.untilNs[k]!];
      if (client === longest) latestNs = Math.max(latestNs, untilNs);
      else if (untilNs > latestNs) [longest, latestNs, nextNs] = [client, untilNs, latestNs];
      else nextNs = Math.max(nextNs, untilNs);
      this.client[at] = longest;
      this.untilNs[at] = latestNs;
      this.nextUntilNs[at] = nextNs;
    });
  }

  during(fromNs: number, untilNs: number, client: number): boolean {
    const last = firstIndex(this.fromNs.length, (at) => this.fromNs[at]! >= untilNs) - 1;
    if (last < 0) return false;
    return (this.client[last] === client ? this.nextUntilNs[last]! : this.untilNs[last]!) > fromNs;
  }
}

/** Planned faults of which not one step struck, or all too late for the step of the lock at which they were to strike. */
function faultsThatNeverStruck(faults: readonly FaultInForce[], { plan, history }: CheckInput): string[] {
  const inTime = faults.filter(({ records }) => records.every(({ late }) => late === undefined));
  const struck = new Set(inTime.map(({ fault }) => fault));
  const never = [...new Set(plan.steps.map(({ fault }) => fault))].filter((fault) => !struck.has(fault));
  return never.map((fault) => {
    const why = new Set(
      [...faultFailures(history), ...lateStrikes(history)].flatMap((record) =>
        record.fault === fault ? [record.late ?? record.proof ?? record.did] : [],
      ),
    );
    if (faults.some((one) => one.fault === fault))
      return `the planned fault "${fault}" struck too late each time (${listed([...why])})`;
    return `the planned fault "${fault}" never struck (${why.size > 0 ? listed([...why]) : 'none of its steps was reached'})`;
  });
}

/** A primary was to be replaced, but no server was seen to change from replica to primary. */
function failoverThatNeverHappened(faults: readonly FaultInForce[], { observations }: CheckInput): string[] {
  const failovers = faults.filter(({ records }) =>
    records.some(({ effects }) => effects.some(({ kind }) => kind === 'replaced')),
  );
  if (failovers.length === 0 || !observations.rare.some(([, one]) => tellsRole(one))) return [];
  const promotions = promotionsIn(observations);
  const happened = failovers.some((fault) =>
    promotions.some((promotedNs) => promotedNs >= fault.fromNs && promotedNs <= fault.untilNs + SETTLE_NS),
  );
  return happened ? [] : ['a failover was planned and struck, but no replica was seen to become primary'];
}

/** Until a failover is through that was under way when the fault was healed. */
const SETTLE_NS = 10e9;

function tellsRole(one: RareObservation): one is Extract<RareObservation, { type: 'sample' | 'role' }> {
  return one.type === 'sample' || one.type === 'role';
}

function promotionsIn({ rare }: Observations): number[] {
  const roles = new Map<string, string>();
  return rare.flatMap(([, observation]) => {
    if (!tellsRole(observation)) return [];
    const before = roles.get(observation.node);
    roles.set(observation.node, observation.role);
    return before === 'replica' && observation.role === 'primary' ? [observation.atNs] : [];
  });
}
