import { expect, test, vi } from 'vitest';
import { benchmarks } from '../../../bench/benchmarks.js';

const told = vi.spyOn(process.stdout, 'write').mockReturnValue(true);

test.each(Object.keys(benchmarks))('%s says what its flags are, and measures nothing then', async (name) => {
  told.mockClear();
  await expect(benchmarks[name]!.run(['--help'])).rejects.toMatchObject({ name: 'CommanderError', exitCode: 0 });
  const help = told.mock.calls.map(([text]) => String(text)).join('');
  expect(help).toMatch(new RegExp(`^Usage: npm run bench -- ${name} `));
  expect(help).toContain('--help');
});

test.each(Object.keys(benchmarks))('%s refuses a flag that it does not know', async (name) => {
  await expect(benchmarks[name]!.run(['--no-such-flag'])).rejects.toMatchObject({ code: 'commander.unknownOption' });
});
