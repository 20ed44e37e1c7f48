/**
 * The tool as a package in a stranger's project: packed, installed from the tarball without scripts, and called there by
 * an ordinary user who may not write into `node_modules`.
 */
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MADE_OF } from '../../../cli/run/tool-image.js';
import { ended } from '../../support/ended.js';
import { KINDS, type Kind, LOCKS, type LockOf, lockIn } from '../../support/init-projects.js';
import { containers, inContainers } from '../../support/needs-docker.js';
import { commandsIn } from '../../support/next-commands.js';
import { ROOT } from '../../support/torture.js';

/** Unassigned: no machine gives it to a user. */
const UID = 54_322;
const isRoot = process.geteuid?.() === 0;
const execute = promisify(execFile);

const MANAGERS = [
  { manager: 'pnpm', version: '10', add: ['add', '--save-dev', '--ignore-scripts'], uid: UID },
  { manager: 'yarn', version: '1.22', add: ['add', '--dev', '--ignore-scripts', '--no-progress'], uid: 0 },
];

let home: string;
/** Where the packages are, as they are published. */
let published: string;
let project: string;
let files: string[];
/** Those that are published: the tool's, then those of its parts in C. */
let tarballs: string[];
/** As short as a run may be, and as few clients as can collide. */
const QUICKEST = ['--time-limit', '2s', '--clients', '2', '--keys', '1'];
/** Paths of those that are for a project on this machine. */
let installed: string[];

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'lock-torture-installed-'));
  published = join(home, 'published');
  project = join(home, 'project');
  mkdirSync(project);
  const packed = join(home, 'packed');
  // Set-up has been done for these tests, and other files look at dist/ meanwhile.
  const [all, ours] = await Promise.all([pack(published, '--all'), pack(packed)]);
  tarballs = all;
  installed = ours.map((name) => join(packed, name));
  files = execFileSync('tar', ['-tf', join(published, tarballs[0]!)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''))
    .sort();
  // All at once: much of it is waiting for a registry.
  await Promise.all([
    // Beside the client that many projects have: the tool has its own.
    install(project, '--save-dev', ...installed, 'ioredis@5', 'redis@5'),
    install(programs(), 'jest@30', ...(isRoot ? MANAGERS.map(({ manager, version }) => `${manager}@${version}`) : [])),
  ]);
  // The tool's matchers import it from where the tool really lies.
  symlinkSync(join(ROOT, 'node_modules/vitest'), join(project, 'node_modules/vitest'));
});

afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

