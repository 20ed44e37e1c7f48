/**
 * Everything that a lock says it can do, in turn: so that what its clients say can be held against what the servers did. It
 * is no workload of `run`: what its clients do to the lock (holds past their lease, holders of a semaphore beside one another)
 * says nothing about the lock, and no checker judges it.
 */
import type { HandshakeValue } from '../harness/vocabulary/protocol.js';
import type { Random } from '../harness/vocabulary/time.js';
import type { ClientScript, Workload, WorkloadOptions } from '../harness/vocabulary/workload.js';
import { type Granted, release, type ScriptPart } from './turns.js';

export const everyFeature: Workload = {
  name: 'conform',
  summary: 'what the lock says that it can do, in turn, for `conform`',
  model: { kind: 'mutex' },
  anyLock: true,
  script: everything,
};

/** What is done under one grant. */
type Under = (granted: Granted, key: string) => ScriptPart<void>;

const PAUSE_MS = { min: 20, max: 120 };

/**
 * Half of the turns are brief, on keys of their own, so that at any moment some client asks for a lock that is free: an answer
 * that is lost then is that of a grant. Each of the others shows one thing that the lock can do, and takes its time.
 */
function* everything(options: WorkloadOptions, random: Random, lock: HandshakeValue): ClientScript {
  const { keys, leaseMs, waitMs } = options;
  const special = turnsFor(options, random, lock);
  const isShared = lock.features.includes('shared');
  const half = Math.ceil(keys.length / 2);
  // Each process begins elsewhere: not all of them do the same at the same time.
  for (let n = random.int(0, Math.max(0, 2 * special.length - 1)); ; n++) {
    const isBrief = special.length === 0 || n % 2 === 0;
    const key = random.pick(isBrief ? keys.slice(half) : keys.slice(0, half));
    const mode = isShared ? ({ mode: random.pick(['read', 'write'] as const) } as const) : {};
    const wait = isBrief ? random.pick([0, waitMs]) : 0;
    const granted = yield { do: 'acquire', key, leaseMs, waitMs: wait, ...mode };
    if (granted.type === 'ok') {
      if (isBrief) yield* brief(granted, random);
      else yield* special[((n - 1) / 2) % special.length]!(granted, key);
    }
    yield { do: 'idle', ms: random.int(PAUSE_MS.min, PAUSE_MS.max) };
  }
}

function* brief(granted: Granted, random: Random): ScriptPart<void> {
  yield { do: 'idle', ms: random.int(2, 40) };
  yield* release(granted);
}

function turnsFor({ leaseMs }: WorkloadOptions, random: Random, { features }: HandshakeValue): Under[] {
  function* extended(granted: Granted): ScriptPart<void> {
    yield { do: 'idle', ms: leaseMs * 0.3 };
    yield { do: 'extend', hold: granted.id, leaseMs };
    yield* brief(granted, random);
  }
  /** Past the lease: an extension, and the release after it, find that it is not theirs any more. */
  function* late(granted: Granted): ScriptPart<void> {
    yield { do: 'idle', ms: leaseMs * 1.2 };
    yield { do: 'extend', hold: granted.id, leaseMs };
    yield* release(granted);
  }
  /** Longer than a lease, which lasts where it is renewed. */
  function* renewed(granted: Granted): ScriptPart<void> {
    yield { do: 'idle', ms: leaseMs * 2, untilLost: granted.id };
    yield* release(granted);
  }
  function* nested(granted: Granted, key: string): ScriptPart<void> {
    const inner = yield { do: 'acquire', key, leaseMs, waitMs: 0 };
    if (inner.type === 'ok') yield* brief(inner, random);
    yield* brief(granted, random);
  }
  const can = (feature: string) => features.includes(feature);
  return [
    ...(can('extend') ? [extended] : []),
    ...(can('extend') && !can('renews') ? [late] : []),
    ...(can('renews') ? [renewed] : []),
    ...(can('reentrant') ? [nested] : []),
  ];
}
