/**
 * The published libraries that are tortured as they are. None of them comes with the tool: a run takes the one that the
 * user's project has, and a clone has them for its tests. One that is not there, or does not run on this version of Node,
 * is refused by name with the remedy.
 *
 * Their types are stated in the adapters, as far as they are used, so that the tool compiles without them.
 */
import { LockNotUsableError } from '../not-usable-here.js';
import { importHere, versionHere } from './here.js';

export interface Library {
  /** As a clone has it, which is not its name where two versions of one package are installed. */
  installedAs: string;
  /** What its package.json asks for; absent: no more than this project does. */
  nodeMajorMin?: number;
  /** Which one it was tried with; absent: package.json says it. */
  version?: string;
  /** Other major versions that will do. */
  majorsToo?: readonly string[];
}

export const libraries = {
  'redlock-4': { installedAs: 'redlock-4' },
  'redlock-5': { installedAs: 'redlock-5' },
  'redis-semaphore': { installedAs: 'redis-semaphore' },
  'sesamecare-redlock': { installedAs: '@sesamecare-oss/redlock' },
  // npm warns of a package that asks for a newer Node, unless it is optional: `test/locks/newer-node` has it, where Node is new enough.
  'redlock-universal': { installedAs: 'redlock-universal', nodeMajorMin: 22, version: '0.8.5' },
} as const satisfies Record<string, Library>;

/** Redis' own client, for `topology.nodeRedis()`: no library of locks, but found like them. */
export const nodeRedis: Library = { installedAs: 'redis', majorsToo: ['5'] };

/** `redlock@4.2.0`, from the package that is really loaded; undefined when none is there. */
export function installedVersion({ installedAs }: Library): string | undefined {
  return versionHere(installedAs);
}

/** In words, where this Node is too old for it. */
export function nodeTooOld({ nodeMajorMin = 0 }: Library, node = process.version): string | undefined {
  if (Number.parseInt(node.slice(1), 10) >= nodeMajorMin) return undefined;
  return `it needs Node.js ${nodeMajorMin} or newer, and this is ${node}`;
}

/** The library's exports. Rejects with one line when it cannot be loaded. */
export async function load<Exports>(library: Library, node = process.version): Promise<Exports> {
  const { installedAs } = library;
  const installed = installedVersion(library);
  const tooOld = nodeTooOld(library, node);
  if (tooOld !== undefined) throw new LockNotUsableError(`${installed ?? installedAs}: ${tooOld}`);
  if (!installed) throw new LockNotUsableError(`${installedAs} is not installed`);
  return (await importHere(installedAs)) as Exports;
}
