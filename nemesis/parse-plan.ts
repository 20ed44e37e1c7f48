/** Reads a `--plan` file: every mistake is one line that names the step and the field. */
import type { Plan, PlanStep, Target, When } from '../harness/vocabulary/faults.js';
import { faults } from './faults/index.js';
import { words } from './levers/basics.js';
import { incapable, PlanError, targetTrouble, type Unavailable, unknownFault } from './requests.js';
import type { NemesisFault, PlanTopology } from './striking/context.js';
import { isRole } from './striking/roles.js';

const STEP_FIELDS = ['atMs', 'after', 'fault', 'target', 'forMs', 'args'];
const TRIGGER_EVENTS = ['acquire', 'release', 'step'] as const;
const DAY_MS = 24 * 3_600_000;

/** Parses a plan for this topology. Throws PlanError. */
export function parsePlan(text: string, fileName: string, topology: PlanTopology, unavailable: Unavailable = {}): Plan {
  const fail: Fail = (where, what) => {
    throw new PlanError(`${fileName}: ${where ? `${where} ` : ''}${what}`);
  };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return fail('', `is not JSON: ${(error as Error).message.split('\n')[0]}`);
  }
  const plan = objectWith(json, ['version', 'seed', 'steps'], '', fail);
  if (plan.version !== 1) fail('version', `must be 1, not ${shown(plan.version)}`);
  if (!Number.isSafeInteger(plan.seed)) fail('seed', `must be a whole number, not ${shown(plan.seed)}`);
  if (!Array.isArray(plan.steps)) return fail('steps', `must be a list, not ${shown(plan.steps)}`);
  const steps = plan.steps.map((step, at) => parseStep(step, `steps[${at}]`, topology, unavailable, fail));
  return { version: 1, seed: plan.seed as number, steps };
}

type Fail = (where: string, what: string) => never;

function parseStep(
  json: unknown,
  where: string,
  topology: PlanTopology,
  unavailable: Unavailable,
  fail: Fail,
): PlanStep {
  const step = objectWith(json, STEP_FIELDS, where, fail);
  const fault = parseFault(step.fault, `${where}.fault`, topology, unavailable, fail);
  const when = parseWhen(step, where, topology, fail);
  const target = parseTarget(step.target, `${where}.target`, fault, topology, fail);
  const forMs = step.forMs;
  if (!isDuration(forMs) || forMs === 0) {
    return fail(`${where}.forMs`, `must be a positive number of milliseconds, at most a day, not ${shown(forMs)}`);
  }
  const args = parseArgs(step.args, `${where}.args`, fault, fail);
  return { ...when, fault: fault.name, target, forMs, ...(args && { args }) };
}

function parseFault(
  name: unknown,
  where: string,
  topology: PlanTopology,
  unavailable: Unavailable,
  fail: Fail,
): NemesisFault {
  if (typeof name !== 'string') return fail(where, `must name a fault, not ${shown(name)}`);
  const fault = Object.hasOwn(faults, name) ? faults[name] : undefined;
  if (!fault) return fail(where, unknownFault(name));
  const unfit = fault.unfit(topology);
  if (unfit) fail(where, `${name} makes no sense on ${topology.name}: ${unfit}`);
  const cannot = incapable(fault, unavailable);
  if (cannot) fail(where, `${name} cannot be had here: ${cannot}`);
  return fault;
}

function parseWhen(step: Record<string, unknown>, where: string, topology: PlanTopology, fail: Fail): When {
  const { atMs, after } = step;
  if ((atMs === undefined) === (after === undefined)) return fail(where, 'needs either atMs or after');
  if (after === undefined) {
    if (!isDuration(atMs)) return fail(`${where}.atMs`, `must be milliseconds from 0 to a day, not ${shown(atMs)}`);
    return { atMs };
  }
  const trigger = objectWith(after, ['event', 'count', 'client', 'step'], `${where}.after`, fail);
  const { count, client } = trigger;
  const event = TRIGGER_EVENTS.find((known) => known === trigger.event);
  if (!event)
    return fail(`${where}.after.event`, `must be one of ${words(TRIGGER_EVENTS)}, not ${shown(trigger.event)}`);
  if (!Number.isSafeInteger(count) || (count as number) < 1) {
    return fail(`${where}.after.count`, `must be a whole number from 1 on, not ${shown(count)}`);
  }
  if (client !== undefined && (typeof client !== 'string' || !topology.clients.includes(client))) {
    return fail(`${where}.after.client`, `must be one of ${words(topology.clients)}, not ${shown(client)}`);
  }
  const name = trigger.step;
  if ((event === 'step') !== (typeof name === 'string')) {
    return fail(`${where}.after.step`, event === 'step' ? 'must name a step of the lock' : 'is only for event "step"');
  }
  return {
    after: {
      event,
      count: count as number,
      ...(typeof client === 'string' && { client }),
      ...(typeof name === 'string' && { step: name }),
    },
  };
}

function parseTarget(json: unknown, where: string, fault: NemesisFault, topology: PlanTopology, fail: Fail): Target {
  const target = isRole(json) ? json : parseNames(json, where, fail);
  const trouble = targetTrouble(fault, target, topology);
  if (trouble) fail(where, `is not possible: ${trouble}`);
  return target;
}

function parseNames(json: unknown, where: string, fail: Fail): { names: string[] } {
  if (typeof json !== 'object' || json === null) {
    return fail(where, `must be a role (primary, holder, ...) or {"names": [...]}, not ${shown(json)}`);
  }
  const { names } = objectWith(json, ['names'], where, fail);
  if (!Array.isArray(names) || names.length === 0 || !names.every((name) => typeof name === 'string')) {
    return fail(`${where}.names`, `must be a list of names, not ${shown(names)}`);
  }
  if (new Set(names).size < names.length) return fail(`${where}.names`, `names somebody twice: ${words(names)}`);
  return { names };
}

function parseArgs(json: unknown, where: string, fault: NemesisFault, fail: Fail): PlanStep['args'] {
  const args = json === undefined ? {} : objectWith(json, Object.keys(fault.args), where, fail);
  for (const [name, rule] of Object.entries(fault.args)) {
    const value = args[name];
    if (value === undefined && !rule.required) continue;
    const wrong = rule.check(value);
    if (wrong) fail(`${where}.${name}`, `${wrong}, not ${shown(value)}`);
  }
  return json === undefined ? undefined : (args as NonNullable<PlanStep['args']>);
}

function objectWith(json: unknown, fields: readonly string[], where: string, fail: Fail): Record<string, unknown> {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return fail(where, `must be an object, not ${shown(json)}`);
  const extra = Object.keys(json).find((field) => !fields.includes(field));
  if (extra !== undefined) {
    const known = fields.length > 0 ? `known: ${words(fields)}` : 'there is none to give';
    fail(where, `has an unknown field "${extra}"; ${known}`);
  }
  return json as Record<string, unknown>;
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= DAY_MS;
}

function shown(value: unknown): string {
  const text = value === undefined ? 'missing' : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
