/**
 * One run, from an empty runtime to a closed history:
 *
 *     setup → ready → clean warm-up → faults on a plan → heal everything → recovery → liveness probe → teardown
 *
 * It decides nothing about the lock: it only makes sure that what happened is recorded, whatever happens. Judging is
 * the checkers', from the history on disk.
 */

import { makeAuthority } from '../machine/authority.js';
import { declaredMs } from '../record/facts/deadlines.js';
import type { Ledger } from '../record/facts/ledger.js';
import { durationOfMs, plural, serviceInWords } from '../record/facts/words.js';
import { keyNamer } from '../record/key-names.js';
import { Recorder } from '../record/recorder.js';
import { asStoreError } from '../record/store.js';
import { RESOURCE, startResource } from '../resource/started.js';
import { waitUntilComplete } from '../topologies/ready.js';
import type { FaultContext, NemesisRun, Plan } from '../vocabulary/faults.js';
import type { HistoryEvent, Phase } from '../vocabulary/history.js';
import type { Host, Runtime } from '../vocabulary/host.js';
import type { HandshakeValue } from '../vocabulary/protocol.js';
import type { RunConfig } from '../vocabulary/run.js';
import type { Random } from '../vocabulary/time.js';
import type { Endpoint, Topology, TopologyKind } from '../vocabulary/topology.js';
import type { Workload } from '../vocabulary/workload.js';
import { commandTimeoutOf, operationGraceOf } from './command-times.js';
import { readBoth, watchDisturbances } from './disturbances.js';
import { FirstAnswers } from './first-answers.js';
import { toldToAuthor } from './lock-errors.js';
import { observe } from './observer.js';
import { probeLiveness } from './probe-liveness.js';
import { Scheduler } from './scheduler.js';
import { scriptsOf } from './scripts.js';
import { watchServers } from './server-deaths.js';
import { observeService } from './service-observer.js';
import { takenDown } from './taken-down.js';

export interface RunParts {
  runtime: Runtime;
  kind: TopologyKind;
  workload: Workload;
  random: Random;
  /** Raw CLOCK_MONOTONIC nanoseconds at which the run's clock is 0. */
  epochNs: number;
  /** Starts carrying out the plan; called when the torture phase begins. */
  startNemesis(plan: Plan, context: FaultContext): NemesisRun;
  /** Instead of scripts and a plan: what happens from when everything is ready until everything is to be healed. */
  act?(scene: Scene): Promise<Pick<NemesisRun, 'stop' | 'unhealed'>>;
  /**
   * Time is virtual: nothing disturbs it. `warmUpMs`: in place of the warm-up of real time. `leavesRecord`: whether a run that is
   * killed leaves what it had recorded, as in real time; else the record is written when it is closed.
   */
  inVirtualTime?: { warmUpMs: number; leavesRecord: boolean };
  /** One line of progress for people. */
  say(line: string): void;
  /** Is fed every event of the run, before anything else hears of it. */
  ledger: Ledger;
  /** Every recorded event, once the ledger has it. */
  onEvent?(event: HistoryEvent): void;
  /** Aborts when the user wants the run to end early, with everything healed and reported. */
  interrupt: AbortSignal;
}

/** What an act plays with. */
export interface Scene {
  scheduler: Scheduler;
  topology: Topology;
  faults: FaultContext;
  interrupt: AbortSignal;
}

/** With what the run itself adds. */
type Parts = RunParts & { answers: FirstAnswers };

export const WARM_UP_MS = 1_500;
const READY_TIMEOUT_MS = 20_000;
const RECOVERY_TIMEOUT_MS = 20_000;
/** The host name of the nth client, which is also the name of its first process. */
export const clientSlot = (n: number) => `c${n + 1}`;

