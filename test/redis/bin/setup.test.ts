/**
 * The set-up step on a small project of its own: real npm, and a compiler that can be made to stop half-way. And what
 * the doctor finds on a machine where the other tests can run.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diagnose } from '../../../harness/machine/doctor.js';
import { cacheFolder, findRedis } from '../../../harness/machine/redis-binary.js';
import { inspectServer, SLOTS_AT_ONCE } from '../../../harness/machine/server-commands.js';
import { lacksNativeParts } from '../../support/needs.js';

const BIN = fileURLToPath(new URL('../../../bin', import.meta.url));
const INSTALLING = 'lock-torture: installing packages (first run)…\n';
const COMPILING = 'lock-torture: compiling (first run)…\n';
const CHANGED = 'lock-torture: compiling (sources have changed)…\n';
const SIGNS_OF_LIFE = /^\.[.\d]*(\n|$)/gm;
const WAITING = 'lock-torture: waiting for another lock-torture to finish its set-up…\n';

/** A compiler: every src/*.ts becomes a .js in --outDir. While the file `hold` is there it stops after the first. */
const COMPILER = `#!/usr/bin/env node
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
const out = process.argv[process.argv.indexOf('--outDir') + 1];
appendFileSync('compiler-runs', process.pid + '\\n');
writeFileSync('compiler-flags', process.argv.slice(2).join(' '));
mkdirSync(out, { recursive: true });
for (const name of readdirSync('src').sort()) {
  const text = readFileSync('src/' + name, 'utf8');
  if (text.includes('MISTAKE')) { console.log('src/' + name + '(1,1): error: a mistake'); process.exitCode = 2; }
  writeFileSync(out + '/' + name.replace('.ts', '.js'), text);
  while (existsSync('hold')) { writeFileSync('held', ''); await new Promise((resolve) => setTimeout(resolve, 10)); }
}
`;

let project: string;
let children: ChildProcess[];

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'setup-test-'));
  children = [];
  cpSync(BIN, join(project, 'bin'), { recursive: true });
  write('package.json', { name: 'small', type: 'module', dependencies: { typescript: 'file:./compiler' } });
  write('package-lock.json', {
    name: 'small',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name: 'small', dependencies: { typescript: 'file:./compiler' } },
      compiler: { name: 'typescript', version: '1.0.0', bin: { tsc: 'bin/tsc' } },
      'node_modules/typescript': { resolved: 'compiler', link: true },
    },
  });
  write('tsconfig.json', { include: ['src'] });
  write('compiler/package.json', { name: 'typescript', version: '1.0.0', type: 'module', bin: { tsc: 'bin/tsc' } });
  write('compiler/bin/tsc', COMPILER);
  write('src/a.ts', 'a');
  write('src/b.ts', 'b');
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(project, { recursive: true, force: true, maxRetries: 5 });
});

/** What package-lock.json names is not what is installed. */
function askForAnotherVersion(): void {
  for (const path of ['package-lock.json', 'compiler/package.json'])
    write(path, readFileSync(join(project, path), 'utf8').replace('1.0.0', '1.0.1'));
}

function write(path: string, content: unknown): void {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), typeof content === 'string' ? content : JSON.stringify(content));
}

const read = (path: string) => readFileSync(join(project, path), 'utf8');

interface Start {
  child: ChildProcess;
  /** What it said until now. */
  said: () => string;
  exitCode: Promise<number | null>;
}

type Env = Record<string, string | undefined>;

