/**
 * Packages that only some deployments need: a project that wants one of these has the package, and the tool loads it when it is
 * used. None is declared as a peer: npm would then refuse the tool in a project that has another version for its own purposes,
 * or (10) end with an error of its own.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../machine/package-folder.js';

/** By name, the oldest version with which what the tool asks of it was tried. */
export const OLDEST = { mongodb: '5.9', mysql2: '3.11', pg: '8.10', testcontainers: '10.13' };

/** It is not there, or is too old. */
export class OptionalPackageError extends Error {
  override name = 'OptionalPackageError';

  constructor(
    readonly problem: string,
    /** What to type. */
    readonly remedy: string,
  ) {
    super(`${problem}: ${remedy}`);
  }
}

/** What `load` imports; rejects with an OptionalPackageError where it is not there or too old. `folder`: where it lies. */
export async function loadOptional<T>(
  name: keyof typeof OLDEST,
  load: () => Promise<T>,
  folder = packageFolder(name),
): Promise<T> {
  const remedy = `npm install --save-dev ${name}`;
  // Asked first: what an older one lacks may be missed only in mid-run.
  const found = folder && (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version as string);
  if (found && isOlder(found, OLDEST[name]))
    throw new OptionalPackageError(
      `the npm package ${name} is ${found} (${folder}), and ${OLDEST[name]} or newer is needed`,
      `${remedy}@latest`,
    );
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new OptionalPackageError(`the npm package ${name} is needed and not installed`, remedy);
  }
}

/** Whether `version` comes before `oldest`, which has no more parts than it. */
function isOlder(version: string, oldest: string): boolean {
  const [left, right] = [version, oldest].map((one) => one.split(/[.-]/).map(Number));
  const differs = right!.findIndex((part, at) => part !== left![at]);
  return differs >= 0 && left![differs]! < right![differs]!;
}
