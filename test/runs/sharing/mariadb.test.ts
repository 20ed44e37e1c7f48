/** Locks on MariaDB. */
import { describe, expect, it } from 'vitest';
import { runsOnDatabase } from '../../support/database-runs.js';
import { skipWhere } from '../../support/needs.js';
import { lacking } from '../../support/needs-service.js';
import { torture } from '../../support/torture.js';

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

  it('says that a row without expiry outlives its holder, and is held by one client at a time', async () => {
    const flags = ['--service', 'mariadb', '--topology', 'single', '--lock', 'mariadb-insert', '--workload', 'crash'];
    const { output, errors, status, results } = await torture([...flags, '--time-limit', '10s']);
    expect(status, `${output}\n${errors}`).toBe(1);
    expect(Object.keys(results.found)).toEqual(['liveness']);
    expect(results.violations.every(({ kind, blame }) => kind === 'deadlock' && blame?.on === 'lock')).toBe(true);
  });
});
