/** MariaDB: one server, or a primary with a replica that is told of a commit after it was answered, or before (semi-synchronous). */

import { findInImage, findProgram, findProgramHere, type ServiceProgram } from '../../machine/service-program.js';
import type { Service } from '../../vocabulary/topology.js';
import { databaseKind } from '../primary-replica.js';
import { MARIADB_USER } from './admin.js';
import { MariaServer } from './mariadb-server.js';
import { mariadbSettings } from './sql.js';

const kind = (name: string, servers: readonly string[], synchronous: boolean, summary: string) =>
  databaseKind<MariaServer>({
    name,
    service: 'mariadb',
    title: 'MariaDB',
    summary,
    servers,
    waitsForReplica: synchronous,
    defaultLock: 'mariadb-row',
    parts(password, { redis: binary, clock }) {
      let last = 0;
      return {
        user: MARIADB_USER,
        settings: mariadbSettings(synchronous).map((setting) => ({ where: 'mariadb', ...setting })),
        server: (host, primary) =>
          new MariaServer({ host, binary, clock, password, synchronous, primary, nextNumber: () => ++last }),
        prepareDatabase: (primary) => primary.prepareDatabase(),
      };
    },
  });

const TWO = ['d1', 'd2'];

/** The first that skips rows which somebody else is about to change. */
const PROGRAM: ServiceProgram = {
  title: 'MariaDB',
  name: 'mariadb',
  command: 'mariadbd',
  packages: ['mariadb-server-core'],
  program: 'usr/sbin/mariadbd',
  version: /Ver (\d+\.\d+\.\d+)-MariaDB/,
  versionMin: [10, 6],
};

export const mariadb: Service = {
  name: 'mariadb',
  title: 'MariaDB',
  topologies: {
    'primary-replica': kind('mariadb', TWO, false, 'a MariaDB primary and a replica that it does not wait for'),
    'primary-replica-semi-sync': kind(
      'mariadb-semi-sync',
      TWO,
      true,
      'a MariaDB primary whose commits wait until its replica has them',
    ),
    single: kind('mariadb-single', TWO.slice(0, 1), false, 'one MariaDB server'),
  },
  find: (options) => findProgram(PROGRAM, options),
  findHere: (options) => findProgramHere(PROGRAM, options),
  inContainers: {
    image: 'mariadb:11.8',
    programs: [PROGRAM.command],
    packages: PROGRAM.packages,
    find: (...there) => findInImage(PROGRAM, ...there),
  },
};
