import { describe, expect, it } from 'vitest';
import { historyOf } from '../../../harness/record/history-table.js';
import { observationsOf } from '../../../harness/record/observations.js';
import type { FaultRecord, History, HistoryEvent, Observation } from '../../../harness/vocabulary/history.js';
import type { Hold } from '../../../harness/vocabulary/verdict.js';
import { fullness, mergeRow, mergeRows, spanRowOf } from '../../../reports/drawing/merge.js';
import { rowOfEach } from '../../../reports/drawing/pieces.js';
import { axisMoments, momentAt, xOf } from '../../../reports/drawing/scale.js';
import { Beliefs } from '../../../reports/story/beliefs.js';
import { type FaultStory, faultNumber, faultStories } from '../../../reports/story/faults.js';
import { missOf, slotsOf } from '../../../reports/story/slots.js';
import { holdTable } from './sample.js';

const MS = 1e6;

function sample(
  atMs: number,
  owner?: string,
  more: Partial<Extract<Observation, { type: 'sample' }>> = {},
): Observation {
  const keys: Record<string, { owner: string; pttlMs: number }> =
    owner === undefined ? {} : { k: { owner, pttlMs: 5_000 } };
  return {
    atNs: atMs * MS,
    node: 'r1',
    type: 'sample',
    role: 'primary',
    offset: 1,
    runId: 'a',
    skewMs: 0,
    keys,
    ...more,
  };
}

function command(atMs: number, argv: string[], client?: string): Observation {
  return {
    atNs: atMs * MS,
    node: 'r1',
    type: 'command',
    serverWallMs: atMs,
    source: '10.0.0.9:1',
    ...(client === undefined ? {} : { client }),
    argv,
  };
}

function beliefsOf(observations: Observation[], endNs: number) {
  return new Beliefs(observationsOf(observations), endNs, 5_000).nodes;
}

function owners(observations: Observation[], endMs = 1_000) {
  const spans = beliefsOf(observations, endMs * MS)[0]!.owners.get('k') ?? [];
  return spans.map((span) => [span.client ?? `? ${span.value}`, span.fromNs / MS, span.untilNs / MS]);
}

