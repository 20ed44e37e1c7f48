/** What the registry says of libraries of other languages is what their projects pin. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { externalLock, externalLocks } from '../../../../lock-impl/external/index.js';
import { builtinLock, locks } from '../../../../lock-impl/index.js';

const folder = join(import.meta.dirname, '../../../../lock-impl/external');
const pinnedByMaven = (artifact: string, version: string) =>
  `<artifactId>${artifact}</artifactId>\n      <version>${version}</version>`;
/** The file of a project that pins versions, by the project's folder, and how it writes one. */
const PINS: Record<string, [file: string, pinned: (library: string, version: string) => string]> = {
  redisson: ['pom.xml', (library, version) => pinnedByMaven(library.split(':')[1]!, version)],
  curator: ['pom.xml', (library, version) => pinnedByMaven(library.split(':')[1]!, version)],
  spring: ['pom.xml', (library, version) => pinnedByMaven(library.split(':')[1]!, version)],
  go: ['go.mod', (library, version) => `${library} ${version}`],
  rust: ['Cargo.toml', (library, version) => `${library} = { version = "${version}"`],
  python: ['requirements.txt', (library, version) => `${library}==${version} --hash=`],
};

test.each(Object.entries(externalLocks))('%s: the version in its summary is the pinned one', (name, lock) => {
  expect(name.endsWith(`/${lock.variant}`)).toBe(true);
  expect(locks).not.toHaveProperty([name]);
  const [, library, version] = /^(\S+)@(\S+): /.exec(lock.summary)!;
  const [file, pinned] = PINS[lock.project.folder]!;
  expect(readFileSync(join(folder, lock.project.folder, file), 'utf8')).toContain(pinned(library!, version!));
  expect(readFileSync(join(folder, lock.project.folder, 'README.md'), 'utf8')).toContain(`\`${name}\``);
});

const pinsOf = (project: string) => {
  const pins = join(folder, project, 'pins');
  return existsSync(pins) ? readdirSync(pins) : [];
};

test('versions that are said to be pinned have hashes beside their adapter, and no others have', () => {
  const said = new Map<string, Set<string>>([['npm', new Set()]]);
  const note = (project: string, pins: readonly string[]) =>
    said.set(project, new Set([...(said.get(project) ?? []), ...pins]));
  for (const { project, versions } of Object.values(externalLocks)) {
    const artifact = versions.library.split(':').at(-1)!;
    note(
      project.folder,
      versions.alsoPinned.map((version) => `${artifact}@${version}.sha256`),
    );
  }
  for (const { versions } of Object.values(locks)) {
    const { library = '', alsoPinned = [] } = versions ?? {};
    note(
      'npm',
      alsoPinned.map((version) => `${library.replaceAll('/', '-')}@${version}.json`),
    );
  }
  for (const [project, pins] of said) expect(pinsOf(project).toSorted(), project).toEqual([...pins].toSorted());
  expect(said.get('redisson')).toContain('redisson@3.16.4.sha256');
});

test('a pinned version is hashed with its own jar, and a lock file of npm names no address', () => {
  for (const pins of pinsOf('redisson')) {
    const jar = pins.replace('@', '-').replace('.sha256', '.jar');
    expect(readFileSync(join(folder, 'redisson/pins', pins), 'utf8')).toMatch(
      new RegExp(`^[0-9a-f]{64}  ${jar}$`, 'm'),
    );
  }
  for (const pins of pinsOf('npm')) {
    const text = readFileSync(join(folder, 'npm/pins', pins), 'utf8');
    expect(text).toContain('"integrity": "sha512-');
    expect(text).not.toContain('://');
  }
});

test('a lock is found by its name with what is chosen of it', () => {
  expect(externalLock('redisson/rlock@3.16.4:lock')).toBe(externalLocks['redisson/rlock']);
  expect(builtinLock('set-nx-px@1.0.0')).toEqual(builtinLock('set-nx-px'));
  const [acquires, uses] = ['third-party/redlock-5@5.0.0-beta.1', 'third-party/redlock-5:using-lease'].map(builtinLock);
  expect(acquires).toEqual(builtinLock('third-party/redlock-5'));
  expect(uses!.modulePath).toBe(builtinLock('third-party/redlock-5-using')!.modulePath);
});

test('an unknown name finds nothing, not even a name that every object has', () => {
  expect(externalLock('go/nothing')).toBeUndefined();
  expect(externalLock('constructor')).toBeUndefined();
});
