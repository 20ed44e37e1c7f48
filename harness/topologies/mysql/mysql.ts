/** MySQL's own server. */
import { findInImage, findProgram, findProgramHere, type ServiceProgram } from '../../machine/service-program.js';
import type { Service } from '../../vocabulary/topology.js';
import { deployments } from './deployments.js';
import { MYSQL } from './mysql-words.js';

/** The first long-term release whose words for replication are these. */
const PROGRAM: ServiceProgram = {
  title: 'MySQL',
  name: 'mysql',
  command: 'mysqld',
  // Where MariaDB is installed, `mysqld` is a link to its server.
  another: /MariaDB/,
  packages: ['mysql-server-core'],
  program: 'usr/sbin/mysqld',
  // Debian's stable releases have none.
  fromNewerSuites: { product: 'mysql', version: '9.7' },
  version: /Ver (\d+\.\d+\.\d+)(?!.*MariaDB)/,
  versionMin: [8, 4],
};

export const mysql: Service = {
  name: 'mysql',
  title: PROGRAM.title,
  topologies: deployments(MYSQL, PROGRAM.title),
  find: (options) => findProgram(PROGRAM, options),
  findHere: (options) => findProgramHere(PROGRAM, options),
  inContainers: {
    image: 'mysql:9',
    programs: [PROGRAM.command],
    // No stable release of Debian has one, and Ubuntu's is installed by a package that starts it.
    packages: [],
    find: (...there) => findInImage(PROGRAM, ...there),
  },
};
