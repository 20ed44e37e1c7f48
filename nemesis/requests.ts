/** What a user asks for with `--nemesis`, and what each topology is given when nothing is asked for. */

import { insteadOf, nearestName } from '../harness/record/schemas/names.js';
import type { Plan, Target, TargetRole } from '../harness/vocabulary/faults.js';
import type { Capability } from '../harness/vocabulary/host.js';
import { faults } from './faults/index.js';
import { words } from './levers/basics.js';
import type { NemesisFault, PlanTopology, Struckable } from './striking/context.js';
import { isRole } from './striking/roles.js';
import { unfitRole } from './striking/targets.js';

/** What no run in real time has. */
const OF_HUNTS: readonly Capability[] = ['turns', 'sync-time'];

/** Bad input of a user: one line that says what is wrong and what is possible. */
export class PlanError extends Error {
  override name = 'PlanError';
}

/** A fault that is to occur in a run. */
export interface FaultRequest {
  fault: string;
  /** A role, or the name of a node, a Sentinel or a client slot; absent: what suits the fault. */
  target?: string;
  /** How often at least, as far as time allows; 0: only where time is left. 1 unless given. */
  atLeast?: number;
  /** Once more than that, where its phase is long enough for both, one after the other. */
  again?: true;
  /** Of servers: last, when all others are over, if there is time for it then; longest first. */
  afterwards?: true;
  /** In place of those that are drawn. */
  args?: Readonly<Record<string, number | string>>;
}

export type Unavailable = Partial<Record<Capability, string>>;

/** In which part of the torture phase servers are struck, and clients, and servers at last: from 0 to 1. */
export type LanePhases = Record<'servers' | 'clients' | 'last', { from: number; to: number }>;

export interface ParsedRequests {
  requests: FaultRequest[];
  /** Absent: all of them at any time. */
  phases?: LanePhases;
  /** Faults that were left out of a group, each with the reason. */
  warnings: string[];
}

/** What `--nemesis` may say in place of a list. */
const FAULT_GROUPS: readonly string[] = ['none', 'default', 'all'];

/** Parses `none`, `default`, `all`, or a list of `fault[:target]`. Throws PlanError. */
export function parseNemesis(list: string, topology: PlanTopology, unavailable: Unavailable = {}): ParsedRequests {
  const items = list.split(',').map((item) => item.trim());
  const group = items.find((item) => FAULT_GROUPS.includes(item));
  if (group !== undefined) {
    if (items.length > 1) throw new PlanError(`--nemesis: "${group}" stands alone, not in a list (${list})`);
    if (group === 'none') return { requests: [], warnings: [] };
    if (group === 'all') return available(allFaults(topology), unavailable);
    const phases = defaultPhases(topology);
    return { ...available(defaultFaults(topology), unavailable), ...(phases && { phases }) };
  }
  return { requests: items.map((item) => parseItem(item, topology, unavailable)), warnings: [] };
}

/** Connections break while somebody holds, and what is to be given back cannot be sent. */
const PROXY_RESTARTED = { awayMs: 500 };
/** Later than many callers wait for, and sooner than a client's own time-out. */
const LATE_ANSWERS = { pauseMs: 400, everyMs: 500 };

/** What a run of this topology is given by default. */
export function defaultFaults(topology: PlanTopology): FaultRequest[] {
  if (topology.defaultFaults) return topology.defaultFaults.map(namedFault);
  if (topology.replicated) {
    return [
      // Twice, because one failover finds nothing now and then: the holder of what was lost may just have released it.
      { fault: 'failover', atLeast: 2 },
      // What every operator does, and what a lock must not notice.
      ...(faults['move-slot']!.unfit(topology) === undefined ? [{ fault: 'move-slot' }] : []),
      { fault: 'pause', target: 'client' },
      { fault: 'partition', target: 'client' },
      { fault: 'kill', target: 'client' },
      { fault: 'kill', target: 'primary', atLeast: 0 },
      { fault: 'partition', target: 'minority', atLeast: 0 },
    ];
  }
  if (topology.quorum === 'majority') {
    return [
      { fault: 'forget-granted' },
      { fault: 'skew-granted' },
      { fault: 'partition', target: 'minority' },
      // A vote that comes late has to be given back like any other.
      { fault: 'slow', target: 'one', args: LATE_ANSWERS },
      { fault: 'pause', target: 'holder' },
      { fault: 'kill', target: 'one', atLeast: 0 },
    ];
  }
  return [
    { fault: 'kill' },
    { fault: 'partition' },
    { fault: 'clock' },
    // What these make a lock leave behind stays there, for they take nothing from the server; and if no client that has to renew it
    // dies of what comes later, as it does where it is never answered.
    { fault: 'reset', target: 'primary', args: PROXY_RESTARTED, afterwards: true },
    { fault: 'slow', target: 'primary', args: LATE_ANSWERS, afterwards: true },
    // Again, because one sleep finds nothing now and then: nobody may have wanted what the sleeper held.
    { fault: 'pause', target: 'holder', again: true },
    { fault: 'kill', target: 'holder' },
    { fault: 'partition', target: 'holder' },
    { fault: 'clock', target: 'client' },
  ];
}

/**
 * Where one server keeps all locks: first nothing strikes, then the server is struck, and its clients last. What a server forgot
 * or a clock ended looks much like what a lock got wrong, and a restart clears away what a lock would leave for ever: so there
 * is a time in which all is well, and one in which the server is, before the locks are probed. What takes nothing from it comes
 * last: then the clients that were stopped have met others at work.
 */
