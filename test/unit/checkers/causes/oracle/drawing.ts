/** Draws runs: so that each cause comes about often, alone and among others, and much that is like it but is not. */
import fc from 'fast-check';
import type { Program } from './client.js';
import type { Fault, FaultKind } from './faults.js';
import { type Gaps, NO_GAPS } from './recording.js';
import type { Setup } from './run.js';

const LEASE_MS = 1_000;
const NODES = [
  'kill-empty',
  'kill-snapshot',
  'kill-whole',
  'jump',
  'jump-and-back',
  'drift',
  'drift',
  'evict',
  'evict-counter',
] as const;
const OTHERS = [
  'stranger-del',
  'flush',
  'stall',
  'client-clock',
  'pause',
  'pause',
  'pause-asking',
  'pause-asking',
  'cut-client',
  'cut-client',
  'cut-client',
] as const;
const FAILOVERS = ['failover-killed', 'failover-isolated', 'failover-isolated', 'failover-planned'] as const;

export function one<T>(...choices: [weight: number, value: T][]): fc.Arbitrary<T> {
  return fc.oneof(...choices.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));
}

function program(kind: Setup['kind'], nodes: number): fc.Arbitrary<Program> {
  const majority = kind === 'replicated' ? 1 : Math.floor(nodes / 2) + 1;
  const single = kind === 'replicated';
  return fc.record<Program>({
    form: single
      ? one<Program['form']>(
          [6, 'nx'],
          [1, 'set'],
          [1, 'get-set'],
          [2, 'script'],
          [2, 'own-script'],
          [2, 'hash'],
          [2, 'counted'],
          [1, 'counted-apart'],
          [1, 'counted-early'],
          [1, 'adopting'],
          [2, 'own-clock'],
        )
      : one<Program['form']>([6, 'nx'], [1, 'set'], [2, 'script'], [1, 'own-script']),
    leaseMs: fc.constant(LEASE_MS),
    ttlFactor: one([14, 1], [1, 0.1], [1, 0.5], [1, 0.85], [1, 0]),
    owner: one<Program['owner']>([10, 'attempt'], [2, 'client'], [2, 'shared']),
    releases: one<Program['releases']>([6, 'compared'], [1, 'plainly']),
    renews: one<Program['renews']>([4, 'never'], [3, 'soundly'], [1, 'unchecked']),
    tells: one([3, false], [1, true]),
    looksEveryMs: one([2, 0], [1, 60]),
    quorum: one([6, majority], [1, Math.max(1, majority - 1)]),
    refusalsIgnored: one([12, 0], [1, 50]),
    counter: one<Program['counter']>([4, 'kept'], [1, 'expires'], [1, 'removed']),
    asksAgain: one([11, false], [1, true]),
    worksLeast: fc.constant(0.2),
    worksMost: one([2, 0.8], [1, 1.9]),
    retryMs: one([2, 20], [1, 60]),
  });
}

function fault(kind: Setup['kind'], nodes: number): fc.Arbitrary<Fault> {
  const kinds: readonly FaultKind[] =
    kind === 'replicated' && nodes > 1
      ? [...NODES, ...OTHERS, ...FAILOVERS, ...FAILOVERS, ...FAILOVERS]
      : [...NODES, ...OTHERS];
  return fc.record<Fault>({
    kind: fc.constantFrom(...kinds),
    afterGrants: fc.integer({ min: 1, max: 5 }),
    delayMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 300 })),
    forMs: fc.oneof(fc.integer({ min: 50, max: 600 }), fc.integer({ min: 900, max: 2_000 })),
    whom: fc.integer({ min: 0, max: 11 }),
    much: one([1, 400], [2, 900], [4, 3_000], [1, -1_500]),
    lags: fc.boolean(),
    stays: one([3, true], [1, false]),
  });
}

/** `isWhole`: nothing is missing from the record. */
function gaps(isWhole: boolean, nodes: number): fc.Arbitrary<Gaps> {
  if (isWhole) return fc.constant(NO_GAPS);
  return fc
    .record({
      sampleEveryMs: one([2, 100], [1, 300], [1, 1_000]),
      lostAtKillMs: one([1, 0], [2, 5], [2, 50]),
      blindAfterStartMs: one([1, 0], [2, 30], [1, 60]),
      latePerMille: one([2, 0], [1, 20], [1, 100]),
      lateMs: one([1, 20], [1, 300]),
      unrecordedPerMille: one([3, 0], [1, 500]),
      neverWatched: fc.oneof(
        { weight: 9, arbitrary: fc.constant<number[]>([]) },
        { weight: 1, arbitrary: fc.array(fc.nat({ max: nodes - 1 }), { maxLength: 2 }) },
      ),
      breaks: fc.array(
        fc.record({
          node: fc.nat({ max: nodes - 1 }),
          atMs: fc.integer({ min: 50, max: 2_000 }),
          forMs: fc.integer({ min: 20, max: 500 }),
        }),
        { maxLength: 2 },
      ),
      cut: fc.oneof(
        { weight: 9, arbitrary: fc.constant(undefined) },
        {
          weight: 1,
          arbitrary: fc.record({ atMs: fc.integer({ min: 100, max: 3_500 }), isCounted: fc.boolean() }),
        },
      ),
    })
    .map(({ cut, ...gaps }) => (cut ? { ...gaps, cut } : gaps));
}

const shapes = one<[Setup['kind'], number]>(
  [3, ['replicated', 1]],
  [4, ['replicated', 2]],
  [2, ['replicated', 3]],
  [2, ['independent', 3]],
  [1, ['independent', 5]],
);

export function setups(isWhole: boolean): fc.Arbitrary<Setup> {
  return shapes.chain(([kind, nodes]) =>
    fc.record<Setup>({
      kind: fc.constant(kind),
      nodes: fc.constant(nodes),
      clients: fc.integer({ min: 2, max: 3 }),
      program: program(kind, nodes),
      older: one<Partial<Program>>(
        [8, {}],
        [1, { releases: 'plainly', worksMost: 2 }],
        [1, { form: 'set' }],
        [1, { owner: 'shared' }],
        [1, { worksMost: 2 }],
        [2, { renews: 'soundly', worksLeast: 1.5, worksMost: 2.2 }],
        [1, { renews: 'once', worksLeast: 1.6, worksMost: 2.6, looksEveryMs: 60, asksAgain: false }],
        [1, { refusalsIgnored: 100 }],
        [1, { form: 'adopting', owner: 'client' }],
        [2, { form: 'adopting', owner: 'client', releases: 'forgets', renews: 'never', asksAgain: false }],
        ...(kind === 'replicated'
          ? ([[1, { form: 'expires-anyway', ttlFactor: 0.3, retryMs: 300 }]] as [number, Partial<Program>][])
          : []),
        [1, { asksAgain: true, owner: 'client', worksLeast: 1.2, worksMost: 2 }],
        [1, { renews: 'by-nothing', worksLeast: 0.5 }],
      ),
      faults: fc.array(fault(kind, nodes), { minLength: 0, maxLength: 3 }),
      gaps: gaps(isWhole, nodes),
      savesEveryMs: one([1, 0], [1, 700]),
      lengthMs: fc.constant(3_000),
      noise: fc.noShrink(fc.nat()),
    }),
  );
}
