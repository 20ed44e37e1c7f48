import { expect, test } from 'vitest';
import { machineOf, onItsMachine } from '../../../../cli/campaign/campaign-machine.js';

const flagsOf = (more: object = {}) => ({ runtime: 'auto', ...more });
const said =
  (...flags: string[]) =>
  (flag: string) =>
    flags.includes(flag);

test('a campaign keeps what it was asked to run on', () => {
  expect(machineOf(flagsOf(), '/here')).toEqual({});
  expect(machineOf(flagsOf({ runtime: 'sim', server: 'redis@8.0' }), '/here')).toEqual({
    runtime: 'sim',
    server: 'redis@8.0',
  });
  expect(machineOf(flagsOf({ redis: './redis-server', image: 'redis:8' }), '/here')).toEqual({
    server: '/here/redis-server',
    image: 'redis:8',
  });
});

test('one that goes on does so there', () => {
  const machine = { runtime: 'docker', image: 'redis:8', clientImage: 'node:24', server: '/a/redis-server' };
  expect(onItsMachine(flagsOf(), machine, said())).toEqual(machine);
  // What a config says is for campaigns that begin.
  expect(onItsMachine(flagsOf({ runtime: 'netns', redis: '/b' }), machine, said())).toEqual(machine);
  expect(onItsMachine(flagsOf({ image: 'redis:7' }), {}, said())).toEqual({ runtime: 'auto', image: 'redis:7' });
});

test('but for what is said now', () => {
  const machine = { runtime: 'docker', server: '/a/redis-server' };
  expect(onItsMachine(flagsOf({ runtime: 'netns' }), machine, said('runtime'))).toEqual({
    runtime: 'netns',
    server: '/a/redis-server',
  });
  expect(onItsMachine(flagsOf({ redis: '/b' }), machine, said('redis'))).toEqual({ runtime: 'docker', redis: '/b' });
});
