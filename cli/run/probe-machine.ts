/** Finds or fetches what every run needs of this machine. */
import { buildClockShim } from '../../harness/machine/clock-shim.js';
import { buildDurableShim, preloadTrouble } from '../../harness/machine/durable-shim.js';
import { buildLinkShaper } from '../../harness/machine/link-shaper.js';
import { temporaryFolder } from '../../harness/machine/private-folder.js';
import { cacheFolder, findRedis } from '../../harness/machine/redis-binary.js';
import { inspectServer, LATER_COMMANDS } from '../../harness/machine/server-commands.js';
import { NOT_IN_REAL_TIME, NOT_IN_VIRTUAL_TIME } from '../../harness/runtimes/provides.js';
import { services } from '../../harness/topologies/services.js';
import type { RedisBinary } from '../../harness/vocabulary/topology.js';
import { UsageError } from '../common/errors.js';
import type { Say } from '../common/say.js';
import { type AskedMachine, type Machine, SIM, sayWhatIsMissing, withServer } from './machine.js';
import { type ChosenRuntime, chooseRuntime } from './runtimes.js';
import { simulationShim } from './simulation.js';

/**
 * Finds or fetches what every run needs. `known` is the server to take, where it was found before: one that was downloaded does
 * not run by its path alone. Throws with the remedy where something is missing.
 */
export async function probeMachine(asked: AskedMachine, say: Say, known?: RedisBinary): Promise<Machine> {
  const runtime = await chooseRuntime(asked, say);
  say(`runtime ${runtime.name}${'why' in runtime ? `: ${runtime.why}` : ''}`);
  if (runtime.name === SIM) return simulated(asked, runtime, say, known);
  if (runtime.name !== 'netns') {
    sayWhatIsMissing(runtime.machine, say);
    return runtime.machine;
  }
  const cache = cacheFolder();
  const service = asked.service ?? 'redis';
  const redis = known ?? (await services[service].find({ explicit: asked.server, cacheFolder: cache, say }));
  const machine: Machine = { runtime: runtime.name, redis, unavailable: { ...NOT_IN_REAL_TIME } };
  const clock = await buildClockShim({ cacheFolder: cache, say });
  const link = await buildLinkShaper({ cacheFolder: cache, say });
  if ('path' in clock) machine.clockShim = clock.path;
  else machine.unavailable.clock = clock.unavailable;
  if (service === 'redis') await addDurableShim(machine, cache, say);
  if ('path' in link) machine.linkShaper = link.path;
  else machine.unavailable.link = link.unavailable;
  sayWhatIsMissing(machine, say);
  return service === 'redis' ? inspected(machine) : machine;
}

/** Rejects with all that is missing where virtual time cannot be had either. */
async function simulated(
  { server }: AskedMachine,
  { why, virtualTime }: Extract<ChosenRuntime, { name: typeof SIM }>,
  say: Say,
  known?: RedisBinary,
): Promise<Machine> {
  if (virtualTime.remedy !== undefined) say(`for real time: ${virtualTime.remedy}`);
  const shim = await simulationShim(say).catch((error: Error) => {
    const { remedy } = virtualTime;
    throw remedy === undefined ? error : new UsageError(`${why}, and ${error.message}; for real time: ${remedy}`);
  });
  const redis = known ?? (await findRedis({ explicit: server, cacheFolder: cacheFolder(), say }));
  const unavailable = { ...NOT_IN_VIRTUAL_TIME };
  return inspected({ runtime: SIM, redis, simShim: shim, virtualTime, unavailable });
}

/** One that does not start is a run's to report. `flag` names another one. */
export async function inspected(machine: Machine, flag = '--server valkey@9'): Promise<Machine> {
  const server = await inspectServer(machine.redis, LATER_COMMANDS).catch(() => undefined);
  return server ? withServer(machine, server, flag) : machine;
}

async function addDurableShim(machine: Machine, cache: string, say: Say): Promise<void> {
  const durable = await buildDurableShim({ cacheFolder: cache, say });
  if ('path' in durable) {
    using scratch = temporaryFolder();
    const trouble = await preloadTrouble(machine.redis, durable.path, scratch.path);
    if (trouble) machine.unavailable.disk = trouble;
    else machine.durableShim = durable.path;
  } else machine.unavailable.disk = durable.unavailable;
}
