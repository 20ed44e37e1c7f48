import { describe, expect, it } from 'vitest';
import { RunState } from '../../../../cli/live/run-state.js';
import { Ledger } from '../../../../harness/record/facts/ledger.js';
import { KEY, ns, Story } from '../../checkers/build.js';

const FACTS = {
  keys: [KEY],
  timeLimitMs: 20_000,
  exclusive: true,
  plan: {
    version: 1 as const,
    seed: 1,
    steps: [{ atMs: 0, forMs: 3_000, fault: 'failover', target: 'primary' as const }],
  },
};

function stateOf(story: Story, facts = FACTS): RunState {
  const ledger = new Ledger();
  const state = new RunState(facts, ledger);
  for (const event of story.history().all()) {
    ledger.event(event);
    state.event(event);
  }
  return state;
}

describe('a snapshot', () => {
  it('of a run that has not begun', () => {
    expect(new RunState(FACTS, new Ledger()).snapshot(ns(0.5))).toEqual({
      atMs: 500,
      phase: 'start',
      phaseForMs: 500,
      operations: { perSecond: 0, grants: 0, refusals: 0, unknown: 0 },
      faults: [],
      moreFaults: 0,
      keys: [{ key: KEY, holders: [], moreHolders: 0, waiting: 0 }],
      moreKeys: { held: 0, free: 0 },
      holds: 0,
      overlaps: { exclusion: 0, stale: 0 },
    });
  });

  it('counts, and says which client holds since when and how long the lease still runs', () => {
    const story = new Story()
      .event(1, { type: 'phase', phase: 'warm-up' })
      .grant('c1', 2, { grantSent: 1.5 })
      .refused('c2', 2.1, 2.2)
      .refused('c3', 2.1, 2.3, 'info')
      .event(2.5, { type: 'phase', phase: 'torture' });
    expect(stateOf(story).snapshot(ns(3))).toMatchObject({
      phase: 'torture',
      phaseForMs: 500,
      torture: { elapsedMs: 2_000, limitMs: 20_000 },
      operations: { perSecond: 1.5, grants: 1, refusals: 1, unknown: 1 },
      keys: [{ key: KEY, holders: [{ client: 'c1', forMs: 1_000, leaseLeftMs: 3_500 }] }],
      holds: 1,
    });
    // Two seconds after the last operation there were none in the last two seconds.
    expect(stateOf(story).snapshot(ns(5)).operations.perSecond).toBe(0);
  });

  it('says of no hold how long its lease runs that none ends', () => {
    const { keys } = stateOf(new Story().up('c1', [], 'none').grant('c1', 2)).snapshot(ns(3));
    expect(keys[0]!.holders).toEqual([{ client: 'c1', forMs: 1_000 }]);
  });

  it('has a composite fault from its first phase until it is healed', () => {
    const story = new Story().fault(5, 0, 'failover', 'phase', { targets: ['r1'] });
    expect(stateOf(story).snapshot(ns(6)).faults).toEqual([
      { fault: 'failover', targets: ['r1'], forMs: 1_000, leftMs: 2_000, stuck: false },
    ]);
    story.fault(7, 0, 'failover', 'strike', { targets: ['r1'] });
    expect(stateOf(story).snapshot(ns(9)).faults).toMatchObject([{ forMs: 4_000, leftMs: -1_000, stuck: false }]);
    const inVain = stateOf(new Story().fault(7, 0, 'pause', 'strike').fault(9, 0, 'pause', 'failed'));
    expect(inVain.snapshot(ns(9)).faults).toMatchObject([{ fault: 'pause', stuck: true }]);
    story.fault(9, 0, 'failover', 'heal', { targets: ['r1'] });
    expect(stateOf(story).snapshot(ns(9)).faults).toEqual([]);
  });

  it('omits a fault that was refused or did not strike', () => {
    const story = new Story()
      .fault(5, 0, 'failover', 'phase', { targets: ['r1'] })
      .fault(6, 0, 'failover', 'failed')
      .fault(6, 1, 'kill', 'refused')
      .fault(7, -1, 'heal', 'failed');
    expect(stateOf(story).snapshot(ns(9)).faults).toEqual([]);
  });

  it('shows contested keys before others, and counts the rest', () => {
    const keys = Array.from({ length: 20 }, (_, n) => `lock:${n}`);
    const story = new Story()
      .grant('c1', 1, { key: 'lock:18' })
      .grant('c2', 1.5, { key: 'lock:18' })
      .grant('c3', 1.5, { key: 'lock:19' });
    const snapshot = stateOf(story, { ...FACTS, keys }).snapshot(ns(2));
    expect(snapshot.keys.map(({ key }) => key)).toEqual([...keys.slice(0, 7), 'lock:18']);
    expect(snapshot.keys.at(-1)).toMatchObject({ contested: 'exclusion' });
    expect(snapshot).toMatchObject({ moreKeys: { held: 1, free: 11 }, holds: 3, overlaps: { exclusion: 1, stale: 0 } });
  });

  it('accuses no client where several may hold at once', () => {
    const told: unknown[] = [];
    const ledger = new Ledger();
    const state = new RunState({ ...FACTS, exclusive: false }, ledger, (overlap) => told.push(overlap));
    const story = new Story()
      .grant('c1', 1)
      .grant('c2', 1.5)
      .release('c1', 2)
      .release('c2', 2.5)
      .grant('c1', 3)
      .grant('c2', 3.1);
    for (const event of story.history().all()) {
      ledger.event(event);
      state.event(event);
    }
    const snapshot = state.snapshot(ns(4));
    expect(snapshot.overlaps).toBeUndefined();
    expect(snapshot.keys[0]!.contested).toBeUndefined();
    expect(told).toEqual([]);
  });
});
