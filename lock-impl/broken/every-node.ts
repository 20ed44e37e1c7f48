/**
 * A lock that is made of one on each independent node, asked in turn, whose tries differ in what they make of a node that did not
 * answer. A try that is refused gives back whatever it may have got.
 */
import type { AcquireOptions, LockDefinition } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { heldParts, ownedBy } from '../multi.js';
import { answerOf, giveBack, type OwnedKey, take } from '../owned-key.js';
import { PAUSE_BETWEEN_TRIES } from '../set-nx-px.js';

/** `needed`: how many of so many nodes must have granted, where none refused. */
export function everyNode(name: string, needed: (nodes: number) => number): LockDefinition {
  return defineLock({
    name,
    topologies: ['redlock'],
    features: ['all-nodes'],
    async connect(access) {
      const nodes = await access.nodes();
      const attempt = async (key: string, leaseMs: number): Promise<Attempt> => {
        const parts = ownedBy(
          access.randomValue(),
          nodes.map((redis) => ({ redis, key })),
        );
        const sentNs = access.nowNs();
        const got: OwnedKey[] = [];
        let isRefused = false;
        for (const part of parts) {
          const answer = await answerOf(take(part, leaseMs));
          if (answer.is === 'yes') got.push(part);
          isRefused = answer.is === 'no';
          if (isRefused) break;
        }
        const validMs = validForMs(access, sentNs, leaseMs);
        if (!isRefused && got.length >= needed(parts.length) && validMs > 0) {
          return { hold: { ...heldParts(access, got, got.length), validForMs: validMs, grantSentNs: sentNs } };
        }
        await Promise.all(parts.map((part) => answerOf(giveBack(part))));
        return { refusedBecause: 'no-quorum' };
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, PAUSE_BETWEEN_TRIES, () => attempt(key, options.leaseMs)),
      };
    },
  });
}
