/** PostgreSQL: one server, or a primary with a replica that is told of a commit after it was answered, or before. */

import { codename } from '../../machine/debian-packages.js';
import { findInImage, findProgram, findProgramHere, type ServiceProgram } from '../../machine/service-program.js';
import type { Service } from '../../vocabulary/topology.js';
import { databaseKind } from '../primary-replica.js';
import { USER } from './admin.js';
import { PostgresServer } from './postgres-server.js';
import { settingsOf } from './sql.js';

const kind = (name: string, servers: readonly string[], synchronous: boolean, summary: string) =>
  databaseKind<PostgresServer>({
    name,
    service: 'postgres',
    title: 'PostgreSQL',
    summary,
    servers,
    waitsForReplica: synchronous,
    defaultLock: 'pg-row',
    parts(password, { redis: binary, clock }) {
      return {
        user: USER,
        settings: settingsOf(synchronous).map((setting) => ({ where: 'postgres', ...setting })),
        server: (host, primary) => new PostgresServer({ host, binary, clock, password, synchronous, primary }),
        prepareDatabase: (primary) => primary.prepareDatabase(),
      };
    },
  });

const TWO = ['p1', 'p2'];

/** Major version by the distribution's release: its package is named after it. */
const MAJOR: Readonly<Record<string, number>> = { bullseye: 13, bookworm: 15, trixie: 17, jammy: 14, noble: 16 };
const major = MAJOR[codename()] ?? 15;
const FOLDER = `usr/lib/postgresql/${major}/bin`;

/** The first with `idle_session_timeout`. */
const PROGRAM: ServiceProgram = {
  title: 'PostgreSQL',
  name: 'postgres',
  command: 'postgres',
  packages: [`postgresql-${major}`, `postgresql-client-${major}`, 'libpq5'],
  program: `${FOLDER}/postgres`,
  versionsIn: { folder: '/usr/lib/postgresql', program: 'bin/postgres' },
  version: /^postgres \(PostgreSQL\) (\d+\.\d+)/m,
  versionMin: [14, 0],
};

export const postgres: Service = {
  name: 'postgres',
  title: 'PostgreSQL',
  topologies: {
    'primary-replica': kind('postgres', TWO, false, 'a PostgreSQL primary and a replica that it does not wait for'),
    'primary-replica-sync': kind('postgres-sync', TWO, true, 'a PostgreSQL primary whose commits wait for its replica'),
    single: kind('postgres-single', TWO.slice(0, 1), false, 'one PostgreSQL server'),
  },
  find: (options) => findProgram(PROGRAM, options),
  findHere: (options) => findProgramHere(PROGRAM, options),
  inContainers: {
    image: 'postgres:17',
    programs: [PROGRAM.command, '/usr/lib/postgresql/*/bin/postgres'],
    packages: ['postgresql'],
    isNobody: true,
    find: (...there) => findInImage(PROGRAM, ...there),
  },
};
