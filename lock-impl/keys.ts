/** Names beside that of a lock. */

/**
 * A further key of the lock `key`, in the same slot of a Cluster, which hashes only what stands between the first braces
 * where there is something. It excludes keys with a closing brace and no such pair, which no tag can stand for.
 */
export function companionKey(key: string, name: string): string {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open);
  const hasTag = open >= 0 && close > open + 1;
  return hasTag ? `${key}:${name}` : `{${key}}:${name}`;
}
