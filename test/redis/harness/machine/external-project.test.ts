/** Projects of other languages are built once for each state of their sources, all or nothing, and say what they lack. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { externalProgram, NoSuchVersionError } from '../../../../harness/machine/external-project.js';
import type { ExternalProject } from '../../../../harness/vocabulary/external.js';

let folder = '';
let said: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-torture-external-'));
  said = [];
  mkdirSync(join(folder, 'sources/tiny'), { recursive: true });
  writeFileSync(join(folder, 'sources/tiny/program'), 'first');
});
afterEach(() => rmSync(folder, { recursive: true }));

const tiny: ExternalProject = {
  what: 'tiny adapters',
  folder: 'tiny',
  needs: [['sh', '-c', 'echo sh 1.0']],
  remedy: 'install a shell',
  build: [['sh', '-c', 'echo built >> {built}/../builds; cp program made; chmod +x made']],
  start: ['{built}/made', '--fast'],
};
const program = (project = tiny, say = (line: string): void => void said.push(line)) =>
  externalProgram(project, {
    cacheFolder: join(folder, 'cache'),
    sources: join(folder, 'sources'),
    say,
  });
const builds = () => readFileSync(join(folder, 'cache/external/builds'), 'utf8').split('\n').length - 1;

test('built once, then taken from the cache; built again where a source has changed', async () => {
  const [made, flag] = await program();
  expect(flag).toBe('--fast');
  expect(readFileSync(made!, 'utf8')).toBe('first');
  expect(await program()).toEqual([made, flag]);
  expect(said).toEqual([expect.stringContaining('building the tiny adapters')]);
  expect(builds()).toBe(1);
  writeFileSync(join(folder, 'sources/tiny/README.md'), 'for people: nothing new to build');
  expect(await program()).toEqual([made, flag]);
  writeFileSync(join(folder, 'sources/tiny/program'), 'second');
  expect(readFileSync((await program())[0]!, 'utf8')).toBe('second');
  expect(builds()).toBe(2);
});

test('with what several projects have in common, which the project may have its own of', async () => {
  mkdirSync(join(folder, 'sources/common'));
  writeFileSync(join(folder, 'sources/common/program'), 'everybody’s');
  writeFileSync(join(folder, 'sources/common/beside'), 'first');
  const shared = { ...tiny, shared: 'common', start: ['{built}/made', '{built}/beside'] };
  const [made, beside] = await program(shared);
  expect([readFileSync(made!, 'utf8'), readFileSync(beside!, 'utf8')]).toEqual(['first', 'first']);
  writeFileSync(join(folder, 'sources/common/beside'), 'second');
  expect(readFileSync((await program(shared))[1]!, 'utf8')).toBe('second');
});

test('built again by another version of its toolchain', async () => {
  const [made] = await program();
  expect((await program({ ...tiny, needs: [['sh', '-c', 'echo sh 2.0']] }))[0]).not.toBe(made);
});

test('two that want the same at once: one builds, the other waits for it', async () => {
  const other = join(folder, 'the-other-waits');
  const slow = { ...tiny, build: [['sh', '-c', `until [ -e ${other} ]; do sleep 0.02; done`], ...tiny.build] };
  const waits = (line: string) => {
    said.push(line);
    if (line.startsWith('waiting for another')) writeFileSync(other, '');
  };
  const [one, two] = await Promise.all([program(slow, waits), program(slow, waits)]);
  expect(one).toEqual(two);
  expect(builds()).toBe(1);
});

test('a build that fails leaves nothing, and says why in one line', async () => {
  const failing = { ...tiny, build: [['sh', '-c', 'echo fetching; echo "error: no route to registry" >&2; exit 3']] };
  await expect(program(failing)).rejects.toThrow(
    /^the tiny adapters cannot be built \(sh: error: no route to registry\): check that .*run the same command again$/,
  );
  expect(readdirSync(join(folder, 'cache/external'))).toEqual([]);
});

test('what a killed build left is no build', async () => {
  const [made] = await program();
  rmSync(join(dirname(made!), '.built'));
  writeFileSync(made!, 'half');
  writeFileSync(join(dirname(made!), 'left-over'), '');
  expect(readFileSync((await program())[0]!, 'utf8')).toBe('first');
  expect(existsSync(join(dirname(made!), 'left-over'))).toBe(false);
});

const versioned: ExternalProject = {
  ...tiny,
  takeVersion: [['sh', '-c', 'echo {library} {version} > program']],
  noSuchVersion: 'no {library}@{version} here',
};
const takes = (version: string, project = versioned) =>
  externalProgram(project, {
    cacheFolder: join(folder, 'cache'),
    sources: join(folder, 'sources'),
    say: (line) => void said.push(line),
    takes: { library: 'org.tiny:tiny', version },
  });

test('another version of its library is a build of its own, beside that of the pinned one', async () => {
  const [pinned] = await program(versioned);
  const [other] = await takes('1.2.3');
  expect(readFileSync(pinned!, 'utf8')).toBe('first');
  expect(readFileSync(other!, 'utf8')).toBe('org.tiny:tiny 1.2.3\n');
  expect(await takes('1.2.3')).toEqual([other, '--fast']);
  expect((await takes('1.2.4'))[0]).not.toBe(other);
  expect(builds()).toBe(3);
  expect(said).toContainEqual(expect.stringContaining('building the tiny adapters with org.tiny:tiny 1.2.3 '));
});

test('a version that the registry does not have is no failed build; what the network did is', async () => {
  const refuses = (words: string) => ({
    ...versioned,
    takeVersion: [['sh', '-c', `echo "error: ${words}" >&2; exit 1`]],
  });
  const none = takes('1.2.9', refuses('no org.tiny:tiny@1.2.9 here'));
  await expect(none).rejects.toThrow(NoSuchVersionError);
  await expect(none).rejects.toThrow(/^the registry of its packages has no org\.tiny:tiny 1\.2\.9$/);
  for (const words of ['no org.tiny:tiny@1x2.9 here', 'connection refused']) {
    const failed = takes('1.2.9', refuses(words));
    await expect(failed).rejects.not.toThrow(NoSuchVersionError);
    await expect(failed).rejects.toThrow('the tiny adapters with org.tiny:tiny 1.2.9 cannot be built');
  }
});

test('a client is started by a path, because it runs in a folder of its own', async () => {
  const [shell] = await program({ ...tiny, needs: [['sh']], start: ['sh', '{built}/made'] });
  expect(shell).toMatch(/^\/.*\/sh$/);
});

test('a toolchain that is missing, or does not run, is named with the remedy', async () => {
  await expect(program({ ...tiny, needs: [['no-such-compiler', '--version']] })).rejects.toThrow(
    'the tiny adapters need no-such-compiler, which is not on PATH: install a shell',
  );
  await expect(program({ ...tiny, needs: [['sh', '-c', 'echo broken >&2; exit 1']] })).rejects.toThrow(
    'the tiny adapters need sh, which does not run (broken): install a shell',
  );
  expect(existsSync(join(folder, 'cache'))).toBe(false);
});
