/** Draws runs of a fair lock, so that each of its mistakes shows often, alone and among others. */
import fc from 'fast-check';
import { one } from '../oracle/drawing.js';
import type { Fault, Program, Setup } from './run.js';

const program = fc.record<Program>({
  queues: one<Program['queues']>([5, 'soundly'], [1, 'jumps'], [2, 'abandons']),
  // Clients show themselves every 60 to 120 ms, and a place lasts for 400 ms of silence.
  sweepsAfterMs: one([6, Number.POSITIVE_INFINITY], [2, 20], [1, 60], [1, 450]),
  ttlFactor: one([8, 1], [1, 0], [1, 20]),
  prolongs: one([6, false], [1, true]),
  renews: one<Program['renews']>([4, 'never'], [2, 'soundly'], [1, 'on-and-on']),
});

const fault = fc.record<Fault>({
  kind: one<Fault['kind']>([6, 'kill'], [2, 'stop'], [2, 'stranger'], [1, 'jump'], [1, 'restart']),
  atMs: fc.integer({ min: 100, max: 3_000 }),
  forMs: fc.integer({ min: 50, max: 1_200 }),
  whom: fc.nat({ max: 11 }),
  isRecorded: one([3, true], [1, false]),
});

/** `isWhole`: nothing is missing from the record. */
export function setups(isWhole: boolean): fc.Arbitrary<Setup> {
  const breaks = fc.array(
    fc.record({ atMs: fc.integer({ min: 50, max: 9_000 }), forMs: fc.integer({ min: 20, max: 500 }) }),
    { maxLength: 2 },
  );
  return fc.record<Setup>({
    clients: fc.integer({ min: 2, max: 4 }),
    program,
    older: one<Partial<Program>>(
      [6, {}],
      [2, { queues: 'jumps' }],
      [2, { queues: 'abandons' }],
      [1, { sweepsAfterMs: 30 }],
      [1, { ttlFactor: 0 }],
      [1, { prolongs: true }],
      [1, { renews: 'on-and-on' }],
    ),
    faults: fc.array(fault, { maxLength: 2 }),
    latePerMille: isWhole ? fc.constant(0) : one([2, 0], [1, 50]),
    breaks: isWhole ? fc.constant([]) : breaks,
    noise: fc.noShrink(fc.nat()),
  });
}

/** Runs that end with a probe. Where not all is recorded, the server may not have been looked at for the end of it. */
export function probedSetups(isWhole: boolean): fc.Arbitrary<Setup> {
  const drawn = fc.record({
    setup: setups(isWhole),
    looksUntilMs: isWhole ? fc.constant(99_000) : one([3, 99_000], [1, 6_600], [1, 4_000]),
    marksFree: one([3, false], [1, true]),
    ttlFactor: one([2, undefined], [2, 0], [1, 20]),
    killedAtMs: one([1, undefined], [1, 3_000], [1, 4_000]),
    whom: fc.nat({ max: 11 }),
  });
  return drawn.map(({ setup, looksUntilMs, marksFree, ttlFactor, killedAtMs, whom }) => ({
    ...setup,
    program: { ...setup.program, marksFree, ...(ttlFactor !== undefined && { ttlFactor }) },
    faults: [
      ...setup.faults,
      ...(killedAtMs === undefined
        ? []
        : [{ kind: 'kill' as const, atMs: killedAtMs, forMs: 0, whom, isRecorded: true }]),
    ],
    probe: { looksUntilMs },
  }));
}
