/** The image that docs/in-a-container.md has for those without Node.js is used as the one that the tool makes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TOOL_BASE } from '../../../cli/run/tool-image.js';
import { ROOT } from '../../support/torture.js';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

it('has the same base, place, environment and entry as the tool makes', () => {
  const [, block = ''] = /where Dockerfile is\n\n((?: {4}.*\n)+)/.exec(read('docs/in-a-container.md')) ?? [];
  const documented = block.split('\n').map((line) => line.trim());
  const made = read('docker/Dockerfile').split('\n');
  const ofKind = (lines: string[]) => lines.filter((line) => /^(ENV|WORKDIR|ENTRYPOINT) /.test(line));
  expect(documented[0]).toBe(`FROM ${TOOL_BASE}`);
  expect(ofKind(documented)).toEqual(ofKind(made));
  expect(ofKind(made)).toHaveLength(3);
});
