/**
 * Where the server comes from: `mongod`, of which no distribution has a package, so it is never downloaded; or FerretDB 1, another
 * server of the same protocol, with the store that is built into it. Which of them a program is, it says itself.
 */
import {
  findInImage,
  findProgramHere,
  ServerNotFoundError,
  type ServiceProgram,
} from '../../machine/service-program.js';
import type { FindServer, RedisBinary, ServerImage } from '../../vocabulary/topology.js';

const common = { name: 'mongodb', command: 'mongod', packages: [], program: 'usr/bin/mongod' };

/** The first with `hello`. */
const MONGOD: ServiceProgram = {
  ...common,
  title: 'MongoDB',
  version: /^db version v(\d+\.\d+\.\d+)/m,
  versionMin: [5, 0],
};

/** FerretDB 2 keeps nothing itself: it needs a PostgreSQL with an extension. */
const FERRETDB: ServiceProgram = {
  ...common,
  title: 'FerretDB 1',
  version: /^version: v(1\.\d+\.\d+)/m,
  versionMin: [1, 24],
};

/** By its version: a MongoDB of so low a one is too old. */
export function isFerretDb({ version }: Pick<RedisBinary, 'version'>): boolean {
  return version.startsWith('1.');
}

/** Never fetches anything. Rejects with a ServerNotFoundError when there is none. */
export async function findMongodb(options: Omit<FindServer, 'say'>): Promise<RedisBinary> {
  const found = await findProgramHere(MONGOD, options).catch(async (error: unknown) => {
    if (options.explicit === undefined || !(error instanceof ServerNotFoundError)) throw error;
    // Why it is no FerretDB either says nothing to those who named a mongod.
    return findProgramHere(FERRETDB, options).catch(() => {
      throw error;
    });
  });
  if (found) return found;
  throw new ServerNotFoundError(
    'mongod is not on PATH, and no distribution has it: install MongoDB 5.0 or newer, or give --server PATH, of mongod or of FerretDB 1.24',
  );
}

/** `mongod`, or a FerretDB that is called so. */
export const findMongodbInImage: ServerImage['find'] = (...there) =>
  findInImage(MONGOD, ...there).catch((error: unknown) => {
    if (!(error instanceof ServerNotFoundError)) throw error;
    return findInImage(FERRETDB, ...there).catch(() => {
      throw error;
    });
  });
