/** What the tool is called in the commands that it prints: they are pasted where the user stands. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toolOf } from '../../../../cli/common/reproduce.js';
import { toolFrom } from '../../../../cli/common/standing.js';
import { freshFolder } from '../../../support/torture.js';

function made(...folders: string[]): string {
  const path = join(freshFolder(), ...folders);
  mkdirSync(path, { recursive: true });
  return path;
}

test('a clone is called by npm where npm finds it, and by its file from elsewhere', () => {
  const clone = made('a clone');
  writeFileSync(join(clone, 'package.json'), '{}');
  mkdirSync(join(clone, 'locks/of-mine'), { recursive: true });
  mkdirSync(join(clone, 'examples/vitest'), { recursive: true });
  writeFileSync(join(clone, 'examples/vitest/package.json'), '{}');
  expect(toolFrom(clone, clone, true)).toBe('npm run torture --');
  expect(toolFrom(join(clone, 'locks/of-mine'), clone, true)).toBe('npm run torture --');
  // npm takes the nearest package, which is another one.
  expect(toolFrom(join(clone, 'examples/vitest'), clone, true)).toBe(`node '${clone}/bin/torture.mjs'`);
  expect(toolFrom(made('elsewhere'), clone, true)).toBe(`node '${clone}/bin/torture.mjs'`);
});

test('an installed one is called by npx in the project that has it, through links too, and by its file from elsewhere', () => {
  const project = made('project');
  const [store, there] = [join(project, 'node_modules/.store/lock-torture'), join(project, 'src')];
  for (const folder of [store, there]) mkdirSync(folder, { recursive: true });
  symlinkSync(store, join(project, 'node_modules/lock-torture'));
  for (const standing of [project, there]) expect(toolFrom(standing, store, false)).toBe('npx lock-torture');
  expect(toolFrom(made('elsewhere'), store, false)).toBe(`node ${store}/bin/torture.mjs`);
  const fetched = made('_npx', 'f00', 'node_modules', 'lock-torture');
  expect(toolFrom(made('elsewhere'), fetched, false)).toBe('npx lock-torture');
});

test.each(['npm run torture --', 'npx lock-torture', 'node /opt/bin/torture.mjs', "node '/it'\\''s here/torture.mjs'"])(
  'a command says itself that the tool is called %s',
  (tool) => {
    expect(toolOf(`${tool} replay 'a b'`)).toBe(tool);
    expect(toolOf(tool)).toBe(tool);
  },
);
