/** What a simulation needs of this machine. */
import { findOnPath } from '../../harness/machine/command.js';
import { cacheFolder, findRedis } from '../../harness/machine/redis-binary.js';
import { buildSimShim } from '../../harness/machine/sim-shim.js';
import type { RedisBinary } from '../../harness/vocabulary/topology.js';
import { UsageError } from '../common/errors.js';
import type { Say } from '../common/say.js';

export interface Simulation {
  shim: string;
  redis: RedisBinary;
}

/** Finds or fetches it. Throws with the remedy where something is missing. `server`: as the user named it. */
export async function provideSimulation(server: string | undefined, say: Say): Promise<Simulation> {
  return {
    shim: await simulationShim(say),
    redis: await findRedis({ explicit: server, cacheFolder: cacheFolder(), say }),
  };
}

/** The compiled shim. Throws with the remedy where this machine cannot simulate. */
export async function simulationShim(say: Say): Promise<string> {
  const shim = await buildSimShim({ cacheFolder: cacheFolder(), say });
  if ('unavailable' in shim) throw new UsageError(`this machine cannot simulate: ${shim.unavailable}`);
  if (!findOnPath('mkfifo'))
    throw new UsageError('this machine cannot simulate: mkfifo is missing; install it (apt-get install coreutils)');
  return shim.path;
}
