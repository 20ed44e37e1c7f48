/**
 * The package of a published library, for its adapter. A run makes one module of an adapter and the library that the user's
 * project has, with a module of the same form in the place of this one (`cli/run/published-library.ts`). As it stands here
 * it loads what a clone has for its own tests.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { nameAndVersion, readPackage } from './package-json.js';

/** `redlock@4.2.0`, from the package that is really installed; undefined when none is. */
export function versionHere(installedAs: string): string | undefined {
  const path = `${installedAs}/package.json`;
  // Looks where `import` would, but a package need not export its package.json.
  const folders = createRequire(import.meta.url).resolve.paths(path) ?? [];
  const found = folders.map((folder) => readPackage(join(folder, path))).find((one) => one !== undefined);
  return found && nameAndVersion(found);
}

export function importHere(installedAs: string): Promise<unknown> {
  return import(installedAs);
}
