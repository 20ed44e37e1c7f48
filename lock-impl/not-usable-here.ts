/** A lock that cannot be used here, for what it says: its client answers that, without a place in our sources, where nothing is wrong. */
export class LockNotUsableError extends Error {
  override name = 'LockNotUsableError';
}
