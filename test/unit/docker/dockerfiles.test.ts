/** Images of the runtime for containers. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder } from '../../support/lock-client.js';

const folder = join(projectFolder, 'docker');
const dockerfiles = readdirSync(folder).filter((name) => name.endsWith('Dockerfile'));
const stages = dockerfiles
  .flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split(/^(?=FROM )/m)
      .slice(1)
      // The last has the name and the label of the whole.
      .slice(0, -1)
      .map((text) => ({ name, text })),
  )
  .filter(({ text }) => /^(RUN|COPY) /m.test(text));

test('a build leaves nothing that has no name: only the last stage makes anything', () => {
  expect(stages).toEqual([]);
});

test('no image has a compiler installed: what is in C comes compiled', () => {
  for (const name of dockerfiles) expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(/\b(gcc|cc)\b/);
});
