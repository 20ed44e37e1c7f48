/** Names of folders below `runs/`: they sort by time, and two of the same second differ. */
import { randomBytes } from 'node:crypto';

/** `2026-11-21T09-13-06-sentinel-9bb2`. */
export function freshId(what: string): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  return `${time}-${what}-${randomBytes(2).toString('hex')}`;
}
