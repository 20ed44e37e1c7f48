/** What each workload has its clients do, against a lock that grants everything: the rules a script must keep. */
import { describe, expect, test } from 'vitest';
import { judgesOf } from '../../../checkers/index.js';
import { createRandom } from '../../../harness/runtimes/random.js';
import type { HandshakeValue } from '../../../harness/vocabulary/protocol.js';
import type { Instruction, Outcome, Workload, WorkloadOptions } from '../../../harness/vocabulary/workload.js';
import { locks } from '../../../lock-impl/index.js';
import { everyFeature } from '../../../workloads/conform.js';
import { MIXED_HOLDS } from '../../../workloads/hold-times.js';
import { workloads } from '../../../workloads/index.js';

const OPTIONS: WorkloadOptions = {
  clients: 3,
  keys: ['lock:0', 'lock:1', 'lock:2'],
  leaseMs: 1_000,
  waitMs: 100,
  hold: { min: 0.1, max: 0.6 },
  careless: false,
  nowMs: () => 0,
};
const LOCK: HandshakeValue = { lock: 'some', features: ['extend', 'shared', 'reentrant', 'fencing', 'resource'] };
const STEPS = 2_000;

interface Step {
  instruction: Instruction;
  outcome: Outcome;
}

/** Leads a script through so many instructions. `answer` may say how one ends; otherwise everything succeeds. */
function lead(
  workload: Workload,
  {
    options = OPTIONS,
    lock = LOCK,
    answer = () => undefined,
  }: {
    options?: WorkloadOptions;
    lock?: HandshakeValue;
    answer?: (instruction: Instruction, id: number) => Outcome | undefined;
  } = {},
): Step[] {
  // Of a script that goes by the time, naps are what lets it pass.
  let nappedMs = 0;
  const timed = options === OPTIONS ? { ...OPTIONS, nowMs: () => OPTIONS.nowMs() + nappedMs } : options;
  const script = workload.script(timed, createRandom(3), lock);
  const steps: Step[] = [];
  let next = script.next();
  for (let id = 1; steps.length < STEPS && !next.done; id++) {
    const instruction = next.value;
    const outcome = answer(instruction, id) ?? succeed(instruction, id);
    steps.push({ instruction, outcome });
    if (instruction.do === 'idle') nappedMs += instruction.ms;
    next = script.next(outcome);
  }
  return steps;
}

function succeed(instruction: Instruction, id: number): Outcome {
  if (instruction.do === 'idle' || instruction.do === 'abandon') return { type: 'woke', lost: false };
  return { type: 'ok', id, ...(instruction.do === 'read' && { value: 41, version: 41 }) };
}

const EXCLUSION = ['mutual-exclusion', 'ownership', 'liveness', 'waiting'];
const WORTH = ['vacuity', 'availability', 'latency', 'loss-to-notice'];
/** Who judges which workload, of the checkers whose rules differ between workloads: one that judges all need not stand here. */
const JUDGES: Record<string, string[]> = {
  mutex: [...EXCLUSION, ...WORTH],
  crash: [...EXCLUSION, ...WORTH],
  renewal: [...EXCLUSION, ...WORTH],
  reentrant: [...EXCLUSION, ...WORTH],
  'read-write': [...EXCLUSION, ...WORTH],
  'late-release': [...EXCLUSION, ...WORTH],
  try: [...EXCLUSION, ...WORTH],
  callers: [...EXCLUSION, ...WORTH],
  cancel: [...EXCLUSION, ...WORTH],
  counter: [...EXCLUSION, 'lost-updates', ...WORTH],
  multi: [...EXCLUSION, 'lost-updates', ...WORTH],
  'singleton-job': [...EXCLUSION, 'stale-writes', ...WORTH],
  fair: [...EXCLUSION, 'fifo', ...WORTH],
  semaphore: ['mutual-exclusion', 'permits', ...WORTH],
  latch: ['latch', ...WORTH],
  'fenced-resource': ['liveness', 'fencing', 'lawful-holders', 'stale-writes', ...WORTH],
};

