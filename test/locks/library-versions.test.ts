/** What is downloaded of a pinned version must be what its pin says, to the byte; of another nothing is known. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { skipWhere, withoutTool } from '../support/needs.js';
import { ROOT } from '../support/torture.js';

const external = join(ROOT, 'lock-impl/external');
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-torture-package-'));
  for (const below of ['lib', 'pins']) mkdirSync(join(folder, below));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const hashLine = (text: string, jar: string) => `${createHash('sha256').update(text).digest('hex')}  ${jar}\n`;

describe('of Java', skipWhere(withoutTool('java')), () => {
  const run = (what: string, ...rest: string[]) =>
    spawnSync('java', [join(external, 'java/src/build/java/Package.java'), what, folder, ...rest], {
      encoding: 'utf8',
    });
  beforeEach(() => {
    const dependency = (artifact: string, version: string) =>
      `<artifactId>${artifact}</artifactId>\n      <version>${version}</version>\n`;
    write('pom.xml', dependency('lib-other', '2.0') + dependency('lib', '4.0'));
    write('libraries.sha256', hashLine('four', 'lib.jar'));
    write('pins/lib@3.0.sha256', hashLine('three', 'lib.jar'));
  });

  test('a pinned one', () => {
    expect(run('take', 'org.lib:lib', '3.0').status).toBe(0);
    expect(read('pom.xml')).toMatch(
      /lib-other<\/artifactId>\s*<version>2\.0<[\s\S]*lib<\/artifactId>\s*<version>3\.0</,
    );
    expect(read('libraries.sha256')).toBe(hashLine('three', 'lib.jar'));
    write('lib/lib.jar', 'four');
    expect(run('check')).toMatchObject({ status: 1, stderr: 'error: lib.jar is not what libraries.sha256 says\n' });
  });

  test('another one, of which nothing is known', () => {
    expect(run('take', 'org.lib:lib', '3.1').status).toBe(0);
    write('lib/lib.jar', 'whatever');
    expect(run('check').status).toBe(0);
  });
});

test('of npm: a project that wants the version alone, with its lock file where there is one', () => {
  const take = (...wanted: string[]) =>
    spawnSync(process.execPath, [join(external, 'npm/take.mjs'), ...wanted], { cwd: folder, encoding: 'utf8' });
  write('pins/@own-lib@1.0.0.json', '{"lockfileVersion":3}');
  expect(take('@own/lib', '1.0.1').status).toBe(0);
  expect(() => read('package-lock.json')).toThrow('ENOENT');
  expect(take('@own/lib', '1.0.0').status).toBe(0);
  expect(JSON.parse(read('package.json')).dependencies).toEqual({ '@own/lib': '1.0.0' });
  expect(read('package-lock.json')).toBe('{"lockfileVersion":3}');
});
