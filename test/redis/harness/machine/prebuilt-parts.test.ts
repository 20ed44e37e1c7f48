/**
 * The prebuilt parts of this platform do what those do that are compiled here, which is what each is tried for; and a clone on a
 * machine without a compiler takes those that it carries.
 */
import { execFile } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findOnPath } from '../../../../harness/machine/command.js';
import { skipWhere } from '../../../support/needs.js';
import { ROOT } from '../../../support/torture.js';

const execute = promisify(execFile);
const platform = `linux-${process.arch}`;
const carried = join('packages', platform);
/** Each part's file, and what builds it. */
const BUILDS = {
  'clock-shim.so': 'buildClockShim',
  'durable-shim.so': 'buildDurableShim',
  'link-shaper': 'buildLinkShaper',
  'sim-shim.so': 'buildSimShim',
} as const;
type File = keyof typeof BUILDS;

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'lock-torture-clone-'));
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

const noParts = readdirSync(join(ROOT, 'packages')).includes(platform) ? undefined : 'no parts in C for this machine';

describe('a clone without a compiler', skipWhere(noParts), () => {
  beforeEach(() => {
    for (const path of ['package.json', 'package-lock.json', 'harness/native', carried, 'dist/harness'])
      cpSync(join(ROOT, path), join(clone, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  });

  const parts = () => readdirSync(join(ROOT, carried)).filter((name): name is File => name in BUILDS);
  const isShaper = (name: File) => name === 'link-shaper';

  it('has its parts: they work, are copies, and nothing is compiled', async () => {
    expect(parts().length).toBeGreaterThan(1);
    await expectToWork(parts().filter((name) => !isShaper(name)));
  });

  it('has a link shaper, which needs a network to be tried in', { tags: ['namespaces'] }, () =>
    expectToWork(parts().filter(isShaper)),
  );

  async function expectToWork(files: readonly File[]): Promise<void> {
    const { parts, said } = await built(files, []);
    expect(said).toEqual([]);
    for (const [at, file] of files.entries()) {
      expect(parts[at]?.unavailable, file).toBeUndefined();
      expect(readFileSync(parts[at]!.path!), file).toEqual(readFileSync(join(ROOT, carried, file)));
    }
  }

  it('does not take it for other sources: one line says why', async () => {
    appendFileSync(join(clone, 'harness/native/clock-shim.c'), '/* edited */\n');
    const [part] = (await built(['clock-shim.so'], [])).parts;
    expect(part!.problem).toBe(
      'the clock shim needs a C compiler, and there is none of cc, gcc, clang (harness/native/clock-shim.c is not the source that the prebuilt one was made of)',
    );
    expect(part!.remedy).toMatch(/^install a C compiler/);
  });

  it('compiles other sources where there is a compiler', { tags: ['compiler'] }, async () => {
    appendFileSync(join(clone, 'harness/native/clock-shim.c'), '/* edited */\n');
    const { parts, said } = await built(['clock-shim.so'], ['cc', 'gcc', 'clang', 'as', 'ld']);
    expect([parts[0]!.unavailable, said]).toEqual([undefined, ['compiling the clock shim (first run)…']]);
  });

  it('does not take what was changed: one line says so', async () => {
    appendFileSync(join(clone, carried, 'clock-shim.so'), 'x');
    const [part] = (await built(['clock-shim.so'], [])).parts;
    expect(part!.problem).toBe(
      `the clock shim needs a C compiler, and there is none of cc, gcc, clang (${join(clone, carried, 'clock-shim.so')} is not what harness/native/prebuilt.json names)`,
    );
  });
});

/** In a process of the clone's own, on whose PATH is nothing but these tools and what each part is tried with. */
async function built(files: readonly File[], tools: readonly string[]) {
  const bin = mkdtempSync(join(clone, 'bin-'));
  for (const tool of ['sh', 'date', 'env', 'unshare', 'ip', ...tools]) {
    const found = findOnPath(tool);
    if (found !== undefined) symlinkSync(found, join(bin, tool));
  }
  const cacheFolder = join(clone, 'cache');
  mkdirSync(cacheFolder, { recursive: true });
  const program = `
    const said = [], parts = [];
    for (const [file, build] of ${JSON.stringify(files.map((file) => [file, BUILDS[file]]))}) {
      const module = await import(${JSON.stringify(join(clone, 'dist/harness/machine/'))} + file.replace('.so', '') + '.js');
      parts.push(await module[build]({ cacheFolder: ${JSON.stringify(cacheFolder)}, say: (line) => said.push(line) }));
    }
    console.log(JSON.stringify({ parts, said }));`;
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', program], { env: { PATH: bin } });
  return JSON.parse(stdout) as {
    parts: { path?: string; unavailable?: string; problem?: string; remedy?: string }[];
    said: string[];
  };
}
