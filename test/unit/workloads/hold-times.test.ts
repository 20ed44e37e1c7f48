/** How long clients work, wait and pause: what is fixed of a mixture, and that bounds are drawn from as they always were. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../harness/runtimes/random.js';
import type { ClientScript, HoldTimes, Instruction, WorkloadOptions } from '../../../harness/vocabulary/workload.js';
import { type Habit, isMixed, type Lasting, longHolds, MIXED_HOLDS, turnTimes } from '../../../workloads/hold-times.js';
import { workloads } from '../../../workloads/index.js';

const LEASE_MS = 4_700;
const LOCK = { lock: 'some', features: ['extend', 'shared', 'reentrant', 'fencing', 'resource'] };

function options(hold: HoldTimes, changed: Partial<WorkloadOptions> = {}): WorkloadOptions {
  const keys = ['lock:0', 'lock:1', 'lock:2', 'lock:3', 'lock:4', 'lock:5', 'lock:6', 'lock:7'];
  return { clients: 8, keys, leaseMs: LEASE_MS, waitMs: 1_000, hold, careless: false, nowMs: () => 0, ...changed };
}

describe('a mixture', () => {
  interface Turn {
    keys: readonly string[];
    waitMs: number;
    workMs: number;
    pauseMs: number;
  }

  /** What one client does in so many minutes, if an acquire takes `acquireMs`. */
  function turnsIn(minutes: number, acquireMs: number, changed: Partial<WorkloadOptions> = {}, seed = 1): Turn[] {
    let nowMs = 1_000;
    const times = turnTimes(options(MIXED_HOLDS, { ...changed, nowMs: () => nowMs }), createRandom(seed));
    const turns: Turn[] = [];
    while (nowMs < minutes * 60_000) {
      const keys = times.keys();
      const waitMs = times.waitMs();
      nowMs += acquireMs;
      const turn = { keys, waitMs, workMs: times.workMs(), pauseMs: times.pauseMs() };
      turns.push(turn);
      nowMs += turn.workMs + turn.pauseMs;
    }
    return turns;
  }

  const long = (turns: readonly Turn[]) => turns.filter(({ workMs }) => workMs > 30);
  const sum = (turns: readonly Turn[]) => turns.reduce((ms, { workMs }) => ms + workMs, 0);

  test('is brief, some 98 in 100 times, and otherwise between a third and 0.9 of the lease', () => {
    const turns = turnsIn(20, 15);
    expect(long(turns).length / turns.length).toBeLessThan(0.02);
    expect(long(turns).length).toBeGreaterThan(50);
    for (const { workMs } of long(turns)) {
      expect(workMs).toBeGreaterThanOrEqual(LEASE_MS / 3);
      expect(workMs).toBeLessThanOrEqual(0.9 * LEASE_MS);
    }
  });

  test('has brief holds from 1 to 30 ms, half of them below the root of that', () => {
    const brief = turnsIn(20, 15).filter(({ workMs }) => workMs <= 30);
    expect(Math.min(...brief.map(({ workMs }) => workMs))).toBeGreaterThanOrEqual(1);
    const shorter = brief.filter(({ workMs }) => workMs < Math.sqrt(30));
    expect(shorter.length / brief.length).toBeCloseTo(0.5, 1);
  });

  test.each([1, 20, 400])("gives long holds their part of the keys' time where an acquire takes %i ms", (acquireMs) => {
    const minutes = 60;
    const share = (8 * sum(long(turnsIn(minutes, acquireMs)))) / (8 * minutes * 60_000);
    expect(share).toBeGreaterThan(0.3);
    expect(share).toBeLessThan(0.4);
  });

  test('gives them as much under a lease of another length, and with other contenders', () => {
    const share = (changed: Partial<WorkloadOptions>, clients: number, keys: number) =>
      (clients * sum(long(turnsIn(60, 10, changed)))) / (keys * 3_600_000);
    expect(share({ leaseMs: 1_000 }, 8, 8)).toBeCloseTo(0.35, 1);
    expect(share({ leaseMs: 60_000 }, 8, 8)).toBeCloseTo(0.35, 0);
    expect(share({ clients: 20, keys: ['a', 'b'] }, 20, 2)).toBeCloseTo(0.35, 1);
  });

  test('has somebody hold for long within the first seconds, whatever the seed', () => {
    for (let seed = 0; seed < 20; seed++) {
      const clients = Array.from({ length: 8 }, (_, n) => turnsIn(20 / 60, 15, {}, 100 * seed + n));
      expect(clients.flatMap(long).length).toBeGreaterThanOrEqual(10);
    }
  });

  test('waits as long as it is told before long work, or up to a lease and a fifth; and a moment before brief work', () => {
    const turns = turnsIn(20, 15);
    for (const { waitMs, workMs, pauseMs } of turns) {
      if (workMs > 30) expect(waitMs).toBeGreaterThanOrEqual(1_000);
      else expect(waitMs).toBeLessThanOrEqual(50);
      expect(waitMs).toBeLessThanOrEqual(1.2 * LEASE_MS);
      expect(pauseMs).toBeLessThanOrEqual(5);
    }
    const brief = turns.filter(({ workMs }) => workMs <= 30);
    expect(brief.filter(({ waitMs }) => waitMs === 0).length / brief.length).toBeCloseTo(0.25, 1);
    const waiting = long(turns).filter(({ waitMs }) => waitMs > 1_000);
    expect(waiting.length / long(turns).length).toBeCloseTo(0.5, 0);
    for (const { waitMs, workMs } of turnsIn(5, 15, { waitMs: 9_000 })) if (workMs > 30) expect(waitMs).toBe(9_000);
    const { briefWaitMs: _, ...patient } = MIXED_HOLDS;
    const times = turnTimes(options(patient), createRandom(1));
    expect(times.waitMs()).toBe(1_000);
  });

  test('without a word of tries, as of an older run, always waits, and draws nothing for them', () => {
    const { briefTries: _, ...older } = MIXED_HOLDS;
    const times = turnTimes(options(older), createRandom(1));
    const random = createRandom(1);
    // What is drawn first is when the first long hold is due.
    random.float();
    const { min, max } = MIXED_HOLDS.briefWaitMs!;
    for (let turn = 0; turn < 20; turn++) expect(times.waitMs()).toBeCloseTo(min * (max / min) ** random.float());
  });

  test('who was refused wants the lock for long still', () => {
    let nowMs = 0;
    const times = turnTimes(options(MIXED_HOLDS, { nowMs: () => nowMs }), createRandom(1));
    nowMs = 60_000;
    for (let refused = 0; refused < 5; refused++) {
      expect(times.keys()).toHaveLength(4);
      expect(times.waitMs()).toBeGreaterThanOrEqual(1_000);
    }
    expect(times.workMs()).toBeGreaterThan(LEASE_MS / 3);
  });

  test('has all long work on the first half of the keys, where one who held too long finds another at work', () => {
    const turns = turnsIn(20, 15);
    for (const { keys, workMs } of turns) expect(keys).toEqual(options(MIXED_HOLDS).keys.slice(0, workMs > 30 ? 4 : 8));
    expect(turnsIn(5, 15, { keys: ['a'] }).every(({ keys }) => keys[0] === 'a')).toBe(true);
  });

  test('without a word of that, as of an older run, has it on any key', () => {
    const { longOn, ...older } = MIXED_HOLDS;
    const times = turnTimes(options(older, { nowMs: () => 60_000 }), createRandom(1));
    expect(times.keys()).toHaveLength(8);
  });

  describe('has habits', () => {
    const EXTENDED = { renews: false, extends: true };
    const RENEWED = { renews: true, extends: false };
    const PLAIN = { renews: false, extends: false };

    /** How each of many holds is done, and for how long. */
    function habits(lock: Lasting, due: boolean, hold: HoldTimes = MIXED_HOLDS): { habit: Habit; workMs: number }[] {
      let nowMs = 0;
      const times = turnTimes(options(hold, { nowMs: () => nowMs }), createRandom(5));
      return Array.from({ length: 3_000 }, () => {
        if (due) nowMs += 600_000;
        times.keys();
        times.waitMs();
        return { habit: times.habit(lock), workMs: times.workMs() };
      });
    }
    const shareOf = (habit: Habit, all: readonly { habit: Habit }[]) =>
      all.filter((one) => one.habit === habit).length / all.length;

    test('four of ten long holds outlast the lease, where the lock lets them', () => {
      for (const lock of [EXTENDED, RENEWED]) {
        const all = habits(lock, true);
        expect(shareOf('kept-on', all)).toBeCloseTo(0.4, 1);
        for (const { habit, workMs } of all) {
          if (habit === 'kept-on') expect(workMs).toBeGreaterThanOrEqual(1.1 * LEASE_MS);
          else expect(workMs).toBeLessThanOrEqual(0.9 * LEASE_MS);
        }
      }
      expect(shareOf('kept-on', habits(PLAIN, true))).toBe(0);
    });

    test('two of ten are released late, unless the lock renews them until then', () => {
      expect(shareOf('released-late', habits(EXTENDED, true))).toBeCloseTo(0.2, 1);
      expect(shareOf('released-late', habits(PLAIN, true))).toBeCloseTo(0.2, 1);
      expect(shareOf('released-late', habits(RENEWED, true))).toBe(0);
    });

    test('a tenth of the brief ones is extended, where they can be, and under a twentieth another key is taken', () => {
      expect(shareOf('extended', habits(EXTENDED, false))).toBeCloseTo(0.1, 1);
      expect(shareOf('extended', habits(RENEWED, false))).toBe(0);
      expect(shareOf('beside-another', habits(PLAIN, false))).toBeCloseTo(0.05, 1);
      expect(shareOf('beside-another', habits(PLAIN, false))).toBeGreaterThan(0.02);
    });

    test('half of the acquires for brief holds of the last key are given up within moments, and no other', () => {
      const drawn = (
        due: boolean,
        key: string,
        changed: Partial<WorkloadOptions> = {},
        hold: HoldTimes = MIXED_HOLDS,
      ) => {
        let nowMs = 0;
        const times = turnTimes(options(hold, { ...changed, nowMs: () => nowMs }), createRandom(5));
        if (due) nowMs = 600_000;
        times.keys();
        return Array.from({ length: 1_000 }, () => times.cancelAfterMs(key));
      };
      const given = drawn(false, 'lock:7').filter((ms) => ms !== undefined);
      expect(given.length / 1_000).toBeCloseTo(0.5, 1);
      expect(Math.max(...given)).toBeLessThanOrEqual(10);
      expect(given.filter((ms) => ms < 3).length / given.length).toBeGreaterThan(0.5);
      const none = Array.from({ length: 1_000 }, () => undefined);
      expect(drawn(true, 'lock:7')).toEqual(none);
      expect(drawn(false, 'lock:6')).toEqual(none);
      // Of one key alone, or where long holds are on any, there is none apart.
      expect(drawn(false, 'lock:0', { keys: ['lock:0'] })).toEqual(none);
      const { longOn: _, ...anywhere } = MIXED_HOLDS;
      expect(drawn(false, 'lock:7', {}, anywhere)).toEqual(none);
      const { cancelled: __, ...older } = MIXED_HOLDS.habits!;
      expect(drawn(false, 'lock:7', {}, { ...MIXED_HOLDS, habits: older })).toEqual(none);
    });

    test('and none, nor another wait, in a run of before there were any', () => {
      const { habits: _, ...older } = MIXED_HOLDS;
      for (const { habit } of [...habits(EXTENDED, true, older), ...habits(EXTENDED, false, older)])
        expect(habit).toBe('none');
      const times = turnTimes(options(older, { resumes: 'lock:7', nowMs: () => 0 }), createRandom(1));
      expect(times.keys().length).toBeGreaterThan(1);
    });

    test('who comes in the place of one that died takes up its work, waits for its lease to end, and then goes on as all do', () => {
      const times = turnTimes(options(MIXED_HOLDS, { resumes: 'lock:7' }), createRandom(1));
      for (let refused = 0; refused < 3; refused++) {
        expect(times.keys()).toEqual(['lock:7']);
        expect(times.waitMs()).toBe(1.2 * LEASE_MS);
      }
      expect(times.habit(EXTENDED)).toBe('none');
      expect(times.workMs()).toBeGreaterThan(LEASE_MS / 3);
      expect(times.keys().length).toBeGreaterThan(1);
    });
  });

  test('brief work under a lease of milliseconds is briefer than long work', () => {
    const brief = turnsIn(0.1, 1, { leaseMs: 30 }).filter(({ waitMs }) => waitMs < 1_000);
    for (const { workMs } of brief) expect(workMs).toBeLessThanOrEqual(10);
  });

  test('is not what workloads have that work for longer than the lease', () => {
    expect(isMixed(MIXED_HOLDS)).toBe(true);
    expect(longHolds(MIXED_HOLDS)).toEqual(MIXED_HOLDS.long);
    expect(longHolds({ min: 1, max: 2 })).toEqual({ min: 1, max: 2 });
  });
});

