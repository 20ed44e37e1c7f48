/**
 * Does the run prove anything? A lock that nobody contended for, or that no fault touched while it was held, has not been
 * tested, and "no overlap" says nothing about it: then the verdict is `unknown`, with the reason. Never accuses.
 */
import type { Checker, CheckInput, Hold, Observation } from '../harness/api.js';
import { type FaultInForce, faultFailures, faultsInForce } from './faults.js';
import { holdsOf } from './holds.js';
import { type Operation, operationsOf } from './operations.js';
import { listed, plural } from './words.js';

/**
 * Fewer holds than this, or than two a client, are too few to say anything. How many there can be is up to the keys, not to
 * the clients: fifty that queue for three locks get no more of them than ten do, and beyond those the rule asks no more.
 */
const HOLDS_AT_LEAST = 10;
const CLIENTS_THAT_COUNT = 10;

export const vacuity: Checker = (input) => {
  const operations = operationsOf(input.history);
  const holds = holdsOf(input.history);
  const faults = faultsInForce(input.history);
  const struckHolds = countStruck(holds, faults, clientNames(input));
  const contended = contendedTries(holds, operations);
  const reasons = [
    ...tooFew(holds, input),
    ...noContention(holds, contended),
    ...faultsThatNeverStruck(faults, input),
    ...failoverThatNeverHappened(faults, input),
    ...(input.plan.steps.length > 0 && struckHolds === 0
      ? ['no fault was in force while a lock that it concerns was held']
      : []),
  ];
  const outcomes = (type: 'ok' | 'fail' | 'info') =>
    operations.filter(({ invoke, completion }) => invoke.op === 'acquire' && (completion?.type ?? 'info') === type)
      .length;
  return {
    checker: 'vacuity',
    verdict: reasons.length > 0 ? 'unknown' : 'valid',
    notes: reasons,
    violations: [],
    stats: {
      holds: holds.length,
      struckHolds,
      contendedTries: contended,
      faultsStruck: faults.length,
      acquiresOk: outcomes('ok'),
      acquiresFail: outcomes('fail'),
      acquiresInfo: outcomes('info'),
    },
  };
};

/**
 * How much a pass is worth. If each of `count` holds had independently been violated with probability p, none would have
 * been with probability (1 − p)^count; the largest p for which that is still at least 5 % is the bound. 41 holds: 7.1 %.
 */
export function strengthOf(count: number, what: string): string | undefined {
  if (count === 0) return undefined;
  const percent = (1 - 0.05 ** (1 / count)) * 100;
  return `0 of ${plural(count, what)} violated; at most ${percent.toPrecision(2)} % at 95 %`;
}

function tooFew(holds: readonly Hold[], { config }: CheckInput): string[] {
  const clients = Math.min(config.clients, CLIENTS_THAT_COUNT);
  const least = Math.max(HOLDS_AT_LEAST, 2 * clients);
  if (holds.length >= least) return [];
  const rule = `${HOLDS_AT_LEAST}, or two for each of ${clients === config.clients ? '' : 'up to '}${plural(clients, 'client')}`;
  return [`there were only ${plural(holds.length, 'hold')}; fewer than ${least} prove nothing (${rule})`];
}

function noContention(holds: readonly Hold[], contended: number): string[] {
  const reasons: string[] = [];
  if (contended === 0) reasons.push('no client tried to take a lock while another one held it');
  const holder = new Map<string, string>();
  const changedHands = holds.some(({ key, client }) => {
    const before = holder.get(key);
    holder.set(key, client);
    return before !== undefined && before !== client;
  });
  if (!changedHands) reasons.push('no lock was ever held by two different clients in turn');
  return reasons;
}

/** Acquires, whatever came of them, during which another client held the key. */
function contendedTries(holds: readonly Hold[], operations: readonly Operation[]): number {
  const byKey = new Map<string, Hold[]>();
  for (const hold of holds) {
    const ofKey = byKey.get(hold.key);
    if (ofKey) ofKey.push(hold);
    else byKey.set(hold.key, [hold]);
  }
  const indexes = new Map([...byKey].map(([key, ofKey]) => [key, new HeldByOthers(ofKey)]));
  return operations.filter(({ invoke, completion }) => {
    if (invoke.op !== 'acquire' || !completion) return false;
    return indexes.get(invoke.key)?.during(invoke.atNs, completion.atNs, invoke.client) ?? false;
  }).length;
}

/** Answers "did somebody else hold it in this time?" in O(log n): holds by their beginning, and who had held on longest. */
class HeldByOthers {
  private readonly holds: readonly Hold[];
  /** For each prefix of `holds`, the two latest ends by different clients. */
  private readonly latest: { client: string; untilNs: number; nextUntilNs: number }[] = [];

