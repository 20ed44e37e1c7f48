import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { installedVersion, libraries, load } from '../../../../lock-impl/third-party/library.js';
import { wantedVersion } from '../../../../lock-impl/third-party/package-json.js';

const lock = JSON.parse(readFileSync(new URL('../../../../package-lock.json', import.meta.url), 'utf8'));
const here = Number.parseInt(process.version.slice(1), 10);

describe.each(Object.entries(libraries))('%s', (_name, library) => {
  const nodeMajorMin = 'nodeMajorMin' in library ? library.nodeMajorMin : 0;

  test('is asked for in one exact version, and that is installed where Node is new enough', () => {
    const wanted = wantedVersion(library);
    expect(wanted).toMatch(/^(@[a-z-]+\/)?[a-z-]+@\d+\.\d+\.\d+(-[a-z0-9.]+)?$/);
    // What asks for a newer Node is not there where an older one installed the packages.
    const isThere = nodeMajorMin === 0 || (here >= nodeMajorMin && process.env.LOCK_TORTURE_TEST_ALL === '1');
    if (isThere || installedVersion(library) !== undefined) expect(installedVersion(library)).toBe(wanted);
    const locked = lock.packages[`node_modules/${library.installedAs}`];
    expect(`${locked.name ?? library.installedAs}@${locked.version}`).toBe(wanted);
  });

  test('requires the Node version that its package requires, or the one that this project requires anyway', () => {
    const { engines } = lock.packages[`node_modules/${library.installedAs}`];
    const asked = Number(/(\d+)/.exec(engines.node)![1]);
    if (nodeMajorMin > 0) expect(asked).toBe(nodeMajorMin);
    else expect(asked).toBeLessThanOrEqual(20);
  });
});

test('what is not available is refused by name, with the remedy', async () => {
  await expect(load({ installedAs: 'redlock-4', nodeMajorMin: 22 }, 'v20.1.2')).rejects.toThrow(
    /^redlock@4\S+: it needs Node.js 22 or newer, and this is v20.1.2$/,
  );
  await expect(load({ installedAs: 'redlock-9', nodeMajorMin: 22 }, 'v20.1.2')).rejects.toThrow(
    /^redlock-9: it needs Node.js 22 or newer, and this is v20.1.2$/,
  );
  const missing = { installedAs: 'redlock-9' };
  expect(installedVersion(missing)).toBeUndefined();
  await expect(load(missing)).rejects.toThrow(/^redlock-9 is not installed$/);
});

test('npm has nothing to warn of on the oldest Node that is promised: what asks for a newer one is optional', () => {
  const packages = Object.entries<{ engines?: { node?: string }; optional?: boolean }>(lock.packages);
  const oldest = (range: string) =>
    Math.min(...range.split('||').map((one) => Number(/(\d+)/.exec(one.replace(/^.*\^/, ''))?.[1] ?? 0)));
  const newer = packages.filter(([, { engines, optional }]) => !optional && oldest(engines?.node ?? '') > 20);
  expect(newer.map(([path]) => path)).toEqual([]);
});
