/** Locks on PostgreSQL. */
import { describe, expect, it } from 'vitest';
import { runsOnDatabase } from '../../support/database-runs.js';
import { skipWhere } from '../../support/needs.js';
import { lacking } from '../../support/needs-service.js';
import { torture } from '../../support/torture.js';

const missing = await lacking('postgres');

describe('PostgreSQL', skipWhere(missing), () => {
  runsOnDatabase({
    service: 'postgres',
    title: 'PostgreSQL',
    nodes: 'p',
    readThenWrite: 'pg-row-read-then-write',
    session: 'pg-advisory',
    anywhere: 'pg-advisory-anywhere',
  });

  it.each([
    [['--nemesis', 'reload'], /reload is not possible here: it is for Redis and Valkey only/],
    [
      ['--topology', 'quorum'],
      /--service postgres has the topologies primary-replica, primary-replica-sync and single/,
    ],
    [['--topology', 'single', '--nemesis', 'failover'], /failover makes no sense here/],
    [['--runtime', 'netns', '--image', 'postgres:17'], /--image and --client-image are for the docker runtime/],
  ])('refuses %j in one line', async (flags, line) => {
    const { status, errors } = await torture(['--service', 'postgres', ...flags]);
    expect([status, errors.trim().split('\n').length], errors).toEqual([3, 1]);
    expect(errors).toMatch(line);
  });
});
