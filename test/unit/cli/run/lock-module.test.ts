/** A lock's module is the same whenever and wherever it is made: a finding is held against it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { putLockModule } from '../../../../cli/run/lock-module.js';
import { freshFolder } from '../../../support/torture.js';

const CONNECT = 'async connect() { return { async acquire() { return words() ? null : null; } }; }';

it.each([
  ['mine.ts', 'ts', `export default { name: 'mine' as string, ${CONNECT} };`],
  ['mine.mjs', 'mjs', `export default { name: 'mine', ${CONNECT} };`],
  ['mine.js', 'js', `export default { name: 'mine', ${CONNECT} };`],
])('of %s, with a file beside it and a package', async (name, extension, text) => {
  const project = freshFolder();
  const put = (path: string, source: string) => {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), source);
  };
  put('package.json', '{"type":"module"}');
  put('node_modules/a-package/package.json', '{"type":"module","exports":"./index.js"}');
  put('node_modules/a-package/index.js', "export const words = () => 'of the package';");
  put(`helper.${extension}`, "export { words } from 'a-package';");
  put(name, `import { words } from './helper.${extension}';\n${text}`);
  expect(await twice(`./${name}`, project)).toContain('of the package');
});

it.each(['set-nx-px', 'third-party/redlock-5', 'broken/shared-owner'])('of %s', async (name) => {
  await twice(name, process.cwd());
});

it('a native add-on is refused in words of virtual time, with what can be done', async () => {
  const project = freshFolder();
  const put = (path: string, source: string) => writeFileSync(join(project, path), source);
  put('some.node', '');
  put('lock.mjs', `import addOn from './some.node';\nexport default { name: addOn, ${CONNECT} };`);
  const refused = /some\.node is a native add-on, which cannot be played in virtual time: .*; torture it with `run`$/;
  await expect(putLockModule('./lock.mjs', project, freshFolder())).rejects.toThrow(refused);
});

/** Resolves with what both are. */
async function twice(lock: string, cwd: string): Promise<string> {
  const here = readFileSync(await putLockModule(lock, cwd, freshFolder()), 'utf8');
  const [away, before] = [freshFolder(), process.cwd()];
  process.chdir(away);
  try {
    expect(readFileSync(await putLockModule(lock, cwd, freshFolder()), 'utf8')).toBe(here);
  } finally {
    process.chdir(before);
  }
  return here;
}
