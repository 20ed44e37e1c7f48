/** Locks on MySQL's own server: what takes long is MariaDB's as well, and is played at night. */
import { describe, expect, it } from 'vitest';
import { runsOnDatabase } from '../../support/database-runs.js';
import { skipWhere } from '../../support/needs.js';
import { lacking } from '../../support/needs-service.js';
import { torture } from '../../support/torture.js';

const missing = await lacking('mysql');

describe('MySQL', skipWhere(missing), () => {
  it('says that a row without expiry outlives its holder, and is held by one client at a time', async () => {
    const flags = ['--service', 'mysql', '--topology', 'single', '--lock', 'mysql-insert', '--workload', 'crash'];
    const { output, errors, status, results } = await torture([...flags, '--time-limit', '6s']);
    expect(output, errors).toMatch(/mysql-single ready after \d.*: 1 MySQL node, MySQL \d/);
    expect(status, `${output}\n${errors}`).toBe(1);
    expect(Object.keys(results.found)).toEqual(['liveness']);
    expect(results.violations.every(({ kind, blame }) => kind === 'deadlock' && blame?.on === 'lock')).toBe(true);
  });

  describe('at night', { tags: ['night'] }, () => {
    runsOnDatabase({
      service: 'mysql',
      title: 'MySQL',
      nodes: 'd',
      readThenWrite: 'mysql-row-read-then-write',
      session: 'mysql-get-lock',
      anywhere: 'mysql-get-lock-anywhere',
    });
  });
});