describe('contenders whose holds are a mixture', () => {
  /** A client for whom a long hold is due at every turn, or none ever; holds so many times. */
  function mixed(
    due: boolean,
    lock: HandshakeValue,
    answer?: (instruction: Instruction, id: number) => Outcome | undefined,
  ) {
    let nowMs = 0;
    const options = { ...OPTIONS, leaseMs: 4_700, hold: MIXED_HOLDS, nowMs: () => nowMs };
    const counting = (instruction: Instruction, id: number) => {
      if (due) nowMs += 60_000;
      return answer?.(instruction, id);
    };
    return lead(workloads.mutex!, { options, lock, answer: counting });
  }
  const EXTENDS: HandshakeValue = { lock: 'some', features: ['extend'] };
  const RENEWS: HandshakeValue = { lock: 'some', features: ['renews'] };
  const what = (steps: readonly Step[]) => steps.map(({ instruction }) => instruction.do);

  test('act only under holds that they have, of one key or two, and release each', () => {
    for (const due of [true, false])
      for (const lock of [EXTENDS, RENEWS, { lock: 'some', features: [] }]) {
        const held = new Set<number>();
        for (const { instruction, outcome } of mixed(due, lock)) {
          if (instruction.do === 'acquire' && outcome.type === 'ok') held.add(outcome.id);
          else if ('hold' in instruction) {
            expect(held.has(instruction.hold), JSON.stringify(instruction)).toBe(true);
            if (instruction.do === 'release') held.delete(instruction.hold);
          }
          expect(held.size).toBeLessThanOrEqual(2);
        }
      }
  });

  test('give up what they ask for where the lock can be told so, and is no semaphore or queue', () => {
    const givenUp = (lock: HandshakeValue) =>
      mixed(false, lock).filter(({ instruction }) => instruction.do === 'acquire' && 'cancelAfterMs' in instruction);
    const keys = new Set(
      givenUp({ lock: 'some', features: ['cancel'] }).map(({ instruction }) => 'key' in instruction && instruction.key),
    );
    expect([...keys]).toEqual([OPTIONS.keys.at(-1)]);
    expect(givenUp(EXTENDS)).toEqual([]);
    for (const model of [{ kind: 'fair' }, { kind: 'semaphore', permits: 2 }] as const)
      expect(givenUp({ lock: 'some', features: ['cancel'], model })).toEqual([]);
  });

  test('extend a lock every third of the lease where work outlasts it, and let one that renews do so itself', () => {
    const long = mixed(true, EXTENDS);
    const extended = long.findIndex(({ instruction }) => instruction.do === 'extend');
    expect(long[extended - 1]!.instruction).toMatchObject({ do: 'idle', ms: expect.closeTo(4_700 / 3) });
    expect(what(mixed(true, RENEWS))).not.toContain('extend');
    const renewed = mixed(true, { ...RENEWS, features: ['renews', 'clock'] });
    // Shows again and again that it runs, until its work is done.
    const shown = renewed.flatMap(({ instruction }) => (instruction.do === 'clock' ? [instruction.under] : []));
    const times = (id: number) => shown.filter((one) => one === id).length;
    expect(Math.max(...shown.map(times))).toBeGreaterThanOrEqual(8);
    expect(what(mixed(true, RENEWS))).not.toContain('clock');
  });

  test('stand still while their client is stopped, and then do what was left: after an extension, where the lock does not renew', () => {
    let stopped = 0;
    const stands = (instruction: Instruction): Outcome | undefined =>
      instruction.do === 'idle' && instruction.isWork && stopped++ % 5 === 0
        ? { type: 'woke', lost: false, leftMs: instruction.ms / 2 }
        : undefined;
    for (const lock of [EXTENDS, RENEWS]) {
      const steps = mixed(true, lock, stands);
      const stood = [...steps.keys()].filter((at) => {
        const { outcome } = steps[at]!;
        return outcome.type === 'woke' && outcome.leftMs !== undefined;
      });
      expect(stood.length).toBeGreaterThan(10);
      for (const at of stood) {
        const next = steps[at + 1]!.instruction;
        if (lock === RENEWS) expect(next).toMatchObject({ do: 'idle', isWork: true });
        // Whatever its lock says: it knows of no time that has passed.
        else expect(next).toMatchObject({ do: 'extend', hold: expect.any(Number) });
        expect(next).not.toHaveProperty('givesUp');
      }
    }
  });

  test('take up again, for as long, what was cut short because the lock was lost', () => {
    const lost = (instruction: Instruction): Outcome | undefined =>
      instruction.do === 'idle' && instruction.isWork ? { type: 'woke', lost: true } : undefined;
    const again = mixed(true, RENEWS, lost).flatMap(({ instruction }) =>
      instruction.do === 'acquire' && Math.abs(instruction.waitMs - 1.2 * 4_700) < 1e-6 ? [instruction.key] : [],
    );
    // From the first that was to outlast the lease on, every turn is for that.
    expect(again.length).toBeGreaterThan(100);
    expect(new Set(again).size).toBe(1);
  });

  test('stop where an extension fails, midway in brief work, too', () => {
    for (const due of [true, false]) {
      const refused = (instruction: Instruction, id: number): Outcome | undefined =>
        instruction.do === 'extend' ? { type: 'fail', id } : undefined;
      const steps = mixed(due, EXTENDS, refused);
      steps.forEach(({ instruction }, at) => {
        if (instruction.do === 'extend') expect(steps[at + 1]?.instruction.do ?? 'release').toBe('release');
      });
      expect(what(steps)).toContain('extend');
    }
  });

  test('release what they gave up when they hold the key again, unless its owner may hold it twice', () => {
    const steps = mixed(true, EXTENDS);
    const given = steps.findIndex(({ instruction }) => instruction.do === 'abandon');
    const [gave, , again, released] = steps.slice(given).map(({ instruction }) => instruction);
    const first = (gave as { hold: number }).hold;
    const { key } = steps.find(({ outcome }) => 'id' in outcome && outcome.id === first)!.instruction as {
      key: string;
    };
    expect(again).toMatchObject({ do: 'acquire', key });
    expect(released).toMatchObject({ do: 'release', hold: first });
    const twice: HandshakeValue = { ...EXTENDS, model: { kind: 'reentrant', depth: 3 } };
    expect(what(mixed(true, twice))).not.toContain('abandon');
  });

  test('have another key beside theirs now and then, never the same', () => {
    const steps = mixed(false, EXTENDS);
    let held: string | undefined;
    let second = 0;
    for (const { instruction } of steps) {
      if (instruction.do === 'acquire') {
        if (held !== undefined) {
          second++;
          expect(instruction.key).not.toBe(held);
          expect(instruction.waitMs).toBeLessThanOrEqual(30);
        }
        held ??= instruction.key;
      } else if (instruction.do === 'release' && instruction.hold) held = second % 2 === 1 && held ? held : undefined;
      if (instruction.do === 'idle' && instruction.untilLost === undefined) held = undefined;
    }
    expect(second).toBeGreaterThan(5);
  });
});

