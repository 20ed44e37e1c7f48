/** Services beside Redis for tests: whether they can be run with, or why not. `.ci/run` has all that a distribution has, or fails. */
import { cacheFolder } from '../../harness/machine/redis-binary.js';
import { ServerNotFoundError } from '../../harness/machine/service-program.js';
import { services } from '../../harness/topologies/services.js';
import type { ServiceName } from '../../harness/vocabulary/topology.js';
import { isAllRequired } from './needs.js';

/** To build a FerretDB takes minutes, and there is no other to be had: needs-mongodb.ts says who has its tests run. */
const inNoDistribution = new Set<ServiceName>(['mongodb']);

/** Why the service is not here; undefined: it is. */
export async function lacking(name: ServiceName): Promise<string | undefined> {
  try {
    await services[name].find({ cacheFolder: cacheFolder(), say: () => {} });
    return undefined;
  } catch (error) {
    const mustBeHere = isAllRequired && !inNoDistribution.has(name);
    if (mustBeHere || !(error instanceof ServerNotFoundError)) throw error;
    process.stderr.write(`the tests of ${name} are skipped: ${error.message}\n`);
    return `no ${name}`;
  }
}
