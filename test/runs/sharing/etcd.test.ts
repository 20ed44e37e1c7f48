/** Locks on etcd: real members, real leaders killed and cut off; and a lock that is broken, told from one that is not. */
import { describe, expect, it } from 'vitest';
import { skipWhere } from '../../support/needs.js';
import { lacking } from '../../support/needs-service.js';
import { freshFolder, start, torture } from '../../support/torture.js';

const noEtcd = await lacking('etcd');

describe('etcd', skipWhere(noEtcd), () => {
  it('keeps a lock by lease exclusive while leaders are killed, paused and cut off', async () => {
    const faults = 'kill:primary,partition:primary,pause:primary,pause:client';
    const { output, errors, results } = await torture([
      ...['--service', 'etcd', '--nemesis', faults, '--time-limit', '14s', '--seed', '1'],
    ]);
    const told = `${output}\n${errors}`;
    expect(output, told).toMatch(/etcd ready after \d.*: 3 etcd nodes, etcd 3\./);
    expect(output, told).toMatch(/ struck {3}(kill|partition|pause) e\d/);
    expect(output, told).not.toMatch(/ failed /);
    expect(
      results.violations.filter((one) => one.class === 'exclusion' || one.class === 'harm'),
      told,
    ).toEqual([]);
  });

  it('catches a lock that reads and then puts, on one member', async () => {
    const { output, errors, status, results } = await torture([
      ...['--service', 'etcd', '--topology', 'single', '--lock', 'etcd-read-then-put'],
      // However long it takes on a busy machine.
      ...['--nemesis', 'none', '--time-limit', '60s', '--stop-at-first'],
    ]);
    expect(status, `${output}\n${errors}`).toBe(1);
    expect(results.violations[0]).toMatchObject({ class: 'exclusion', cause: { name: 'overwritten' } });
  });

  it('says what a release took that was not its own any more, and by whose session a sleeper held', async () => {
    const { results, output, errors } = await torture([
      ...['--service', 'etcd', '--topology', 'single', '--lock', 'etcd-blind-delete', '--lease', '2s'],
      ...['--nemesis', 'pause:holder', '--time-limit', '12s', '--seed', '1'],
    ]);
    const causes = new Set(results.violations.map((one) => one.cause.name));
    expect([...causes], `${output}\n${errors}`).toContain('removed-early');
  });

  it('is compared with others by the matrix, which says what it cannot be asked', async () => {
    const out = freshFolder();
    const { child, output, errors, ended } = start(
      [
        ...['--services', '--topologies', 'etcd', '--locks', 'etcd-lease', '--jobs', '1'],
        ...['--faults', 'client-crash,node-forgets', '--time-limit', '8s', '--out', out],
      ],
      { command: 'matrix' },
    );
    await ended;
    const told = `${output()}\n${errors()}`;
    const refused = /node-forgets\/etcd-lease@etcd +as expected: .*amnesia is not possible here: it is for Redis/;
    expect(output(), told).toMatch(refused);
    // It held, or the machine is too busy to tell.
    expect(output(), told).toMatch(
      /client-crash\/etcd-lease@etcd +(as expected, safe \(weak: [^)]+\): The lock held|cannot tell)/,
    );
    expect([0, 2], told).toContain(child.exitCode);
  });

  it.each([
    [
      ['--nemesis', 'failover-to'],
      /failover-to makes no sense here: it is asked of Redis and Valkey by their own commands/,
    ],
    [['--nemesis', 'clock'], /clock is not possible here: etcd is a Go program/],
    [['--nemesis', 'failover'], /failover is not possible here: etcd replaces its leader by itself/],
    [['--topology', 'sentinel'], /--service etcd has the topologies quorum and single, not sentinel/],
    [['--persistence', 'rdb'], /--persistence is for Redis, not for etcd/],
    [['--lock', 'set-nx-px'], /lock set-nx-px makes no sense on topology etcd/],
    [['--server', '/nowhere/etcd'], /--server \/nowhere\/etcd is not there/],
  ])('refuses %j in one line', async (flags, line) => {
    const { status, errors } = await torture(['--service', 'etcd', ...flags]);
    expect([status, errors.trim().split('\n').length], errors).toEqual([3, 1]);
    expect(errors).toMatch(line);
  });
});
