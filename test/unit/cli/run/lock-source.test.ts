/** Every kind of `--lock`, and one clear line for every mistake that can be seen without running it. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LockSpecError } from '../../../../cli/run/bundle.js';
import { resolveLock, sourcesOf } from '../../../../cli/run/lock-source.js';
import { clientProgram } from '../../../../harness/client/program.js';

const folder = mkdtempSync(join(tmpdir(), 'lock-torture-spec-'));
const write = (name: string, text: string) => {
  mkdirSync(join(folder, name, '..'), { recursive: true });
  writeFileSync(join(folder, name), text);
};
beforeAll(() => {
  write('client.sh', '#!/bin/sh\nexit 0\n');
  chmodSync(join(folder, 'client.sh'), 0o755);
  write('plain.txt', 'not executable');
  write('client.py', 'pass');
  write('broken.ts', 'export default {\n  name: "x",\n  connect(: 1,\n};\n');
  write('missing-package.ts', "import { nothing } from 'no-such-package';\nexport default nothing;\n");
  write('missing-file.ts', "import './not-there';\nexport default {};\n");
  write('src/lock.ts', "import { helper } from './helper.js';\nexport default helper(import.meta.url);\n");
  write('node_modules/of-others/index.js', "module.exports = 'from a package';\n");
  write('with-package.ts', "import said from 'of-others';\nexport default said;\n");
  write('with-add-on.ts', "import addOn from './some.node';\nexport default addOn;\n");
  write('src/helper.ts', 'export const helper = (url: string) => ({ url });\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

const context = {
  cwd: folder,
  outFolder: join(folder, 'out'),
  builtin: (name: string) => {
    if (name === 'pg-row')
      return { modulePath: join(folder, 'with-package.ts'), topologies: ['pg'], hasPackage: true as const };
    if (name !== 'set-nx-px') return undefined;
    return { modulePath: '/dist/lock-impl/set-nx-px.js', topologies: ['single'] };
  },
  builtinNames: ['set-nx-px', 'redlock', 'broken/blind-del'],
  external: async (name: string) =>
    name === 'go/redsync' ? { clientArgv: ['/built/client', 'redsync'], topologies: ['single', 'redlock'] } : undefined,
  fetched: () => Promise.reject(new Error('no version is asked for')),
  clientMain: '/dist/harness/client/main.js',
  node: '/usr/bin/node',
};

test('a built-in lock', async () => {
  expect(await resolveLock('set-nx-px', context)).toEqual({
    kind: 'builtin',
    clientArgv: clientProgram(['/usr/bin/node', '/dist/harness/client/main.js', '/dist/lock-impl/set-nx-px.js']),
    topologies: ['single'],
  });
});

test('a library of another language', async () => {
  const { clientArgv, topologies } = (await context.external('go/redsync'))!;
  expect(await resolveLock('go/redsync', context)).toEqual({ kind: 'external', clientArgv, topologies });
});

describe('the files that a lock is made of', () => {
  const sources = (spec: string) => sourcesOf(spec, context);

  test('of a module with what it imports, and without packages', async () => {
    expect((await sources('./src/lock.ts')).toSorted()).toEqual([
      join(folder, 'src/helper.ts'),
      join(folder, 'src/lock.ts'),
    ]);
    expect(await sources('./with-package.ts')).toEqual([join(folder, 'with-package.ts')]);
  });

  test('of a program, by its command; none of a lock that the tool brings', async () => {
    expect(await sources('cmd:./client.sh client.py --flag')).toEqual([
      join(folder, 'client.sh'),
      join(folder, 'client.py'),
    ]);
    expect(await sources('set-nx-px')).toEqual([]);
  });
});

describe('a program', () => {
  test('relative to where the user stands, quoted arguments kept whole, no shell', async () => {
    expect(await resolveLock(`cmd:./client.sh --name "two words" '$HOME' ; rm`, context)).toEqual({
      kind: 'command',
      clientArgv: [join(folder, 'client.sh'), '--name', 'two words', '$HOME', ';', 'rm'],
    });
  });

  test('from PATH; a file among the arguments is made absolute, because the client runs elsewhere', async () => {
    const { clientArgv } = await resolveLock('cmd:sh client.py -c 1', context);
    expect(clientArgv[0]).toMatch(/^\/.*\/sh$/);
    expect(clientArgv.slice(1)).toEqual([join(folder, 'client.py'), '-c', '1']);
  });

  test('by a shell of their own that gives the protocol a descriptor, as docs/protocol.md has it', async () => {
    const { clientArgv } = await resolveLock("cmd:sh -c 'exec /home/me/my-client --flag 3>&1 1>&2'", context);
    expect(clientArgv.slice(1)).toEqual(['-c', 'exec /home/me/my-client --flag 3>&1 1>&2']);
  });
});

describe("for a host that has none of this machine's files", () => {
  const elsewhere = { ...context, outFolder: join(folder, 'elsewhere'), withPackages: true };

  test('packages go into the module', async () => {
    const { clientArgv } = await resolveLock('with-package.ts', elsewhere);
    const path = clientArgv.at(-1)!;
    expect((await import(path)).default).toBe('from a package');
    expect(readFileSync(path, 'utf8')).toContain('from a package');
  });

  test('so does that of a lock of the tool, and one that has none stays where it is', async () => {
    const { kind, clientArgv, topologies } = await resolveLock('pg-row', elsewhere);
    expect({ kind, topologies }).toEqual({ kind: 'file', topologies: ['pg'] });
    expect((await import(`${clientArgv.at(-1)}?2`)).default).toBe('from a package');
    expect(await resolveLock('set-nx-px', elsewhere)).toMatchObject({ kind: 'builtin' });
    expect(await resolveLock('pg-row', context)).toMatchObject({ kind: 'builtin' });
  });

  test('a native add-on cannot, and is refused by name', async () => {
    await expect(resolveLock('with-add-on.ts', elsewhere)).rejects.toThrow(
      /some\.node is a native add-on, which cannot be put into a container$/,
    );
  });

  test('a package that is missing is named', async () => {
    await expect(resolveLock('missing-package.ts', elsewhere)).rejects.toThrow('no-such-package');
  });
});

test('a file: one module, with its neighbours, that knows where it came from', async () => {
  const { kind, clientArgv, topologies } = await resolveLock('src/lock.ts', context);
  expect({ kind, topologies }).toEqual({ kind: 'file', topologies: undefined });
  const node = ['/usr/bin/node', '--enable-source-maps', '/dist/harness/client/main.js'];
  expect(clientArgv.slice(0, -1)).toEqual(clientProgram(node));
  const bundled = await import(clientArgv.at(-1)!);
  expect(bundled.default.url).toBe(new URL(`file://${join(folder, 'src/lock.ts')}`).href);
  expect(readFileSync(clientArgv.at(-1)!, 'utf8')).toContain('sourceMappingURL=data:');
});

describe('one clear line', () => {
  test.each([
    ['set-nx-pz', /^unknown lock "set-nx-pz"; did you mean set-nx-px\?/],
    ['blind-del', /did you mean broken\/blind-del\?/],
    ['zookeeper-recipe', /^unknown lock "zookeeper-recipe"; there are /],
    ['./nowhere.ts', /^--lock \.\/nowhere\.ts: .*\/nowhere\.ts does not exist$/],
    ['./brokn.ts', /\/brokn\.ts does not exist; did you mean \.\/broken\.ts\?$/],
    ['./src', /is not a file$/],
    ['./plain.txt', /not a module .*; for a program write 'cmd:\.\/plain\.txt'$/],
    ['./broken.ts', /^broken\.ts:3:11: Expected identifier but found ":"$/],
    ['./missing-package.ts', /^missing-package\.ts:1:25: Could not resolve "no-such-package"$/],
    ['./missing-file.ts', /^missing-file\.ts:1:8: Could not resolve "\.\/not-there"$/],
    ['cmd:', /needs a program/],
    ['cmd:./nowhere', /^--lock cmd: \.\/nowhere: .*\/nowhere does not exist$/],
    ['cmd:./plain.txt', /is not executable/],
    ['cmd:./src', /is not a file$/],
    ['cmd:no-such-program-anywhere', /no such program on PATH$/],
  ])('%s', async (spec, line) => {
    const error = await resolveLock(spec, context).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error).toBeInstanceOf(LockSpecError);
    expect(error!.message).toMatch(line);
    expect(error!.message).not.toContain('\n');
  });
});
