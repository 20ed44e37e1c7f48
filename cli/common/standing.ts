/** Where the user stands, what they call the tool, and where it puts what it makes: not the same in a clone as installed. */
import { join } from 'node:path';
import { isClone, PROJECT } from '../../harness/machine/project-files.js';
import { readPackage } from '../../lock-impl/third-party/package-json.js';

/**
 * What relative paths on the command line start from. `npm run` changes into the clone, so there npm says where the user
 * typed; an installed tool is called from scripts too, whose paths start from their own package.
 */
export const STANDING = isClone ? (process.env.INIT_CWD ?? process.cwd()) : process.cwd();

/** How a command line begins. */
export const TOOL = isClone ? 'npm run torture --' : 'npx lock-torture';

/** `runs/`, unless `--out` says otherwise. */
export const RUNS_FOLDER = join(isClone ? PROJECT : STANDING, 'runs');
/** `hunts/`. */
export const HUNTS_FOLDER = join(isClone ? PROJECT : STANDING, 'hunts');
/** For `--help`. */
export const OF_WHAT = isClone ? 'of the project' : 'of the folder where you stand';

/** A help text as it stands in the sources, with the tool called as it is here. */
export function asCalledHere(text: string): string {
  return text.replaceAll('npm run torture --', TOOL);
}

/** Of the tool: `1.0.0`. */
export function toolVersion(): string {
  return readPackage(join(PROJECT, 'package.json'))?.version ?? 'unknown';
}
