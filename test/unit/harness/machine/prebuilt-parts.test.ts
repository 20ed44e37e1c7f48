/** The binaries in `packages/` are those of these sources, for the machines that they name, and ask for no newer C library. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { prebuiltManifest, prebuiltPart } from '../../../../harness/machine/prebuilt-parts.js';
import { ROOT } from '../../../support/torture.js';

const { glibc, parts } = prebuiltManifest();
const sha256 = (...path: string[]) =>
  createHash('sha256')
    .update(readFileSync(join(ROOT, ...path)))
    .digest('hex');
const version = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;

it('is of the sources as they are: after a change, node packages/build.mjs', () => {
  const sources = readdirSync(join(ROOT, 'harness/native')).filter((name) => name.endsWith('.c'));
  expect(Object.keys(parts).sort()).toEqual(sources.map((name) => name.replace('.c', '')).sort());
  for (const [name, { source }] of Object.entries(parts)) expect(sha256('harness/native', `${name}.c`)).toBe(source);
});

/** Of an ELF header, and how the platform calls it. */
const MACHINES = { 'linux-x64': 62, 'linux-arm64': 183 } as const;

describe.each(Object.entries(MACHINES))('%s', (platform, machine) => {
  const folder = join(ROOT, 'packages', platform);
  const programs = readdirSync(folder).filter((name) => !/\.(json|md)$|^LICENSE$/.test(name));

  it('is a package of this version, for that machine with glibc only', () => {
    const own = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const [os, cpu] = platform.split('-');
    expect(own).toMatchObject({ name: `@lock-torture/${platform}`, version, os: [os], cpu: [cpu], libc: ['glibc'] });
    expect(own.scripts).toBeUndefined();
  });

  it('has what the manifest says, and nothing else', () => {
    const expected = Object.entries(parts).flatMap(([name, { [platform]: hash }]) => (hash ? [[name, hash]] : []));
    const found = programs.map((file) => [file.replace('.so', ''), sha256('packages', platform, file)]);
    expect(found.sort()).toEqual(expected.sort());
  });

  it.each(programs)('%s is for that machine, and asks for no newer C library than is promised', (file) => {
    const bytes = readFileSync(join(folder, file));
    expect(bytes.subarray(0, 4).toString('latin1')).toBe('\x7fELF');
    expect(bytes.readUInt16LE(18)).toBe(machine);
    const asked = [...bytes.toString('latin1').matchAll(/GLIBC_([\d.]+)/g)].map(([, one]) => one!);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((one) => one.localeCompare(glibc, 'en', { numeric: true }) > 0)).toEqual([]);
  });
});

describe.skipIf(process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch))('what is installed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-parts-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const own = join(ROOT, 'packages', `linux-${process.arch}`);

  it('is taken where it is what was published, and not where it is something else', () => {
    copyFileSync(join(own, 'clock-shim.so'), join(folder, 'clock-shim.so'));
    expect(prebuiltPart('clock-shim', 'clock-shim.so', folder).bytes).toEqual(readFileSync(join(own, 'clock-shim.so')));
    writeFileSync(join(folder, 'clock-shim.so'), 'x', { flag: 'a' });
    expect(prebuiltPart('clock-shim', 'clock-shim.so', folder)).toEqual({
      trouble: `${join(folder, 'clock-shim.so')} is not what harness/native/prebuilt.json names`,
    });
    expect(prebuiltPart('link-shaper', 'link-shaper', folder).trouble).toMatch(
      /^the prebuilt link-shaper cannot be read/,
    );
  });

  it('is what the clone carries, where it is one', () => {
    expect(prebuiltPart('clock-shim', 'clock-shim.so').bytes).toEqual(readFileSync(join(own, 'clock-shim.so')));
  });
});
