/**
 * Workflow files as actionlint sees them: types of expressions, inputs of actions, shell scripts. It is a Go module; without Go
 * this is skipped.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findOnPath, runProgram } from '../../../harness/machine/command.js';
import { ROOT } from '../../support/torture.js';

const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.7';
const folder = join(ROOT, '.github/workflows');
const go = findOnPath('go');

it('workflow files have no mistake that actionlint knows', { timeout: 300_000 }, async ({ skip }) => {
  if (!go) skip('there is no Go here');
  const files = [
    ...readdirSync(folder).map((name) => join(folder, name)),
    join(ROOT, 'examples/ci/github-campaign.yml'),
  ];
  const { exitCode, stdout, stderr } = await runProgram(['go', 'run', ACTIONLINT, '-no-color', ...files], {
    timeoutMs: 280_000,
  });
  if (/dial tcp|no such host|i\/o timeout/.test(stderr)) skip(`the module could not be fetched: ${stderr}`);
  expect([exitCode, stdout], stderr).toEqual([0, '']);
});
