/** `conform`: an adapter that tells the truth passes, and two that make a mistake each are told it, with the remedy. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Conformance } from '../../../checkers/adapter/conformance.js';
import { freshFolder, ROOT, start } from '../../support/torture.js';

const MISTAKEN = join(ROOT, 'test/fixtures/adapters/mistaken.py');

async function conform(program: string, ...flags: string[]): Promise<Conformance & { exitStatus: number }> {
  const args = ['--lock', `cmd:python3 ${program}`, '--runtime', 'netns', '--out', freshFolder(), '--json', ...flags];
  const run = start(args, { command: 'conform' });
  const { code } = await run.ended;
  expect(run.output(), run.errors()).toMatch(/^\{.*\}\n$/);
  const result = JSON.parse(run.output());
  expect(result.exitStatus).toBe(code);
  return result;
}

const mistakes = ({ findings }: Conformance) => findings.filter(({ weight }) => weight === 'mistake');

it.concurrent('the template of a client makes no mistake', { timeout: 180_000 }, async () => {
  const result = await conform(join(ROOT, 'lock-impl/external/python/lock_client.py'));
  expect(mistakes(result)).toEqual([]);
  expect([0, 2]).toContain(result.exitStatus);
});

it.concurrent('stamps that the script cache hides', { timeout: 180_000 }, async () => {
  const result = await conform(`${MISTAKEN} script-cache`);
  expect(mistakes(result)).toMatchObject([{ rule: 'stamp-missing', remedy: expect.stringContaining('EVALSHA') }]);
  expect(result.exitStatus).toBe(1);
});

it.concurrent('the stamp of the last node instead of the first', { timeout: 180_000 }, async () => {
  const result = await conform(`${MISTAKEN} last-nodes-stamp`, '--topology', 'redlock');
  const late = { rule: 'stamp-late', remedy: expect.stringContaining('not of the last') };
  expect(mistakes(result)).toContainEqual(expect.objectContaining(late));
  expect(result.exitStatus).toBe(1);
});
