/** What shows that something goes on, while the process that is at it answers nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const MODULE = fileURLToPath(new URL('../../../bin/signs-of-life.mjs', import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signs-of-life-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A process that computes without a pause until `isSeen` says so of what it printed. */
async function computing(options: string, isSeen: (said: string) => boolean): Promise<string> {
  const seen = join(folder, 'seen');
  const program = `
    import { existsSync } from 'node:fs';
    import { signsOfLife } from ${JSON.stringify(MODULE)};
    const signs = signsOfLife(${options});
    while (!existsSync(${JSON.stringify(seen)}));
    signs.stop();
    signs.stop();
    process.stderr.write('over');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
    if (isSeen(said)) writeFileSync(seen, '');
  });
  await once(child, 'close');
  return said;
}

it('is a dot a second, and each fifth time their number, in a line of its own', async () => {
  expect(await computing('', (said) => said.includes('.'))).toMatch(/^\.[.\d]*\nover$/);
});

it('is a line on a terminal, which goes when it is over', async () => {
  const said = await computing('{ redraws: true }', (sofar) => sofar.includes('2 s'));
  const [nothing, ...drawn] = said.split('\r\x1b[K');
  expect([nothing, drawn.at(-1)]).toEqual(['', 'over']);
  expect(drawn.slice(0, -1)).toEqual(drawn.slice(0, -1).map((_, n) => `  ${n + 1} s`));
  expect(drawn.length).toBeGreaterThan(2);
});

it('is nothing where it is over at once', async () => {
  writeFileSync(join(folder, 'seen'), '');
  expect(await computing('', () => false)).toBe('over');
});
