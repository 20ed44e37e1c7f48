/** From names to the cells of a campaign: every lock, topology, fault and workload that go together. */
import { isAbsolute, relative } from 'node:path';
import { insteadOf } from '../../harness/record/schemas/names.js';
import { topologies, topologiesOfService } from '../../harness/topologies/index.js';
import type { Settings } from '../../harness/vocabulary/settings.js';
import { defaultFaults, PlanError, parseNemesis } from '../../nemesis/index.js';
import { UsageError } from '../common/errors.js';
import { flagsOf } from '../common/settings.js';
import { dashed } from '../common/values.js';
import { askRun } from '../run/ask-run.js';
import { fitsTopology, planTopology } from '../run/deployment.js';
import { parseRunFlags } from '../run/flags.js';
import { mustBeLock } from '../run/lock-at-hand.js';
import { MACHINE_SETTINGS } from '../run/machine-flags.js';
import type { GridCell } from './grid.js';

export interface AskedCells {
  /** Absent: each topology's own. */
  locks: readonly string[] | undefined;
  topologies: readonly string[];
  /** Absent: all of a topology's default at once, and each alone. */
  faults: readonly string[] | undefined;
  workloads: readonly string[];
  /** As `--hold` has them, `MIXED` for its default; absent: nothing is said of it. */
  holds?: readonly string[];
  /** Flags of `run` that all have. */
  extra: readonly string[];
  cwd: string;
}

/** What is typed of them; what is not, a config may say. */
export interface TypedCells {
  locks?: string;
  topologies?: string;
  faults?: string;
  workloads?: string;
  holds?: string;
}

/** In `--holds`: what a run has without `--hold`. */
const MIXED = 'mixed';

/**
 * What is asked for by what is typed, then by a config file: one lock, topology and workload, its faults at once and each alone,
 * and whatever else of it all runs can have.
 */
export function askCells(
  typed: TypedCells,
  settings: Readonly<Settings>,
  extra: readonly string[],
  cwd: string,
): AskedCells {
  if (settings.service !== undefined && settings.service !== 'redis')
    throw new UsageError(
      `the config is for ${settings.service}, and campaigns are of Redis: leave it out, --no-config`,
    );
  const { lock, topology = 'single', workload = 'mutex', nemesis, ...others } = settings;
  const holds = named(typed.holds);
  const forAll = Object.entries(others).filter(([name]) => !NOT_OF_CONFIG.has(name) && !(holds && name === 'hold'));
  return {
    locks: named(typed.locks) ?? (lock === undefined ? undefined : [asTyped(String(lock), cwd)]),
    topologies: named(typed.topologies) ?? [topology],
    faults: named(typed.faults) ?? (nemesis === undefined ? undefined : atOnceAndAlone(nemesis)),
    workloads: named(typed.workloads) ?? [workload],
    ...(holds && { holds }),
    extra: [...flagsOf(Object.fromEntries(forAll)), ...extra],
    cwd,
  };
}

/** What is asked of all runs together. */
export const OVER_ALL_RUNS = ['known', 'knownOk', 'minHolds', 'minStrikes'] as const;

/** A campaign has its own seeds and faults, and the machine's flags are its own. */
const NOT_OF_CONFIG: ReadonlySet<string> = new Set([...MACHINE_SETTINGS, ...OVER_ALL_RUNS, 'service', 'seed', 'plan']);

function named(list: string | undefined): string[] | undefined {
  return list?.split(',').map((name) => name.trim());
}

/** Not by where this machine has it: what is found is known by it on others, too. */
function asTyped(lock: string, cwd: string): string {
  if (!isAbsolute(lock)) return lock;
  const path = relative(cwd, lock);
  return path.startsWith('..') ? path : `./${path}`;
}

function atOnceAndAlone(nemesis: string | readonly string[]): string[] {
  const each = typeof nemesis === 'string' ? named(nemesis)! : nemesis;
  return [...new Set([each.join(','), ...each])];
}

