/** Once before the tests that run real servers: everything that a run would fetch, so that no test waits for it. */
import { provideIp } from '../../harness/machine/iproute.js';
import { cacheFolder, findRedis } from '../../harness/machine/redis-binary.js';
import { noDocker } from './needs-docker.js';

export default async function setup(): Promise<void> {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  await provideIp(cacheFolder(), say);
  await findRedis({ cacheFolder: cacheFolder(), say });
  if (noDocker !== undefined) say(`the tests in containers are skipped: ${noDocker}`);
}
