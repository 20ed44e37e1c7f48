/** Plays one schedule in a simulated world: a run as any other, but for its runtime. For a process of the world's own. */
import { Ledger } from '../../harness/record/facts/ledger.js';
import { writeMessages } from '../../harness/record/messages.js';
import { writeJson } from '../../harness/record/store.js';
import { endsFirstAnswers } from '../../harness/run/first-answers.js';
import { carryOut, clientSlot, type Scene, WARM_UP_MS } from '../../harness/run/run.js';
import { createRandom } from '../../harness/runtimes/random.js';
import type { SimProgram } from '../../harness/runtimes/sim/client-process.js';
import { enter } from '../../harness/runtimes/sim/current-world.js';
import { SimRuntime } from '../../harness/runtimes/sim/runtime.js';
import type { WarmServers } from '../../harness/runtimes/sim/warm-servers.js';
import { SimWorld } from '../../harness/runtimes/sim/world.js';
import { topologies } from '../../harness/topologies/index.js';
import type { Plan } from '../../harness/vocabulary/faults.js';
import type { RunConfig } from '../../harness/vocabulary/run.js';
import type { Clock } from '../../harness/vocabulary/time.js';
import type { TopologyKind } from '../../harness/vocabulary/topology.js';
import { runNemesis } from '../../nemesis/index.js';
import { scenarios } from '../../scenarios/index.js';
import { workloadOf } from '../judge/workload-of.js';
import { playScenario } from '../run/play.js';
import { progressOfRun, type RunProgress } from '../run/run-progress.js';
import { courseOf, type OrderPlayed, type OrderRequest } from './exhaustive/course.js';
import { CourseCutError, playGuided } from './exhaustive/guided.js';
import { interleavingsOf } from './interleavings.js';
import { CLEAN_START_MS, type RunView, type WorldTold } from './schedule.js';

/** What all schedules of a hunt have in common, and a schedule needs of its process. */
export interface ScheduleParts {
  shim: string;
  servers: WarmServers;
  program: (argv: readonly string[]) => SimProgram | undefined;
  /** Throws where something goes on outside of the world; called now and then. */
  look: () => void;
  /** Whether the run keeps every message, too. */
  keepsMessages: boolean;
  /** Chosen step by step, in place of scripts and a plan. */
  order?: OrderRequest;
  /** It is a run of its own. */
  asRun?: RunView & { tell(told: WorldTold): void; interrupt: AbortSignal };
}

export interface Played {
  /** Of every message with its virtual time. */
  digest: string;
  virtualNs: number;
  /** The orders of commands that it showed. */
  shown: string[];
  order?: OrderPlayed;
}

/** Leaves a closed history in `folder`. Rejects where the run could not be made. */
export async function playSchedule(
  config: RunConfig,
  plan: Plan,
  folder: string,
  parts: ScheduleParts,
): Promise<Played> {
  const world = new SimWorld(config.seed);
  const beganNs = world.timeline.nowNs;
  const leave = enter(world);
  const runtime = new SimRuntime({ world, folder, ...parts });
  const { order, asRun } = parts;
  const messages = parts.keepsMessages || !(order || asRun) ? world.network.keepMessages() : [];
  const course = order && courseOf(order);
  const scenario = config.scenario === undefined ? undefined : scenarios[config.scenario]!;
  const guided = async (scene: Scene) => {
    const nemesis = await playGuided(scene, world, {
      bound: order!.bound,
      workload: config.workload,
      choose: course!.choose,
    });
    writeJson(folder, 'plan.json', { version: 1, seed: config.seed, steps: nemesis.steps });
    return nemesis;
  };
  const act = scenario ? (scene: Scene) => playScenario(scenario, scene, folder) : order && guided;
  // Of what is thrown before anything was granted it is told where; of what is thrown later a stack would be read by nobody.
  Error.stackTraceLimit = STACK_FRAMES;
  try {
    const begin = async () => {
      const ledger = new Ledger();
      await using told = asRun && toldOfRun(asRun, config, plan, ledger, runtime.clock);
      await carryOut(config, plan, folder, {
        runtime,
        kind: readied(topologies[config.topology]!, () => runtime.ready()),
        workload: workloadOf(config)!,
        random: createRandom(config.seed),
        epochNs: beganNs,
        startNemesis: runNemesis,
        ...(act && { act }),
        inVirtualTime: { warmUpMs: asRun ? WARM_UP_MS : CLEAN_START_MS, leavesRecord: asRun !== undefined },
        say: (line) => told?.say(line),
        onEvent: (event) => {
          if (endsFirstAnswers(event)) Error.stackTraceLimit = 0;
          told?.event(event);
        },
        ledger,
        interrupt: asRun?.interrupt ?? new AbortController().signal,
      });
      told?.send?.();
    };
    const goesOn = asRun && tellsTime(world, asRun.tell);
    await world.run(begin, () => {
      parts.look();
      goesOn?.();
    });
  } catch (error) {
    if (!(error instanceof CourseCutError)) throw error;
  } finally {
    Error.stackTraceLimit = 0;
    runtime.close();
    leave();
  }
  if (parts.keepsMessages) writeMessages(folder, messages, beganNs);
  const clients = new Set(Array.from({ length: config.clients }, (_, n) => clientSlot(n)));
  return {
    digest: world.digest(),
    virtualNs: world.timeline.nowNs - beganNs,
    shown: order ? [] : interleavingsOf(messages, (host) => clients.has(host)),
    ...(course && { order: course.played }),
  };
}

/** Of a library's that the lock called, and the lock's own. */
const STACK_FRAMES = 10;

function toldOfRun(
  { json, live, tell }: NonNullable<ScheduleParts['asRun']>,
  config: RunConfig,
  plan: Plan,
  ledger: Ledger,
  clock: Clock,
): RunProgress {
  const write = (line: string) => tell({ type: 'line', line });
  // Whoever passes snapshots on leaves out those that its reader does not keep up with.
  const channel = { writableLength: 0, write: (line: string) => tell({ type: 'snapshot', line }) };
  return progressOfRun(config, plan, { ledger, clock, write }, live ? { channel } : { json });
}

/** Tells of each second of virtual time. */
function tellsTime(world: SimWorld, tell: (told: WorldTold) => void): () => void {
  const beganNs = world.timeline.nowNs;
  let toldNs = beganNs;
  return () => {
    const { nowNs } = world.timeline;
    if (nowNs - toldNs < 1e9) return;
    toldNs = nowNs;
    tell({ type: 'at', virtualMs: Math.round((nowNs - beganNs) / 1e6) });
  };
}

/** The same, but that is heard of when the deployment is ready. */
function readied(kind: TopologyKind, ready: () => void): TopologyKind {
  return {
    ...kind,
    start: async (...args) => {
      const topology = await kind.start(...args);
      ready();
      return topology;
    },
  };
}
