/**
 * The inner process of a run: first process of its own namespaces. It carries the run out, judges and reports it; when
 * the outer process is gone it ends at once, and everything in the namespaces with it.
 */
import { Socket } from 'node:net';
import { runNemesis } from '../../nemesis/index.js';
import { workloads } from '../../workloads/index.js';
import { createRandom } from '../random.js';
import { torture } from '../run.js';
import { netnsRuntime } from '../runtimes/netns.js';
import { monotonicNs, realClock } from '../runtimes/real-clock.js';
import { readConfig, readPlan } from '../store.js';
import { topologies } from '../topologies/index.js';
import { STOP_REQUEST, WATCH_FD } from './enter-namespaces.js';
import { EXIT_COULD_NOT_RUN } from './errors.js';
import { judgeFolder } from './judge.js';
import { createProgress } from './progress.js';

/** Carries out the run prepared in `folder`; resolves with the exit status. */
export async function runInside(folder: string, options: { json: boolean }): Promise<number> {
  const interrupt = watchOuter();
  const config = readConfig(folder);
  const epochNs = monotonicNs();
  const clock = realClock(epochNs);
  const progress = createProgress(options.json, (line) => process.stdout.write(`${line}\n`));
  await using runtime = await netnsRuntime({
    folder,
    clock,
    clockShim: config.clockShim,
    unavailable: config.unavailable,
  });
  await torture(config, readPlan(folder), folder, {
    runtime,
    kind: topologies[config.topology]!,
    workload: workloads[config.workload]!,
    random: createRandom(config.seed),
    epochNs,
    startNemesis: runNemesis,
    say: progress.say,
    onEvent: progress.event,
    interrupt,
  });
  return judgeFolder(folder, options);
}

/** Aborts when the outer process asks to stop; ends this process when the outer one is gone. */
function watchOuter(): AbortSignal {
  const stop = new AbortController();
  // A socket, not a file stream: that one reads in a thread, and the process could not exit before its read returns.
  const pipe = new Socket({ fd: WATCH_FD, readable: true, writable: false });
  pipe.on('data', (chunk) => {
    if (String(chunk).includes(STOP_REQUEST.trim())) stop.abort();
  });
  const orphaned = () => process.exit(EXIT_COULD_NOT_RUN);
  pipe.on('end', orphaned);
  pipe.on('error', orphaned);
  return stop.signal;
}
