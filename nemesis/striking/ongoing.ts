/**
 * What a fault goes on doing in the background while it is in force. It ends with the heal and with the run, and what goes
 * wrong in it is recorded, not lost: a fault that stopped half-way must not pass for one that lasted.
 */
import type { FaultRecord } from '../../harness/vocabulary/history.js';
import { Interrupted, message } from '../levers/basics.js';
import type { NemesisContext } from './context.js';

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
    context.note({ state: 'phase', targets: [...targets], did: 'went no further', proof: message(error), effects: [] });
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

/** Time at the end of a step in which no new cycle begins: it would be cut off by the heal. */
const LAST_CYCLE_MS = 800;
const BREATH_MS = 1_500;

/** How a strike is made again and again while its step lasts. */
export interface Pace {
  context: Pick<NemesisContext, 'clock' | 'note'>;
  /** The step's end. */
  untilNs: number;
  /** Aborts when the strike is healed or the run ends. */
  signal: AbortSignal;
  /** Who is named when there is no further cycle. */
  targets: readonly string[];
  /** Between cycles; absent: long enough for clients to reconnect, contend and take again what was lost, before more is. */
  breathMs?: number;
}

/** `again`, ended when it was done so many times; undefined: never. */
export function atMost<Result>(times: number | undefined, again: () => Promise<Result>): () => Promise<Result> {
  let left = times ?? Number.POSITIVE_INFINITY;
  return async () => {
    if (left-- <= 0) throw new Interrupted('after as many strikes as it was to make');
    return again();
  };
}

/** The cycles after the first; each is recorded as a phase of the step. Never rejects. */
export async function goOn(
  pace: Pace,
  cycle: () => Promise<Omit<FaultRecord, 'step' | 'fault' | 'state'>>,
): Promise<void> {
  const { context, untilNs, signal, targets, breathMs = BREATH_MS } = pace;
  try {
    for (;;) {
      await context.clock.sleep(breathMs, signal);
      if (signal.aborted || context.clock.nowNs() + LAST_CYCLE_MS * 1e6 > untilNs) return;
      context.note({ state: 'phase', ...(await cycle()) });
    }
  } catch (error) {
    if (error instanceof Interrupted) return;
    context.note({
      state: 'phase',
      targets: [...targets],
      did: 'no further cycle',
      proof: message(error),
      effects: [],
    });
  }
}
