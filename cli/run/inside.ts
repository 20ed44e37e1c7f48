/**
 * The inner process of a run: first process of its own namespaces, if the runtime has any. It carries the run out, judges and
 * reports it; when the outer process is gone it ends at once, and everything in the namespaces with it; containers it
 * removes.
 */
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { Ledger } from '../../harness/record/facts/ledger.js';
import { readConfig, readPlan } from '../../harness/record/store.js';
import { carryOut, type Scene } from '../../harness/run/run.js';
import { takenDown } from '../../harness/run/taken-down.js';
import { netnsRuntime } from '../../harness/runtimes/netns.js';
import { createRandom } from '../../harness/runtimes/random.js';
import { monotonicNs, realClock } from '../../harness/runtimes/real-clock.js';
import { topologies } from '../../harness/topologies/index.js';
import type { Plan } from '../../harness/vocabulary/faults.js';
import type { Runtime } from '../../harness/vocabulary/host.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { Clock } from '../../harness/vocabulary/time.js';
import { needsOf, runNemesis } from '../../nemesis/index.js';
import { scenarios } from '../../scenarios/index.js';
import { EXIT_COULD_NOT_RUN } from '../common/errors.js';
import { announcedIsOver, saying } from '../common/say.js';
import { watchForFindings } from '../judge/early-end.js';
import { judgeRun } from '../judge/judge.js';
import { workloadOf } from '../judge/workload-of.js';
import { sendStep } from '../live/feed.js';
import { STOP_REQUEST, WATCH_FD } from './enter-namespaces.js';
import { playScenario } from './play.js';
import { progressOfRun } from './run-progress.js';

export interface InsideOptions {
  json: boolean;
  /** The outer process has the terminal and shows a live view; all that is printed goes to it. */
  live: boolean;
  /** One of many runs: nobody watches. */
  quiet: boolean;
}

/** What carries a run out and leaves its record in `folder`. */
export type CarryOutInside = (config: RunConfig, plan: Plan, folder: string, how: Inside) => Promise<void>;

/** How it is told, and by what it is ended. */
export type Inside = Pick<InsideOptions, 'json' | 'live'> & {
  interrupt: AbortSignal;
  /** To the outer process. */
  channel: Writable;
};

/** Carries out the run prepared in `folder`, and judges it; resolves with the exit status. The verdict is printed by the outer process. */
export async function runInside(
  folder: string,
  options: InsideOptions,
  carriesOut: CarryOutInside = carryOutHere,
): Promise<number> {
  const outer = watchOuter();
  await carriesOut(readConfig(folder), readPlan(folder), folder, { ...options, ...outer });
  if (options.live) return judged(folder, undefined, () => sendStep(outer.channel, 'report'));
  if (options.json || options.quiet) return judged(folder);
  const say = saying({ json: false });
  say('judging what was recorded…');
  return judged(folder, announcedIsOver, () => say('writing the report…')).finally(announcedIsOver);
}

/** The exit status of the verdict on what was recorded. */
async function judged(folder: string, ...told: [beforeSaying?: () => void, onWriting?: () => void]): Promise<number> {
  return (await judgeRun(folder, ...told)).results.exitStatus;
}

/** A line on standard output. */
export function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A line about what is wrong. */
export function complain(line: string): void {
  process.stderr.write(`lock-torture: ${line}\n`);
}

async function carryOutHere(
  config: RunConfig,
  plan: Plan,
  folder: string,
  { json, live, interrupt, channel }: Inside,
): Promise<void> {
  const epochNs = monotonicNs();
  const clock = realClock(epochNs);
  const ledger = new Ledger();
  await using progress = progressOfRun(
    config,
    plan,
    { ledger, clock, write: writeLine },
    live ? { channel } : { json },
  );
  const scenario = config.scenario === undefined ? undefined : scenarios[config.scenario]!;
  const needs = new Set([...needsOf(plan), ...(scenario?.needs ?? [])]);
  const runtime = await runtimeOf(config, folder, clock, needs.has('disk'));
  await using _hosts = takenDown('after the run, its hosts', runtime, complain);
  onOrphaned = async () => runtime[Symbol.asyncDispose]();
  await using early = config.stopAtFirst ? watchForFindings(folder, progress.say) : undefined;
  await carryOut(config, plan, folder, {
    runtime,
    kind: topologies[config.topology]!,
    workload: workloadOf(config)!,
    random: createRandom(config.seed),
    epochNs,
    startNemesis: runNemesis,
    ...(scenario && { act: (scene: Scene) => playScenario(scenario, scene, folder) }),
    say: progress.say,
    ledger,
    onEvent: progress.event,
    interrupt: early ? AbortSignal.any([interrupt, early.signal]) : interrupt,
  });
  progress.send?.();
}

/** `recordsDisk`: what servers sync is recorded only where a host may lose power. */
async function runtimeOf(config: RunConfig, folder: string, clock: Clock, recordsDisk: boolean): Promise<Runtime> {
  if (config.runtime !== 'docker') {
    const { clockShim, durableShim, linkShaper, unavailable } = config;
    return netnsRuntime({
      folder,
      clock,
      clockShim,
      linkShaper,
      unavailable,
      ...(recordsDisk && { durableShim }),
    });
  }
  const { containerRuntime } = await import('./containers.js');
  return containerRuntime(config, folder, clock, recordsDisk);
}

/** What the kernel does not remove with this process. */
let onOrphaned: (() => Promise<void>) | undefined;
const ORPHAN_CLEANS_MS = 8_000;

/** Aborts when the outer process asks to stop; ends this process when the outer one is gone. */
function watchOuter(): { interrupt: AbortSignal; channel: Writable } {
  const stop = new AbortController();
  // A socket, not a file stream: that one reads in a thread, and the process could not exit before its read returns.
  const pipe = new Socket({ fd: WATCH_FD, readable: true, writable: true });
  pipe.on('data', (chunk) => {
    if (String(chunk).includes(STOP_REQUEST.trim())) stop.abort();
  });
  const orphaned = () => {
    const end = () => process.exit(EXIT_COULD_NOT_RUN);
    if (!onOrphaned) return end();
    setTimeout(end, ORPHAN_CLEANS_MS);
    onOrphaned().then(end, end);
  };
  pipe.on('end', orphaned);
  pipe.on('error', orphaned);
  return { interrupt: stop.signal, channel: pipe };
}
