/** One constant says where the package comes from, and whatever names another source is found here. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  dependencies,
  installCommand,
  type Manager,
  SOURCE,
  tarballOf,
} from '../../../../cli/common/package-source.js';
import { toolVersion } from '../../../../cli/common/standing.js';
import { ROOT } from '../../../support/torture.js';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const version = toolVersion();
const below = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`);

/** Everything that a user reads or copies, and the code that prints or writes commands. */
const TEXTS = ['README.md', 'action.yml', ...['docs', 'examples', 'cli', 'packages', '.github'].flatMap(below)].filter(
  (path) => /\.(md|ya?ml|json|[mc]?[jt]s)$/.test(path),
);

describe('the source of the package', () => {
  it('is what the examples depend on', () => {
    for (const example of ['jest', 'node-test', 'vitest']) {
      const { devDependencies } = JSON.parse(read(`examples/${example}/package.json`));
      expect(devDependencies, example).toMatchObject(dependencies(version, ['linux-x64']));
    }
  });

  it.each<Manager>(['npm', 'pnpm', 'yarn'])('is what docs/install.md gives to %s', (manager) => {
    expect(read('docs/install.md')).toContain(`\`${installCommand(manager, { version, platform: 'linux-x64' })}\``);
  });

  it('is what the README says', () => {
    // Until there is a release a newcomer packs it: both sentences go together.
    expect(read('README.md').includes('The tool is not on npm yet.')).toBe(SOURCE.kind === 'files');
    expect(read('README.md').includes('npm run packages')).toBe(SOURCE.kind === 'files');
  });

  it('is the only one that any text names', () => {
    expect(TEXTS.length).toBeGreaterThan(200);
    // By its bare name it would come from a registry, where it is not, or is somebody else's.
    const byName =
      /\b(?:npm (?:i|install|add)|pnpm (?:add|i|install)|yarn add)\b[^\n`|]* (?:@?lock-torture|lock-torture@\S+)(?![\w/.-])|"lock-torture": "[\^~\d]/;
    expect(TEXTS.filter((path) => byName.test(read(path)))).toEqual([]);
    expect('npm install --save-dev lock-torture').toMatch(byName);
    expect('  "lock-torture": "^0.1.0",').toMatch(byName);
  });
});

describe('a release', () => {
  const platform = 'linux-arm64';

  it('is installed from a URL that names its version', () => {
    const source = { kind: 'release', url: 'https://example.org/lock-torture/v1.2.3/' } as const;
    expect(installCommand('npm', { version: '1.2.3', platform }, source)).toBe(
      'npm i -D https://example.org/lock-torture/v1.2.3/lock-torture-linux-arm64-1.2.3.tgz https://example.org/lock-torture/v1.2.3/lock-torture-1.2.3.tgz',
    );
  });

  it.each(['https://example.org/lock-torture/latest', 'https://example.org/lock-torture/v1.2.30'])(
    'is refused from %s, where other bytes may lie tomorrow',
    (url) => {
      expect(() => dependencies('1.2.3', [platform], { kind: 'release', url })).toThrow(
        /does not name version 1\.2\.3/,
      );
    },
  );

  it('has the names that npm gives to tarballs', () => {
    expect([tarballOf('1.2.3'), tarballOf('1.2.3', platform)]).toEqual([
      'lock-torture-1.2.3.tgz',
      'lock-torture-linux-arm64-1.2.3.tgz',
    ]);
  });
});
