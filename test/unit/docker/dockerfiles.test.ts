/** Images of the runtime for containers. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder } from '../../support/lock-client.js';

const folder = join(projectFolder, 'docker');
const stages = readdirSync(folder)
  .filter((name) => name.endsWith('Dockerfile'))
  .flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split(/^(?=FROM )/m)
      .slice(1)
      // The last has the name and the label of the whole.
      .slice(0, -1)
      .map((text) => ({ name, text })),
  )
  .filter(({ text }) => /^(RUN|COPY) /m.test(text));

test('what a build leaves without a name has our label: the filter in docs/running.md finds it', () => {
  expect(stages.length).toBeGreaterThan(1);
  for (const { name, text } of stages) expect(text.trimEnd(), name).toMatch(/^LABEL lock-torture\.image=\w+$/m);
});
