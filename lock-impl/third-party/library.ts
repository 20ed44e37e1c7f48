/**
 * Finds the published libraries that are tortured as they are. They are optional packages: one that is not installed, or
 * does not run on this version of Node, is refused by name with the remedy, when a client connects and not before.
 *
 * Their types are stated here and in the adapters, as far as they are used, so that the tool compiles without them.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

export interface Library {
  /** As it is called in `import`, which is not its name where two versions of one package are installed. */
  installedAs: string;
  /** What its package.json asks for; absent: no more than this project does. */
  nodeMajorMin?: number;
}

export const libraries = {
  'redlock-4': { installedAs: 'redlock-4' },
  'redlock-5': { installedAs: 'redlock-5' },
  'redis-semaphore': { installedAs: 'redis-semaphore' },
  'sesamecare-redlock': { installedAs: '@sesamecare-oss/redlock' },
  // npm does not install an optional package on a version of Node that its package.json excludes.
  'redlock-universal': { installedAs: 'redlock-universal', nodeMajorMin: 22 },
} as const satisfies Record<string, Library>;

/** `redlock@4.2.0`, from the package that is really installed; undefined when none is. */
export function installedVersion({ installedAs }: Library): string | undefined {
  const found = packageJson(`${installedAs}/package.json`);
  // One of them writes its version with a "v".
  return found && `${found.name}@${found.version.replace(/^v/, '')}`;
}

/** As above, from what this project asks npm for: the same on every machine. */
export function wantedVersion({ installedAs }: Library): string {
  const wanted = own.optionalDependencies[installedAs];
  if (wanted === undefined) return installedAs;
  const [, alias] = /^npm:(.+@.+)$/.exec(wanted) ?? [];
  return alias ?? `${installedAs}@${wanted}`;
}

/** The library's exports. Rejects with one line that says what to do when it cannot be loaded. */
export async function load<Exports>(library: Library, node = process.version): Promise<Exports> {
  const { installedAs, nodeMajorMin = 0 } = library;
  if (Number.parseInt(node.slice(1), 10) < nodeMajorMin) {
    throw new Error(`${wantedVersion(library)} needs Node.js ${nodeMajorMin} or newer, and this is ${node}`);
  }
  if (!installedVersion(library)) {
    throw new Error(
      `${wantedVersion(library)} is not installed (it is optional): run "npm ci --include=optional" in the folder of lock-torture`,
    );
  }
  return (await import(installedAs)) as Exports;
}

interface PackageJson {
  name: string;
  version: string;
  optionalDependencies: Record<string, string>;
}

/** Looks where `import` would, but a package need not export its package.json. */
function packageJson(path: string): PackageJson | undefined {
  const folders = createRequire(import.meta.url).resolve.paths(path) ?? [];
  return folders.map((folder) => readJson(join(folder, path))).find((found) => found !== undefined);
}

function readJson(path: string | URL): PackageJson | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PackageJson;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** This project's own: beside the sources, and one folder up from the compiled ones. */
const own = ['../../package.json', '../../../package.json']
  .map((path) => readJson(new URL(path, import.meta.url)))
  .find((found) => found?.name === 'lock-torture')!;
