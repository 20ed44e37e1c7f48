import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder with its parents, if it is not there. Throws what the system says. Node's own `recursive` tries for ever where
 * the kernel says "no such folder" of a child of one that is there, as below /proc.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    mkdirOnce(path);
  }
}

/** Another process may be quicker. */
function mkdirOnce(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