describe('what a node believed', () => {
  it('takes the moment of a change from the command that made it', () => {
    const seen = owners([
      sample(0),
      command(130, ['SET', 'k', 'v1', 'PX', '5000', 'NX'], 'c1'),
      sample(200, 'v1'),
      command(310, ['eval', 'script', '1', 'k', 'v1'], 'c1'),
      command(311, ['del', 'k']),
      sample(400),
    ]);
    expect(seen).toEqual([['c1', 130, 311]]);
  });

  it('reads every command that stores or removes, scripts included', () => {
    const seen = owners([
      sample(0),
      command(100, ['SETEX', 'k', '5', 'v1'], 'c1'),
      command(200, ['GETDEL', 'k'], 'c1'),
      command(300, ['SET', 'k', 'v2'], 'c2'),
      command(350, ['PEXPIREAT', 'k', '1'], 'c2'),
      command(400, ['eval', 'script', '1', 'k', 'c3:1'], 'c3'),
      { ...command(400, ['hincrby', 'k', 'c3:1', '1']), source: 'lua' } as Observation,
      command(500, ['FLUSHALL'], 'c4'),
    ]);
    expect(seen).toEqual([
      ['c1', 100, 200],
      ['c2', 300, 350],
      ['c3', 400, 500],
    ]);
  });

  it('does not let a refused SET NX take a lock that is held, and lets it once the lock expired', () => {
    const seen = owners([
      command(100, ['SET', 'k', 'v1', 'PX', '300', 'NX'], 'c1'),
      command(200, ['SET', 'k', 'v2', 'NX', 'PX', '300'], 'c2'),
      command(450, ['SET', 'k', 'v3', 'NX', 'PX', '300'], 'c3'),
      sample(500, 'v3'),
    ]);
    expect(seen[0]).toEqual(['c1', 100, 400]);
    expect(seen[1]!.slice(0, 2)).toEqual(['c3', 450]);
    expect(seen).toHaveLength(2);
  });

  it('follows a sample that contradicts, but not one that a command just overtook', () => {
    expect(owners([sample(100, 'v1'), sample(200, 'v2')])).toEqual([
      ['? v1', 100, 200],
      ['? v2', 200, 1_000],
    ]);
    const raced = owners([
      sample(100),
      command(195, ['SET', 'k', 'v1', 'PX', '5000'], 'c1'),
      sample(200),
      sample(300, 'v1'),
    ]);
    expect(raced).toEqual([['c1', 195, 1_000]]);
    const late = [sample(100, 'v0'), command(195, ['DEL', 'k'], 'c1'), sample(200, 'v0'), sample(300)];
    expect(owners(late)).toEqual([['? v0', 100, 195]]);
  });

  it('ends what the server evicted, and remembers its owner', () => {
    const lines: Observation[] = [
      sample(0),
      command(130, ['SET', 'k', 'v1', 'PX', '5000', 'NX'], 'c1'),
      sample(200, 'v1'),
      { atNs: 250 * MS, node: 'r1', type: 'evicted', key: 'k' },
      sample(251, 'v1'), // taken before, answered after
      command(260, ['SET', 'k', 'v2', 'PX', '5000', 'NX'], 'c2'),
    ];
    expect(owners(lines)).toEqual([
      ['c1', 130, 250],
      ['c2', 260, 1_000],
    ]);
    const [belief] = beliefsOf(lines, 1_000 * MS);
    expect(belief!.evictions).toEqual([{ atNs: 250 * MS, line: 3, key: 'k', owner: 'c1' }]);
  });

  it('names the owner by the client that sent the value to another node, and no owner where several sent it', () => {
    const elsewhere: Observation = { ...command(90, ['SET', 'k', 'v1'], 'c1'), node: 'r0' } as Observation;
    const [, r1] = beliefsOf([elsewhere, sample(100, 'v1')], 200 * MS);
    expect(r1!.owners.get('k')![0]!.client).toBe('c1');
    const both = [elsewhere, { ...elsewhere, client: 'c2' } as Observation, sample(100, 'v1')];
    expect(beliefsOf(both, 200 * MS)[1]!.owners.get('k')![0]!.client).toBeUndefined();
  });

  it('claims nothing while the node was not watched, and notices a new process', () => {
    const belief = beliefsOf(
      [
        sample(100, 'v1'),
        { atNs: 150 * MS, node: 'r1', type: 'watch', watching: false, reason: 'gone' },
        sample(600, undefined, { role: 'replica', linkUp: false, runId: 'b', skewMs: 6_000 }),
      ],
      700 * MS,
    )[0]!;
    expect(belief.roles.map((role) => [role.state, role.fromNs / MS, role.untilNs / MS, role.skewMs])).toEqual([
      ['primary', 100, 150, 0],
      ['unwatched', 150, 600, 0],
      ['replica-cut', 600, 700, 6_000],
    ]);
    expect(belief.owners.get('k')!.map((span) => span.untilNs / MS)).toEqual([150]);
    expect(belief.restarts.map((restart) => restart.atNs / MS)).toEqual([600]);
  });

  it('counts a node as unwatched during a long gap in its samples', () => {
    const belief = beliefsOf([sample(0, 'v1'), sample(100, 'v1'), sample(5_000, 'v1')], 5_100 * MS)[0]!;
    expect(belief.roles.map((role) => [role.state, role.fromNs / MS])).toEqual([
      ['primary', 0],
      ['unwatched', 1_100],
      ['primary', 5_000],
    ]);
  });
});

