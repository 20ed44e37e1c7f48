/** The prebuilt parts of this platform do what those do that are compiled here, which is what each is tried for. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildClockShim } from '../../../../harness/machine/clock-shim.js';
import { buildDurableShim } from '../../../../harness/machine/durable-shim.js';
import { buildLinkShaper } from '../../../../harness/machine/link-shaper.js';
import { buildSimShim } from '../../../../harness/machine/sim-shim.js';
import { ROOT } from '../../../support/torture.js';

const parts = { buildClockShim, buildDurableShim, buildLinkShaper, buildSimShim };
const prebuiltFolder = join(ROOT, 'packages', `linux-${process.arch}`);

let cacheFolder: string;
let path: string | undefined;
beforeEach(() => {
  cacheFolder = mkdtempSync(join(tmpdir(), 'lock-torture-prebuilt-'));
  path = process.env.PATH;
});
afterEach(() => {
  process.env.PATH = path;
  rmSync(cacheFolder, { recursive: true, force: true });
});

describe.skipIf(process.platform !== 'linux' || process.arch !== 'x64')('prebuilt', () => {
  it.each(Object.entries(parts))('%s: it works, is a copy, and nothing is compiled', async (_, build) => {
    const said: string[] = [];
    const part = await build({ cacheFolder, say: (line) => said.push(line), prebuiltFolder });
    if (!('path' in part)) throw new Error(part.unavailable);
    expect(said).toEqual([]);
    const file = readdirSync(prebuiltFolder).find((name) => part.path.includes(name.replace('.so', '')))!;
    expect(readFileSync(part.path)).toEqual(readFileSync(join(prebuiltFolder, file)));
  });

  it('what was changed is not taken: it is compiled, and without a compiler one line says why it is not there', async () => {
    const damaged = mkdir(join(cacheFolder, 'damaged'));
    writeFileSync(join(damaged, 'clock-shim.so'), 'not it');
    const said: string[] = [];
    const options = { say: (line: string) => said.push(line), prebuiltFolder: damaged };
    const compiled = await buildClockShim({ ...options, cacheFolder: join(cacheFolder, 'one') });
    expect([Object.keys(compiled), said]).toEqual([['path'], ['compiling the clock shim (first run)…']]);
    process.env.PATH = mkdir(join(cacheFolder, 'empty'));
    const none = await buildClockShim({ ...options, cacheFolder: join(cacheFolder, 'other') });
    expect(none).toMatchObject({
      problem: `the clock shim needs a C compiler, and there is none of cc, gcc, clang (${join(damaged, 'clock-shim.so')} is not what this version was published with)`,
    });
  });
});

function mkdir(folder: string): string {
  return mkdtempSync(`${folder}-`);
}
