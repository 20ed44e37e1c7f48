/** What levers and faults share: how a strike is refused or cut short, how it waits, and how names are listed. */
import type { FaultContext, FaultRefusal } from '../../harness/vocabulary/faults.js';

/** A strike that cannot or must not be made now. */
export class Refusal extends Error implements FaultRefusal {
  override name = 'Refusal';
  readonly refused = true as const;
}

/** Who was to be struck has ended meanwhile, by itself or by another fault. */
export class EndedMeanwhile extends Refusal {
  override name = 'EndedMeanwhile';
}

export function isRefusal(error: unknown): error is FaultRefusal {
  return error instanceof Error && (error as Partial<FaultRefusal>).refused === true;
}

/** Waits that may be cut short by the end of the run end in this. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  constructor(doing: string) {
    super(`the run ended ${doing}`);
  }
}

/** The largest number of nodes that may forget at once. */
export function minorityOf(count: number): number {
  return Math.floor((count - 1) / 2);
}

/** Polls until `read` gives a value; undefined when the time is over. Rejects with Interrupted when the run ends. */
export async function waitFor<T>(
  read: () => Promise<T | undefined> | T | undefined,
  options: { timeoutMs: number; pollMs: number; doing: string; context: Pick<FaultContext, 'clock' | 'signal'> },
): Promise<T | undefined> {
  const { clock, signal } = options.context;
  const giveUpNs = clock.nowNs() + options.timeoutMs * 1e6;
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    if (signal.aborted) throw new Interrupted(options.doing);
    if (clock.nowNs() >= giveUpNs) return undefined;
    await clock.sleep(options.pollMs, signal);
  }
}

export function words(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ');
}

export function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