describe('what nodes believed in a long run', () => {
  /** Ten locks of 300 ms, one a second, by c0 and c1 in turn, each seen in a sample; and no owner in another one. */
  const observations = Array.from({ length: 10 }, (_, n): Observation[] => [
    command(n * 1_000 + 100, ['SET', 'k', `v${n}`, 'PX', '5000', 'NX'], `c${n % 2}`),
    sample(n * 1_000 + 200, `v${n}`),
    command(n * 1_000 + 400, ['DEL', 'k'], `c${n % 2}`),
    sample(n * 1_000 + 600),
  ]).flat();
  const whole = new Beliefs(observationsOf(observations), 10_000 * MS, 500);
  const long = new Beliefs(observationsOf(observations), 10_000 * MS, 500, 5);
  const owned = (nodes: ReturnType<typeof beliefsOf>) =>
    nodes[0]!.owners.get('k')!.map(({ client, fromNs, untilNs }) => [client, fromNs / MS, untilNs / MS]);

  it('is drawn from samples, which name no client, and says so', () => {
    expect(owned(long.nodes).slice(0, 2)).toEqual([
      [undefined, 200, 600],
      [undefined, 1_200, 1_600],
    ]);
    expect(long.nodes[0]!.roles).toEqual(whole.nodes[0]!.roles);
    expect(long.note).toContain('read from samples here, not from 20 commands');
    expect(whole.note).toBeUndefined();
  });

  it('is drawn from commands as well where it is looked at closely', () => {
    const within = owned(long.within(4_900 * MS, 6_050 * MS));
    expect(within).toEqual(owned(whole.nodes).slice(4, 7));
    expect(within).toContainEqual(['c1', 5_100, 5_400]);
    expect(whole.within(0, 1)).toBe(whole.nodes);
  });

  it('reads owners from a smaller share of the samples the more of them there are', () => {
    const many = Array.from({ length: 60_000 }, (_, n) => sample(n * 100, `v${n}`));
    const { nodes, note } = new Beliefs(observationsOf(many), 6e6 * MS, 500, -1);
    expect(nodes[0]!.owners.get('k')).toHaveLength(30_000);
    expect(note).toContain('one sample in 2');
  });
});

describe('faults', () => {
  const history = (records: [atMs: number, record: Partial<FaultRecord>][]): History =>
    historyOf(
      records.map(
        ([atMs, record], i): HistoryEvent => ({
          i,
          atNs: atMs * MS,
          type: 'fault',
          step: 0,
          fault: 'x',
          state: 'strike',
          targets: ['r1'],
          did: '',
          effects: [],
          ...record,
        }),
      ),
    );
  const touches = (story: FaultStory) =>
    story.spans.flatMap((span) => span.touches.map((touch) => [touch.target, touch.fromNs / MS, touch.untilNs / MS]));
  const plan = { version: 1 as const, seed: 1, steps: [{ atMs: 1, fault: 'x', target: 'primary' as const, forMs: 1 }] };

  it('last from the first thing done to the heal, by target from when it was touched', () => {
    const [story] = faultStories(
      plan,
      history([
        [10, { state: 'phase', targets: ['r2'] }],
        [20, {}],
        [30, { state: 'heal' }],
      ]),
      99 * MS,
    );
    expect(story!.outcome).toBe('struck');
    expect(story!.spans.map((span) => [span.fromNs / MS, span.untilNs / MS, span.ended])).toEqual([[10, 30, 'heal']]);
    expect(touches(story!)).toEqual([
      ['r2', 10, 20],
      ['r1', 20, 30],
    ]);
  });

  it('touch the names in a strike, and those whose clock moved, until the heal; the names in a phase, while phases go on naming them', () => {
    const moved = { kind: 'clock-jumped' as const, who: ['r2', 'r3'], offsetMs: 500 };
    const [story] = faultStories(
      plan,
      history([
        [10, { state: 'phase', targets: ['r4', 'r5'] }],
        [20, { state: 'strike', targets: ['r4', 'r1'] }],
        [30, { state: 'phase', targets: ['r2', 'r3'], effects: [moved] }],
        [40, { state: 'phase', targets: ['r5'] }],
        [50, { state: 'phase', targets: [] }],
        [60, { state: 'heal' }],
      ]),
      99 * MS,
    );
    expect(touches(story!)).toEqual([
      ['r4', 10, 60],
      ['r5', 10, 20],
      ['r1', 20, 60],
      ['r2', 30, 60],
      ['r3', 30, 60],
      ['r5', 40, 50],
    ]);
  });

  it('go on when healing them failed, and end where a strike failed with nothing in force', () => {
    const healedLate = history([
      [10, {}],
      [20, { state: 'failed' }],
      [30, { state: 'heal' }],
    ]);
    expect(faultStories(plan, healedLate, 99 * MS)[0]!.spans).toMatchObject([{ untilNs: 30 * MS, ended: 'heal' }]);
    const failed = history([
      [10, { state: 'phase' }],
      [20, { state: 'failed' }],
    ]);
    expect(faultStories(plan, failed, 99 * MS)[0]).toMatchObject({
      outcome: 'failed',
      spans: [{ untilNs: 20 * MS, ended: 'missed' }],
    });
  });

  it('without a heal last to the end; refused ones have no span; unplanned ones are kept', () => {
    expect(faultStories(plan, history([[10, {}]]), 99 * MS)[0]!.spans[0]).toMatchObject({
      untilNs: 99 * MS,
      ended: 'open',
    });
    const [refused] = faultStories(plan, history([[10, { state: 'refused' }]]), 99 * MS);
    expect(refused).toMatchObject({ outcome: 'refused', spans: [] });
    expect(faultStories(plan, history([[10, { state: 'phase' }]]), 99 * MS)[0]!.outcome).toBe('begun');
    const stories = faultStories(plan, history([[10, { step: 7 }]]), 99 * MS);
    expect(stories.map((story) => [story.step, story.outcome, story.planned === undefined])).toEqual([
      [0, 'never struck', false],
      [7, 'struck', true],
    ]);
    const [, own] = faultStories(
      plan,
      history([[10, { step: -1, fault: 'heal', state: 'failed', targets: [] }]]),
      99 * MS,
    );
    expect([faultNumber(own!.step), own!.outcome]).toEqual(['F–', 'failed']);
  });
});

