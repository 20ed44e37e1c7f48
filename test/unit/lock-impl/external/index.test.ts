/** What the registry says of libraries of other languages is what their projects pin. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { externalLock, externalLocks } from '../../../../lock-impl/external/index.js';
import { locks } from '../../../../lock-impl/index.js';

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

test('an unknown name finds nothing, not even a name that every object has', () => {
  expect(externalLock('go/nothing')).toBeUndefined();
  expect(externalLock('constructor')).toBeUndefined();
});
