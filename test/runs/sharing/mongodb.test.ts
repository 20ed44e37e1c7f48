/** Locks on MongoDB: a real server, killed and paused; and locks that are broken there, told from one that is not. */
import { describe, expect, it } from 'vitest';
import { skipWhere } from '../../support/needs.js';
import { mongodbHere } from '../../support/needs-mongodb.js';
import { torture } from '../../support/torture.js';

const here = await mongodbHere();
const noMongodb = here ? undefined : 'no mongodb';
/** Clients load a library that is large. */
const FEW = ['--clients', '4', '--keys', '2', '--starts-within', '60s'];
/** On a busy machine it may take its time. */
const UNTIL_FOUND = ['--nemesis', 'none', '--time-limit', '60s', '--stop-at-first'];

describe('MongoDB', skipWhere(noMongodb), () => {
  const flags = here?.flags ?? [];

  it('keeps a lock by terms exclusive while its server is killed and paused, and clients are cut off', async () => {
    const { output, errors, results } = await torture([
      ...[...flags, '--lock', 'mongo-terms', ...FEW, '--time-limit', '12s', '--seed', '1'],
      ...['--nemesis', 'kill,pause,partition:client'],
    ]);
    const told = `${output}\n${errors}`;
    expect(output, told).toMatch(/mongodb ready after \d.*: 1 MongoDB node, MongoDB /);
    expect(output, told).toMatch(/ struck {3}(kill|pause) m1/);
    expect(output, told).toMatch(/healed and recovered/);
    expect(output, told).not.toMatch(/ failed /);
    expect(
      results.violations.filter((one) => one.class === 'exclusion' || one.class === 'harm'),
      told,
    ).toEqual([]);
  });

  it('says that a document without expiry outlives its holder, and is held by one client at a time', async () => {
    const { output, errors, status, results } = await torture([
      ...[...flags, '--lock', 'mongo-find-and-modify', ...FEW, '--workload', 'crash', '--time-limit', '6s'],
    ]);
    expect(status, `${output}\n${errors}`).toBe(1);
    expect(Object.keys(results.found)).toEqual(['liveness']);
    expect(results.violations.every(({ kind, blame }) => kind === 'deadlock' && blame?.on === 'lock')).toBe(true);
  });

  it('catches a lock that reads and then writes, and claims no cause that nothing proves', async () => {
    const { output, errors, status, results } = await torture([
      ...[...flags, '--lock', 'mongo-read-then-write', ...FEW, ...UNTIL_FOUND],
    ]);
    expect(status, `${output}\n${errors}`).toBe(1);
    expect(results.violations[0]).toMatchObject({ class: 'exclusion', cause: { name: 'unexplained' } });
  });

  it(
    'finds that findOneAndUpdate is no single step on FerretDB, which it says beforehand',
    skipWhere(here?.isFerretDb ? undefined : 'no FerretDB'),
    async () => {
      const { output, errors, status, results } = await torture([...flags, ...FEW, ...UNTIL_FOUND]);
      const told = `${output}\n${errors}`;
      expect(told).toMatch(/note: FerretDB takes two steps for findOneAndUpdate/);
      expect(status, told).toBe(1);
      expect(results.violations[0]).toMatchObject({ class: 'exclusion' });
    },
  );
});

describe('what MongoDB cannot be asked', skipWhere(noMongodb), () => {
  it.each([
    [['--nemesis', 'failover'], /failover makes no sense here: mongodb has nothing that could replace a node/],
    [['--nemesis', 'clock'], /clock is not possible here: the clock shim has not been tried on MongoDB/],
    [['--nemesis', 'amnesia'], /amnesia is not possible here: it is for Redis and Valkey only/],
    [['--topology', 'quorum'], /--service mongodb has the topologies single, not quorum/],
    [['--lock', 'set-nx-px'], /lock set-nx-px makes no sense on topology mongodb/],
  ])('%j is refused in one line', async (asked, line) => {
    const { status, errors } = await torture([...(here?.flags ?? []), ...asked]);
    expect([status, errors.trim().split('\n').length], errors).toEqual([3, 1]);
    expect(errors).toMatch(line);
  });
});

it('is refused in one line where there is no server', async () => {
  const { status, errors } = await torture(['--service', 'mongodb', '--server', '/nowhere/mongod']);
  expect([status, errors.trim().split('\n').length], errors).toEqual([3, 1]);
  expect(errors).toMatch(/--server \/nowhere\/mongod is not there/);
});