export function defaultPhases(topology: PlanTopology): LanePhases | undefined {
  if (topology.defaultFaults || topology.replicated || topology.quorum === 'majority') return undefined;
  return { servers: { from: 0.3, to: 0.67 }, clients: { from: 0.52, to: 1 }, last: { from: 0.78, to: 1 } };
}

/** As a topology names them. */
function namedFault(item: string): FaultRequest {
  const [, onlyIfTime, fault, target] = /^(\?)?([^:]+)(?::(.+))?$/.exec(item)!;
  return { fault: fault!, ...(target !== undefined && { target }), ...(onlyIfTime && { atLeast: 0 }) };
}

/** Every fault that makes sense on this topology, with its default target, but for those of hunts alone. */
export function allFaults(topology: PlanTopology): FaultRequest[] {
  return Object.values(faults)
    .filter(({ needs }) => !needs.some((need) => OF_HUNTS.includes(need)))
    .filter((fault) => fault.unfit(topology) === undefined && defaultRole(fault, topology) !== undefined)
    .map((fault) => ({ fault: fault.name }));
}

/** The first of the fault's targets that means something on this topology. */
export function defaultRole(fault: NemesisFault, topology: PlanTopology): TargetRole | undefined {
  return fault.targets.find((role) => unfitRole(role, topology) === undefined);
}

/** The target of a request, which was checked when it was parsed. */
export function targetOf(request: FaultRequest, topology: PlanTopology): Target {
  const fault = faults[request.fault]!;
  if (request.target === undefined) return defaultRole(fault, topology)!;
  return isRole(request.target) ? request.target : { names: [request.target] };
}

/** What is wrong with this target for this fault on this topology, with what is possible; undefined if nothing is. */
export function targetTrouble(fault: NemesisFault, target: Target, topology: PlanTopology): string | undefined {
  const trouble =
    typeof target === 'string' ? roleTrouble(fault, target, topology) : namesTrouble(fault, target.names, topology);
  return trouble && `${trouble}; it can strike ${words(possibleTargets(fault, topology))}`;
}

export function kindOf(name: string, topology: PlanTopology): Struckable | undefined {
  if (topology.nodes.includes(name)) return 'node';
  if (topology.sentinels.includes(name)) return 'sentinel';
  return topology.clients.includes(name) ? 'client' : undefined;
}

/** `others`: what may stand there beside a fault. */
export function unknownFault(name: string, others: readonly string[] = []): string {
  return `"${name}" is not a fault; ${insteadOf(name, [...Object.keys(faults), ...others], { list: 'list faults' })}`;
}

/** Why a fault is not possible on this machine, with the remedy; undefined if it can. */
export function incapable(fault: NemesisFault, unavailable: Unavailable): string | undefined {
  return fault.needs.map((need) => unavailable[need]).find((reason) => reason !== undefined);
}

/** What the faults of a plan need of the runtime. */
export function needsOf(plan: Plan): Set<Capability> {
  const own = plan.steps.flatMap((step) => faults[step.fault]?.needs ?? []);
  return new Set(plan.steps.some((step) => 'atMs' in step && step.aim) ? [...own, 'turns'] : own);
}

function parseItem(item: string, topology: PlanTopology, unavailable: Unavailable): FaultRequest {
  const [name = '', target, ...rest] = item.split(':');
  const fault = faults[name];
  if (!fault || !Object.hasOwn(faults, name)) throw new PlanError(`--nemesis: ${unknownFault(name, FAULT_GROUPS)}`);
  if (rest.length > 0) throw new PlanError(`--nemesis: "${item}" is not of the form fault:target`);
  const unfit = fault.unfit(topology);
  if (unfit) throw new PlanError(`--nemesis: ${name} makes no sense here: ${unfit}`);
  const cannot = incapable(fault, unavailable);
  if (cannot) throw new PlanError(`--nemesis: ${name} is not possible here: ${cannot}`);
  if (target === undefined) {
    if (defaultRole(fault, topology) === undefined)
      throw new PlanError(`--nemesis: ${name} has no target on ${topology.name}`);
    return { fault: name };
  }
  const trouble = targetTrouble(fault, isRole(target) ? target : { names: [target] }, topology);
  if (trouble) throw new PlanError(`--nemesis: ${name}: ${trouble}`);
  return { fault: name, target };
}

function available(requests: readonly FaultRequest[], unavailable: Unavailable): ParsedRequests {
  const warnings: string[] = [];
  const kept = requests.filter((request) => {
    const reason = incapable(faults[request.fault]!, unavailable);
    if (reason) warnings.push(`left out ${request.fault}: ${reason}`);
    return reason === undefined;
  });
  return { requests: kept, warnings };
}

function roleTrouble(fault: NemesisFault, role: TargetRole, topology: PlanTopology): string | undefined {
  if (!fault.targets.includes(role)) return `${fault.name} does not strike "${role}"`;
  return unfitRole(role, topology);
}

function namesTrouble(fault: NemesisFault, names: readonly string[], topology: PlanTopology): string | undefined {
  for (const name of names) {
    const kind = kindOf(name, topology);
    const near = kind ? undefined : nearestName(name, possibleTargets(fault, topology));
    if (!kind) return `there is no "${name}"${near === undefined ? '' : ` (did you mean ${near}?)`}`;
    if (!fault.strikes.includes(kind))
      return `${fault.name} does not strike ${kind === 'node' ? 'data nodes' : `${kind}s`} (${name})`;
  }
  return undefined;
}

function possibleTargets(fault: NemesisFault, topology: PlanTopology): string[] {
  const roles = fault.targets.filter((role) => unfitRole(role, topology) === undefined);
  const { nodes, sentinels, clients } = topology;
  const names = [...nodes, ...sentinels, ...clients].filter((name) => fault.strikes.includes(kindOf(name, topology)!));
  return [...roles, ...names];
}
