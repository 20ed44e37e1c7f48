/** The tool's own folder: a clone, or a package that npm installed; and its files that are not compiled. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Two up from here in a test, three when we run from dist/harness/machine/. */
export const PROJECT = ['../..', '../../..']
  .map((up) => fileURLToPath(new URL(up, import.meta.url)).replace(/\/$/, ''))
  .find((folder) => existsSync(join(folder, 'package.json')))!;

/** Of an installed package nothing may be written, and nothing has to be set up. npm never packs this file. */
export const isClone = existsSync(join(PROJECT, 'package-lock.json'));

/** The absolute path of a file or folder, by its path in the project. Throws where there is none. */
export function inProject(path: string): string {
  const found = join(PROJECT, path);
  if (!existsSync(found)) throw new Error(`${found} is missing: it comes with the project`);
  return found;
}
