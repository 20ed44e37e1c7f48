/** Histories recorded before faults told their effects: what is made of each fault of that time. */
import { describe, expect, it } from 'vitest';
import { effectsOf } from '../../../../harness/record/facts/effects.js';
import { mishaps, unhealed } from '../../../../harness/record/facts/faults.js';
import { quorumOf } from '../../../../harness/record/facts/quorum.js';
import { parseHistory } from '../../../../harness/record/history.js';
import { inVersion2 } from '../../../../harness/record/version-1.js';
import type { History } from '../../../../harness/vocabulary/history.js';

const S = 1e9;

/** A history of version 1, of lines without their numbers. */
function recorded(events: readonly object[], nodes?: number): History {
  const header = { atNs: 0, type: 'run', version: 1, runId: 'r', seed: 1, epochWallMs: 1 };
  const lines = [header, ...events].map((event, i) => JSON.stringify({ i, ...event }));
  return parseHistory(lines, 'runs/1/history.jsonl', nodes);
}

const fault = (at: number, name: string, state: string, more: object = {}) => ({
  atNs: at * S,
  type: 'fault',
  step: 0,
  fault: name,
  state,
  targets: ['r1'],
  did: `${name} ${state}`,
  ...more,
});

/** The effects of one fault that struck at 1 s and was healed at 5 s, without their bounds. */
const effectsIn = (...events: object[]) => effectsOf(recorded(events)).all.map(({ effect }) => bare(effect));
const bare = ({ sinceNs, untilNs, ...effect }: { sinceNs?: number; untilNs?: number }) => effect;
const certain = (...events: object[]) =>
  effectsOf(recorded(events)).all.map(({ effect, fromNs, untilNs, latestNs }) => [
    effect.kind,
    ...[fromNs, untilNs, latestNs].map((at) => at / S),
  ]);

it.each([
  ['pause', {}, [{ kind: 'stopped', who: ['r1'] }]],
  [
    'slow',
    { did: 'SIGSTOP to r1 for 150 ms, every 500 ms' },
    [{ kind: 'slowed', who: ['r1'], stopMs: 150, everyMs: 500 }],
  ],
  ['kill', {}, [{ kind: 'killed', who: ['r1'] }]],
  [
    'amnesia',
    { forgot: ['r1'] },
    [
      { kind: 'killed', who: ['r1'] },
      { kind: 'forgot', who: ['r1'] },
    ],
  ],
  ['partition', { cut: [['r1', 'r2']] }, [{ kind: 'cut', pairs: [['r1', 'r2']] }]],
  ['lag', { cut: [['r1', 'r2']] }, [{ kind: 'cut', pairs: [['r1', 'r2']] }]],
  ['lost-reply', { cut: [['r1', 'c1']] }, [{ kind: 'cut', pairs: [['r1', 'c1']] }]],
  ['clock', { targets: ['c1.2'], offsetMs: 6_000 }, [{ kind: 'clock-jumped', who: ['c1'], offsetMs: 6_000 }]],
  [
    'drift',
    { offsetMs: 100, ratePpm: 1_000_000 },
    [{ kind: 'clock-drifts', who: ['r1'], ratePpm: 1_000_000, gainedMs: 100 }],
  ],
  ['strobe', { offsetMs: 6_000 }, [{ kind: 'clock-strobes', who: ['r1'], offsetMs: 6_000 }]],
  [
    'failover',
    { did: 'SIGKILL to r1, which had been replaced by r2', cut: [['r1', 'r2']], forgot: ['r1'] },
    [
      { kind: 'killed', who: ['r1'] },
      { kind: 'replaced', who: ['r1'] },
      { kind: 'cut', pairs: [['r1', 'r2']] },
      { kind: 'forgot', who: ['r1'] },
    ],
  ],
  [
    'reload',
    { did: 'restarted r1, 1 of 3', forgot: ['r1'] },
    [
      { kind: 'killed', who: ['r1'] },
      { kind: 'forgot', who: ['r1'] },
    ],
  ],
  [
    'evict',
    { did: "filled r1 with somebody else's data: r1 evicted lock:0 of c1, r1 evicted lock:1 of c2" },
    [
      { kind: 'short-of-memory', who: ['r1'] },
      { kind: 'evicted', who: ['r1'], keys: ['lock:0'] },
      { kind: 'evicted', who: ['r1'], keys: ['lock:1'] },
    ],
  ],
  [
    'skew-granted',
    { did: 'c1 holds lock:0; cut healed; clock of r1 set forward', offsetMs: 6_000 },
    [{ kind: 'clock-jumped', who: ['r1'], offsetMs: 6_000 }],
  ],
  ['a fault that there is no more', {}, []],
] as const)('%s', (name, more, expected) => {
  expect(effectsIn(fault(1, name, 'strike', more), fault(5, name, 'heal'))).toEqual(expected);
});

