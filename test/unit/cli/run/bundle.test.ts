import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundle } from '../../../../cli/run/bundle.js';

const folder = mkdtempSync(join(tmpdir(), 'lock-torture-bundle-'));
const clientMain = '/dist/harness/client/main.js';
beforeAll(() => {
  for (const name of ['first', 'second']) writeFileSync(join(folder, `${name}.ts`), 'export default 1;\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** `untilBuilt` is waited for in the midst of the build. */
const built = (name: string, untilBuilt: Promise<unknown> = Promise.resolve()) =>
  bundle(join(folder, `${name}.ts`), { cwd: folder, outFolder: join(folder, name), clientMain }, [
    {
      name: 'waits',
      setup(build) {
        build.onLoad({ filter: /\.ts$/ }, () => untilBuilt.then(() => undefined));
      },
    },
  ]);

test('of two builds at once each comes to its end: runs of a batch begin together', async () => {
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const second = built('second', begun);
  expect(await built('first')).toBe(join(folder, 'first/lock.mjs'));
  begin();
  expect(await second).toBe(join(folder, 'second/lock.mjs'));
});

test.each(['vitest', '@jest/globals', 'node:test', 'lock-torture/vitest', 'lock-torture/jest'])(
  'a lock that imports %s is a test, and is refused in one line',
  async (runner) => {
    writeFileSync(join(folder, 'a.test.ts'), `import '${runner}';\nexport default {};\n`);
    await expect(bundle(join(folder, 'a.test.ts'), { cwd: folder, outFolder: folder, clientMain })).rejects.toThrow(
      `a.test.ts:1:8: a lock cannot import ${runner}: every client loads it in a process of its own`,
    );
  },
);
