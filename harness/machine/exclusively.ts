import { inProject } from './project-files.js';

/**
 * Runs `work` while no other process of this machine is at what is called `name`; `onWait` is called once if one is, and ends the
 * waiting by throwing.
 */
export async function exclusively<T>(name: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  const turns = (await import(inProject('bin/exclusive.mjs'))) as { exclusively: typeof exclusively };
  return turns.exclusively(name, onWait, work);
}
