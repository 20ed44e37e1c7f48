/** Which package of a published library a run takes: the one of the user's project, else the one that a clone has. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PROJECT } from '../../harness/machine/project-files.js';
import type { Library } from '../../lock-impl/third-party/library.js';
import { nameAndVersion, readPackage, wantedVersion } from '../../lock-impl/third-party/package-json.js';

export interface FoundLibrary {
  /** `redlock@5.0.0-beta.2`. */
  version: string;
  /** What `import` calls it there. */
  importedAs: string;
  /** Where `import` finds it from: the folder that has the `node_modules`. */
  from: string;
  /** Its own folder. */
  folder: string;
}

/** From where the user stands upward, then from `own`. Where there is none that would do, one line that says how to get it. */
export function findLibrary(library: Library, cwd: string, own = PROJECT): FoundLibrary | string {
  const wanted = wantedVersion(library);
  const [name, version] = [wanted.slice(0, wanted.lastIndexOf('@')), wanted.slice(wanted.lastIndexOf('@') + 1)];
  const major = version.split('.')[0]!;
  const there = [cwd, own].flatMap((from) => [library.installedAs, name].flatMap((as) => packagesFrom(from, as)));
  const fits = there.find((one) => one.version.startsWith(`${name}@${major}.`));
  if (fits) return fits;
  const others = [...new Set(there.map((one) => one.version))];
  const instead = others.length > 0 ? ` (there is ${others.join(' and ')})` : '';
  return `${name} ${major} is not installed in ${cwd}${instead}: npm install --save-dev ${wanted}`;
}

/** Nearest first. */
function packagesFrom(from: string, importedAs: string): FoundLibrary[] {
  const places = createRequire(join(from, 'here.js')).resolve.paths(importedAs) ?? [];
  return places.flatMap((place) => {
    const folder = join(place, importedAs);
    const found = readPackage(join(folder, 'package.json'));
    return found ? [{ version: nameAndVersion(found), importedAs, from: dirname(place), folder }] : [];
  });
}
