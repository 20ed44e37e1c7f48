/** What a run opens with: whose part it is, for how long the key is left to it, and that older runs are drawn as they were. */
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../harness/runtimes/random.js';
import type { HandshakeValue } from '../../../harness/vocabulary/protocol.js';
import type {
  Instruction,
  MixedHolds,
  Outcome,
  ScriptPlace,
  WorkloadOptions,
} from '../../../harness/vocabulary/workload.js';
import { MIXED_HOLDS } from '../../../workloads/hold-times.js';
import { workloads } from '../../../workloads/index.js';
import { openingFor, openingMs } from '../../../workloads/opening.js';

const LEASE_MS = 2_300;
const KEYS = Array.from({ length: 8 }, (_, n) => `lock:${n}`);
const KILLED_AT_MS = 1_500;
const OPENING = openingFor({ leaseMs: LEASE_MS, clients: 8, keys: KEYS }, KILLED_AT_MS)!;
const OPENED: MixedHolds = { ...MIXED_HOLDS, opening: OPENING };
const EXTENDS: HandshakeValue = { lock: 'some', features: ['extend', 'reentrant'] };
/** When scripts begin. */
const BEGAN_MS = 40_000;

interface Asked {
  atMs: number;
  instruction: Instruction;
}

/** What one client is told to do in so many milliseconds, if each operation takes 5 ms and is granted. */
function lead(
  place: Partial<ScriptPlace> | undefined,
  options: Partial<WorkloadOptions> = {},
  name = 'mutex',
  forMs = 20_000,
) {
  let nowMs = BEGAN_MS;
  const script = workloads[name]!.script(
    {
      clients: 8,
      keys: KEYS,
      leaseMs: LEASE_MS,
      waitMs: 1_000,
      hold: OPENED,
      careless: false,
      nowMs: () => nowMs,
      ...(place && { place: { slot: 0, isFirst: true, beganMs: BEGAN_MS, ...place } }),
      ...options,
    },
    createRandom(5),
    EXTENDS,
  );
  const asked: Asked[] = [];
  let next = script.next();
  for (let id = 1; nowMs < BEGAN_MS + forMs && !next.done; id++) {
    const instruction = next.value;
    asked.push({ atMs: nowMs - BEGAN_MS, instruction });
    nowMs += instruction.do === 'idle' ? instruction.ms : 5;
    const isNap = instruction.do === 'idle' || instruction.do === 'abandon';
    const outcome: Outcome = isNap ? { type: 'woke', lost: false } : { type: 'ok', id };
    next = script.next(outcome);
  }
  return asked;
}

const keysAsked = (asked: readonly Asked[], untilMs: number) =>
  new Set(
    asked.flatMap(({ atMs, instruction }) => (instruction.do === 'acquire' && atMs < untilMs ? [instruction.key] : [])),
  );

describe('an opening', () => {
  test('is waited for longer than the lease of who waits and 2 s, when the lease of the dead holder is over', () => {
    const freeMs = KILLED_AT_MS + LEASE_MS;
    const { waitMs, waiterLeaseMs, heldMs } = OPENING;
    expect(waitMs).toBeGreaterThan(freeMs + waiterLeaseMs + 2_000);
    expect(heldMs).toBeGreaterThan(KILLED_AT_MS);
    expect(openingMs(OPENING)).toBeGreaterThan(waitMs);
  });

  test('without a kill ends with a release, later than the lease of who waits', () => {
    const { heldMs, waitMs, waiterLeaseMs } = openingFor({ leaseMs: LEASE_MS, clients: 8, keys: KEYS })!;
    expect(heldMs).toBeGreaterThan(waiterLeaseMs);
    expect(waitMs).toBeGreaterThan(heldMs + LEASE_MS + waiterLeaseMs + 2_000);
  });

  test('is none where a hold is over before it may be cut short, or contenders are few', () => {
    const contenders = { leaseMs: LEASE_MS, clients: 8, keys: KEYS };
    expect(openingFor({ ...contenders, leaseMs: 1_900 }, KILLED_AT_MS)).toBeUndefined();
    expect(openingFor({ ...contenders, leaseMs: 1_900 })).toBeDefined();
    expect(openingFor({ ...contenders, clients: 3 })).toBeUndefined();
    expect(openingFor({ ...contenders, keys: ['a', 'b', 'c'] })).toBeUndefined();
  });

  test.each(['mutex', 'reentrant'])(
    'of %s: the first client holds, the second waits, and each goes on as the others do',
    (name) => {
      const holder = lead({ slot: 0 }, {}, name);
      expect(holder[0]!.instruction).toEqual({ do: 'acquire', key: 'lock:6', leaseMs: LEASE_MS, waitMs: 1_000 });
      const released = holder.find(({ instruction }) => instruction.do === 'release')!;
      expect(released.instruction).toMatchObject({ hold: 1 });
      expect(released.atMs).toBeGreaterThan(KILLED_AT_MS);
      const waiter = lead({ slot: 1 }, {}, name);
      expect(waiter.slice(0, 3).map(({ instruction }) => instruction)).toMatchObject([
        { do: 'idle' },
        { do: 'acquire', key: 'lock:6', leaseMs: OPENING.waiterLeaseMs, waitMs: OPENING.waitMs },
        { do: 'release', hold: 2 },
      ]);
      for (const asked of [holder, waiter]) expect(keysAsked(asked, 20_000).size).toBeGreaterThan(4);
    },
  );

  test('whoever waits asks again while it is granted the key before the holder, to be done at the same time', () => {
    const asks = lead({ slot: 1 }).flatMap(({ atMs, instruction }) =>
      instruction.do === 'acquire' && instruction.leaseMs === OPENING.waiterLeaseMs ? [{ atMs, ...instruction }] : [],
    );
    expect(asks.length).toBeGreaterThan(3);
    for (const { atMs, waitMs } of asks) expect(atMs + waitMs).toBeCloseTo(100 + OPENING.waitMs);
    expect(asks.at(-1)!.atMs).toBeLessThan(OPENING.heldMs);
  });

  test('has its key for itself while it lasts, and no longer', () => {
    for (const place of [{ slot: 2 }, { slot: 7 }, { slot: 0, isFirst: false }]) {
      const asked = lead(place);
      expect(keysAsked(asked, openingMs(OPENING))).not.toContain('lock:6');
      expect(keysAsked(asked, 20_000)).toContain('lock:6');
    }
    const [first] = lead({ slot: 0, isFirst: false }, { resumes: 'lock:6' });
    expect(first!.instruction).not.toMatchObject({ key: 'lock:6' });
    const [other] = lead({ slot: 0, isFirst: false }, { resumes: 'lock:1' });
    expect(other!.instruction).toMatchObject({ do: 'acquire', key: 'lock:1' });
  });

  test('is not in a run whose config has none, as of one of before: all is drawn as it was', () => {
    const older = { hold: MIXED_HOLDS };
    for (const slot of [0, 1, 5]) expect(lead({ slot }, older)).toEqual(lead(undefined, older));
    expect(keysAsked(lead({ slot: 5 }, older), openingMs(OPENING))).toContain('lock:6');
  });
});
