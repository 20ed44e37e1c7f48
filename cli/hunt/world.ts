/** Plays the schedules that the hunt asks for, and judges each. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as ioredis from 'ioredis';
import { judge } from '../../checkers/index.js';
import { vacuity } from '../../checkers/worth/vacuity.js';
import { placesIn } from '../../harness/client/bundled-places.js';
import { clientInWorld } from '../../harness/client/in-world.js';
import { writeJson } from '../../harness/record/store.js';
import { resourceServer } from '../../harness/resource/server.js';
import { RESOURCE_SERVER } from '../../harness/resource/started.js';
import type { ProgramPorts, SimProgram } from '../../harness/runtimes/sim/client-process.js';
import { worldNow } from '../../harness/runtimes/sim/current-world.js';
import { type LockModule, lockModule } from '../../harness/runtimes/sim/modules.js';
import { replaceUnowned } from '../../harness/runtimes/sim/own-modules.js';
import { PipePool } from '../../harness/runtimes/sim/shim-channel.js';
import { WarmServers } from '../../harness/runtimes/sim/warm-servers.js';
import { OutsideOfTheWorldError } from '../../harness/runtimes/sim/world.js';
import { failoverManager } from '../../harness/topologies/failover-manager/manager.js';
import { FAILOVER_MANAGER } from '../../harness/topologies/failover-manager/started.js';
import type { Checker, CheckInput } from '../../harness/vocabulary/run.js';
import type { ResourceMode } from '../../harness/vocabulary/workload.js';
import { isForUsers } from '../common/errors.js';
import { readInput } from '../judge/judge.js';
import { CLIENT_ARGV } from '../run/simulated-client.js';
import { shapeOf } from './exhaustive/shape.js';
import { type Played, playSchedule } from './play-schedule.js';
import {
  type Discovery,
  discoveriesOf,
  fingerprintOf,
  type ScheduleRequest,
  type ScheduleResult,
  type WorldAnswer,
  type WorldTold,
} from './schedule.js';

replaceUnowned();

let servers: WarmServers | undefined;
const locks = new Map<string, LockModule>();

/** Ends the run that is played now. */
let playing: AbortController | undefined;

/** Never rejects. `tell`: of a run while it is played. */
export async function answerSchedule(
  request: ScheduleRequest,
  tell: (told: WorldTold) => void = () => {},
): Promise<WorldAnswer> {
  try {
    return { type: 'played', result: await playAndJudge(request, tell) };
  } catch (error) {
    const { message, stack } = error as Error;
    if (error instanceof OutsideOfTheWorldError && error.lacks !== undefined)
      return { type: 'lacks', message, what: error.lacks };
    const foreseen = isForUsers(error) || error instanceof OutsideOfTheWorldError;
    return { type: 'failed', message: foreseen ? message : (stack ?? message), isForUsers: foreseen };
  } finally {
    playing = undefined;
  }
}

/** The run that is played ends early. What that sets going is the harness's, and so happens in its turn. */
export function stopPlaying(): void {
  const stop = playing;
  const world = worldNow();
  if (world) world.forHarness(world.timeline.nowNs, () => stop?.abort());
  else stop?.abort();
}

async function playAndJudge(
  { config, plan, folder, workFolder, shim, lock, keepsMessages, order, run }: ScheduleRequest,
  tell: (told: WorldTold) => void,
): Promise<ScheduleResult> {
  playing = new AbortController();
  servers ??= new WarmServers(pipesIn(workFolder));
  if (!run) {
    writeJson(folder, 'config.json', config);
    writeJson(folder, 'plan.json', plan);
  }
  const before = new Set(process.getActiveResourcesInfo());
  const look = () => refuseOutside(before);
  const asRun = run && { ...run, tell, interrupt: playing.signal };
  const program = programOf(lock);
  const parts = { shim, servers, program, look, keepsMessages, ...(order && { order }), ...(asRun && { asRun }) };
  const played = await playSchedule(config, plan, folder, parts);
  look();
  const course = played.order;
  if (course?.isCut) return { ...NOT_JUDGED, ...ofPlay(played), order: course };
  // Its folder is judged by whoever has it played, and keeps it.
  if (run || config.scenario !== undefined) return { ...NOT_JUDGED, ...ofPlay(played) };
  const { input, judges } = await readInput(folder);
  // One course proves little, and need not: all of them together are to.
  const asked = course ? judges.filter((one) => one !== vacuity) : judges;
  const result = { ...judged(input, asked), ...ofPlay(played) };
  return course ? { ...result, order: { ...course, shape: shapeOf(input, result) } } : result;
}

type OfPlay = Pick<ScheduleResult, 'digest' | 'virtualMs' | 'shown'>;

/** What it would show another schedule shows. */
const NOT_JUDGED: Omit<ScheduleResult, keyof OfPlay> = {
  verdict: 'unknown',
  found: [],
  holds: 0,
  strikes: 0,
  struckHolds: 0,
  reasons: [],
};

function pipesIn(workFolder: string): PipePool {
  const place = join(workFolder, `pipes-${process.pid}`);
  mkdirSync(place);
  return new PipePool(place);
}

function programOf(path: string): (argv: readonly string[]) => SimProgram | undefined {
  const load = locks.get(path) ?? lockModule(path, { ioredis });
  locks.set(path, load);
  const thrownAt = placesIn(path);
  return ([program, script, ...args]) => {
    if (program === CLIENT_ARGV[0])
      return (ports) => clientInWorld(() => load(ports), 'the lock', { ...ports, thrownAt });
    if (script === FAILOVER_MANAGER) return (ports) => failoverManager((line) => ports.print(line));
    if (script === RESOURCE_SERVER) return (ports) => resourceInWorld(args, ports);
    return undefined;
  };
}

/** The server of the protected resource, with the arguments of its program (`resource/main.ts`). */
function resourceInWorld([_address, port, mode]: readonly string[], ports: ProgramPorts): (line: string) => void {
  ports.listen(Number(port), resourceServer(mode as ResourceMode));
  ports.print('ready');
  return () => {};
}

/** Servers that were killed, and this process's own channel. */
const OURS = new Set(['ProcessWrap', 'PipeWrap', 'WriteWrap', 'Immediate', 'TTYWrap', 'CloseReq']);

/** What goes on outside of the world after a run was begun in it: it will be different the next time. */
function refuseOutside(before: ReadonlySet<string>): void {
  const left = process.getActiveResourcesInfo().filter((one) => !before.has(one) && !OURS.has(one));
  if (left.length === 0) return;
  const names = [...new Set(left)].join(', ');
  throw new OutsideOfTheWorldError(
    `the lock uses what the simulated world does not have (Node calls it ${names})`,
    names,
  );
}

function ofPlay({ digest, virtualNs, shown }: Played): OfPlay {
  return { digest, virtualMs: Math.round(virtualNs / 1e6), shown };
}

function judged(input: CheckInput, judges: readonly Checker[]): Omit<ScheduleResult, keyof OfPlay> {
  const results = judge(input, judges);
  const { verdict, stats, reasons } = results;
  return {
    verdict,
    found: firstOfEach(discoveriesOf(results)),
    holds: stats.holds ?? 0,
    strikes: stats.strikes ?? 0,
    struckHolds: stats.struckHolds ?? 0,
    reasons,
  };
}

/** A lock that excludes nobody is found thousands of times. */
function firstOfEach(found: readonly Discovery[]): Discovery[] {
  const first = new Map<string, Discovery>();
  for (const one of found) if (!first.has(fingerprintOf(one))) first.set(fingerprintOf(one), one);
  return [...first.values()];
}
