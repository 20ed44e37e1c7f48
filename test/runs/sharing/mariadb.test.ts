/** Locks on MariaDB. */
import { describe } from 'vitest';
import { runsOnDatabase } from '../../support/database-runs.js';
import { skipWhere } from '../../support/needs.js';
import { lacking } from '../../support/needs-service.js';

const missing = await lacking('mariadb');

describe('MariaDB', skipWhere(missing), () => {
  runsOnDatabase({
    service: 'mariadb',
    title: 'MariaDB',
    nodes: 'd',
    readThenWrite: 'mariadb-row-read-then-write',
    session: 'mariadb-get-lock',
    anywhere: 'mariadb-get-lock-anywhere',
  });
});
