/**
 * Whether a plan that somebody wrote can be carried out here: its faults, whom they strike, their arguments and times. Its
 * form was checked when it was read. Every mistake is one line that names the step and the field.
 */
import type { Plan, PlanStep } from '../harness/vocabulary/faults.js';
import { faults } from './faults/index.js';
import { words } from './levers/basics.js';
import { incapable, PlanError, targetTrouble, type Unavailable, unknownFault } from './requests.js';
import type { NemesisFault, PlanTopology } from './striking/context.js';

const DAY_MS = 24 * 3_600_000;

/** Gives the plan back. Throws PlanError. */
export function fitPlan(plan: Plan, fileName: string, topology: PlanTopology, unavailable: Unavailable = {}): Plan {
  for (const [at, step] of plan.steps.entries()) {
    const fail: Fail = (field, what) => {
      throw new PlanError(`${fileName}: steps[${at}].${field}: ${what}`);
    };
    const fault = knownFault(step, topology, unavailable, fail);
    checkWhen(step, topology, fail);
    checkAim(step, fault, unavailable, fail);
    checkTarget(step, fault, topology, fail);
    if (!(step.forMs > 0 && step.forMs <= DAY_MS))
      fail('forMs', `expected a positive number of milliseconds, at most a day, got ${step.forMs}`);
    checkArgs(step, fault, fail);
  }
  return plan;
}

type Fail = (field: string, what: string) => never;

function knownFault(
  { fault: name }: PlanStep,
  topology: PlanTopology,
  unavailable: Unavailable,
  fail: Fail,
): NemesisFault {
  const fault = Object.hasOwn(faults, name) ? faults[name] : undefined;
  if (!fault) return fail('fault', unknownFault(name));
  const unfit = fault.unfit(topology);
  if (unfit) fail('fault', `${name} makes no sense on ${topology.name}: ${unfit}`);
  const cannot = incapable(fault, unavailable);
  if (cannot) fail('fault', `${name} is not possible here: ${cannot}`);
  return fault;
}

function checkWhen(step: PlanStep, topology: PlanTopology, fail: Fail): void {
  if ('atMs' in step) {
    if (step.atMs > DAY_MS) fail('atMs', `expected milliseconds from 0 to a day, got ${step.atMs}`);
    return;
  }
  const { client } = step.after;
  if (client !== undefined && !topology.clients.includes(client))
    fail('after.client', `expected one of ${words(topology.clients)}, got ${JSON.stringify(client)}`);
}

function checkAim(step: PlanStep, fault: NemesisFault, { turns }: Unavailable, fail: Fail): void {
  if (!('atMs' in step) || !step.aim) return;
  if (turns !== undefined) fail('aim', `is not possible here: ${turns}`);
  if (fault.needs.includes('turns')) fail('aim', `is not possible: ${fault.name} counts moments of its own`);
}

function checkTarget({ target }: PlanStep, fault: NemesisFault, topology: PlanTopology, fail: Fail): void {
  if (typeof target !== 'string' && new Set(target.names).size < target.names.length)
    fail('target.names', `has a name twice: ${words(target.names)}`);
  const trouble = targetTrouble(fault, target, topology);
  if (trouble) fail('target', `is not possible: ${trouble}`);
}

function checkArgs({ args = {} }: PlanStep, fault: NemesisFault, fail: Fail): void {
  const extra = Object.keys(args).find((name) => !Object.hasOwn(fault.args, name));
  if (extra !== undefined) {
    const known = Object.keys(fault.args);
    fail('args', `unknown field "${extra}"; ${known.length > 0 ? `known: ${words(known)}` : 'there is none to give'}`);
  }
  for (const [name, rule] of Object.entries(fault.args)) {
    const value = args[name];
    if (value === undefined && !rule.required) continue;
    const wrong = rule.check(value);
    const got = value === undefined ? 'missing' : JSON.stringify(value);
    if (wrong) fail(`args.${name}`, `${wrong}, not ${got}`);
  }
}
