/**
 * What the lock protects: a number for each key, which begins at 0, and how many writes of it were taken.
 *
 * A `checking` register refuses a fencing token that is older than the newest that it saw *of the key, in reads too*: a
 * holder that has read must not have its basis changed under it by one before (Kleppmann 2016, "How to do distributed
 * locking", has the check for writes only, which lets such a write in between a read and the write that rests on it).
 * Without a token it refuses as well: what cannot be placed cannot be checked.
 */
import type { ResourceMode } from '../vocabulary/workload.js';
import type { Access, AccessAnswer } from './messages.js';

export class Register {
  readonly #entries = new Map<string, { value: number; version: number; newest: number }>();

  constructor(private readonly mode: ResourceMode) {}

  answer({ id, op, key, value, token }: Access): AccessAnswer {
    const entry = this.#entries.get(key) ?? { value: 0, version: 0, newest: Number.NEGATIVE_INFINITY };
    if (this.mode === 'checking') {
      if (token === undefined) return { id, refused: 'no-token' };
      if (token < entry.newest) return { id, refused: `stale-token: ${token} is older than ${entry.newest}` };
      entry.newest = token;
    }
    if (op === 'write') {
      entry.value = value!;
      entry.version++;
    }
    this.#entries.set(key, entry);
    return { id, value: entry.value, version: entry.version };
  }
}
