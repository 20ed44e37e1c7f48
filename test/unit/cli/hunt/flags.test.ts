import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addHuntFlags, askHunt, type HuntFlags } from '../../../../cli/hunt/flags.js';
import { scheduleOf } from '../../../../cli/hunt/generation.js';
import { scheduling } from '../../../../cli/hunt/hunt-command.js';
import { parseFlags } from '../../../../cli/run/flags.js';

const asked = (...argv: string[]) => {
  const { flags, given } = parseFlags<HuntFlags>(addHuntFlags, argv);
  return askHunt(flags, { argv, cwd: process.cwd(), given });
};

test('the least time of a schedule is what help says', () => {
  const option = addHuntFlags(new Command()).options.find(({ long }) => long === '--time-limit')!;
  const [, least] = /at least ([\d.]+s)/.exec(option.description)!;
  expect(asked('--time-limit', least!).run.settings.timeLimitMs).toBe(Number.parseFloat(least!) * 1e3);
  expect(() => asked('--time-limit', `${Number.parseFloat(least!) * 1e3 - 1}ms`)).toThrow(
    `--time-limit must be at least ${least}: `,
  );
});

test('clients have a run’s habits in three schedules of four, where they are stopped and nobody says how long they hold', () => {
  expect(asked().habits).toMatchObject({ habits: { keptOn: 0.4 } });
  for (const argv of [['--hold', '0.1x..0.7x'], ['--faults', 'kill'], ['--workload', 'renewal'], ['--exhaustive']])
    expect(asked(...argv).habits, argv.join(' ')).toBeUndefined();
  const hunt = asked('--seed', '1');
  const { leaseMs } = hunt.run.settings;
  const schedules = [1, 2, 3, 4, 5].map((n) => scheduleOf(n, { seed: 1, ...scheduling(hunt), config: { leaseMs } }));
  expect(schedules.map(({ hold }) => hold)).toEqual([undefined, hunt.habits, hunt.habits, hunt.habits, undefined]);
});
