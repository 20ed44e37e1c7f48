/** Where the user stands, what they call the tool, and where it puts what it makes: not the same in a clone as installed. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { isClone, PROJECT } from '../../harness/machine/project-files.js';
import { readPackage } from '../../lock-impl/third-party/package-json.js';
import { quote } from './values.js';

/**
 * What relative paths on the command line start from. `npm run` changes into the clone, so there npm says where the user
 * typed; an installed tool is called from scripts too, whose paths start from their own package.
 */
export const STANDING = isClone ? (process.env.INIT_CWD ?? process.cwd()) : process.cwd();

/** How a command line begins that is typed where the user stands. */
export const TOOL = toolFrom(STANDING, PROJECT, isClone);

/**
 * What the tool at `project` is called from `standing`: as npm calls it where npm finds it from there, else by its own file, which
 * works from everywhere.
 */
export function toolFrom(standing: string, project: string, isClone: boolean): string {
  const places = andAbove(standing);
  const isNpms = (place: string) => ['package.json', 'node_modules'].some((name) => existsSync(join(place, name)));
  // A package that npx fetched for this one call is where no command can name it.
  const isFoundByNpm = isClone
    ? isSame(places.find(isNpms), project)
    : project.includes(`${sep}_npx${sep}`) ||
      places.some((place) => isSame(join(place, 'node_modules', 'lock-torture'), project));
  if (!isFoundByNpm) return `node ${quote(join(project, 'bin', 'torture.mjs'))}`;
  return isClone ? 'npm run torture --' : 'npx lock-torture';
}

/** The folder, and all that it is in, nearest first. */
function andAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...andAbove(above)];
}

/** Also through links. */
function isSame(one: string | undefined, other: string): boolean {
  return one !== undefined && existsSync(one) && realpathSync(one) === realpathSync(other);
}

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
