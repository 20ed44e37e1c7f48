import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addHuntFlags, askHunt, type HuntFlags } from '../../../../cli/hunt/flags.js';
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
