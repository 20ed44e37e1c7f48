/** How a refused client passes the time until it is worth trying again. */
import type { TopologyAccess } from '../harness/vocabulary/lock.js';
import { type Pause, randomPauseMs } from './attempts.js';

export interface Waiting {
  /** Resolves when it is worth trying again, after `atMostMs` at the latest (Infinity: unknown), or on `signal`. */
  pause(atMostMs: number, signal?: AbortSignal): Promise<void>;
  stop(): void;
}

/** Timers cannot wait for longer. */
const LONGEST_MS = 2 ** 31 - 1;
/** Where nothing can be listened to for the moment. */
const DEAF: Pause = { minMs: 10, maxMs: 30 };

/**
 * Sleeps until something is published on `channel`. The first pause only begins to listen, and is over as soon as the
 * server has confirmed it: what was published before is not heard, so somebody has to look once more.
 */
export function listening(access: TopologyAccess, channel: string): Waiting {
  let stopListening: (() => void) | undefined;
  let heard = false;
  let wake = () => {};

  const startListening = async () => {
    stopListening = await access.listen(channel, () => {
      heard = true;
      wake();
    });
  };

  return {
    async pause(atMostMs, signal) {
      if (!stopListening) {
        return startListening().catch(() => access.sleep(Math.min(randomPauseMs(access, DEAF), atMostMs), signal));
      }
      if (!heard) {
        const woken = new AbortController();
        wake = () => woken.abort();
        const until = signal ? AbortSignal.any([signal, woken.signal]) : woken.signal;
        await access.sleep(Math.min(atMostMs, LONGEST_MS), until);
      }
      heard = false;
    },
    stop: () => stopListening?.(),
  };
}

/** Doubles its pauses up to a longest one, each a random part of that between half and the whole. */
export function backingOff(access: TopologyAccess, { minMs, maxMs }: Pause): Waiting {
  let ceilingMs = minMs;
  return {
    async pause(atMostMs, signal) {
      const pauseMs = randomPauseMs(access, { minMs: ceilingMs / 2, maxMs: ceilingMs });
      ceilingMs = Math.min(2 * ceilingMs, maxMs);
      await access.sleep(Math.min(pauseMs, atMostMs), signal);
    },
    stop() {},
  };
}
