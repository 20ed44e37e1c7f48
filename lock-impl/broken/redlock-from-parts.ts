/**
 * Redlock as applications write it after reading about it: asks all nodes at once, waits for each as long as a command may
 * take, and holds with a majority. Put together from the parts that canaries get wrong; with all of them right it promises
 * what `redlock` does, but for its short time-outs.
 *
 * Step points: `asked`, when all nodes have answered (or did not) and nothing is decided yet.
 */
import type { AcquireOptions, LockDefinition, TopologyAccess } from '../../harness/vocabulary/lock.js';
import { type Attempt, tryUntilGranted, validForMs } from '../attempts.js';
import { defineLock } from '../define-lock.js';
import { answerOf, giveBack, type OwnedKey, type ServerAnswer, take } from '../owned-key.js';
import { majority } from '../redlock.js';

const pause = { minMs: 10, maxMs: 60 };

export interface RedlockParts {
  /** Called before the nodes are asked; the result says how many milliseconds of the lease have passed since. */
  stopwatch?(access: TopologyAccess): () => number;
  /** How long a node's vote is waited for, milliseconds; absent: as long as a command may take. */
  patienceMs?: number;
  /** True if the lock is ours for another `leaseMs` from now; absent: it cannot be extended. */
  extend?(asked: readonly OwnedKey[], quorum: number, leaseMs: number): Promise<boolean>;
  /** The keys to give back after a failed try. */
  toGiveBack?(asked: readonly OwnedKey[], granted: readonly OwnedKey[]): readonly OwnedKey[];
}

/** By a clock that cannot be set. */
export function monotonic(access: TopologyAccess): () => number {
  const beganNs = access.nowNs();
  return () => (access.nowNs() - beganNs) / 1e6;
}

/** All that were asked: one whose answer was lost may have granted. */
export function everywhere(asked: readonly OwnedKey[]): readonly OwnedKey[] {
  return asked;
}

export function redlockFromParts(
  name: string,
  { stopwatch = monotonic, toGiveBack = everywhere, patienceMs, extend }: RedlockParts,
): LockDefinition {
  return defineLock({
    name,
    topologies: ['redlock'],
    ...(extend && { features: ['extend'] }),
    async connect(access) {
      const nodes = await access.nodes();
      const quorum = majority(nodes.length);
      const attempt = async (key: string, leaseMs: number): Promise<Attempt> => {
        const owner = access.randomValue();
        const asked = nodes.map((redis) => ({ redis, key, owner }));
        const grantSentNs = access.nowNs();
        const elapsedMs = stopwatch(access);
        const vote = (part: OwnedKey) => answerOf(take(part, leaseMs));
        const answers = await Promise.all(
          asked.map((part) => (patienceMs === undefined ? vote(part) : inTime(access, vote(part), patienceMs))),
        );
        await access.step('asked');
        const leftMs = leaseMs - elapsedMs() - (leaseMs * 0.01 + 2);
        const granted = asked.filter((_, nth) => answers[nth]!.is === 'yes');
        if (granted.length >= quorum && leftMs > 0) {
          const extendIt = async (newLeaseMs: number) => {
            const sentNs = access.nowNs();
            const extended = await extend!(asked, quorum, newLeaseMs);
            return extended ? { validForMs: validForMs(access, sentNs, newLeaseMs) } : null;
          };
          const release = () => releaseAll(asked, quorum);
          return { hold: { grantSentNs, validForMs: leftMs, release, ...(extend && { extend: extendIt }) } };
        }
        await Promise.all(toGiveBack(asked, granted).map((part) => answerOf(giveBack(part))));
        return { refusedBecause: whyRefused(answers, quorum) };
      };
      return {
        acquire: (key: string, options: AcquireOptions) =>
          tryUntilGranted(access, options, pause, () => attempt(key, options.leaseMs)),
      };
    },
  });
}

/** A node that does not answer in time has no vote; what it was asked for it may do all the same. */
function inTime(access: TopologyAccess, answer: Promise<ServerAnswer>, ms: number): Promise<ServerAnswer> {
  const silence = access.sleep(ms).then((): ServerAnswer => ({ is: 'unknown', error: new Error('no vote in time') }));
  return Promise.race([answer, silence]);
}

async function releaseAll(asked: readonly OwnedKey[], quorum: number): Promise<boolean> {
  const answers = await Promise.all(asked.map((part) => answerOf(giveBack(part))));
  if (count(answers, 'yes') >= quorum) return true;
  if (answers.length - count(answers, 'no') < quorum) return false;
  throw new Error(`release answered by ${count(answers, 'yes') + count(answers, 'no')} of ${asked.length} nodes`);
}

function whyRefused(answers: readonly ServerAnswer[], quorum: number): string {
  const yes = count(answers, 'yes');
  if (yes >= quorum) return 'granted-late';
  if (yes + count(answers, 'no') < quorum) return 'unreachable';
  return yes > 0 ? 'no-quorum' : 'held';
}

function count(answers: readonly ServerAnswer[], is: ServerAnswer['is']): number {
  return answers.filter((answer) => answer.is === is).length;
}
