import { expect, test } from 'vitest';
import { commandIn, commandToReproduce, huntUpTo, shownPath } from '../../../../cli/common/reproduce.js';

test.each([
  ['the seed that was drawn', ['--topology', 'sentinel'], '--topology sentinel --seed 7'],
  ['not the first seed of a series', ['--seed', '3', '--careless'], '--careless --seed 7'],
  ['not the whole series', ['run', '--times', '5', '--until-violation', '--keys', '1'], 'run --keys 1 --seed 7'],
  ['not its part of the series', ['--times', '9', '--shard', '2/3', '--seed', '3', '--keys=1'], '--keys=1 --seed 7'],
  ['either way of writing a value', ['--times=5', '--seed=3', '--lock=x'], '--lock=x --seed 7'],
  ['what a shell would take apart', ['--lock', 'cmd:python3 a.py'], "--lock 'cmd:python3 a.py' --seed 7"],
])('the command that repeats one run: %s', (_, argv, again) => {
  expect(commandToReproduce(argv, 7)).toBe(`npm run torture -- ${again}`);
});

test('the command that hunts again up to a schedule has no end in time', () => {
  const argv = ['hunt', '--lock', 'x', '--for', '15s', '--seed=3', '--runs', '500', '--shard', '1/2'];
  expect(huntUpTo(argv, 7, 9)).toBe('npm run torture -- hunt --lock x --shard 1/2 --seed 7 --runs 9');
});

test.each([
  ['below', '/a/b/hunts/1', 'hunts/1'],
  ['above', '/a/hunts/1', '/a/hunts/1'],
  ['here', '/a/b', '/a/b'],
  ['whose name begins with dots', '/a/b/..c/1', '..c/1'],
  ['whose name is like an option', '/a/b/--json', './--json'],
])('a path %s', (_, path, shown) => {
  expect(shownPath(path, '/a/b')).toBe(shown);
});

test('a command for another folder begins with the way there', () => {
  expect(commandIn('/a/b', 'npx lock-torture --seed 1', '/a/b')).toBe('npx lock-torture --seed 1');
  expect(commandIn('/a b', 'npx lock-torture --seed 1', '/a')).toBe("cd '/a b' && npx lock-torture --seed 1");
});