describe('slots', () => {
  it('gather the processes that filled them, in natural order', () => {
    const up = (i: number, client: string, slot: string): HistoryEvent => ({
      i,
      atNs: i,
      type: 'client-up',
      client,
      slot,
      host: slot,
      address: '',
      lock: '',
      features: [],
    });
    const events: HistoryEvent[] = [
      up(0, 'c10', 'c10'),
      up(1, 'c2', 'c2'),
      { i: 2, atNs: 5, type: 'client-down', client: 'c2', endNs: 4, reason: 'x' },
      up(3, 'c2.2', 'c2'),
    ];
    const { slots, byClient } = slotsOf(historyOf(events), holdTable([], historyOf([])), 2);
    expect(slots.map((slot) => [slot.name, slot.lives.map((life) => life.client)])).toEqual([
      ['c2', ['c2', 'c2.2']],
      ['c10', ['c10']],
    ]);
    expect(slots[0]!.lives[0]!.down).toMatchObject({ atNs: 4, line: 2 });
    expect(byClient.get('c2.2')!.name).toBe('c2');
  });
});

describe('what a slot held and was refused', () => {
  const invoke = { type: 'invoke', op: 'acquire', key: 'k', leaseMs: 1 } as const;
  const end = { op: 'acquire', key: 'k' } as const;
  const events: HistoryEvent[] = [
    { i: 0, atNs: 1, ...invoke, client: 'c1', id: 1 },
    { i: 1, atNs: 2, ...invoke, client: 'c1.2', id: 1 },
    { i: 2, atNs: 8, type: 'info', client: 'c1.2', id: 1, ...end, reason: 'timeout' },
    { i: 3, atNs: 11, type: 'fail', client: 'c1', id: 1, ...end, endedNs: 9 },
    { i: 4, atNs: 10, type: 'invoke', client: 'c1', id: 2, op: 'clock', key: '' },
    { i: 5, atNs: 11, type: 'fail', client: 'c1', id: 2, op: 'clock', key: '' },
    { i: 6, atNs: 12, ...invoke, client: 'c1', id: 3 },
  ];
  const history = historyOf(events);

  it('is in order, across its processes, without readings of the clock and operations that were never answered', () => {
    const [slot] = slotsOf(history, holdTable([], history), 1).slots;
    expect([...slot!.misses].map((row) => missOf(history, row))).toEqual([
      { outcome: 'info', op: 'acquire', atNs: 8, client: 'c1.2', key: 'k', reason: 'timeout', line: 2 },
      { outcome: 'fail', op: 'acquire', atNs: 9, client: 'c1', key: 'k', reason: '', line: 3 },
    ]);
  });

  it('is in the order in which holds began', () => {
    const hold = (client: string, fromNs: number): Hold => ({
      ...{
        client,
        key: 'k',
        id: 1,
        untilNs: 99,
        endedBy: 'lost',
        leaseEndNs: 99,
        grantSentNs: 0,
        leaseMs: 1,
        evidence: [],
      },
      fromNs,
    });
    const holds = holdTable([hold('c1', 5), hold('c1.2', 3), hold('c1', 4)], history);
    const { slots } = slotsOf(history, holds, 2);
    expect(slots.map(({ name, holds }) => [name, [...holds]])).toEqual([
      ['c1', [1, 2, 0]],
      ['c2', []],
    ]);
  });
});

