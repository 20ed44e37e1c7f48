/** Commands of the pages that end within seconds do what the pages say of them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { RUN_HERE } from '../../support/page-commands-run.js';
import { freshFolder, start } from '../../support/torture.js';

const named = RUN_HERE.map((one) => [one.argv.join(' '), one] as const);

it.concurrent.each(named)('%s', async (_name, { argv, output, files = {} }) => {
  const cwd = freshFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  const [command, ...args] = argv;
  const run = start(args, { command: command!, cwd });
  const { code } = await run.ended;
  expect(`${run.output()}${run.errors()}`).toMatch(output);
  expect(code).toBe(0);
});
