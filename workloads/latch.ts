/**
 * Rounds of one latch each: its counters work, count it down, and wait until all the others have. A client that was not there in time
 * sits a round out, and nobody passes in that one.
 */
import type { LockModel } from '../harness/vocabulary/protocol.js';
import type { ClientScript, Workload, WorkloadOptions } from '../harness/vocabulary/workload.js';
import { release, type ScriptPart } from './turns.js';

/** What a round has on top of the longest work, for those who wait to be told. */
const PASSING_MS = 500;
/** Who comes later than this, in parts of a round, sits it out. */
const LATE = 0.25;
/** Of who waits for the next round, at once. */
const NAP_MS = 200;
const HOLD = { min: 0.01, max: 0.1 };

export const latch: Workload = {
  name: 'latch',
  summary: 'clients count a latch down, and wait until all have: does anybody pass before, or wait after?',
  // How many count it down the lock says itself.
  model: { kind: 'latch', count: 3 },
  needs: ['shared'],
  defaults: { lock: 'latch', clients: 3, keys: 1, hold: HOLD },
  script: (options, random, { model }) => rounds(options, (most) => random.float() * most, model),
};

function* rounds(
  { keys, leaseMs, hold, nowMs, place }: WorkloadOptions,
  draw: (most: number) => number,
  model: LockModel | undefined,
): ClientScript {
  const { min, max } = 'min' in hold ? hold : HOLD;
  const { slot = 0, beganMs = nowMs() } = place ?? {};
  const together = model?.kind === 'latch' ? model.count : 1;
  const group = Math.floor(slot / together);
  const roundMs = Math.ceil(leaseMs * max) + PASSING_MS;
  for (;;) {
    const sinceMs = nowMs() - beganMs;
    let round = Math.floor(sinceMs / roundMs);
    if (sinceMs - round * roundMs > LATE * roundMs || round === 0) {
      round++;
      yield* until(beganMs + round * roundMs, nowMs);
    }
    const endMs = beganMs + (round + 1) * roundMs;
    const key = `${keys[(group + round) % keys.length]}/${group}/${round}`;
    const counter = yield { do: 'acquire', key, leaseMs, waitMs: 0, mode: 'write' };
    if (counter.type === 'ok') {
      yield { do: 'idle', ms: leaseMs * (min + draw(max - min)) };
      yield* release(counter);
      const passed = yield {
        do: 'acquire',
        key,
        leaseMs,
        waitMs: Math.max(0, Math.round(endMs - nowMs())),
        mode: 'read',
      };
      if (passed.type === 'ok') yield* release(passed);
    }
    yield* until(endMs, nowMs);
  }
}

function* until(atMs: number, nowMs: () => number): ScriptPart<void> {
  while (nowMs() < atMs) yield { do: 'idle', ms: Math.min(atMs - nowMs(), NAP_MS) };
}