describe('drawing', () => {
  const scale = { fromNs: 5e9, untilNs: 25e9, left: 100, right: 1_100 };

  it('maps times to x and back, and keeps what lies outside at the edge', () => {
    for (const ns of [5e9, 5.000001e9, 12.345678e9, 25e9])
      expect(Math.abs(momentAt(scale, xOf(scale, ns)) - ns)).toBeLessThan(10);
    expect(xOf(scale, 15e9)).toBe(600);
    expect([xOf(scale, 0), xOf(scale, 30e9), xOf(scale, Number.POSITIVE_INFINITY)]).toEqual([100, 1_100, 1_100]);
  });

  it('chooses round moments', () => {
    expect(axisMoments(scale, 14).momentsNs.map((ns) => ns / 1e9)).toEqual([6, 8, 10, 12, 14, 16, 18, 20, 22, 24]);
    const close = axisMoments({ ...scale, fromNs: 10.0001e9, untilNs: 10.0801e9 }, 14);
    expect(close.decimals).toBe(2);
    expect(close.momentsNs[0]).toBeCloseTo(10.01e9, -1);
  });

  it('merges what is small and close, loses nothing, and keeps apart what must be', () => {
    const span = (fromX: number, apart = false, width = 0.1) => ({ fromX, untilX: fromX + width, apart });
    const few = [span(1), span(1.5), span(2), span(2.2, true), span(2.4), span(20), span(21, false, 9)];
    expect(mergeRow(spanRowOf(few), 1)).toEqual([
      { fromX: 1, untilX: 2.1, first: 0, count: 3 },
      { fromX: 2.2, untilX: expect.closeTo(2.3), first: 3, count: 1 },
      { fromX: 2.4, untilX: 2.5, first: 4, count: 1 },
      { fromX: 20, untilX: 20.1, first: 5, count: 1 },
      { fromX: 21, untilX: 30, first: 6, count: 1 },
    ]);
    const many = Array.from({ length: 5_000 }, (_, at) => span(at / 2, at === 777, 3));
    const { rows, tolerancePx } = mergeRows([spanRowOf(many)], 300);
    const [bars] = rows as [(typeof rows)[number]];
    expect(bars.length).toBeLessThanOrEqual(300);
    expect(tolerancePx).toBeGreaterThan(1);
    expect(bars.map(({ first }) => first)).toEqual(
      bars.map((_, at) => (at === 0 ? 0 : bars[at - 1]!.first + bars[at - 1]!.count)),
    );
    expect(bars.at(-1)!.first + bars.at(-1)!.count).toBe(5_000);
    expect(bars.find(({ first }) => first === 777)).toMatchObject({ count: 1 });
  });

  it('says how full a crowd is, overlaps counted once', () => {
    expect(
      fullness([
        [0, 2],
        [1, 3],
        [8, 10],
      ]),
    ).toBe(0.5);
    expect(fullness([[5, 5]])).toBe(1);
  });

  it('packs overlapping spans into rows of their own', () => {
    expect(
      rowOfEach(
        [
          { from: 0, until: 10 },
          { from: 5, until: 8 },
          { from: 8, until: 9 },
          { from: 10, until: 12 },
        ],
        4,
      ),
    ).toEqual([0, 1, 1, 0]);
  });
});