describe.each(Object.values(workloads))('$name', (workload) => {
  test('never ends, and acts only under holds that it has and has not released', () => {
    const held = new Map<number, string>();
    const steps = lead(workload);
    expect(steps).toHaveLength(STEPS);
    for (const { instruction, outcome } of steps) {
      if (instruction.do === 'acquire' && outcome.type === 'ok') held.set(outcome.id, instruction.key);
      else if ('hold' in instruction) {
        expect(held.has(instruction.hold), JSON.stringify(instruction)).toBe(true);
        if (instruction.do === 'release') held.delete(instruction.hold);
      }
    }
    expect(steps.some(({ instruction }) => instruction.do === 'release')).toBe(true);
  });

  test('releases everything before it takes its next turn', () => {
    let held = 0;
    let most = 0;
    for (const { instruction, outcome } of lead(workload)) {
      if (instruction.do === 'acquire' && outcome.type === 'ok') held++;
      if (instruction.do === 'release') held--;
      most = Math.max(most, held);
    }
    expect(most).toBeLessThanOrEqual(3);
  });

  test('releases nothing of a lock that refuses, and goes on trying', () => {
    const steps = lead(workload, {
      answer: (instruction, id) => (instruction.do === 'acquire' ? { type: 'fail', id, reason: 'held' } : undefined),
    });
    expect(steps).toHaveLength(STEPS);
    expect(steps.some(({ instruction }) => 'hold' in instruction)).toBe(false);
  });

  test('careful clients stop working as soon as they are told that the lock is lost, or before it can be lost', () => {
    for (const { instruction } of lead(workload))
      if (instruction.do === 'idle' && instruction.untilLost === undefined) expect(instruction.ms).toBeLessThan(1_000);
  });

  test('what it names exists', () => {
    const known = new Set(Object.values(JUDGES).flat());
    const judges = judgesOf({ ...workload, played: false }).map(({ name }) => name);
    expect(judges.filter((name) => known.has(name))).toEqual(JUDGES[workload.name]);
    const { lock } = workload.defaults ?? {};
    if (lock !== undefined) expect(locks[lock], lock).toBeDefined();
  });
});

