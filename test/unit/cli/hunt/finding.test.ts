import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedSince, harnessHash } from '../../../../cli/hunt/finding.js';
import { freshFolder } from '../../../support/torture.js';

test('the hash of the harness is of all that its program loads, however, and of nothing else', () => {
  const folder = freshFolder();
  const put = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const main = put(
    'main.js',
    'import {\n  a\n} from "./a.js";\nimport "./b.js";\nconst c = await import("./c.js");\nimport x from "zod";',
  );
  put('a.js', 'export * from "./d.js";');
  for (const name of ['b.js', 'c.js', 'd.js', 'other.js']) put(name, `// ${name}`);
  const before = harnessHash(main);
  expect(before).toMatch(/^[0-9a-f]{16}$/);
  put('other.js', '// changed');
  expect(harnessHash(main)).toBe(before);
  const hashes = ['b.js', 'c.js', 'd.js'].map((name) => {
    put(name, '// changed');
    const changed = harnessHash(main);
    put(name, `// ${name}`);
    return changed;
  });
  expect(new Set([before, ...hashes]).size).toBe(4);
});

test('each thing that is not as it was is named, also one of which nothing was kept', () => {
  const now = { node: 'v20', ioredis: '5', lock: 'l', server: 's', shim: 'x', harness: 'h' };
  expect(changedSince(now, now)).toEqual([]);
  for (const name of Object.keys(now))
    expect(changedSince({ ...now, [name]: 'then' }, now)).toEqual([
      `${name} (then, now ${now[name as keyof typeof now]})`,
    ]);
  const { harness: _, ...then } = now;
  expect(changedSince(then, now)).toEqual(['harness (not told, now h)']);
});
