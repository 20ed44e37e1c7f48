/**
 * Which package of a published library, or of Redis' own client, a run takes: the version that was asked for, from the cache; else the one
 * of the user's project, else the one that a clone has.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { externalFolder } from '../../harness/machine/external-project.js';
import { PROJECT } from '../../harness/machine/project-files.js';
import { cacheFolder } from '../../harness/machine/redis-binary.js';
import type { ExternalProject, LibraryVersion } from '../../harness/vocabulary/external.js';
import type { Library } from '../../lock-impl/third-party/library.js';
import { nameAndMajor, nameAndVersion, readPackage, wantedVersion } from '../../lock-impl/third-party/package-json.js';
import type { Say } from '../common/say.js';

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

/**
 * That version, fetched into the cache by npm where it is not there yet. Nothing of a package is run while it is installed. Rejects as
 * `externalFolder`.
 */
export async function fetchedLibrary(takes: LibraryVersion, say: Say): Promise<FoundLibrary> {
  const from = await externalFolder(npm, { cacheFolder: cacheFolder(), say, takes });
  const { library: importedAs } = takes;
  const folder = join(from, 'node_modules', importedAs);
  return { version: nameAndVersion(readPackage(join(folder, 'package.json'))!), importedAs, from, folder };
}

const npm: ExternalProject = {
  what: 'npm project',
  folder: 'npm',
  needs: [['npm']],
  remedy: 'install npm, so that it is on PATH',
  takeVersion: [[process.execPath, 'take.mjs', '{library}', '{version}']],
  noSuchVersion: 'No matching version found for {library}@{version}',
  build: [
    [
      ...['npm', 'install', '--ignore-scripts', '--omit=peer', '--omit=dev', '--no-audit', '--no-fund'],
      ...['--no-update-notifier', '--loglevel=error', '--logs-max=0'],
    ],
  ],
  start: [],
};

/** From where the user stands upward, then from `own`. Where there is none that would do, one line that says how to get it. */
export function findLibrary(library: Library, cwd: string, own = PROJECT): FoundLibrary | string {
  const wanted = wantedVersion(library);
  const { name, major } = nameAndMajor(wanted);
  const majors = [...(library.majorsToo ?? []), major];
  const there = [cwd, own].flatMap((from) => [library.installedAs, name].flatMap((as) => packagesFrom(from, as)));
  const fits = there.find((one) => majors.some((major) => one.version.startsWith(`${name}@${major}.`)));
  if (fits) return fits;
  const others = [...new Set(there.map((one) => one.version))];
  const instead = others.length > 0 ? ` (there is ${others.join(' and ')})` : '';
  return `${name} ${majors.join(' or ')} is not installed in ${cwd}${instead}: npm install --save-dev ${wanted}`;
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
