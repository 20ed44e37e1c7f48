import type { BlameName, ViolationClass } from '../../vocabulary/verdict.js';

/** What makes two findings of a lock on a topology the same: never whom a plan strikes, nor when. */
export function fingerprint(blame: BlameName, name: ViolationClass, kind: string, cause: string): string {
  return `${blame}/${name}/${kind}/${cause}`;
}
