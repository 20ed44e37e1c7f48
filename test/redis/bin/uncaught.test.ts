/** Errors that nothing catches, in the process that a user's shell waits for: 1 means that a lock is broken, and nothing else. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ended } from '../../support/ended.js';
import { ROOT } from '../../support/torture.js';

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'lock-torture-uncaught-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function run(program: string, argv: readonly string[], cwd: string) {
  const env = { PATH: process.env.PATH!, HOME: process.env.HOME!, INIT_CWD: cwd };
  return ended(spawn(process.execPath, [program, ...argv], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

function folder(name: string): string {
  mkdirSync(join(home, name));
  return join(home, name);
}

describe.concurrent('a config', () => {
  const LATE = 'export default { timeLimit: "300s" };\n';

  it.each([
    [
      'throws in a timer',
      'const inner: { go?(): void } = {};\nsetTimeout(() => inner.go!());',
      /inner\.go is not a function \(.*lock-torture\.config\.ts:2:\d+\)$/,
    ],
    [
      'has a promise that rejects late',
      'void new Promise((_, no) => setTimeout(no, 1, new RangeError("late\\nindeed")));',
      /RangeError: late indeed \(.*lock-torture\.config\.ts:1:\d+\)$/,
    ],
    ['rejects what is no Error', 'setTimeout(() => Promise.reject(null));', /: null$/],
    [
      'throws what cannot be made text',
      'setTimeout(() => { throw Object.create(null); });',
      /: something that is no Error$/,
    ],
  ])('that %s ends it with one line and status 3', async (name, code, line) => {
    const project = folder(name.replaceAll(' ', '-'));
    writeFileSync(join(project, 'lock-torture.config.ts'), `${code}\n${LATE}`);
    const { status, errors } = await run(join(ROOT, 'bin/torture.mjs'), ['--runtime', 'netns'], project);
    expect([status, errors.trimEnd().split('\n').length], errors).toEqual([3, 1]);
    expect(errors.trimEnd()).toMatch(/^lock-torture: an error that nothing caught: /);
    expect(errors.trimEnd()).toMatch(line);
  });

  it.each([0, 1])('that calls exit(%d) late gives no verdict', async (code) => {
    const project = folder(`exits-with-${code}`);
    writeFileSync(join(project, 'lock-torture.config.ts'), `setTimeout(() => process.exit(${code}));\n${LATE}`);
    expect((await run(join(ROOT, 'bin/torture.mjs'), ['--runtime', 'netns'], project)).status).toBe(3);
  });
});

describe.concurrent('the tool itself', () => {
  /** A package whose compiled program is this. */
  function packageWith(name: string, main?: string): string {
    const tool = folder(name);
    for (const path of ['bin', 'package.json']) cpSync(join(ROOT, path), join(tool, path), { recursive: true });
    if (main !== undefined) {
      mkdirSync(join(tool, 'dist/cli'), { recursive: true });
      writeFileSync(join(tool, 'dist/cli/main.js'), main);
    }
    return join(tool, 'bin/torture.mjs');
  }

  it.each([
    ['that cannot be loaded', 'null.what;', /TypeError: Cannot read properties of null/],
    ['that imports what is not there', "import './gone.js';", /Cannot find module .*gone\.js/],
    [
      'that fails before it could catch anything',
      'export const main = () => { throw new Error("early"); };',
      /Error: early/,
    ],
  ])('ends with 3 where it has a program %s, and keeps the stack of its own mistake', async (name, main, message) => {
    const program = packageWith(name.replaceAll(' ', '-'), main);
    const { status, errors } = await run(program, [], home);
    expect(status, errors).toBe(3);
    expect(errors).toMatch(/^lock-torture: an error that nothing caught: /);
    expect(errors).toMatch(message);
    if (!errors.includes('gone.js'))
      expect(errors).toMatch(/\(a mistake of lock-torture\)\n.*Error: [\s\S]*\n +at .*main\.js:1:/);
  });

  it('says in one line that it was never compiled', async () => {
    const { status, errors } = await run(packageWith('not-compiled'), [], home);
    expect(status).toBe(3);
    expect(errors).toMatch(/^lock-torture: \S+ has no dist\/: [^\n]+\n$/);
  });

  it('loses what it prints where nobody reads it, whatever the reason, and nothing else', async () => {
    const script = `
      const { surviveLostOutput } = await import(${JSON.stringify(pathToFileURL(join(ROOT, 'bin/last-resort.mjs')).href)});
      surviveLostOutput();
      let hangUps = 0;
      process.on('SIGHUP', () => hangUps++);
      for (const code of ['EPIPE', 'ENOSPC', 'EIO', 'EBADF'])
        for (const stream of [process.stdout, process.stderr]) stream.emit('error', Object.assign(new Error(code), { code }));
      process.exit(10 + hangUps);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    // The terminal that is gone is told by both.
    expect(await ended(child)).toMatchObject({ status: 12, output: '' });
  });
});
