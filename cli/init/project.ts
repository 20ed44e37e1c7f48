/** Of what kind the project is that the user stands in, by its files alone: nothing of it is run. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { UsageError } from '../common/errors.js';
import type { Manager } from '../common/package-source.js';

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
}

const LOCKFILES: readonly (readonly [file: string, manager: Manager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['package-lock.json', 'npm'],
];

/** Throws one line where its package.json cannot be read. */
export function projectIn(folder: string): Project {
  const { type, dependencies, devDependencies } = packageOf(folder);
  const has = (name: string) => name in { ...dependencies, ...devDependencies };
  const root = repositoryOf(folder) ?? folder;
  const [, manager] = lockfileOf(folder, root) ?? [];
  return {
    typescript: has('typescript') || existsSync(join(folder, 'tsconfig.json')),
    esm: type === 'module',
    runner: has('vitest') ? 'vitest' : has('jest') ? 'jest' : 'node',
    manager: manager ?? 'npm',
    locked: manager !== undefined,
    inRepository: relative(root, folder).split(sep).join('/'),
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
