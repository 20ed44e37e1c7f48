/** The commands of a report lead to its run, wherever that lies, and only to what can be had of it. */
import { expect, it } from 'vitest';
import { RUNS_FOLDER } from '../../../../cli/common/standing.js';
import { commandsOfRun } from '../../../../cli/judge/commands-of-run.js';
import { literalConfig } from '../../checkers/build.js';

const run = { ...literalConfig, reproduce: 'npx lock-torture --seed 1' };

it('name a run by its id where runs are, and else by its folder, called as the run was', () => {
  expect(commandsOfRun(`${RUNS_FOLDER}/2026-x`, run)).toEqual({
    replay: 'npx lock-torture replay 2026-x --times 10',
    check: 'npx lock-torture check 2026-x',
  });
  const called = { ...run, reproduce: "node '/the tool/bin/torture.mjs' --seed 1" };
  expect(commandsOfRun("/else where/it's", called)).toEqual({
    replay: "node '/the tool/bin/torture.mjs' replay '/else where/it'\\''s' --times 10",
    check: "node '/the tool/bin/torture.mjs' check '/else where/it'\\''s'",
  });
});

it.each([
  ['a play', { scenario: 'only-one-holds' }],
  ['a run in virtual time', { runtime: 'sim' }],
  ['a run that looked at an adapter', { workload: 'conform' }],
])('replay no %s, which is the same each time or has no workload of a run', (_, other) => {
  expect(commandsOfRun('/runs/x', { ...run, ...other })).toEqual({ check: 'npx lock-torture check /runs/x' });
});
