import { expect, test } from 'vitest';
import { commandToReproduce } from '../../../../cli/common/reproduce.js';

test.each([
  ['the seed that was drawn', ['--topology', 'sentinel'], '--topology sentinel --seed 7'],
  ['not the first seed of a series', ['--seed', '3', '--careless'], '--careless --seed 7'],
  ['not the whole series', ['run', '--times', '5', '--until-violation', '--keys', '1'], 'run --keys 1 --seed 7'],
  ['either way of writing a value', ['--times=5', '--seed=3', '--lock=x'], '--lock=x --seed 7'],
  ['what a shell would take apart', ['--lock', 'cmd:python3 a.py'], "--lock 'cmd:python3 a.py' --seed 7"],
])('the command that repeats one run: %s', (_, argv, again) => {
  expect(commandToReproduce(argv, 7)).toBe(`npm run torture -- ${again}`);
});