describe('under the lock', () => {
  test('careful clients count what was promised from the answer, however late that was read', () => {
    const worked = (lateMs: number, options: Partial<WorkloadOptions> = {}) =>
      lead(workloads.mutex!, {
        options: { ...OPTIONS, hold: { min: 0.7, max: 0.7 }, nowMs: () => 10_000, ...options },
        answer: (instruction, id) =>
          instruction.do === 'acquire' ? { type: 'ok', id, endedNs: (10_000 - lateMs) * 1e6 } : undefined,
      }).flatMap(({ instruction }) => (instruction.do === 'idle' && instruction.untilLost ? [instruction.ms] : []));
    expect(new Set(worked(0))).toEqual(new Set([700]));
    expect(new Set(worked(300))).toEqual(new Set([500]));
    expect(new Set(worked(900))).toEqual(new Set([0]));
  });

  test('counter writes one more than it read, and nothing once it knows that the lock is lost', () => {
    const writes = lead(workloads.counter!).filter(({ instruction }) => instruction.do === 'write');
    expect(writes.length).toBeGreaterThan(100);
    expect(writes.every(({ instruction }) => instruction.do === 'write' && instruction.value === 42)).toBe(true);
    const told = lead(workloads.counter!, {
      answer: (instruction) => (instruction.do === 'idle' ? { type: 'woke', lost: true } : undefined),
    });
    expect(told.some(({ instruction }) => instruction.do === 'write')).toBe(false);
  });

  test('renewal extends a lock three times a lease, unless it renews itself', () => {
    const options = { ...OPTIONS, hold: { min: 1.9, max: 1.9 } };
    const extending = lead(workloads.renewal!, { options }).map(({ instruction }) => instruction.do);
    expect(extending.slice(0, 13)).toEqual([
      'acquire',
      ...Array.from({ length: 5 }, () => ['idle', 'extend']).flat(),
      'idle',
      'release',
    ]);
    const renewing = lead(workloads.renewal!, { options, lock: { ...LOCK, features: ['renews'] } });
    expect(renewing.some(({ instruction }) => instruction.do === 'extend')).toBe(false);
  });

  test('renewal: careful clients let go when an extension is refused, careless ones work on', () => {
    const refuse = (instruction: Instruction, id: number): Outcome | undefined =>
      instruction.do === 'extend' ? { type: 'fail', id, reason: 'not-owner' } : undefined;
    const hold = { min: 2, max: 2 };
    const careful = lead(workloads.renewal!, { options: { ...OPTIONS, hold }, answer: refuse });
    expect(careful.slice(0, 4).map(({ instruction }) => instruction.do)).toEqual([
      'acquire',
      'idle',
      'extend',
      'release',
    ]);
    const careless = lead(workloads.renewal!, { options: { ...OPTIONS, hold, careless: true }, answer: refuse });
    expect(careless[4]!.instruction.do).toBe('extend');
  });

  test('a careful client gives up what was promised for no longer, also while it waits for an answer beside it', () => {
    const givesUp = (name: string, lock: HandshakeValue, careless: boolean) =>
      lead(workloads[name]!, { options: { ...OPTIONS, hold: { min: 2, max: 2 }, careless }, lock }).flatMap(
        ({ instruction }) => ('givesUp' in instruction && instruction.givesUp ? [instruction] : []),
      );
    const extending = givesUp('renewal', LOCK, false);
    expect(extending.length).toBeGreaterThan(0);
    for (const { do: op, givesUp } of extending) {
      expect(op).toBe('extend');
      expect(givesUp!.afterMs).toBeGreaterThan(0);
      expect(givesUp!.afterMs).toBeLessThanOrEqual(0.8 * OPTIONS.leaseMs);
    }
    expect(new Set(givesUp('late-release', LOCK, false).map((one) => one.do))).toEqual(new Set(['release']));
    for (const name of ['multi', 'read-write', 'reentrant'])
      expect(new Set(givesUp(name, LOCK, false).map((one) => one.do)), name).toEqual(new Set(['acquire']));
    expect(givesUp('renewal', LOCK, true)).toEqual([]);
    const renewed = { ...LOCK, features: ['renews'] };
    expect(givesUp('late-release', renewed, false)).toEqual([]);
  });

  test('renewal: careful clients go by what the lock promised of what it granted or extended', () => {
    const hold = { min: 2, max: 2 };
    const done = (promises: number[], options: Partial<WorkloadOptions> = {}) => {
      const left = [...promises];
      const promise = (instruction: Instruction, id: number): Outcome | undefined =>
        instruction.do === 'acquire' || instruction.do === 'extend'
          ? { type: 'ok', id, endedNs: 0, validForMs: left.shift() ?? 1_000 }
          : undefined;
      const steps = lead(workloads.renewal!, { options: { ...OPTIONS, hold, ...options }, answer: promise });
      return steps.slice(0, 4).map(({ instruction }) => (instruction.do === 'idle' ? instruction.ms : instruction.do));
    };
    // Said to be over already: it is given back, and not worked under.
    expect(done([-594])).toEqual(['acquire', 'release', expect.any(Number), 'acquire']);
    expect(done([100])).toEqual(['acquire', 80, 'extend', expect.closeTo(333.3, 1)]);
    expect(done([1_000, 0])).toEqual(['acquire', expect.closeTo(333.3, 1), 'extend', 'release']);
    expect(done([-594], { careless: true })).toEqual([
      'acquire',
      expect.closeTo(333.3, 1),
      'extend',
      expect.closeTo(333.3, 1),
    ]);
  });

  test.each(['renewal', 'singleton-job'])('%s: a lease that an extension gave counts from its call', (name) => {
    let nowMs = 0;
    const options = { ...OPTIONS, hold: { min: 2, max: 2 }, nowMs: () => nowMs };
    const extended = (validForMs?: number) => {
      nowMs = 0;
      let isAnswered = false;
      const answer = (instruction: Instruction, id: number): Outcome | undefined => {
        if (instruction.do === 'acquire') return { type: 'ok', id, endedNs: 0 };
        if (instruction.do !== 'extend' || isAnswered) return undefined;
        isAnswered = true;
        // The answer came after 0.7 s.
        nowMs = 1_000;
        return {
          type: 'ok',
          id,
          beganNs: 300e6,
          endedNs: nowMs * 1e6,
          ...(validForMs !== undefined && { validForMs }),
        };
      };
      const steps = lead(workloads[name]!, { options, answer });
      const at = steps.findIndex(({ instruction }) => instruction.do === 'extend');
      const { instruction } = steps.slice(at + 1).find(({ instruction: { do: what } }) => what === 'idle')!;
      return 'ms' in instruction ? instruction.ms : undefined;
    };
    // Of a lease of 1 s, less what the way back takes, 0.1 s are left.
    expect(extended()).toBeCloseTo(100);
    expect(extended(900)).toBeGreaterThanOrEqual(250);
  });

  test('read-write reads and writes, and tries the other mode under both', () => {
    const asked = lead(workloads['read-write']!).flatMap(({ instruction }) =>
      instruction.do === 'acquire' ? [`${instruction.mode} ${instruction.waitMs}`] : [],
    );
    expect(new Set(asked)).toEqual(new Set(['read 100', 'write 100', 'read 0', 'write 0']));
  });

  test.each([true, false])(
    'read-write: who stops writing first reads on, if the lock promises that: %s',
    (promised) => {
      const lock = promised ? { ...LOCK, features: [...LOCK.features, 'downgrade'] } : LOCK;
      const writers = new Set<number>();
      const readsOn: number[] = [];
      let inner: { hold: number; under: number } | undefined;
      for (const { instruction, outcome } of lead(workloads['read-write']!, { lock })) {
        const id = outcome.type === 'ok' ? outcome.id : undefined;
        if (instruction.do === 'acquire' && id !== undefined) {
          const under = [...writers].at(-1);
          if (instruction.mode === 'write') writers.add(id);
          else if (under !== undefined) inner = { hold: id, under };
        } else if (instruction.do === 'release') {
          writers.delete(instruction.hold);
          if (inner?.hold === instruction.hold) inner = undefined;
          else if (inner?.under === instruction.hold) readsOn.push(inner.hold);
        }
      }
      expect(readsOn.length > 0).toBe(promised);
    },
  );

  test('multi takes two different keys, in either order', () => {
    const orders = new Set<string>();
    let first: string | undefined;
    for (const { instruction } of lead(workloads.multi!)) {
      if (instruction.do === 'acquire' && first !== undefined) orders.add(`${first} ${instruction.key}`);
      if (instruction.do === 'acquire') first = first === undefined ? instruction.key : undefined;
    }
    expect([...orders].every((order) => new Set(order.split(' ')).size === 2)).toBe(true);
    expect(orders).toContain('lock:0 lock:1');
    expect(orders).toContain('lock:1 lock:0');
  });

  test('conform does what the lock says that it can, and nothing else', () => {
    const done = (features: string[]) => {
      const steps = lead(everyFeature, { lock: { lock: 'some', features } }).map(({ instruction }) => instruction);
      return new Set(steps.flatMap((one) => (one.do === 'acquire' && one.mode ? [one.do, one.mode] : [one.do])));
    };
    expect(done([])).toEqual(new Set(['acquire', 'idle', 'release']));
    expect(done(['renews'])).toEqual(new Set(['acquire', 'idle', 'release']));
    expect(done(['extend', 'shared'])).toEqual(new Set(['acquire', 'read', 'write', 'idle', 'extend', 'release']));
  });

  test('conform has half of its keys for brief holds, and takes a lock again that says it can be', () => {
    const nested = new Set<string>();
    const held = new Map<number, string>();
    for (const { instruction, outcome } of lead(everyFeature, { lock: { lock: 'some', features: ['reentrant'] } })) {
      if (instruction.do === 'release') held.delete(instruction.hold);
      if (instruction.do !== 'acquire') continue;
      if ([...held.values()].includes(instruction.key)) nested.add(instruction.key);
      held.set((outcome as { id: number }).id, instruction.key);
    }
    expect(nested).toEqual(new Set(['lock:0', 'lock:1']));
  });

  test('late-release gives up a task, takes the lock again, and releases the first hold before the second', () => {
    const steps = lead(workloads['late-release']!);
    const late = steps.findIndex(({ instruction }) => instruction.do === 'abandon');
    const [, idle, again, first, , second] = steps.slice(late).map(({ instruction }) => instruction);
    expect([idle, again, first, second].map((instruction) => instruction!.do)).toEqual([
      'idle',
      'acquire',
      'release',
      'release',
    ]);
    expect((first as { hold: number }).hold).toBe((steps[late]!.instruction as { hold: number }).hold);
    expect((second as { hold: number }).hold).toBeGreaterThan((first as { hold: number }).hold);
  });
});
