/** etcd for tests: what they run it with, or why they cannot. CI has it, or fails. */
import { EtcdNotFoundError, findEtcd } from '../../harness/machine/etcd-binary.js';
import { cacheFolder } from '../../harness/machine/redis-binary.js';

/** Why there is no etcd here; undefined: there is. */
export const noEtcd = await findEtcd({ cacheFolder: cacheFolder(), say: () => {} }).then(
  () => undefined,
  (error: Error) => {
    if (process.env.CI !== undefined || !(error instanceof EtcdNotFoundError)) throw error;
    process.stderr.write(`the tests of etcd are skipped: ${error.message}\n`);
    return error.message;
  },
);
