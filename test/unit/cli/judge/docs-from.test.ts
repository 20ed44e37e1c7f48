import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { docsFrom } from '../../../../cli/judge/commands-of-run.js';
import { PROJECT } from '../../../../harness/machine/project-files.js';
import { sampleConfig } from '../../reports/sample.js';

it('a report finds the documentation from its folder; not where the tool was in a container', () => {
  const folder = '/tmp/my runs/a run';
  expect(existsSync(resolve(folder, docsFrom(folder, sampleConfig)!, 'causes.md'))).toBe(true);
  expect(docsFrom(join(PROJECT, 'runs/one'), sampleConfig)).toBe('../../docs');
  const reproduce = `${sampleConfig.reproduce} --runtime container`;
  expect(docsFrom(folder, { ...sampleConfig, reproduce })).toBeUndefined();
});
