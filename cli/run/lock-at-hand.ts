/** Whether a lock can be had here, asked of many runs before the first of them begins. What only running shows is not looked for. */
import { fileURLToPath } from 'node:url';
import { externalLocks } from '../../lock-impl/external/index.js';
import { builtinLock, locks } from '../../lock-impl/index.js';
import { UsageError } from '../common/errors.js';
import { otherVersion, registered, whyNotChosen } from './chosen.js';
import { isOnesOwn, sourcesOf, unknownName } from './lock-source.js';
import { findLibrary } from './published-library.js';

/** All that are not files or programs. */
export const LOCK_NAMES: readonly string[] = [...Object.keys(locks), ...Object.keys(externalLocks)];

/** Throws one line for a name that no lock has. Every machine says the same. */
export function mustBeLock(lock: string): void {
  if (isOnesOwn(lock)) return;
  const why = registered(lock) ? whyNotChosen(lock) : unknownName(lock, LOCK_NAMES);
  if (why !== undefined) throw new UsageError(why);
}

/** Rejects with one line where its file is missing or does not compile, or its library is not installed. */
export async function mustBeAtHand(lock: string, cwd: string): Promise<void> {
  const library = otherVersion(lock) ? undefined : builtinLock(lock)?.library;
  const found = library && findLibrary(library, cwd);
  if (typeof found === 'string') throw new UsageError(`--lock ${lock}: ${found}`);
  await sourcesOf(lock, { cwd, clientMain: fileURLToPath(new URL('../../harness/client/main.js', import.meta.url)) });
}
