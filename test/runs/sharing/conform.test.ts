/** `conform`: adapters that tell the truth pass, and three that make a mistake each are told it, with the remedy. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Conformance } from '../../../checkers/adapter/conformance.js';
import { skipWhere, withoutTool } from '../../support/needs.js';
import { freshFolder, ROOT, start } from '../../support/torture.js';

const MISTAKEN = join(ROOT, 'test/fixtures/adapters/mistaken.py');

async function conform(program: string, ...flags: string[]): Promise<Conformance & { exitStatus: number }> {
  const args = ['--lock', `cmd:${program}`, '--runtime', 'netns', '--out', freshFolder(), '--json', ...flags];
  const run = start(args, { command: 'conform' });
  const { code } = await run.ended;
  expect(run.output(), run.errors()).toMatch(/^\{.*\}\n$/);
  const result = JSON.parse(run.output());
  expect(result.exitStatus).toBe(code);
  return result;
}

const mistakes = ({ findings }: Conformance) => findings.filter(({ weight }) => weight === 'mistake');

const IN_ADAPTERS = join(ROOT, 'lock-impl/external');
/** What the pages tell an author to copy: how it is started, and built where it has to be. */
const TEMPLATES: Record<string, { tool: string; program: () => string; tags?: 'night'[] }> = {
  'the client in Python with all that ours need': {
    tool: 'python3',
    program: () => `python3 ${IN_ADAPTERS}/python/lock_client.py`,
  },
  'the template in Python': { tool: 'python3', program: () => `python3 ${IN_ADAPTERS}/templates/python/client.py` },
  'the template in Go': {
    tool: 'go',
    program() {
      const built = join(freshFolder(), 'client');
      execFileSync('go', ['build', '-o', built, '.'], { cwd: join(IN_ADAPTERS, 'templates/go') });
      return built;
    },
  },
  'the template in Java': {
    tool: 'javac',
    tags: ['night'],
    program() {
      const built = freshFolder();
      execFileSync('javac', ['-d', built, join(IN_ADAPTERS, 'templates/java/Client.java')]);
      // What a virtual machine warns of goes where nothing else is said (docs/adapters.md).
      return `java -Xlog:disable -Xlog:all=warning:stderr -cp ${built} Client`;
    },
  },
};

for (const [name, { tool, program, tags = [] }] of Object.entries(TEMPLATES))
  it.concurrent(`${name} makes no mistake`, { tags, timeout: 180_000, ...skipWhere(withoutTool(tool)) }, async () => {
    const result = await conform(program());
    expect(mistakes(result)).toEqual([]);
    expect([0, 2]).toContain(result.exitStatus);
    expect(result.grants).toBeGreaterThan(0);
  });

it.concurrent('stamps that the script cache hides', { timeout: 180_000 }, async () => {
  const result = await conform(`python3 ${MISTAKEN} script-cache`);
  expect(mistakes(result), JSON.stringify(result)).toMatchObject([
    { rule: 'stamp-missing', remedy: expect.stringContaining('EVALSHA') },
  ]);
  expect(result.exitStatus).toBe(1);
});

it.concurrent('the stamp of the last node instead of the first', { tags: ['night'], timeout: 180_000 }, async () => {
  const result = await conform(`python3 ${MISTAKEN} last-nodes-stamp`, '--topology', 'redlock');
  const late = { rule: 'stamp-late', remedy: expect.stringContaining('not of the last') };
  expect(mistakes(result)).toContainEqual(expect.objectContaining(late));
  expect(result.exitStatus).toBe(1);
});

it.concurrent('a renewal that was answered "not yours" and is told as made', { timeout: 180_000 }, async () => {
  const result = await conform(`python3 ${MISTAKEN} any-answer-is-renewed`);
  const told = { rule: 'not-renewed', remedy: expect.stringContaining('"not yours"') };
  expect(mistakes(result), JSON.stringify(result)).toContainEqual(expect.objectContaining(told));
  expect(result.exitStatus).toBe(1);
});
