/** Names of folders below `runs/`: they sort by time, and two of the same second differ. */
import { randomBytes } from 'node:crypto';
import { createRunFolder } from '../../harness/record/store.js';

const fourDigits = () => randomBytes(2).toString('hex');

/** `2026-11-21T09-13-06-sentinel-9bb2`. */
export function freshId(what: string, suffix = fourDigits()): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  return `${time}-${what}-${suffix}`;
}

/**
 * Makes a folder below `base` with a fresh id. Many that begin within a second may draw the same digits: the next ones are tried
 * then. Throws a StoreError where none can be made.
 *
 * @param digits what makes two of the same second differ
 */
export function createFreshFolder(base: string, what: string, digits = fourDigits): { id: string; folder: string } {
  for (;;) {
    const id = freshId(what, digits());
    const folder = createRunFolder(base, id);
    if (folder !== undefined) return { id, folder };
  }
}