/** Of the first instructions of a client, as versions without mixtures drew them: an old run is replayed with these. */
const AS_DRAWN_BEFORE = {
  mutex: '54c5fb1e9005',
  counter: 'cbca3be3382b',
  'fenced-resource': '6a70229f9fac',
  renewal: 'c12a8223c81b',
  reentrant: '940fe8f6176a',
  fair: '54c5fb1e9005',
  'read-write': 'ab3f1bc80888',
  multi: '2c5f24a82a34',
  semaphore: '54c5fb1e9005',
  crash: '54c5fb1e9005',
  'singleton-job': '3385be64a14c',
  try: '13a036e49375',
  'late-release': '72825d9a09d7',
};

test.each(Object.entries(AS_DRAWN_BEFORE))('%s draws from bounds what it always drew', (name, digest) => {
  const told = { clients: 3, keys: ['lock:0', 'lock:1', 'lock:2'], leaseMs: 1_000, waitMs: 100 };
  const script = workloads[name]!.script(options({ min: 0.1, max: 0.6 }, told), createRandom(7), LOCK);
  // What is given up while an answer is awaited is no draw, nor what is work of the process.
  const drawn = (name: string, value: unknown) => (name === 'givesUp' || name === 'isWork' ? undefined : value);
  const instructions = carryOut(script, 200).map((one) => JSON.stringify(one, drawn));
  expect(createHash('sha1').update(instructions.join()).digest('hex').slice(0, 12)).toBe(digest);
});

/** Every seventh instruction fails, where it can. */
function carryOut(script: ClientScript, most: number): Instruction[] {
  const instructions: Instruction[] = [];
  for (let next = script.next(); instructions.length < most && !next.done; ) {
    const instruction = next.value;
    instructions.push(instruction);
    const id = instructions.length;
    const woke = instruction.do === 'idle' || instruction.do === 'abandon';
    next = script.next(
      woke ? { type: 'woke', lost: false } : { type: id % 7 === 0 ? 'fail' : 'ok', id, value: 4, version: 4 },
    );
  }
  return instructions;
}
