/** Of what kind the project is that the user stands in, by its files alone: nothing of it is run. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { readPackage } from '../../lock-impl/third-party/package-json.js';
import { UsageError } from '../common/errors.js';
import type { Manager } from '../common/package-source.js';
import { MODULE_EXTENSIONS } from '../run/bundle.js';

export interface Project {
  /** Whether it is written in TypeScript. */
  typescript: boolean;
  /** Whether its `.js` and `.ts` files are ES modules. */
  esm: boolean;
  /** What its tests run in; `node`: `node --test`, which needs nothing. */
  runner: 'vitest' | 'jest' | 'node';
  manager: Manager;
  /** Whether there is a lockfile of that package manager. */
  locked: boolean;
  /** From the root of its repository, the only place where GitHub looks for workflows; empty: it is the root. */
  inRepository: string;
  /** Names of the packages that it depends on. */
  packages: readonly string[];
  /** Its package.json and its .gitignore as they are; undefined: there is none. */
  packageJson: string | undefined;
  gitignore: string | undefined;
  /** What its package.json says of this tool, where that is a file outside of the repository: no other machine has it. */
  foreignTarball?: string;
}

const LOCKFILES: readonly (readonly [file: string, manager: Manager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['package-lock.json', 'npm'],
];

/** Throws one line where its package.json cannot be read. */
export function projectIn(folder: string): Project {
  const { type, dependencies, devDependencies } = packageOf(folder);
  const all = { ...dependencies, ...devDependencies };
  const has = (name: string) => name in all;
  const root = repositoryOf(folder) ?? folder;
  const [, manager] = lockfileOf(folder, root) ?? [];
  const [, file] = /^file:(.*)$/.exec(all['lock-torture'] ?? '') ?? [];
  const isForeign = file !== undefined && relative(root, resolve(folder, file)).startsWith('..');
  return {
    typescript: has('typescript') || existsSync(join(folder, 'tsconfig.json')),
    esm: type === 'module',
    runner: has('vitest') ? 'vitest' : has('jest') ? 'jest' : 'node',
    manager: manager ?? 'npm',
    locked: manager !== undefined,
    inRepository: relative(root, folder).split(sep).join('/'),
    packages: Object.keys(all),
    packageJson: textOf(join(folder, 'package.json')),
    gitignore: textOf(join(folder, '.gitignore')),
    ...(isForeign && { foreignTarball: file }),
  };
}

/** Whether `lock-torture` is there for what imports it: in a `node_modules`, or wherever else its package manager keeps it. */
export function isInstalled(folder: string): boolean {
  try {
    createRequire(join(folder, 'here.js')).resolve('lock-torture/package.json');
    return true;
  } catch {
    return false; // not found
  }
}

/** Which major version of a package the project has, or asks for. Undefined: neither is known. */
export function majorOf(name: string, folder: string): number | undefined {
  const places = createRequire(join(folder, 'here.js')).resolve.paths(name) ?? [];
  const installed = places
    .map((place) => readPackage(join(place, name, 'package.json')))
    .find((one) => one !== undefined);
  const { dependencies, devDependencies } = packageOf(folder);
  const version = installed?.version ?? { ...dependencies, ...devDependencies }[name];
  const [major] = /\d+/.exec(version ?? '') ?? [];
  return major === undefined ? undefined : Number(major);
}

/** Modules that are locks by their names, as a user would type them: the nearest first. */
export function likelyLocks(folder: string): string[] {
  const inside = ['src', 'lib', 'source'].flatMap((place) =>
    namesIn(join(folder, place), true).map((name) => `${place}/${name}`),
  );
  return [...namesIn(folder, false), ...inside]
    .filter((path) => MODULE_EXTENSIONS.some((extension) => path.endsWith(extension)))
    .filter((path) => /lock|mutex/i.test(path.split('/').at(-1)!))
    .filter((path) => !/\.(test|spec|d|config)\.|node_modules|lockfile/i.test(path))
    .sort((one, other) => one.split('/').length - other.split('/').length || one.localeCompare(other))
    .map((path) => `./${path}`);
}

function namesIn(folder: string, recursive: boolean): string[] {
  return existsSync(folder)
    ? readdirSync(folder, { recursive, encoding: 'utf8' }).map((name) => name.split(sep).join('/'))
    : [];
}

interface PackageJson {
  type?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

function packageOf(folder: string): PackageJson {
  const path = join(folder, 'package.json');
  try {
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

function textOf(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function repositoryOf(folder: string): string | undefined {
  return above(folder).find((one) => existsSync(join(one, '.git')));
}

/** The nearest, for a package of a workspace has that of its workspace. */
function lockfileOf(folder: string, root: string): (typeof LOCKFILES)[number] | undefined {
  const places = above(folder);
  return places
    .slice(0, places.indexOf(root) + 1)
    .flatMap((place) => LOCKFILES.filter(([file]) => existsSync(join(place, file))))[0];
}

/** A folder and all that it lies in, itself first. */
function above(folder: string): string[] {
  const up = dirname(folder);
  return up === folder ? [folder] : [folder, ...above(up)];
}
