/** Files of the project that are not compiled: they stay in the source tree, wherever we run from. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder: two up from here in a test, three when we run from dist/harness/machine/. */
const PROJECT = ['../../', '../../../']
  .map((up) => fileURLToPath(new URL(up, import.meta.url)))
  .find((folder) => existsSync(join(folder, 'package-lock.json')))!;

/** The absolute path of a file or folder, by its path in the project. Throws where there is none. */
export function inProject(path: string): string {
  const found = join(PROJECT, path);
  if (!existsSync(found)) throw new Error(`${found} is missing: it comes with the project`);
  return found;
}
