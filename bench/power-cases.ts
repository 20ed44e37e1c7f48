/** What `npm run bench -- power` hunts: each canary and its twin as in their trial, and the sound locks. */
import { readFileSync } from 'node:fs';
import type { Discovery } from '../cli/hunt/schedule.js';
import type { WithServerNeeds } from '../harness/vocabulary/topology.js';
import { builtinLock, locks } from '../lock-impl/index.js';
import { SEARCHED, SEARCHED_BY_DEFAULT } from '../nemesis/index.js';
import { type Detection, sounds, type Trial, trials } from '../selftest/index.js';

/** One lock. */
export interface PowerCase {
  lock: string;
  role: 'canary' | 'twin' | 'sound';
  /** Flags of `hunt`. */
  argv: readonly string[];
  /** The canary's mistake; absent: there is none to find. */
  caught?: Detection;
  /** That has the commands which it is about, as `--server` takes it; absent: every one has. */
  server?: string;
}

/** Of a trial's flags, those that say what the clients do, and what is deployed. What happens to them is for the search to find. */
const KEPT = ['--workload', '--lease', '--wait', '--hold', '--keys', '--clients', '--nodes', '--persistence'];

/**
 * Only trials whose mistake is a finding; where "cannot tell" is the answer, a hunt has nothing to keep. `on`: on this topology in place
 * of each trial's, those that can.
 */
export function powerCases(roles: readonly string[], on?: string): PowerCase[] {
  const ofTrials = trials.flatMap((trial): PowerCase[] => {
    const { canary, caught } = trial;
    if ('counted' in caught) return [];
    const lock = `broken/${canary}`;
    const argv = [...topologyOf(lock, trial.flags), ...conductOf(trial.flags), ...faultsOf(trial)];
    const on = serverFor(locks[lock]!);
    return [
      { lock, role: 'canary', argv, caught, ...on },
      { lock: `${lock}-mended`, role: 'twin', argv, caught, ...on },
    ];
  });
  const ofSounds = sounds.map(({ lock, flags, hunted, serverNeeds }): PowerCase => {
    const faults = hunted ? ['--faults', hunted.join(',')] : [];
    const on = serverFor(serverNeeds ? { serverNeeds } : locks[lock]!);
    return { lock, role: 'sound', argv: [...topologyOf(lock, flags), ...conductOf(flags), ...faults], ...on };
  });
  const cases = [...ofTrials, ...ofSounds].filter(({ role }) => roles.includes(role));
  return onceEach(on === undefined ? cases : cases.flatMap((one) => movedTo(on, one)));
}

function movedTo(topology: string, one: PowerCase): PowerCase[] {
  const can = builtinLock(one.lock)!.topologies.some((name) => name === topology);
  return can ? [{ ...one, argv: ['--topology', topology, ...one.argv.slice(2)] }] : [];
}

/** What breaks every lock, a server that forgets say, breaks a canary too, and shows nothing of its mistake. */
export function showsMistake(
  found: Pick<Discovery, 'checker' | 'class' | 'kind' | 'cause' | 'blame'>,
  { checker, class: kind, kind: how, cause }: Detection,
): boolean {
  return (
    found.checker === checker &&
    found.class === kind &&
    (how ?? found.kind) === found.kind &&
    (cause === undefined ? found.blame === 'lock' || found.blame === 'unexplained' : cause === found.cause)
  );
}

/** Of what shows the mistake: whether its cause is the trial's, or, where that names none, whatever proves it to be the lock's. */
export function tellsCause({ blame }: Pick<Discovery, 'blame'>, { cause }: Detection): boolean {
  return cause !== undefined || blame === 'lock';
}

function serverFor({ serverNeeds }: WithServerNeeds): { server?: string } {
  return serverNeeds ? { server: serverNeeds.server } : {};
}

function topologyOf(lock: string, flags: readonly string[]): string[] {
  const topology = flagValue('--topology', flags) ?? builtinLock(lock)!.topologies[0]!;
  return ['--topology', topology];
}

function conductOf(flags: readonly string[]): string[] {
  const kept = KEPT.flatMap((flag) => {
    const value = flagValue(flag, flags);
    return value === undefined ? [] : [flag, value];
  });
  return [...kept, ...(flags.includes('--careless') ? ['--careless'] : [])];
}

/** What a hunt tries by itself, and what the trial's plan does beside, clocks say. */
function faultsOf({ flags }: Trial): string[] {
  const plan = flagValue('--plan', flags);
  if (plan === undefined) return [];
  const { steps } = JSON.parse(readFileSync(plan, 'utf8')) as { steps: { fault: string }[] };
  const more = steps.map(({ fault }) => fault).filter((fault) => SEARCHED.includes(fault));
  return ['--faults', [...new Set([...SEARCHED_BY_DEFAULT, ...more])].join(',')];
}

function flagValue(flag: string, flags: readonly string[]): string | undefined {
  const at = flags.indexOf(flag);
  return at < 0 ? undefined : flags[at + 1];
}

/** Two with the same one are the same. */
export function caseId({ lock, argv, server }: PowerCase): string {
  return [lock, ...argv, ...(server === undefined ? [] : ['--server', server])].join(' ');
}

/** A sound lock has several runs that differ in their faults alone. */
function onceEach(cases: readonly PowerCase[]): PowerCase[] {
  return [...new Map(cases.map((one) => [caseId(one), one])).values()];
}
