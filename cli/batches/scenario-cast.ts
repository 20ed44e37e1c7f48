/** Which scenarios are to be played, with what, and what a play's run is to do as far as it is not the play's own doing. */
import { insteadOf } from '../../harness/record/schemas/names.js';
import { CLASSES } from '../../harness/record/schemas/violation-class.js';
import { NOT_IN_VIRTUAL_TIME } from '../../harness/runtimes/provides.js';
import { topologies } from '../../harness/topologies/index.js';
import type { Scenario } from '../../harness/vocabulary/workload.js';
import { externalLock } from '../../lock-impl/external/index.js';
import { scenarios } from '../../scenarios/index.js';
import { UsageError } from '../common/errors.js';
import { commandLine } from '../common/reproduce.js';
import type { Say } from '../common/say.js';
import type { DecidedRun } from '../run/decide-run.js';
import { checkPair, fitsTopology } from '../run/deployment.js';
import { foreignProgramOf } from '../run/lock-module.js';
import { SIM } from '../run/machine.js';
import { NotSimulatedError } from '../run/not-simulated.js';
import type { RunRequest } from '../run/prepare-run.js';
import type { BatchOptions } from './batch.js';

/** The flags that choose and cast plays, as typed. */
export interface CastFlags {
  all: boolean;
  lock?: string;
  topology?: string;
}

/** A scenario as it is to be played. */
export type Cast = Omit<Scenario, 'expect'> & {
  /** Absent: it is not written what must come of it with this lock, or here. */
  expect?: Scenario['expect'];
};

/** The scenario with another lock, or on another topology, than it is written for. */
export function castWith(scenario: Scenario, other: { lock?: string; topology?: string }): Cast {
  const { lock = scenario.lock, topology = scenario.topology } = other;
  if (lock === scenario.lock && topology === scenario.topology) return scenario;
  const { expect: _, ...play } = scenario;
  return { ...play, lock, topology };
}

/** The plays asked for, with the lock and on the topology asked for. Of all of them those are left out that make no sense so. */
export function chosenPlays(names: readonly string[], { all, lock, topology }: CastFlags, say: Say): Cast[] {
  const named = all ? Object.values(scenarios) : names.map(scenarioNamed);
  if (named.length === 0) throw new UsageError('which scenario? name some, or say --all; --list tells what there is');
  const cast = named.map((scenario) => castWith(scenario, { lock, topology }));
  if (!all) return cast;
  const fits = cast.filter((play) => fitsTopology(play.lock, topologies[play.topology]!));
  if (fits.length < cast.length)
    say(`note: ${cast.length - fits.length} are left out: lock ${lock} makes no sense on their topologies`);
  return fits;
}

/** What virtual time does not have of what a scenario needs, as in "needs ..."; undefined: it has all, as far as that is known before it runs. */
export function lacksInVirtualTime({ lock, needs = [] }: Pick<Cast, 'lock' | 'needs'>): string | undefined {
  if (externalLock(lock)) return foreignProgramOf(lock);
  const unavailable: BatchOptions['machine']['unavailable'] = NOT_IN_VIRTUAL_TIME;
  return needs.map((need) => unavailable[need]).find((lacks) => lacks !== undefined);
}

/** Throws where there is none. */
export function scenarioNamed(name: string): Scenario {
  const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined;
  if (!scenario)
    throw new UsageError(
      `no scenario "${name}"; ${insteadOf(name, Object.keys(scenarios), { list: 'scenario --list' })}`,
    );
  return scenario;
}

/**
 * What a play's run is to do, as far as it is not the play's own doing. Throws where the lock makes no sense there, and where
 * this machine lacks what the play needs.
 */
export function decidePlay(
  scenario: Cast,
  { machine, naming }: Pick<BatchOptions, 'machine' | 'naming'>,
  seed: number,
  cwd: string,
): Pick<DecidedRun, 'request' | 'plan'> {
  const lacking = scenario.needs?.map((need) => machine.unavailable[need]).find((reason) => reason !== undefined);
  if (lacking !== undefined) {
    const refused = `scenario ${scenario.name} is not possible here: ${lacking}`;
    throw machine.runtime === SIM ? new NotSimulatedError(refused, lacking) : new UsageError(refused);
  }
  // There a seed is the whole course of events, here it is next to nothing of it.
  const on = [...naming, ...(machine.runtime === SIM ? ['--seed', String(seed)] : [])];
  return { request: requestOf(scenario, on, seed, cwd), plan: { version: 1, seed, steps: [] } };
}

function requestOf(scenario: Cast, on: readonly string[], seed: number, cwd: string): RunRequest {
  const { name, topology, lock, settings = {} } = scenario;
  checkPair(lock, topologies[topology]!);
  const { clients = 3, keys = 2, leaseMs = 2_000 } = settings;
  return {
    seed,
    scenario: name,
    topology,
    topologyOptions: {
      nodes: settings.nodes ?? 5,
      persistence: settings.persistence ?? 'rdb',
      minReplicasToWrite: settings.minReplicasToWrite ?? 0,
      ...(settings.maxmemoryPolicy && { maxmemoryPolicy: settings.maxmemoryPolicy }),
      redisConf: settings.redisConf ?? [],
    },
    lock,
    cwd,
    workload: 'mutex',
    clients,
    keys: Array.from({ length: keys }, (_, n) => `lock:${n}`),
    leaseMs,
    waitMs: 0,
    hold: { min: 0, max: 0 },
    careless: true,
    ...(settings.resource && { resource: settings.resource }),
    // Without effect: a play takes as long as it takes.
    timeLimitMs: 15_000,
    nemesis: [],
    nemesisIntervalMs: 1_000,
    failOn: [...CLASSES],
    reproduce: commandLine(['scenario', name, ...castFlags(scenario), ...on]),
  };
}

/** The flags that cast a scenario otherwise than it is written. */
function castFlags({ name, lock, topology }: Cast): string[] {
  const written = scenarios[name];
  return [
    ...(lock === written?.lock ? [] : ['--lock', lock]),
    ...(topology === written?.topology ? [] : ['--topology', topology]),
  ];
}
