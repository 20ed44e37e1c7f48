/**
 * What a fault goes on doing in the background while it is in force. It ends with the heal and with the run, and what goes
 * wrong in it is recorded, not lost: a fault that stopped half-way must not pass for one that lasted.
 */
import { Interrupted, message, type NemesisContext } from './context.js';

export interface Ongoing {
  /** Resolves when it has ended, by itself or not. */
  readonly done: Promise<void>;
  /** Ends it; resolves when it has ended. Never rejects. */
  stop(): Promise<void>;
}

/** Starts it. `work` must return soon after its signal aborts. */
export function ongoing(
  context: Pick<NemesisContext, 'signal' | 'note'>,
  targets: readonly string[],
  work: (signal: AbortSignal) => Promise<void>,
): Ongoing {
  const stop = new AbortController();
  const end = () => stop.abort();
  context.signal.addEventListener('abort', end, { once: true });
  if (context.signal.aborted) end();
  const done = work(stop.signal).catch((error) => {
    if (error instanceof Interrupted) return;
    context.note({ state: 'phase', targets: [...targets], did: 'went no further', proof: message(error) });
  });
  return {
    done,
    async stop() {
      end();
      context.signal.removeEventListener('abort', end);
      await done;
    },
  };
}
