/** What the locks here share: trying until the wait is over, and telling certain failures from doubtful ones. */
import type { AcquireOptions, LockHold, TopologyAccess } from '../harness/vocabulary/lock.js';
import { refused } from './define-lock.js';

/** One try: a hold, or why it was certainly not granted. A try that cannot tell throws. */
export type Attempt = { hold: LockHold } | { refusedBecause: string };

/** Pauses between tries, milliseconds; a random one of them each time, so that contenders do not stay in step. */
export interface Pause {
  minMs: number;
  maxMs: number;
}

/** Tries until granted or until `waitMs` is over; at least once. Throws a refusal with the last try's reason. */
export async function tryUntilGranted(
  access: TopologyAccess,
  { waitMs, signal }: Pick<AcquireOptions, 'waitMs' | 'signal'>,
  pause: Pause,
  attempt: () => Promise<Attempt>,
): Promise<LockHold> {
  const giveUpNs = access.nowNs() + waitMs * 1e6;
  for (;;) {
    const result = await attempt();
    if ('hold' in result) return result.hold;
    const leftMs = (giveUpNs - access.nowNs()) / 1e6;
    if (leftMs <= 0 || signal.aborted) throw refused(result.refusedBecause);
    await access.sleep(Math.min(randomPauseMs(access, pause), leftMs), signal);
  }
}

/**
 * Why a command was certainly not executed, or undefined if it may have been: it was never sent, or the server answered
 * with an error instead (`READONLY`, `LOADING`, `OOM`, ...). A script that failed counts as well: what servers refuse they
 * refuse at a script's first write and not later, and the scripts here make no other call that can fail once they have
 * begun to grant or to release (they publish first, for which a user may lack the permission).
 */
export function whyNotDone(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'NeverSentError') return 'unreachable';
  if (error.name === 'ReplyError') return error.message.split(' ', 1)[0]!.toLowerCase();
  return undefined;
}

/** The command's answer; an error that means "certainly not executed" becomes a refusal, any other stays a doubt. */
export async function certainOrDoubtful<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (error) {
    const reason = whyNotDone(error);
    throw reason === undefined ? error : refused(reason);
  }
}

/** How long a lease that began at `sentNs` is good for: less what has passed, less what two clocks may differ by. */
export function validForMs(access: TopologyAccess, sentNs: number, leaseMs: number): number {
  const elapsedMs = (access.nowNs() - sentNs) / 1e6;
  const driftMs = leaseMs * 0.01 + 2;
  return leaseMs - elapsedMs - driftMs;
}

/** Milliseconds within the pause's bounds, from the access's seeded draw: a run that is repeated pauses alike. */
export function randomPauseMs(access: Pick<TopologyAccess, 'random'>, { minMs, maxMs }: Pause): number {
  return minMs + access.random.float() * (maxMs - minMs);
}