describe('the package', () => {
  /** Every file is of one of these kinds, and each kind is there. */
  const KINDS = [
    /^(package\.json|README\.md|LICENSE|NOTICE|(CHANGELOG|CONTRIBUTING|SECURITY)\.md)$/,
    /^bin\/[a-z-]+\.mjs$/,
    /^dist\/(checkers|cli|docker|harness|lock-impl|matrix|nemesis|parts|reports|scenarios|selftest|workloads)\/[\w./-]+\.js$/,
    /^dist\/bundled-licences\.txt$/,
    /^dist\/(cli\/api\/[a-z-]+|harness\/vocabulary\/[a-z-]+|lock-impl\/define-lock)\.d\.ts$/,
    /^docs\/[\w-]+\.(md|schema\.json)$/,
    /^docker\/((client|server)\.)?Dockerfile$/,
    /^docker\/native-packages\.mjs$/,
    /^harness\/native\/([a-z-]+\.c|prebuilt\.json)$/,
    /^lock-impl\/external\/[\w./@-]+\.(md|py|txt|go|mod|sum|java|xml|rs|toml|lock|sha256|json|mjs)$/,
  ];

  it('has compiled code, types, docs and the sources that are built on the machine, and nothing else', () => {
    expect(files.filter((path) => !KINDS.some((kind) => kind.test(path)))).toEqual([]);
    // Else each run would bundle it for itself.
    expect(files).toContain('dist/reports/browser/run.page.js');
    const licences = readFileSync(join(project, 'node_modules/lock-torture/dist/bundled-licences.txt'), 'utf8');
    for (const name of ['ioredis', 'pg', 'mysql2', 'denque', 'uplot'])
      expect(licences).toMatch(new RegExp(`^${name} \\d.*: (MIT|Apache-2\\.0)$`, 'm'));
    for (const kind of KINDS)
      expect(
        files.some((path) => kind.test(path)),
        String(kind),
      ).toBe(true);
  });

  it('has every file that the help, the README or a type leads to', () => {
    const own = JSON.parse(readFileSync(join(project, 'node_modules/lock-torture/package.json'), 'utf8'));
    const entries = Object.values(own.exports as Record<string, string | Record<string, string>>).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    );
    // By these finds them who resolves modules as before there were exports.
    const before: string[] = [own.types, ...Object.values<string[]>(own.typesVersions['*']).flat()];
    expect(new Set(before)).toEqual(new Set(entries.filter((path) => path.endsWith('.d.ts'))));
    const named = [readFileSync(join(ROOT, 'README.md'), 'utf8'), readFileSync(join(ROOT, 'cli/main.ts'), 'utf8')]
      .flatMap((text) => [...text.matchAll(/\bdocs\/[\w.-]+\.(?:md|json)\b|\b[A-Z]+\.md\b/g)])
      .map(([path]) => path);
    expect(named.length).toBeGreaterThan(5);
    for (const path of [...entries, ...named]) expect(files).toContain(path.replace(/^\.\//, ''));
  });

  it('says which version it is, beside another ioredis than its own', () => {
    const here = join(project, 'node_modules/lock-torture');
    for (const [folder, major] of [
      [project, '5'],
      [here, '6'],
    ] as const) {
      const client = JSON.parse(readFileSync(join(folder, 'node_modules/ioredis/package.json'), 'utf8'));
      expect(client.version.split('.')[0]).toBe(major);
    }
    const { version } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
    const said = execFileSync(process.execPath, [join(here, 'bin/torture.mjs'), '--version'], { encoding: 'utf8' });
    expect(said).toBe(`${version}\n`);
  });

  it('has all that the images of its containers are made of', () => {
    for (const part of MADE_OF)
      expect(
        files.some((path) => path === part || path.startsWith(`${part}/`)),
        part,
      ).toBe(true);
  });

  it('runs no script when it is installed, and brings no published lock library', () => {
    const own = JSON.parse(readFileSync(join(project, 'node_modules/lock-torture/package.json'), 'utf8'));
    expect(own.scripts).toBeUndefined();
    const brought = readdirSync(join(project, 'node_modules'));
    for (const name of ['redlock', 'redlock-5', 'redis-semaphore', 'testcontainers'])
      expect(brought).not.toContain(name);
  });
});

describe('the packages of its parts in C', () => {
  it('are optional dependencies of the same version, and have a binary a part and nothing that runs when installed', () => {
    const own = JSON.parse(inTarball(tarballs[0]!, '-xOf', 'package/package.json'));
    const { version } = own;
    expect(own.optionalDependencies).toEqual({
      '@lock-torture/linux-x64': version,
      '@lock-torture/linux-arm64': version,
    });
    const inside = (name: string) => inTarball(name, '-tf').trim().split('\n').sort();
    const parts = ['clock-shim.so', 'durable-shim.so', 'link-shaper', 'package.json', 'sim-shim.so'];
    const [, ...platforms] = tarballs;
    expect(platforms).toHaveLength(2);
    for (const name of platforms)
      expect(inside(name)).toEqual(['LICENSE', 'README.md', ...parts].map((path) => `package/${path}`));
  });
});

describe('an ordinary user, in whose project it is installed', { tags: ['root'] }, () => {
  beforeAll(() => {
    const lock = `import { defineLock } from 'lock-torture';
import { RELEASE } from './scripts/release';

export default defineLock({
  name: 'mine',
  async connect(topology) {
    const redis = await topology.redis();
    return {
      async acquire(key: string, { leaseMs }: { leaseMs: number }) {
        const owner = topology.randomValue();
        if ((await redis.set(key, owner, 'PX', leaseMs, 'NX')) === null) return null;
        return { release: async () => (await redis.eval(RELEASE, 1, key, owner)) === 1 };
      },
    };
  },
});
`;
    write('locks/mine.ts', lock);
    write(
      'locks/scripts/release.ts',
      `export const RELEASE: string = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
`,
    );
    write(
      'lock-torture.config.ts',
      "import { defineConfig } from 'lock-torture';\n\nexport default defineConfig({ lock: './locks/mine.ts', nemesis: 'none' });\n",
    );
    given(UID);
  });
  // The other tests are root's again, who trusts no config of another user's.
  afterAll(() => given(0));
  const given = (owner: number) => {
    for (const path of [home, project, join(project, 'locks'), join(project, 'lock-torture.config.ts')])
      execFileSync('chown', [`${owner}:${owner}`, path]);
  };

  it('tortures a lock in TypeScript, as its config says; what the run leaves is in the project, and nothing in node_modules', async () => {
    const before = below(join(project, 'node_modules'));
    const { status, output } = await asUser();
    expect(output.split('\n')[0]).toBe(`config ${join(project, 'lock-torture.config.ts')}`);
    expect([0, 2], output).toContain(status);
    // Its parts in C came with it; nothing was in this user's cache.
    expect(output).not.toMatch(/installing|compiling|no (clock|link|disk) faults/);
    expect(output).toContain(`Report: ${join(project, 'runs')}/`);
    expect(output).toMatch(
      /^Reproduce: npx lock-torture --lock=\/.*\/locks\/mine\.ts --nemesis=none --topology single .* --no-config --seed \d+$/m,
    );
    const page = readFileSync(join(project, 'runs/latest/report.html'), 'utf8');
    const printed = [...new Set([...commandsIn(output), ...commandsIn(page)])];
    // A run that says little leads to a series of its like, too: another --lock.
    const kinds = new Set(printed.map((command) => /^npx lock-torture (replay|check|--lock)/.exec(command)?.[1]));
    expect([...kinds].sort(), printed.join('\n')).toEqual(['--lock', 'check', 'replay']);
    for (const command of printed) {
      // Of many runs, one.
      const typed = await byUser(['sh', '-c', command.replace(/ --times \d+$/, ' --times 1')]);
      expect([0, 2], `${command}\n${typed.output}${typed.errors}`).toContain(typed.status);
    }
    expect(below(join(project, 'node_modules'))).toEqual(before);
  });

  it('takes the published library that the project has, and says in one line how to get one', async () => {
    const missing = await asUser('--lock', 'third-party/redlock-5');
    expect(missing.status).toBe(3);
    expect(missing.errors).toBe(
      `lock-torture: --lock third-party/redlock-5: redlock 5 is not installed in ${project}: npm install --save-dev redlock@5.0.0-beta.2\n`,
    );
    for (const [name, from] of [
      ['redlock', 'redlock-5'],
      ['node-abort-controller', 'node-abort-controller'],
    ] as const)
      cpSync(join(ROOT, 'node_modules', from), join(project, 'node_modules', name), { recursive: true });
    const { status, output } = await asUser('--lock', 'third-party/redlock-5');
    expect([0, 2], output).toContain(status);
    expect(output).toContain(`third-party/redlock-5 is redlock@5.0.0-beta.2 (${project}/node_modules/redlock)`);
  });

  it('is told in one line what runs in containers want', async () => {
    const { status, errors } = await asUser('--runtime', 'docker');
    expect(status).toBe(3);
    expect(errors).toMatch(
      /^lock-torture: the docker runtime is not available: the npm package testcontainers[^\n]*: npm install --save-dev testcontainers[^\n]*\n$/,
    );
    const auto = await asUser('--runtime', 'auto');
    expect([0, 2], auto.errors).toContain(auto.status);
    expect(auto.output.split('\n').slice(1, 3)).toEqual([
      'note: for runs in containers, npm install --save-dev testcontainers',
      'runtime netns',
    ]);
  });
});

describe('with testcontainers beside it, where an engine answers', containers, () => {
  const beside = () => join(project, 'node_modules/testcontainers');
  // A link: what it needs is found where it really lies.
  beforeAll(() => symlinkSync(join(ROOT, 'node_modules/testcontainers'), beside()));
  afterAll(() => rmSync(beside()));
  const tool = (...argv: string[]) =>
    ended(
      spawn(join(project, 'node_modules/.bin/lock-torture'), [...argv], {
        cwd: project,
        env: { PATH: process.env.PATH!, HOME: process.env.HOME!, TESTCONTAINERS_RYUK_DISABLED: 'true' },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );

  it('the engine is found', async () => {
    const { output } = await tool('doctor');
    expect(output).toMatch(/container engine +\S+ answers/);
  });

  it('auto takes it', { tags: ['night'] }, async () => {
    const images = inContainers.filter((word) => word !== '--runtime' && word !== 'docker');
    const { status, output, errors } = await tool('--no-config', '--nemesis', 'none', ...QUICKEST, ...images);
    expect([0, 2], `${output} ${errors}`).toContain(status);
    expect(output).toMatch(/^runtime docker: engine /m);
  });
});

describe.concurrent.each(MANAGERS)('installed by $manager, scripts disabled', ({ manager, add, uid }) => {
  it(`tortures a lock of the project, as ${uid === 0 ? 'root' : 'an ordinary user'}`, { tags: ['root'] }, async () => {
    const theirs = join(home, `${manager}-project`);
    mkdirSync(theirs);
    writeFileSync(join(theirs, 'package.json'), '{ "name": "theirs", "version": "1.0.0", "private": true }');
    chmodSync(home, 0o755);
    const env = { PATH: process.env.PATH!, HOME: process.env.HOME!, CI: 'true' };
    await execute(join(programs(), 'node_modules/.bin', manager), [...add, ...installed], { cwd: theirs, env });
    writeFileSync(join(theirs, 'lock.ts'), readFileSync(join(ROOT, 'examples/vitest/my-lock.ts')));
    if (uid !== 0) execFileSync('chown', ['-R', `${uid}:${uid}`, theirs]);
    const become = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--'];
    const tool = join(theirs, 'node_modules/.bin/lock-torture');
    const [program, ...argv] = [...become, tool, '--lock', './lock.ts', '--nemesis', 'none', ...QUICKEST];
    const { status, output, errors } = await ended(
      spawn(program!, [...argv, ...NETNS], {
        cwd: theirs,
        env: { PATH: process.env.PATH!, HOME: theirs },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    expect([0, 2], `${output} ${errors}`).toContain(status);
    expect(output).not.toMatch(/compiling|no (clock|link|disk) faults/);
    expect(output).toContain(`Report: ${join(theirs, 'runs')}/`);
  });
});

describe('publishing', () => {
  it('is what npm takes without a word of warning, all packages of it', async () => {
    const taken = tarballs.map(async (name) => {
      const argv = ['publish', '--dry-run', '--access', 'public', join(published, name)];
      const { status, errors } = await ended(spawn('npm', argv, { stdio: ['ignore', 'pipe', 'pipe'] }));
      const warned = errors
        .split('\n')
        .filter((line) => /^npm (warn|error) (?!publish This command requires you to be logged in)/i.test(line));
      expect([status, warned], errors).toEqual([0, []]);
    });
    await Promise.all(taken);
  });
});

/** From `init` to a true answer, as long as a user with a lock may wait for it; a quiet machine takes some seconds. */
const ANSWERS_WITHIN_MS = 5 * 60_000;
const BY_DAY: Readonly<Record<Kind, LockOf>> = {
  'TypeScript with vitest': 'ioredis',
  'ESM with node:test': 'node-redis',
  'CommonJS with jest': 'redlock',
};
const PAIRS = (Object.keys(KINDS) as Kind[]).flatMap((kind) =>
  (Object.keys(LOCKS) as LockOf[]).map((lock) => ({ kind, lock, tags: BY_DAY[kind] === lock ? [] : ['night'] })),
);

describe.concurrent('init', () => {
  const env = { PATH: process.env.PATH!, HOME: process.env.HOME!, NO_COLOR: '1' };
  const typed = (cwd: string, ...argv: string[]) => ended(spawn(argv[0]!, argv.slice(1), { cwd, env, stdio: 'pipe' }));

  it('writes an example in an empty folder: a lock whose mistake its test finds', async () => {
    const fresh = join(home, 'fresh');
    mkdirSync(fresh);
    provide(fresh, { 'lock-torture': join(project, 'node_modules/lock-torture') });
    const written = await typed(fresh, process.execPath, join(fresh, TOOL), 'init', '--example', '--yes');
    expect(written.status, written.output).toBe(0);
    const tests = await typed(fresh, 'npm', 'run', '--silent', 'test:torture');
    expect(tests.status, tests.output).toBe(1);
    expect(tests.output).toMatch(/removed c\S+ lock:\d from r1 \(DEL\)/);
    expect(tests.output).toContain('Repeat: npx lock-torture --');
  });

  for (const { kind, lock, tags } of PAIRS)
    it(`for a lock with ${lock} writes what is green at once, and red when it is broken: ${kind}`, {
      tags,
    }, async () => {
      const own = join(home, `${kind} ${lock}`.replace(/\W+/g, '-'));
      const { extension, packageJson } = KINDS[kind];
      mkdirSync(join(own, 'src'), { recursive: true });
      provide(own, packagesFor(kind, lock));
      const { packages } = LOCKS[lock];
      writeFileSync(
        join(own, 'package.json'),
        JSON.stringify({ name: 'theirs', ...packageJson, dependencies: packages }),
      );
      const file = join(own, `src/lock.${extension}`);
      writeFileSync(file, lockIn(kind, lock));

      const begunMs = performance.now();
      const written = await typed(
        own,
        process.execPath,
        join(own, TOOL),
        'init',
        '--lock',
        `./src/lock.${extension}`,
        '--yes',
      );
      expect([written.status, written.errors], written.output).toEqual([0, '']);
      const sound = await typed(own, 'npm', 'run', '--silent', 'test:torture');
      expect(sound.status, `${sound.output}\n${sound.errors}`).toBe(0);
      expect(performance.now() - begunMs).toBeLessThan(ANSWERS_WITHIN_MS);

      // By its config, too: nothing fails, and nothing of what it asks is complained of. In virtual time, where a busy machine
      // changes nothing. By day once: the config is the same for every lock.
      if (lock === 'ioredis' || tags.length > 0) {
        const run = await typed(own, 'npm', 'run', '--silent', 'torture', '--', '--runtime', 'sim');
        expect(run.status, `${run.output}\n${run.errors}`).toBe(0);
        expect(run.output).toMatch(/^HELD/m);
        expect(run.output).not.toMatch(/^(note|warning):/m);
      }

      writeFileSync(file, lockIn(kind, lock, { broken: true }));
      const broken = await typed(own, 'npm', 'run', '--silent', 'test:torture');
      expect(broken.status, `${broken.output}\n${broken.errors}`).toBe(1);
      expect(`${broken.output}\n${broken.errors}`).toContain('VIOLATED by the lock');
      if (kind === 'TypeScript with vitest') expect(typeErrors(own)).toBe('');
    });
});

const TOOL = 'node_modules/lock-torture/bin/torture.mjs';

/** As npm would have put them there, by name. */
function provide(folder: string, packages: Readonly<Record<string, string>>): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  for (const [name, at] of Object.entries(packages)) {
    mkdirSync(join(modules, name, '..'), { recursive: true });
    symlinkSync(at, join(modules, name));
    const { bin } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
    const programs = typeof bin === 'string' ? { [name]: bin } : ((bin ?? {}) as Record<string, string>);
    for (const [program, path] of Object.entries(programs)) symlinkSync(join(at, path), join(modules, '.bin', program));
  }
}

function packagesFor(kind: Kind, lock: LockOf): Record<string, string> {
  const here = (name: string) => join(project, 'node_modules', name);
  const ours = (name: string) => join(ROOT, 'node_modules', name);
  const theirs = (name: string) => join(programs(), 'node_modules', name);
  const { runner } = KINDS[kind];
  return {
    'lock-torture': here('lock-torture'),
    ...(lock === 'node-redis' ? { redis: here('redis') } : { ioredis: here('ioredis') }),
    ...(lock === 'redlock' && { redlock: ours('redlock-5') }),
    ...(runner === 'vitest' && { vitest: ours('vitest'), '@types/node': ours('@types/node') }),
    ...(runner === 'jest' && { jest: theirs('jest'), '@jest/globals': theirs('@jest/globals') }),
  };
}

/** What the compiler says of the files that init wrote. The lock beside them is its author's (redlock 5 has types that it hides). */
function typeErrors(folder: string): string {
  return compilerOn(folder, 'lock-torture/lock.ts', 'lock-torture/lock.test.ts', 'lock-torture.config.ts')
    .split('\n')
    .filter((line) => line.startsWith('lock-torture'))
    .join('\n');
}

/** What a strict compiler prints of these files. */
function compilerOn(folder: string, ...files: string[]): string {
  const settings = '--noEmit --strict --module nodenext --target es2022 --types node --skipLibCheck'.split(' ');
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  return spawnSync(tsc, [...settings, ...files], { cwd: folder, encoding: 'utf8' }).stdout;
}

describe('the example for vitest', () => {
  it('has types', () => {
    const example = exampleFor('vitest');
    symlinkSync(join(ROOT, 'node_modules/@types'), join(example, 'node_modules/@types'));
    expect(compilerOn(example, 'locks.test.ts', 'my-lock.ts')).toBe('');
  });
});

describe.concurrent.each([
  {
    runner: 'vitest',
    file: 'locks.test.ts',
    argv: [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run'],
    mended: ["toBreak({ cause: 'released-by-other' })", 'toHaveNoLockMistakes()'],
  },
  {
    runner: 'jest',
    file: 'locks.test.js',
    argv: ['--experimental-vm-modules', '../node_modules/jest/bin/jest.js'],
    mended: ["toBreak({ cause: 'released-by-other' })", 'toHaveNoLockMistakes()'],
  },
  { runner: 'node-test', file: 'locks.test.js', argv: ['--test'], mended: ['violations.some', '!violations.some'] },
])('the example for $runner', ({ runner, file, argv, mended: [from, to] }) => {
  it('finds the lock that is wrong, with its story and the command that repeats it, and does not accuse the other', async () => {
    const example = exampleFor(runner);
    const path = join(example, file);
    const text = readFileSync(path, 'utf8');
    expect(text).toContain(from);
    // As it stands it passes; held to the opposite, the test of the lock that is wrong has to fail.
    writeFileSync(path, inShort(text.replace(from!, to!)));
    const { status, output, errors } = await ended(
      spawn(process.execPath, argv, {
        cwd: example,
        // Without a look at what engine there is.
        env: { PATH: process.env.PATH!, HOME: process.env.HOME!, NO_COLOR: '1', LOCK_TORTURE_RUNTIME: 'netns' },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    const told = `${output}\n${errors}`;
    expect(status, told).toBe(1);
    // Of one lock, and not of the other. (Of the other it may be that nothing can be told, on a machine with much else to do.)
    expect(new Set(told.match(/exclusion, the lock's mistake: .* both held lock:\d/g)).size, told).toBe(1);
    expect(told).toContain('[released-by-other]');
    expect(told).toMatch(/Repeat: npx lock-torture .*--topology=single .*--lock=\/.*\/blind-delete\.ts .*--seed \d+/);
    if (runner !== 'vitest') return;
    const story = (test: string) =>
      told.split(/FAIL {2}locks\.test\.ts > /).find((part) => part.startsWith(test)) ?? '';
    expect(story('a lock that deletes')).toContain("expected no mistake of the lock's own\n");
    expect(story('my lock gives back')).not.toContain("the lock's mistake");
  });
});

describe('the step of the GitHub action', () => {
  const step = (env: Record<string, string>, cwd = project) =>
    ended(
      spawn(process.execPath, [join(ROOT, '.github/action/torture.mjs')], {
        cwd,
        env: { PATH: process.env.PATH!, HOME: process.env.HOME!, GITHUB_WORKSPACE: home, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );

  it('annotates the file of a lock that is wrong, and says so in its outputs, its badge and the summary', async () => {
    cpSync(join(ROOT, 'examples/vitest/blind-delete.ts'), join(project, 'blind-delete.ts'));
    const [told, summary] = [join(home, 'outputs'), join(home, 'summary')];
    for (const file of [told, summary]) writeFileSync(file, '');
    const flags = ['--careless', '--lease=1s', '--hold=0.5x..1.5x', '--nemesis=none', '--stop-at-first', ...NETNS];
    const { status, output } = await step({
      ...{ LOCK: './blind-delete.ts', MINUTES: '1', FLAGS: flags.join('\n') },
      ...{ GITHUB_OUTPUT: told, GITHUB_STEP_SUMMARY: summary },
    });
    expect(status, output).toBe(1);
    expect(output).toMatch(
      /^::error title=lock-torture on single,file=project\/blind-delete\.ts,line=1::VIOLATED by the lock%0ALock: its own mistake .*%0ADeployment: .*%0ALeases: .*%0AThe lock's mistake\. .*%0A.*%0ARepeat: /m,
    );
    const badge = join(project, 'lock-torture-runs', 'badge.json');
    expect(readFileSync(told, 'utf8')).toBe(`verdict=violated\nwords=VIOLATED by the lock\nbadge=${badge}\n`);
    expect(JSON.parse(readFileSync(badge, 'utf8'))).toMatchObject({ message: 'VIOLATED by the lock', color: 'red' });
    expect(readFileSync(summary, 'utf8')).toContain('blind-delete.ts');
  });

  it.each([1, 13])('takes a program that ends with %d and leaves no run for one that could not run', async (status) => {
    const elsewhere = join(home, `ends-with-${status}`);
    mkdirSync(join(elsewhere, 'node_modules/lock-torture/bin'), { recursive: true });
    writeFileSync(join(elsewhere, 'node_modules/lock-torture/bin/torture.mjs'), `process.exit(${status})`);
    const { status: ends, output } = await step({}, elsewhere);
    expect([ends, output]).toEqual([
      3,
      expect.stringContaining('::warning title=lock-torture on single::it could not run'),
    ]);
  });

  it('runs each topology in containers of each image, and names both where it tells', async () => {
    const elsewhere = join(home, 'images');
    mkdirSync(join(elsewhere, 'node_modules/lock-torture/bin'), { recursive: true });
    writeFileSync(
      join(elsewhere, 'node_modules/lock-torture/bin/torture.mjs'),
      "console.log(process.argv.slice(2).join(' ')); process.exit(3);",
    );
    const asked = {
      TOPOLOGIES: 'single, sentinel',
      IMAGES: 'redis:8, valkey/valkey:9',
      MINUTES: '4',
      LOCK: 'set-nx-px',
    };
    const { status, output } = await step(asked, elsewhere);
    expect(status).toBe(3);
    const ran = output.split('\n').filter((line) => line.startsWith('--topology'));
    expect(ran.map((line) => line.replace(/ --out=\S+/, ''))).toEqual(
      ['single', 'sentinel'].flatMap((topology) =>
        ['redis:8', 'valkey/valkey:9'].map(
          (image) =>
            `--topology=${topology} --fail-on=lock --time-limit=60s --runtime=docker --image=${image} --lock=set-nx-px`,
        ),
      ),
    );
    expect(output).toContain('::warning title=lock-torture on sentinel%2C valkey/valkey%3A9::it could not run');
  });

  it.each([
    [
      { IMAGES: 'redis:8, --lock' },
      '::error title=lock-torture::the input `images` names "--lock", which is no image\n',
    ],
    [{ MINUTES: 'two' }, '::error title=lock-torture::the input `minutes` is "two": give a number up to 300\n'],
    [{ TOPOLOGIES: ' , ' }, '::error title=lock-torture::the input `topologies` names none\n'],
  ])('refuses %j in one line', async (env, line) => {
    expect(await step(env)).toMatchObject({ status: 3, output: line });
  });
});

/** The names of the tarballs that it has made in `folder`: the tool's first. */
async function pack(folder: string, ...flags: string[]): Promise<string[]> {
  const argv = [join(ROOT, 'packages/pack.mjs'), folder, '--json', ...flags];
  return JSON.parse((await execute(process.execPath, argv)).stdout);
}

/** What `tar` prints of one that is published. */
function inTarball(name: string, flag: string, ...paths: string[]): string {
  return execFileSync('tar', [flag, join(published, name), ...paths], { encoding: 'utf8' });
}

async function install(cwd: string, ...what: string[]): Promise<void> {
  await execute('npm', ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', ...what], {
    cwd,
  });
}

/** The folder that has the programs which the tests call, all of one npm's: it is a second of processor each time it is called. */
function programs(): string {
  const folder = join(home, 'programs');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** A copy of the example, with what npm would put there. */
function exampleFor(runner: string): string {
  // Node looks for what is imported in the folders above, too.
  const example = join(programs(), runner);
  if (existsSync(example)) return example;
  cpSync(join(ROOT, 'examples', runner), example, { recursive: true });
  // The one that it has names this package, which is in no registry yet.
  writeFileSync(join(example, 'package.json'), '{ "type": "module" }');
  mkdirSync(join(example, 'node_modules'));
  symlinkSync(join(project, 'node_modules/lock-torture'), join(example, 'node_modules/lock-torture'));
  if (runner === 'vitest') symlinkSync(join(ROOT, 'node_modules/vitest'), join(example, 'node_modules/vitest'));
  return example;
}

/** The lock that is right need not be tried for as long as the other may take to be found wrong. */
function inShort(text: string): string {
  const sound = /\{ \.\.\.late, (lock(?:, signal)?) \}/;
  expect(text).toMatch(sound);
  return text.replace(sound, "{ ...late, $1, timeLimit: '3s', clients: 4 }");
}

function write(path: string, text: string): void {
  mkdirSync(join(project, path, '..'), { recursive: true });
  writeFileSync(join(project, path), text);
}

/** Path, size and time of every file. */
function below(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => `${relative(folder, path)} ${statSync(path).size} ${statSync(path).mtimeMs}`)
    .sort();
}

/** `npx lock-torture` with the quickest run and these flags, with nothing of root's environment but where Redis is cached. */
async function asUser(...flags: string[]) {
  const quickest = ['--topology', 'single', ...QUICKEST, ...(flags.includes('--runtime') ? [] : NETNS)];
  return byUser(['npx', 'lock-torture', ...quickest, ...flags]);
}

function byUser(argv: readonly string[]) {
  const become = [`--reuid=${UID}`, `--regid=${UID}`, '--clear-groups', '--no-new-privs', '--'];
  return ended(
    spawn('setpriv', [...become, ...argv], {
      cwd: project,
      env: {
        ...{ PATH: process.env.PATH!, HOME: home, LANG: 'C.UTF-8' },
        // An engine that is somewhere else is looked for only where it may be wanted.
        DOCKER_HOST: 'tcp://127.0.0.1:1',
        // npm says now and then that there is a newer one.
        npm_config_update_notifier: 'false',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

const NETNS = ['--runtime', 'netns'];