function start(env: Env = {}, nodeFlags: string[] = [], program = 'setup.mjs'): Start {
  const child = spawn(process.execPath, [...nodeFlags, join(project, 'bin', program)], {
    // Like a user's shell, not like the npm that runs these tests.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  children.push(child);
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  // Without the dots that tell a user each second that it goes on: how many there are depends on the machine.
  return { child, said: () => said.replace(SIGNS_OF_LIFE, ''), exitCode: once(child, 'close').then(([code]) => code) };
}

async function setUp(...asked: Parameters<typeof start>) {
  const { said, exitCode } = start(...asked);
  return { exitCode: await exitCode, said: said() };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

const compiled = () => readdirSync(join(project, 'dist')).sort();
const leftovers = () => readdirSync(project).filter((name) => /^dist\./.test(name));
const compilerPids = () => readFileSync(join(project, 'compiler-runs'), 'utf8').trim().split('\n').map(Number);

/** Without npm, compiler or anything else to start. */
const NOTHING_TO_START = { PATH: '/nonexistent' };

function alive(pid: number): boolean {
  // A killed process that has not been reaped yet is a zombie.
  return existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

describe('set-up', () => {
  it('installs and compiles on the first start, and does nothing on the second', async () => {
    expect(await setUp()).toEqual({ exitCode: 0, said: INSTALLING + COMPILING });
    expect(compiled()).toEqual(['.stamp', 'a.js', 'b.js']);
    expect(await setUp(NOTHING_TO_START)).toEqual({ exitCode: 0, said: '' });
  });

  it('accepts what npm installed when the user ran it', async () => {
    execFileSync('npm', ['ci'], { cwd: project, stdio: 'ignore' });
    expect(await setUp()).toEqual({ exitCode: 0, said: COMPILING });
  });

  it('bundles programs in one file and in parts, and each module still knows its place', async () => {
    await setUp();
    cpSync(join(BIN, '../node_modules/esbuild'), join(project, 'node_modules/esbuild'), { recursive: true });
    cpSync(join(BIN, '../node_modules/@esbuild'), join(project, 'node_modules/@esbuild'), { recursive: true });
    const bundledPrograms = { inOneFile: ['a.js'], inParts: ['b.js', 'c.js'] };
    write('package.json', { ...JSON.parse(read('package.json')), bundledPrograms });
    write('src/shared.ts', 'export const place = import.meta.url;');
    write('src/a.ts', `import { place } from './shared.js'; console.log('a', typeof place);`);
    for (const name of ['b', 'c'])
      write(
        `src/${name}.ts`,
        `import { place } from './shared.js'; console.log(place, import.meta.url, 'import.meta.url');`,
      );
    expect(await setUp()).toEqual({ exitCode: 0, said: CHANGED });
    rmSync(join(project, 'dist/shared.js'));
    const says = (program: string): string =>
      execFileSync(process.execPath, [join(project, 'dist', program)], { encoding: 'utf8' });
    expect(says('a.js')).toBe('a string\n');
    const urlOf = (name: string): string => pathToFileURL(join(project, 'dist', name)).href;
    for (const name of ['b.js', 'c.js'])
      expect(says(name)).toBe(`${urlOf('shared.js')} ${urlOf(name)} import.meta.url\n`);

    // Of packages only the large ones are in it.
    for (const name of ['zod', 'small']) {
      write(`node_modules/${name}/package.json`, {
        name,
        version: '1.2.3',
        license: 'MIT',
        type: 'module',
        main: 'index.js',
      });
      write(`node_modules/${name}/index.js`, `export const name = 'the package ${name}';`);
      write(`node_modules/${name}/index.d.ts`, 'export const name: string;');
    }
    write('src/c.ts', `import { name } from 'zod'; import { name as small } from 'small'; console.log(name, small);`);
    expect(await setUp()).toEqual({ exitCode: 0, said: CHANGED });
    rmSync(join(project, 'node_modules/zod'), { recursive: true });
    expect(says('c.js')).toBe('the package zod the package small\n');
    expect(read('dist/c.js')).toContain('from "small"');
    expect(read('dist/bundled-licences.txt')).toContain('zod 1.2.3: MIT');

    write('src/b.ts', `import './nowhere.js';`);
    const { exitCode, said } = await setUp();
    expect(exitCode).toBe(3);
    expect(said).toContain('cannot be bundled; esbuild said:');
    expect(said).toContain('Could not resolve "./nowhere.js"');
  });

  it('compiles again when a source changed, and leaves no output of a deleted one', async () => {
    await setUp();
    write('src/a.ts', 'a, longer');
    rmSync(join(project, 'src/b.ts'));
    expect(await setUp()).toEqual({ exitCode: 0, said: CHANGED });
    expect(compiled()).toEqual(['.stamp', 'a.js']);
    expect(readFileSync(join(project, 'dist/a.js'), 'utf8')).toBe('a, longer');
    expect(leftovers()).toEqual([]);
  });

  it('installs again when the lockfile changed or node_modules is gone', async () => {
    await setUp();
    askForAnotherVersion();
    expect((await setUp()).said).toContain('installing packages (package-lock.json has changed)…');
    rmSync(join(project, 'node_modules'), { recursive: true });
    expect(await setUp()).toEqual({ exitCode: 0, said: INSTALLING });
  });

  it('does not install where the lockfile changed and asks for nothing that is not there', async () => {
    await setUp();
    write('package-lock.json', `${readFileSync(join(project, 'package-lock.json'), 'utf8')}\n`);
    expect(await setUp()).toEqual({ exitCode: 0, said: CHANGED });
  });

  it('checks types of what has changed, not of what was cloned', async () => {
    await setUp();
    expect(read('compiler-flags')).toContain('--noCheck');
    write('src/a.ts', 'a, longer');
    await setUp();
    expect(read('compiler-flags')).not.toContain('--noCheck');
  });

  it("prints the compiler's errors, and does not take the failure for success", async () => {
    write('src/a.ts', 'MISTAKE');
    for (let attempt = 0; attempt < 2; attempt++) {
      const { exitCode, said } = await setUp();
      expect(exitCode).toBe(3);
      expect(said).toContain('the sources do not compile');
      expect(said).toContain('src/a.ts(1,1): error: a mistake');
    }
    write('src/a.ts', 'mended');
    expect(await setUp()).toEqual({ exitCode: 0, said: COMPILING });
    expect(compiled()).toEqual(['.stamp', 'a.js', 'b.js']);
  });
});

describe('two starts at once', () => {
  it('take turns, and the second finds everything done', async () => {
    write('hold', '');
    const first = start();
    await until(() => existsSync(join(project, 'held')));
    const second = start();
    await until(() => second.said() === WAITING);
    rmSync(join(project, 'hold'));
    expect(await first.exitCode).toBe(0);
    expect(await second.exitCode).toBe(0);
    expect(second.said()).toBe(WAITING);
    expect(compilerPids()).toHaveLength(1);
  });

  it('the one that waits goes on when the other is killed', async () => {
    write('hold', '');
    const first = start();
    await until(() => existsSync(join(project, 'held')));
    const second = start();
    await until(() => second.said() === WAITING);
    first.child.kill('SIGKILL');
    await until(() => second.said() === WAITING + COMPILING);
    rmSync(join(project, 'hold'));
    expect(await second.exitCode).toBe(0);
    expect(compiled()).toEqual(['.stamp', 'a.js', 'b.js']);
  });
});

describe('kill -9', () => {
  it('while compiling also ends the compiler, and the next start compiles everything', async () => {
    write('hold', '');
    const { child } = start();
    await until(() => existsSync(join(project, 'held')));
    child.kill('SIGKILL');
    await until(() => !alive(compilerPids()[0]!));
    rmSync(join(project, 'hold'));
    // This one was compiled already, and must not come to light.
    rmSync(join(project, 'src/a.ts'));
    expect(existsSync(join(project, 'dist'))).toBe(false);
    expect(await setUp()).toEqual({ exitCode: 0, said: COMPILING });
    expect(compiled()).toEqual(['.stamp', 'b.js']);
    expect(leftovers()).toEqual([]);
  });

  it('while replacing the output leaves the old one or none, and the next start compiles', async () => {
    await setUp();
    // Between the two renames: the new one is finished, the old one moved away.
    cpSync(join(project, 'dist'), join(project, 'dist.old'), { recursive: true });
    cpSync(join(project, 'dist'), join(project, 'dist.new'), { recursive: true });
    rmSync(join(project, 'dist'), { recursive: true });
    expect(await setUp()).toEqual({ exitCode: 0, said: COMPILING });
    expect(leftovers()).toEqual([]);
  });

  it('while installing also ends npm, and the next start installs everything', async () => {
    await setUp();
    askForAnotherVersion();
    // An npm that is killed when it has removed a package and not yet anything else.
    const tools = join(project, 'tools');
    const pidFile = join(project, 'npm-pid');
    write('tools/npm', `#!/bin/sh\nrm node_modules/typescript; echo $$ > npm-pid; exec sleep 600\n`);
    chmodSync(join(tools, 'npm'), 0o755);
    const { child } = start({ PATH: `${tools}:${process.env.PATH}` });
    await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'));
    child.kill('SIGKILL');
    await until(() => !alive(Number(readFileSync(pidFile, 'utf8'))));
    const { exitCode, said } = await setUp();
    expect(exitCode).toBe(0);
    expect(said).toContain(INSTALLING);
    expect(existsSync(join(project, 'node_modules/typescript/bin/tsc'))).toBe(true);
  });
});

describe('what it cannot do', () => {
  it('says to install npm where there is none', async () => {
    const tools = join(project, 'tools');
    mkdirSync(tools);
    symlinkSync(process.execPath, join(tools, 'node'));
    const { exitCode, said } = await setUp({ PATH: tools });
    expect(exitCode).toBe(3);
    expect(said).toMatch(/npm was not found.*install npm .*then run the same command again/);
  });

  it('says to check the network where the packages cannot be reached', async () => {
    const integrity = `sha512-${Buffer.alloc(64).toString('base64')}`;
    write('package.json', { name: 'small', dependencies: { 'is-far-away': '1.0.0' } });
    write('package-lock.json', {
      name: 'small',
      lockfileVersion: 3,
      packages: {
        '': { name: 'small', dependencies: { 'is-far-away': '1.0.0' } },
        'node_modules/is-far-away': { version: '1.0.0', integrity },
      },
    });
    const unreachable = { npm_config_registry: 'http://127.0.0.1:9/', npm_config_fetch_retries: '0' };
    const { exitCode, said } = await setUp({ ...unreachable, npm_config_cache: join(project, 'npm-cache') });
    expect(exitCode).toBe(3);
    expect(said).toMatch(/registry cannot be reached: check the network .*then run the same command again/);
    expect(said).toContain('ECONNREFUSED');
  });

  it("says in one line that another user's clone cannot be written to", { tags: ['root'] }, () => {
    chmodSync(project, 0o755);
    const asAnother = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath];
    const { status, stderr } = spawnSync('setpriv', [...asAnother, join(project, 'bin', 'setup.mjs')], {
      encoding: 'utf8',
    });
    expect(status).toBe(3);
    expect(stderr).toMatch(/^lock-torture: .* cannot be written to: copy it to a folder of yours, or .*\n$/);
  });

  it('says in one line that what it compiled is of another user', { tags: ['root'] }, async () => {
    await setUp();
    chmodSync(project, 0o755);
    for (const path of ['', 'compiler-runs', 'compiler-flags']) chownSync(join(project, path), 65534, 65534);
    write('src/more.ts', 'more');
    const asAnother = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath];
    const { status, stderr } = spawnSync('setpriv', [...asAnother, join(project, 'bin', 'setup.mjs')], {
      encoding: 'utf8',
    });
    expect(status).toBe(3);
    expect(stderr.replace(SIGNS_OF_LIFE, '')).toMatch(
      /^lock-torture: compiling .*\nlock-torture: \S+ cannot be set up \(EACCES.*\): mend its ownership or copy .*\n$/,
    );
  });

  it.each(['setup.mjs', 'torture.mjs'])('says to install a newer Node: %s', async (program) => {
    const older = "Object.defineProperty(process,'versions',{value:{...process.versions,node:'18.19.0'}})";
    const { exitCode, said } = await setUp({}, ['--import', `data:text/javascript,${older}`], program);
    expect(exitCode).toBe(3);
    expect(said).toMatch(/^lock-torture: Node\.js 20 or newer is needed [^\n]*: install a current version [^\n]*\n$/);
    expect(existsSync(join(project, 'node_modules'))).toBe(false);
  });

  it('says so in words that an old Node can read', () => {
    // Only these are read before Node's version is looked at.
    const [entry, ...itsImports] = ['torture.mjs', 'last-resort.mjs', 'node-version.mjs'].map((name) =>
      readFileSync(join(BIN, name), 'utf8').replace(/^#!.*/, ''),
    );
    expect([...entry!.matchAll(/^import .* from '(.*)';/gm)].map(([, from]) => from)).toEqual([
      './last-resort.mjs',
      './node-version.mjs',
    ]);
    // Node 12 has what begins with node: for modules.
    for (const text of itsImports) expect(text).not.toMatch(/^import .* from '(?!node:)/m);
    // What a newer syntax is, esbuild knows: it would have to write it in another way, or cannot.
    for (const text of [entry!, ...itsImports])
      expect(transformSync(text, { target: 'node12.22' }).code).toBe(transformSync(text, { target: 'esnext' }).code);
  });
});

describe('doctor', () => {
  it('finds by trying that a run is possible here', { tags: ['namespaces'] }, async () => {
    const hasParts = lacksNativeParts() === undefined;
    const findings = await diagnose({ cacheFolder: cacheFolder(), fetch: true });
    const found = Object.fromEntries(findings.map(({ what, ok }) => [what.replace(/ \(.*/, ''), ok]));
    expect(found).toMatchObject({
      'Node.js': true,
      'npm packages': true,
      'redis-server': true,
      namespaces: true,
      'virtual network': true,
      'clock shim': hasParts ? true : 'limited',
      'durable shim': hasParts ? true : 'limited',
      'link shaper': hasParts ? true : 'limited',
    });
    const { commands } = await inspectServer(await findRedis({ cacheFolder: cacheFolder(), say: () => {} }), [
      SLOTS_AT_ONCE,
    ]);
    expect(found['slots at once']).toBe(commands.length > 0 ? true : 'limited');
  });
});