  constructor(holds: readonly Hold[]) {
    this.holds = [...holds].sort((a, b) => a.fromNs - b.fromNs);
    let best = { client: '', untilNs: Number.NEGATIVE_INFINITY, nextUntilNs: Number.NEGATIVE_INFINITY };
    for (const { client, untilNs } of this.holds) {
      if (client === best.client) best = { ...best, untilNs: Math.max(best.untilNs, untilNs) };
      else if (untilNs > best.untilNs) best = { client, untilNs, nextUntilNs: best.untilNs };
      else best = { ...best, nextUntilNs: Math.max(best.nextUntilNs, untilNs) };
      this.latest.push(best);
    }
  }

  during(fromNs: number, untilNs: number, client: string): boolean {
    let [low, high] = [0, this.holds.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.holds[middle]!.fromNs < untilNs) low = middle + 1;
      else high = middle;
    }
    const best = this.latest[low - 1];
    return best !== undefined && (best.client === client ? best.nextUntilNs : best.untilNs) > fromNs;
  }
}

/** Holds during which a fault that concerns them was in force: one on servers concerns all, one on clients only theirs. */
function countStruck(holds: readonly Hold[], faults: readonly FaultInForce[], clients: ReadonlySet<string>): number {
  const onServers = faults.filter((fault) =>
    fault.records.some(({ targets }) => targets.length === 0 || targets.some((name) => !clients.has(name))),
  );
  const covered = new Covered(onServers);
  const byClient = new Map<string, FaultInForce[]>();
  for (const fault of faults) {
    for (const name of new Set(fault.records.flatMap(({ targets }) => targets))) {
      if (clients.has(name)) byClient.set(name, [...(byClient.get(name) ?? []), fault]);
    }
  }
  return holds.filter(
    (hold) =>
      covered.touches(hold.fromNs, hold.untilNs) ||
      byClient.get(hold.client)?.some((fault) => fault.untilNs > hold.fromNs && fault.fromNs <= endFor(hold)),
  ).length;
}

/** A strike is recorded when it has been read back, and by then the hold that a kill ended is over. */
const READ_BACK_NS = 2e9;

function endFor(hold: Hold): number {
  return hold.endedBy === 'client-down' ? hold.untilNs + READ_BACK_NS : hold.untilNs;
}

/** The times during which at least one fault was in force. */
class Covered {
  private readonly spans: [fromNs: number, untilNs: number][] = [];

  constructor(faults: readonly FaultInForce[]) {
    for (const { fromNs, untilNs } of [...faults].sort((a, b) => a.fromNs - b.fromNs)) {
      const last = this.spans.at(-1);
      if (last && fromNs <= last[1]) last[1] = Math.max(last[1], untilNs);
      else this.spans.push([fromNs, untilNs]);
    }
  }

  touches(fromNs: number, untilNs: number): boolean {
    return this.spans.some((span) => span[0] < untilNs && span[1] > fromNs);
  }
}

/** Planned faults of which not one step struck. */
function faultsThatNeverStruck(faults: readonly FaultInForce[], { plan, history }: CheckInput): string[] {
  const struck = new Set(faults.map(({ fault }) => fault));
  const never = [...new Set(plan.steps.map(({ fault }) => fault))].filter((fault) => !struck.has(fault));
  return never.map((fault) => {
    const why = new Set(
      faultFailures(history).flatMap((record) => (record.fault === fault ? [record.proof ?? record.did] : [])),
    );
    return `the planned fault "${fault}" never struck (${why.size > 0 ? listed([...why]) : 'none of its steps was reached'})`;
  });
}

/** A failover that was struck, but after which no server was seen to change from replica to primary. */
function failoverThatNeverHappened(faults: readonly FaultInForce[], { observations }: CheckInput): string[] {
  const failovers = faults.filter(({ fault }) => fault === 'failover');
  if (failovers.length === 0 || !observations.some(({ type }) => type === 'sample')) return [];
  const promotions = promotionsIn(observations);
  const happened = failovers.some((fault) =>
    promotions.some((promotedNs) => promotedNs >= fault.fromNs && promotedNs <= fault.untilNs + SETTLE_NS),
  );
  return happened ? [] : ['a failover was planned and struck, but no replica was seen to become primary'];
}

/** Until a failover is through that was under way when the fault was healed. */
const SETTLE_NS = 10e9;

function promotionsIn(observations: readonly Observation[]): number[] {
  const roles = new Map<string, string>();
  return observations.flatMap((observation) => {
    if (observation.type !== 'sample') return [];
    const before = roles.get(observation.node);
    roles.set(observation.node, observation.role);
    return before === 'replica' && observation.role === 'primary' ? [observation.atNs] : [];
  });
}

function clientNames({ history }: CheckInput): ReadonlySet<string> {
  return new Set(
    history.events.flatMap((event) => (event.type === 'client-up' || event.type === 'invoke' ? [event.client] : [])),
  );
}