/** What a campaign says itself, or what is not about one run. */
const NOT_FOR_ALL = [
  ...['seed', 'times', 'untilViolation', 'plan', 'json', 'out', 'config', 'lock', 'topology'],
  ...OVER_ALL_RUNS,
] as const;

/**
 * Throws one line where a name is not known, or goes together with nothing. What this machine lacks plays no part, so that every
 * machine that shares a campaign has the same cells.
 */
export function cellsOf(asked: AskedCells): GridCell[] {
  const extra = parsed(asked.extra);
  const own = asked.holds ? (['nemesis', 'workload', 'hold'] as const) : (['nemesis', 'workload'] as const);
  const taken = [...NOT_FOR_ALL, ...own].find(extra.given);
  if (taken !== undefined) throw new UsageError(`--${dashed(taken)} is not for the runs of a campaign: it has its own`);
  const cells: GridCell[] = [];
  const fitting = new Set<string>();
  const refusals = new Map<string, string>();
  for (const topology of asked.topologies) {
    const kind = topologies[topology];
    if (kind && kind.service !== 'redis')
      throw new UsageError(
        `campaigns are of Redis: ${topology} is run by itself, with --service ${kind.service} --times`,
      );
    if (!kind)
      throw new UsageError(`"${topology}" is no topology; ${insteadOf(topology, topologiesOfService('redis'))}`);
    for (const lock of asked.locks ?? [kind.defaultLock]) {
      mustBeLock(lock);
      if (!fitsTopology(lock, kind)) continue;
      for (const { workload, hold } of turnsOf(asked)) {
        const held = hold === undefined || hold === MIXED ? [] : ['--hold', hold];
        const argv = ['--lock', lock, '--topology', topology, '--workload', workload, ...held, ...asked.extra];
        const { flags, given } = parsed(argv);
        const { settings } = askRun(flags, { argv, cwd: asked.cwd, given });
        const plan = planTopology(kind, settings.topologyOptions, settings.clients);
        for (const nemesis of asked.faults ?? defaultsOf(plan)) {
          const refusal = whyUnfit(nemesis, plan);
          if (refusal !== undefined) {
            refusals.set(nemesis, refusal);
            continue;
          }
          for (const name of [lock, nemesis]) fitting.add(name);
          const cell = { lock, topology, nemesis, workload, ...(hold !== undefined && { hold }) };
          cells.push({ ...cell, argv: [...argv, '--nemesis', nemesis] });
        }
      }
    }
  }
  // Faults first: without one that fits no lock does.
  const idle = [...(asked.faults ?? []), ...(asked.locks ?? [])].find((name) => !fitting.has(name));
  if (idle !== undefined)
    throw new UsageError(refusals.get(idle) ?? `${idle} goes together with nothing else of this campaign`);
  return cells;
}

/** What clients do, and for how long they hold. */
function turnsOf({ workloads, holds }: AskedCells): { workload: string; hold?: string }[] {
  return workloads.flatMap((workload) => holds?.map((hold) => ({ workload, hold })) ?? [{ workload }]);
}

/** Throws one line: what commander throws, it takes for said. */
function parsed(argv: readonly string[]): ReturnType<typeof parseRunFlags> {
  try {
    return parseRunFlags(argv);
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/^error: /, ''));
  }
}

function defaultsOf(topology: Parameters<typeof defaultFaults>[0]): string[] {
  const each = defaultFaults(topology).map(({ fault, target }) =>
    target === undefined ? fault : `${fault}:${target}`,
  );
  return ['default', ...each];
}

/** Undefined: these faults can be struck there. */
function whyUnfit(nemesis: string, topology: Parameters<typeof defaultFaults>[0]): string | undefined {
  try {
    parseNemesis(nemesis, topology);
    return undefined;
  } catch (error) {
    if (error instanceof PlanError) return error.message.replace(/^--nemesis/, '--faults');
    throw error;
  }
}
