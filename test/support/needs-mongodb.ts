/**
 * A server of MongoDB's protocol for tests: the one that LOCK_TORTURE_TEST_MONGOD names (a `mongod`, or a FerretDB 1), else the
 * `mongod` on PATH. No distribution has one, and to build a FerretDB takes minutes: without it the tests are skipped, and say so.
 */
import { cacheFolder } from '../../harness/machine/redis-binary.js';
import { ServerNotFoundError } from '../../harness/machine/service-program.js';
import { findMongodb, isFerretDb } from '../../harness/topologies/mongodb/program.js';

/** The flags that name it, and whether it is a FerretDB; undefined: there is none. Rejects where the one that is named is none. */
export async function mongodbHere(): Promise<{ flags: string[]; isFerretDb: boolean } | undefined> {
  const explicit = process.env.LOCK_TORTURE_TEST_MONGOD;
  try {
    const found = await findMongodb({ explicit, cacheFolder: cacheFolder() });
    return { flags: ['--service', 'mongodb', '--server', found.path], isFerretDb: isFerretDb(found) };
  } catch (error) {
    if (explicit !== undefined || !(error instanceof ServerNotFoundError)) throw error;
    process.stderr.write(`the tests of mongodb are skipped (LOCK_TORTURE_TEST_MONGOD names none): ${error.message}\n`);
    return undefined;
  }
}