/** Runs to the end and leaves a closed history in `folder`. Rejects if the deployment or the lock could not be started. */
export async function carryOut(config: RunConfig, plan: Plan, folder: string, given: RunParts): Promise<void> {
  const { runtime, kind, say } = given;
  const { clock } = runtime;
  const beganNs = clock.nowNs();
  const recorder = new Recorder(folder, clock, { atOnce: given.inVirtualTime?.leavesRecord ?? true });
  const { trouble } = recorder;
  trouble.addEventListener('abort', () => say(`ending the run: ${trouble.reason}`));
  // A play asks one client after the other: the first that meets a mistake is enough.
  const answers = new FirstAnswers(config.scenario === undefined ? config.clients : 1);
  const interrupt = AbortSignal.any([given.interrupt, trouble, answers.hopeless]);
  const parts: Parts = { ...given, interrupt, answers };
  recorder.subscribe((event) => parts.ledger.event(event));
  recorder.subscribe((event) => answers.event(event));
  if (parts.onEvent) recorder.subscribe(parts.onEvent);
  const phase = (name: Phase) => recorder.record({ type: 'phase', phase: name });
  try {
    const epoch = readBoth(clock);
    recorder.record({
      type: 'run',
      version: 2,
      runId: config.runId,
      seed: config.seed,
      epochWallMs: epoch.wallMs - epoch.monotonicNs / 1e6,
    });
    await using _disturbances = given.inVirtualTime
      ? undefined
      : watchDisturbances(clock, epoch, (body) => recorder.record(body));
    const names = kind.hosts(config.topologyOptions);
    const servers = await runtime.createHosts(Object.values(names).flat());
    const topology = await startTopology(config, parts, recorder, servers, beganNs);
    await using _servers = takenDown('the servers', topology, say);
    await using serverWatch = watchServers([...topology.nodes, ...topology.sentinels], clock, (body) =>
      recorder.record(body),
    );
    const places = await runtime.createHosts(Array.from({ length: config.clients }, (_, n) => clientSlot(n)));
    const resource = parts.workload.resource && (await resourceOf(config, runtime));
    const scheduler = createScheduler(config, parts, recorder, topology, places, resource);
    await using _clients = takenDown('the clients', scheduler, say);
    const handshake = await scheduler.start();
    say(
      `${plural(config.clients, 'client')} of lock "${handshake.lock}" on ${plural(config.keys.length, 'key')}, lease ${durationOfMs(config.leaseMs)}`,
    );
    const watch = kind.service === 'redis' ? observe : observeService;
    const observer = await watch(topology.nodes, {
      clock,
      keys: config.keys,
      keyName: keyNamer(handshake.keys),
      record: (observation) => recorder.observe(observation),
      clientAt: (address) => scheduler.clientAt(address),
      ...(runtime.exactStamps && { exactStamps: true }),
    });
    await using _observer = takenDown('the observer', observer, say);

    const hosts = { servers, clients: places };
    const faults = faultContext(config, parts, recorder, topology, scheduler, handshake, hosts);
    const scene: Scene = { scheduler, topology, faults, interrupt: parts.interrupt };
    const nemesis = parts.act
      ? await playAct(parts.act, scene, phase)
      : await tortureAct(config, plan, parts, scene, phase);

    phase('heal');
    await nemesis.stop();
    answers.hopeless.throwIfAborted();
    for (const trouble of await nemesis.unhealed()) recordUnhealed(recorder, trouble);

    phase('recovery');
    const healedNs = clock.nowNs();
    // A dead server, or one without a disk, will not recover, and waiting for it would show nothing.
    const hopeless = AbortSignal.any([trouble, serverWatch.incomplete]);
    const missing = await waitUntilComplete(topology, clock, RECOVERY_TIMEOUT_MS, hopeless);
    recorder.record({ type: 'recovered', afterMs: Math.round((clock.nowNs() - healedNs) / 1e6), missing });
    await scheduler.finish();

    // What a full disk makes servers refuse would look like a lock that cannot be acquired.
    if (!trouble.aborted) {
      phase('probe');
      say(
        missing.length === 0
          ? 'healed and recovered; probing that every lock can be acquired again'
          : `not recovered: ${missing.join('; ')}`,
      );
      await probeLiveness(config, handshake, { clock, workload: parts.workload, recorder, scheduler });
    }
    phase('end');
  } catch (error) {
    throw toldToAuthor(asStoreError(error), { folder, cwd: config.cwd });
  } finally {
    recorder.close();
  }
}

/** Clients follow their scripts, and the nemesis its plan, until the time is over. */
async function tortureAct(
  config: RunConfig,
  plan: Plan,
  { runtime: { clock }, kind, startNemesis, inVirtualTime, answers, say }: Parts,
  { scheduler, faults, interrupt }: Scene,
  phase: (name: Phase) => void,
): Promise<NemesisRun> {
  const { warmUpMs } = inVirtualTime ?? { warmUpMs: WARM_UP_MS };
  phase('warm-up');
  const beganNs = clock.nowNs();
  scheduler.runScripts();
  await clock.sleep(warmUpMs, interrupt);
  answers.hopeless.throwIfAborted();
  if (!interrupt.aborted && !answers.over.aborted) {
    const longestAnswerMs =
      config.waitMs + Math.max(operationGraceOf(kind, config), scheduler.lock!.answersWithinMs ?? 0);
    const grants = await answers.firstGrant({
      beganNs,
      dueMs: config.leaseMs + declaredMs(scheduler.lock!.deadlines, config.leaseMs),
      longestAnswerMs,
      isProgram: config.lock.startsWith('cmd:'),
      ...{ clock, interrupt, say },
    });
    answers.hopeless.throwIfAborted();
    if (!grants) {
      // What a program did wrong says more than that nobody was granted anything.
      if (answers.mistake !== undefined) throw answers.mistake;
      phase('torture');
      return startNemesis({ ...plan, steps: [] }, faults);
    }
  }

  phase('torture');
  const nemesis = startNemesis(plan, faults);
  await clock.sleep(config.timeLimitMs - warmUpMs, interrupt);
  return nemesis;
}