it('a replaced primary is recognized by the phase that says so', () => {
  expect(effectsIn(fault(1, 'failover', 'phase', { did: 'r2 replaced r1' }))).toEqual([
    { kind: 'replaced', who: ['r1'], by: 'r2' },
  ]);
});

it('a temporary cut is over with the strike that says so', () => {
  const away = fault(1, 'forget-granted', 'phase', { cut: [['c1', 'r4']], targets: ['r4'] });
  const did = 'c1 holds lock:0, granted by r1 only; cut healed; SIGKILL to r1, data removed, started again';
  expect(certain(away, fault(3, 'forget-granted', 'strike', { did }), fault(9, 'forget-granted', 'heal'))).toEqual([
    ['cut', 1, 1, 3],
    ['killed', 3, 3, 3],
  ]);
});

it('a server that was killed is certainly dead only when that was read back; what was stopped, until its heal', () => {
  expect(certain(fault(1, 'kill', 'strike'), fault(5, 'kill', 'heal'))).toEqual([['killed', 1, 1, 5]]);
  expect(certain(fault(1, 'pause', 'strike'), fault(5, 'pause', 'heal'))).toEqual([['stopped', 1, 5, 5]]);
});

it('what disturbed the run is no fault', () => {
  const history = recorded([
    fault(1, 'server', 'failed', { step: -1, proof: 'r1 ended by itself' }),
    fault(2, 'disk', 'failed', { step: -1, targets: [], proof: 'the disk was full' }),
    fault(3, 'heal', 'failed', { step: -1, targets: [], proof: 'c1 is still stopped' }),
  ]);
  expect(mishaps(history).map(({ proof }) => proof)).toEqual(['the disk was full', 'r1 ended by itself']);
  expect(unhealed(history)).toEqual(['c1 is still stopped']);
  expect(effectsOf(history).on('killed', 'r1')).toMatchObject([{ fromNs: S, untilNs: Infinity }]);
});

describe('what it takes to hold a lock', () => {
  const deployed = (topology: string, nodes?: number) =>
    quorumOf(
      recorded([{ atNs: 1, type: 'deployment', topology, runtime: 'netns', serverVersion: '7', settings: [] }], nodes),
    );

  it('follows from the topology, and from how many nodes the configuration asked for', () => {
    for (const name of ['single', 'replica', 'sentinel', 'cluster'])
      expect(deployed(name, 5)).toEqual({ kind: 'primary' });
    expect(deployed('redlock', 5)).toEqual({ kind: 'majority', nodes: ['r1', 'r2', 'r3', 'r4', 'r5'], majority: 3 });
    expect(deployed('redlock', 4)).toMatchObject({ majority: 3 });
  });

  it('is unknown without it', () => {
    expect(deployed('redlock')).toBeUndefined();
  });
});

it('must fit its schema, naming file and line', () => {
  const damaged = fault(1, 'partition', 'strike', { cut: [['r1']] });
  expect(() => recorded([damaged])).toThrow('runs/1/history.jsonl, line 2: "cut" is not a list of pairs');
  expect(() => recorded([fault(1, 'pause', 'strike', { targets: undefined })])).toThrow('line 2: "targets" is missing');
});

describe('a file of JSON', () => {
  it.each([
    ['config.json, results.json', { version: 1, seed: 7, again: 'npm' }, { version: 2, seed: 7, reproduce: 'npm' }],
    [
      'matrix.json',
      { version: 1, rows: [{ cell: 'a', runs: [{ seed: 7, again: 'npm' }, { seed: 8 }] }] },
      { version: 2, rows: [{ cell: 'a', runs: [{ seed: 7, reproduce: 'npm' }, { seed: 8 }] }] },
    ],
  ])('%s calls what repeats a run by its present name', (_, old, now) => {
    expect(inVersion2(old)).toEqual(now);
  });

  it.each([
    [{ version: 2, again: 'npm' }],
    [{ version: 3, rows: [{ runs: [{ again: 'npm' }] }] }],
    [[{ version: 1, again: 'npm' }]],
    [null],
    ['again'],
  ])('%j is of no version 1: left to its schema', (other) => {
    expect(inVersion2(other)).toBe(other);
  });

  it('that is damaged is left to its schema, too', () => {
    expect(inVersion2({ version: 1 })).toEqual({ version: 2 });
    expect(inVersion2({ version: 1, rows: [null, { runs: 7 }] })).toEqual({ version: 2, rows: [null, { runs: 7 }] });
  });
});
