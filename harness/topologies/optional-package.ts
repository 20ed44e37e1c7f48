/** Packages that only one service needs, and that are no dependencies of this tool: loaded when they are used. */
import { DeploymentError } from './ready.js';

/** What `load` imports; rejects with a line for the user where the package is not there. */
export async function loadOptional<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new DeploymentError(`the package ${name} is needed and not installed: npm install ${name}`);
  }
}
