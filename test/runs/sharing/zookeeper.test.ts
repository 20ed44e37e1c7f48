/** Locks on ZooKeeper: real servers, real leaders killed and cut off; and locks that are broken, told from one that is not. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { skipWhere } from '../../support/needs.js';
import { lacking } from '../../support/needs-service.js';
import { freshFolder, torture } from '../../support/torture.js';

const noZookeeper = await lacking('zookeeper');

describe('ZooKeeper', skipWhere(noZookeeper), () => {
  it('keeps a lock exclusive while leaders are killed, paused and cut off', async () => {
    const faults = 'kill:primary,partition:primary,pause:primary,pause:client';
    const { output, errors, results } = await torture([
      ...['--service', 'zookeeper', '--nemesis', faults, '--time-limit', '18s', '--seed', '1'],
    ]);
    const told = `${output}\n${errors}`;
    expect(output, told).toMatch(/zookeeper ready after \d.*: 3 ZooKeeper nodes, ZooKeeper 3\./);
    expect(output, told).toMatch(/ struck {3}(kill|partition|pause) z\d/);
    expect(output, told).not.toMatch(/ failed /);
    expect(
      results.violations.filter((one) => one.class === 'exclusion' || one.class === 'harm'),
      told,
    ).toEqual([]);
  });

  it('says that a holder which slept past its session is stale', async () => {
    const { results, output, errors } = await torture([
      ...['--service', 'zookeeper', '--topology', 'single', '--lease', '2s'],
      ...['--nemesis', 'pause:holder', '--time-limit', '12s', '--seed', '1'],
    ]);
    const told = `${output}\n${errors}`;
    expect(
      results.violations.map((one) => [one.class, one.cause.name]),
      told,
    ).toContainEqual(['stale', 'client-paused']);
    expect(
      results.violations.filter((one) => one.class === 'exclusion'),
      told,
    ).toEqual([]);
    // By the servers' own log.
    expect(JSON.stringify(results.violations), told).toContain('ended by time');
  });

  it('catches a lock that forgets what it made and was not told of', async () => {
    // Whether somebody is just making a node when the server stops is chance: it stops often, for longer than a client waits for an
    // answer, and nobody does anything else.
    const steps = Array.from({ length: 6 }, (_, n) => ({
      atMs: 300 + 2_600 * n,
      fault: 'pause',
      target: 'primary',
      forMs: 2_000,
    }));
    const plan = join(freshFolder(), 'plan.json');
    writeFileSync(plan, JSON.stringify({ version: 1, seed: 1, steps }));
    const { results, output, errors, status } = await torture([
      ...['--service', 'zookeeper', '--topology', 'single', '--lock', 'zk-lost-create'],
      ...['--plan', plan, '--hold', '0.001x..0.005x', '--time-limit', '14s', '--seed', '1'],
    ]);
    const told = `${output}\n${errors}`;
    expect(status, told).toBe(1);
    expect(
      results.violations.map((one) => one.class),
      told,
    ).toContain('liveness');
  });

  it.each([
    [['--nemesis', 'clock'], /clock is not possible here: ZooKeeper times sessions by a clock that nobody sets/],
    [['--nemesis', 'failover'], /failover is not possible here: ZooKeeper replaces its leader by itself/],
    [['--nemesis', 'power-cut'], /power-cut is not possible here: what ZooKeeper syncs is not recorded/],
    [['--topology', 'sentinel'], /--service zookeeper has the topologies quorum and single, not sentinel/],
    [['--persistence', 'rdb'], /--persistence is for Redis, not for ZooKeeper/],
    [['--lock', 'etcd-lease'], /lock etcd-lease makes no sense on topology zookeeper/],
    [['--server', '/nowhere/zookeeper'], /--server \/nowhere\/zookeeper is not there/],
  ])('refuses %j in one line', async (flags, line) => {
    const { status, errors } = await torture(['--service', 'zookeeper', ...flags]);
    expect([status, errors.trim().split('\n').length], errors).toEqual([3, 1]);
    expect(errors).toMatch(line);
  });
});
