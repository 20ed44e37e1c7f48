/** Servers that a test asks for by product and version. */
import { cacheFolder, findRedis, RedisNotFoundError } from '../../harness/machine/redis-binary.js';
import type { RedisBinary } from '../../harness/vocabulary/topology.js';

/** As `--server` takes its name; undefined where the distribution has none. */
export async function namedServerHere(explicit: string): Promise<RedisBinary | undefined> {
  try {
    return await findRedis({ explicit, cacheFolder: cacheFolder(), say: (line) => process.stderr.write(`${line}\n`) });
  } catch (error) {
    if (error instanceof RedisNotFoundError) return undefined;
    throw error;
  }
}