function playAct<Result>(
  act: (scene: Scene) => Promise<Result>,
  scene: Scene,
  phase: (name: Phase) => void,
): Promise<Result> {
  phase('torture');
  return act(scene);
}

async function startTopology(
  config: RunConfig,
  parts: RunParts,
  recorder: Recorder,
  hosts: readonly Host[],
  beganNs: number,
): Promise<Topology> {
  const { runtime, kind, say } = parts;
  const authority = config.topologyOptions.tls && makeAuthority(runtime.clock.wallMs());
  const topology = await kind.start(hosts, config.topologyOptions, {
    clock: runtime.clock,
    ...(authority && { authority }),
    redis: config.redis,
    spareAddress: runtime.spareAddress,
    ownNetwork: runtime.ownNetwork,
    readyTimeoutMs: READY_TIMEOUT_MS,
    say,
  });
  const service = serviceInWords(kind.service);
  const readySeconds = ((runtime.clock.nowNs() - beganNs) / 1e9).toFixed(2);
  const serverVersion = await topology.nodes[0]!.version();
  recorder.record({
    type: 'deployment',
    topology: kind.name,
    runtime: runtime.name,
    serverVersion,
    settings: [...topology.settings],
    quorum: topology.quorum,
    ...(runtime.exactStamps && { exactStamps: true }),
  });
  say(`${kind.name} ready after ${readySeconds} s: ${describe(topology, service)}, ${service} ${serverVersion}`);
  return topology;
}

function createScheduler(
  config: RunConfig,
  parts: RunParts,
  recorder: Recorder,
  topology: Topology,
  hosts: readonly Host[],
  resource: Endpoint | undefined,
): Scheduler {
  const nowMs = () => parts.runtime.clock.nowNs() / 1e6;
  return new Scheduler(hosts, {
    clock: parts.runtime.clock,
    recorder,
    ledger: parts.ledger,
    random: parts.random,
    epochNs: parts.epochNs,
    clientArgv: config.clientArgv,
    topology: topology.describe(),
    topologyName: topology.name,
    ...(!parts.workload.anyLock && { model: parts.workload.model }),
    leaseMs: config.leaseMs,
    callers: config.callers ?? 1,
    commandTimeoutMs: commandTimeoutOf(parts.kind, config),
    ...(config.startsWithinMs !== undefined && { startsWithinMs: config.startsWithinMs }),
    operationGraceMs: operationGraceOf(parts.kind, config),
    script: scriptsOf(parts.workload, config, hosts, nowMs),
    ...(parts.workload.needs && { needs: parts.workload.needs }),
    ...(resource && { resource }),
    say: parts.say,
  });
}

/** On a host of its own that is no fault's target: what it remembers must be the truth. */
async function resourceOf(config: RunConfig, runtime: Runtime): Promise<Endpoint> {
  const [host] = await runtime.createHosts([RESOURCE]);
  return startResource(host!, config.resource ?? 'trusting', runtime.clock);
}

function faultContext(
  config: RunConfig,
  parts: RunParts,
  recorder: Recorder,
  topology: Topology,
  scheduler: Scheduler,
  handshake: HandshakeValue,
  hosts: { servers: readonly Host[]; clients: readonly Host[] },
): FaultContext {
  return {
    clock: parts.runtime.clock,
    random: parts.random.fork('nemesis'),
    runtime: parts.runtime,
    topology,
    hosts: [...hosts.servers, ...hosts.clients],
    clientHosts: hosts.clients,
    keys: config.keys,
    keyName: keyNamer(handshake.keys),
    leaseMs: config.leaseMs,
    needsAllNodes: handshake.features.includes('all-nodes'),
    persistence: config.topologyOptions.persistence,
    clients: () => scheduler.targets(),
    holds: parts.ledger,
    stopAtStep: (step, slot) => scheduler.stops.ask(step, slot),
    subscribe: (listener) => recorder.subscribe(listener),
    note: (record) => recorder.record({ type: 'fault', ...record }),
    signal: parts.interrupt,
  };
}

function recordUnhealed(recorder: Recorder, trouble: string): void {
  recorder.record({
    type: 'fault',
    step: -1,
    fault: 'heal',
    state: 'failed',
    targets: [],
    did: 'heal everything',
    proof: trouble,
    effects: [],
    mishap: 'unhealed',
  });
}

function describe(topology: Topology, service: string): string {
  const count = (nodes: number, what: string) => (nodes === 0 ? [] : [`${nodes} ${what}${nodes === 1 ? '' : 's'}`]);
  return [...count(topology.nodes.length, `${service} node`), ...count(topology.sentinels.length, 'Sentinel')].join(
    ', ',
  );
}
