/** MariaDB. */
import { findInImage, findProgram, findProgramHere, type ServiceProgram } from '../../machine/service-program.js';
import type { Service } from '../../vocabulary/topology.js';
import { deployments } from './deployments.js';
import { MARIADB } from './mariadb-words.js';

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
  title: PROGRAM.title,
  topologies: deployments(MARIADB, PROGRAM.title),
  find: (options) => findProgram(PROGRAM, options),
  findHere: (options) => findProgramHere(PROGRAM, options),
  inContainers: {
    image: 'mariadb:11.8',
    programs: [PROGRAM.command],
    packages: PROGRAM.packages,
    find: (...there) => findInImage(PROGRAM, ...there),
  },
};
