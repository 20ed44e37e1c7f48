/** What a campaign is asked for: by what is typed, then by the project's config. */
import { expect, test } from 'vitest';
import { askCells, cellsOf } from '../../../../cli/campaign/cells.js';
import { UsageError } from '../../../../cli/common/errors.js';
import type { Settings } from '../../../../harness/vocabulary/settings.js';

const CWD = '/home/me/project';
const settings: Settings = {
  lock: `${CWD}/locks/mine.ts`,
  topology: 'sentinel',
  nemesis: 'kill,pause:client',
  lease: '2s',
  clients: 4,
  seed: 7,
  plan: '/home/me/project/plan.json',
  server: 'valkey@9',
  out: '/elsewhere',
  // What is asked of all runs together is not asked of each.
  known: '/home/me/project/known',
  knownOk: true,
  minHolds: 100,
  minStrikes: 59,
};

test('the config says what is not typed, each fault alone and all at once, and what all runs can have', () => {
  expect(askCells({}, settings, ['--keys', '2'], CWD)).toEqual({
    locks: ['./locks/mine.ts'],
    topologies: ['sentinel'],
    faults: ['kill,pause:client', 'kill', 'pause:client'],
    workloads: ['mutex'],
    extra: ['--lease=2s', '--clients=4', '--keys', '2'],
    cwd: CWD,
  });
});

test('what is typed comes before it', () => {
  const typed = { locks: 'setnx, set-nx-px', topologies: 'single', faults: 'reset', workloads: 'counter' };
  expect(askCells(typed, settings, [], CWD)).toMatchObject({
    locks: ['setnx', 'set-nx-px'],
    topologies: ['single'],
    faults: ['reset'],
    workloads: ['counter'],
  });
});

test('without either it is the default lock on single', () => {
  expect(askCells({}, {}, [], CWD)).toMatchObject({ locks: undefined, topologies: ['single'], faults: undefined });
});

test.each(['--known=known', '--known-ok', '--min-holds=1', '--min-strikes=1'])('%s is not for each run', (flag) => {
  expect(() => cellsOf(askCells({}, { lock: 'set-nx-px' }, [flag], CWD))).toThrow(
    /^--(known|known-ok|min-holds|min-strikes) is not for the runs of a campaign: it has its own$/,
  );
});

test('one fault is one cell, and a lock by its name stays that', () => {
  const { faults, locks } = askCells({}, { lock: 'set-nx-px', nemesis: ['kill'] }, [], CWD);
  expect({ faults, locks }).toEqual({ faults: ['kill'], locks: ['set-nx-px'] });
});

test('a config for another service is refused with the remedy', () => {
  expect(() => askCells({}, { service: 'etcd' }, [], CWD)).toThrow(UsageError);
  expect(() => askCells({}, { service: 'etcd' }, [], CWD)).toThrow('--no-config');
});

test.each([
  [{ locks: 'set-nx-pxx' }, /^unknown lock "set-nx-pxx"; did you mean set-nx-px/],
  [{ locks: './mine.ts', faults: 'kill,moonquake' }, /^--faults: "moonquake" is not a fault; .list faults. shows all/],
  [{ faults: 'failover' }, /^--faults: failover makes no sense here: /],
  [{ locks: 'redlock' }, /^redlock goes together with nothing else of this campaign$/],
])('%j is refused with the reason', (typed, line) => {
  expect(() => cellsOf(askCells(typed, {}, [], CWD))).toThrow(line);
});

test('a fault that makes no sense on one topology is left out there', () => {
  const cells = cellsOf(askCells({ topologies: 'single,sentinel', faults: 'failover,pause' }, {}, [], CWD));
  expect(cells.map(({ topology, nemesis }) => `${topology} ${nemesis}`)).toEqual([
    'single pause',
    'sentinel failover',
    'sentinel pause',
  ]);
});

test('faults that are struck at once are a cell of their own', () => {
  const cells = cellsOf(askCells({}, { lock: 'set-nx-px', nemesis: 'kill,pause:client', lease: '2s' }, [], CWD));
  expect(cells.map(({ nemesis }) => nemesis)).toEqual(['kill,pause:client', 'kill', 'pause:client']);
  expect(cells[0]!.argv).toContain('--lease=2s');
});

test('--holds makes a cell of each range, whose command line says it, and comes before that of the config', () => {
  const typed = { faults: 'kill,none', holds: 'mixed,0.02x..0.1x' };
  const cells = cellsOf(askCells(typed, { lock: 'set-nx-px', hold: '0.5x' }, ['--keys', '2'], CWD));
  expect(cells.map(({ hold, nemesis }) => [hold, nemesis])).toEqual([
    ['mixed', 'kill'],
    ['mixed', 'none'],
    ['0.02x..0.1x', 'kill'],
    ['0.02x..0.1x', 'none'],
  ]);
  const ends = ['--keys', '2', '--nemesis', 'kill'];
  const begins = ['--lock', 'set-nx-px', '--topology', 'single', '--workload', 'mutex'];
  expect(cells[0]!.argv).toEqual([...begins, ...ends]);
  expect(cells[2]!.argv).toEqual([...begins, '--hold', '0.02x..0.1x', ...ends]);
});

test('a hold that is none is refused, and so is --hold beside --holds', () => {
  const asked = (holds: string, extra: string[]) => () => cellsOf(askCells({ holds }, {}, extra, CWD));
  expect(asked('long', [])).toThrow(/"long" is not a part of the lease/);
  expect(asked('mixed', ['--hold', '0.5x'])).toThrow(/^--hold is not for the runs of a campaign/);
});
