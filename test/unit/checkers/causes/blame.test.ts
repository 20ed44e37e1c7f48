/** Whose mistake a violation is: of every cause, and of kinds of findings that are the lock's own whatever befell its clients. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blameFor } from '../../../../checkers/causes/blame.js';
import { CAUSES, causePhrase } from '../../../../checkers/causes/descriptions.js';
import { serversKeptAll } from '../../../../checkers/causes/kept.js';
import { checkers } from '../../../../checkers/index.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import type { Deadlines } from '../../../../harness/vocabulary/protocol.js';
import type { FindingKind, OwnMistake, RunConfig } from '../../../../harness/vocabulary/run.js';
import type { BlameName, CauseLink, Hold, Violation } from '../../../../harness/vocabulary/verdict.js';
import { KEY, LEASE_MS, ns, Story } from '../build.js';

const ROOT = resolve(import.meta.dirname, '../../../..');
const OVERLAP: FindingKind = { headline: () => '', accusedIf: '' };

function hold(client: string, fields: Partial<Hold> = {}): Hold {
  return {
    client,
    key: KEY,
    id: 1,
    fromNs: ns(1),
    untilNs: ns(8),
    endedBy: 'release',
    leaseEndNs: ns(6),
    grantSentNs: ns(1),
    leaseMs: LEASE_MS,
    evidence: [],
    ...fields,
  };
}

function violation(cause: string, fields: Partial<Violation> = {}, chain: CauseLink[] = []): Violation {
  return {
    class: 'exclusion',
    kind: 'overlap',
    key: KEY,
    fromNs: ns(7),
    untilNs: ns(8),
    holds: [],
    evidence: [],
    proof: '',
    cause: { name: cause, sentence: '', chain },
    ...fields,
  };
}

/** A run in which one server was looked at and nothing befell it, unless the story tells. */
const calm = () => new Story().up('c1').up('c2').watch(0.1, 'r1').sample(0.2, 'r1').sample(20, 'r1');
const whose = (one: Violation, story: Story = calm(), kind = OVERLAP): BlameName =>
  blameFor(one, kind, story.input()).on;

const BY_CAUSE: Record<BlameName, readonly string[]> = {
  lock: [
    'released-by-other',
    'released-by-itself',
    'shortened-by-other',
    'shared-owner',
    'overwritten',
    'removed-early',
    'local-to-one-server',
    'session-expired',
    'lease-too-short',
    'taken-over-by-clock',
    'minority-granted',
    'never-granted',
    'adopted-stale-key',
    'token-drawn-early',
    'not-told',
    'key-never-expires',
    'outlives-its-lease',
    'prolonged-for-others',
    'prolonged-too-long',
    'queue-head-gone',
    'granted-past-queue',
    'granted-unacknowledged',
    'place-removed',
    'place-expired',
    'asking-unasked',
    'count-expired',
    'returned-too-often',
    'counter-expired',
    'counter-removed',
    'granted-beside',
    'script-unknown',
    'released-meanwhile',
    'stored-again',
    'went-on-trying',
  ],
  deployment: [
    'failover-lost-write',
    'failover-lost-renewal',
    'split-brain',
    'node-forgot',
    'evicted',
    'clock-jumped',
    'clock-ran-fast',
    'session-lost',
    'failover-lost-row',
    'failover-lost-extension',
  ],
  lease: ['client-paused', 'client-slow', 'loss-ignored'],
  // Whether the lock could have told its client depends on the holds; whether it looked in time, on what servers carried out.
  unexplained: ['unexplained', 'client-cut-off', 'granted-late', 'granted-nobody'],
};

describe('every cause', () => {
  const all = Object.entries(BY_CAUSE).flatMap(([on, causes]) =>
    causes.map((cause) => [cause, on as BlameName] as const),
  );

  it.each(all)('%s blames: %s', (cause, on) => {
    const blame = blameFor(violation(cause), OVERLAP, calm().input());
    expect(blame.on).toBe(on);
    expect(blame.theory).toMatch(/^[A-Z].*\.$/);
    if (on !== 'unexplained') expect(blame.link).toMatch(/^https:\/\/[^ ]+$/);
  });

  it('is among these, and says what it is called', () => {
    expect([...CAUSES].sort()).toEqual(all.map(([cause]) => cause).sort());
    for (const cause of CAUSES) expect(causePhrase(cause)).toMatch(/^[a-z ']+$/);
  });

  it('that a checker names is described', () => {
    const folder = join(ROOT, 'checkers');
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
      ({ name, parentPath }) => name.endsWith('.ts') && (parentPath.endsWith('causes') || name === 'overstayed.ts'),
    );
    const named = files.flatMap(({ name, parentPath }) => [
      ...readFileSync(join(parentPath, name), 'utf8').matchAll(/(?:\bname: |explanation\(\s*)(?:\w+ \? )?'([a-z-]+)'/g),
    ]);
    const unknown = named.flatMap(([, cause = '']) =>
      CAUSES.includes(cause) || cause === 'overstayed' ? [] : [cause],
    );
    expect(named.length).toBeGreaterThan(15);
    expect(unknown).toEqual([]);
  });

  it('stands in docs/checking.md with whom it blames', () => {
    const page = readFileSync(join(ROOT, 'docs/checking.md'), 'utf8');
    const section = page.slice(page.indexOf('## Whose mistake'), page.indexOf('## Everything else'));
    for (const cause of CAUSES) expect(section).toContain(`\`${cause}\``);
  });

  it('that is not known proves nothing', () => expect(whose(violation('of-a-later-version'))).toBe('unexplained'));
});

describe('what the deployment lost', () => {
  const forgot = (persistence: RunConfig['topologyOptions']['persistence'], story = calm()) =>
    blameFor(
      violation('node-forgot'),
      OVERLAP,
      story.configured({ topologyOptions: { nodes: 1, persistence, minReplicasToWrite: 0, redisConf: [] } }).input(),
    ).theory;

  it('comes with what prevents it, and what only makes it rarer', () => {
    expect(forgot('rdb')).toMatch(/`aof-always` ends forgetting by restart.*only makes it rarer/);
    expect(forgot('aof-always')).toMatch(/survives a restart, but not the loss of the disk/);
    expect(forgot('rdb', calm().independent())).toMatch(/votes a second time.*keeping a node that restarted away/);
    const theory = (cause: string) => blameFor(violation(cause), OVERLAP, calm().input()).theory;
    expect(theory('failover-lost-write')).toMatch(/WAIT and min-replicas-to-write only make that rarer/);
    expect(theory('evicted')).toMatch(/noeviction prevents it/);
  });
});

describe('a key that was removed', () => {
  const removed = (by: string) => {
    const story = calm().command(2, 'r1', by, ['DEL', KEY]);
    const { observations } = story.input();
    const at = [...observations.commands(0, ns(100))][0]![0];
    return whose(violation('released-by-other', {}, [{ atNs: ns(2), text: '', observation: at }]), story);
  };

  it("by another client of the lock is its mistake, by a stranger's command the deployment's", () => {
    expect(removed('c2')).toBe('lock');
    expect(removed('lua')).toBe('lock');
    expect(removed('stranger')).toBe('deployment');
  });
});

/** c1 is stopped between two instants, in seconds. */
const stopped = (from: number, until: number) =>
  calm()
    .fault(from, 0, 'pause', 'strike', { targets: ['c1'], effects: [{ kind: 'stopped', who: ['c1'] }] })
    .fault(until, 0, 'pause', 'heal', { targets: ['c1'], beganNs: ns(until) });

describe('a client that was cut off', () => {
  const cut = (untilS: number, story = calm()) =>
    whose(
      violation('client-cut-off', { class: 'stale', fromNs: ns(6.1), holds: [hold('c1', { untilNs: ns(untilS) })] }),
      story,
    );
  /** c1, whose lock renews, ran at 6.297 s and at 6.7 s, by its own stamps. */
  const awake = (story = calm()) => ran(story.up('c1', ['renews']));
  const ran = (story: Story) => story.grant('c1', 6.3, { key: 'one' }).grant('c1', 6.7, { key: 'other' });

  it('ran when its lease was over: that it was not told is the mistake of the lock', () =>
    expect(cut(7, awake())).toBe('lock'));

  it('may not have been run by a busy machine, unless the record shows that it was', () => {
    expect(cut(7)).toBe('unexplained');
    expect(cut(6.2, awake())).toBe('unexplained');
    expect(cut(6.4, awake())).toBe('unexplained');
  });

  it('hears of what it was to prolong itself', () => {
    expect(cut(7, ran(calm()))).toBe('unexplained');
  });

  it('cannot have been told while it was stopped', () => {
    expect(cut(8, awake(stopped(6.5, 7.5)))).toBe('unexplained');
    expect(cut(8, awake(stopped(5.9, 5.95)))).toBe('lock');
  });
});

describe('a grant that came when its lease was over', () => {
  const servedLate: CauseLink = { atNs: ns(6.2), text: 'r1 carried out the request', observation: 4 };
  const late = (story = calm(), chain: CauseLink[] = [], fromS = 6.5) => {
    const { cause } = violation('granted-late', {}, chain);
    const holds = [hold('c1', { fromNs: ns(fromS) })];
    return whose(violation('granted-late', { class: 'stale', holds, cause }), story);
  };
  const inVirtualTime = (story = calm(), exactStamps = true) =>
    story.event(0, {
      type: 'deployment',
      ...{ topology: 'single', runtime: 'sim', serverVersion: '7.0.15', settings: [] },
      quorum: { kind: 'primary' },
      exactStamps,
    });

  it('is the mistake of the lock where its servers had carried it out too late, whatever befell its client', () => {
    expect(late(calm(), [servedLate])).toBe('lock');
    expect(late(stopped(5, 6.4), [servedLate])).toBe('lock');
  });

  it('may have been looked at in time by a client that was stopped then, or that a busy machine did not run', () => {
    expect(late()).toBe('unexplained');
    expect(late(stopped(5, 6.4))).toBe('lease');
    expect(late(stopped(1, 5))).toBe('unexplained');
  });

  it('is the mistake of the lock in virtual time, where its client ran since the lease was over', () => {
    expect(late(inVirtualTime())).toBe('lock');
    expect(late(inVirtualTime(stopped(1, 5)))).toBe('lock');
    expect(late(inVirtualTime(calm(), false))).toBe('unexplained');
    expect(late(inVirtualTime(stopped(5, 6.4)))).toBe('lease');
    expect(late(inVirtualTime(stopped(6.2, 6.4)))).toBe('unexplained');
    // It may reckon in whole milliseconds.
    expect(late(inVirtualTime(), [], 6.003)).toBe('unexplained');
    expect(late(inVirtualTime(), [], 6.0031)).toBe('lock');
    // A wall clock is no measure of a lease.
    const jumped: FaultEffect = { kind: 'clock-jumped', who: ['c1'], offsetMs: -900 };
    const moved = () => calm().fault(2, 0, 'clock', 'strike', { targets: ['c1'], effects: [jumped] });
    expect(late(inVirtualTime(moved()))).toBe('lock');
    expect(late(moved())).toBe('unexplained');
  });
});

describe('a kind of finding that is the mistake of the lock', () => {
  const kind = (onlyIf?: OwnMistake['onlyIf']): FindingKind => ({
    ...OVERLAP,
    ownMistake: { theory: 'It must look.', link: 'https://example.org/', ...(onlyIf && { onlyIf }) },
  });
  const [always, kept, steady] = [kind(), kind('servers kept all'), kind('servers kept all, by steady clocks')];
  const asked = (story: Story, of: FindingKind, cause = 'client-paused') => whose(violation(cause), story, of);

  it('is so whatever befell its client, with its own theory', () => {
    expect(blameFor(violation('client-paused'), always, calm().input())).toEqual({
      on: 'lock',
      theory: 'It must look.',
      link: 'https://example.org/',
    });
    expect(asked(calm(), kept)).toBe('lock');
    expect(asked(calm(), steady)).toBe('lock');
    expect(blameFor(violation('shared-owner'), always, calm().input()).theory).toContain('owner value');
  });

  const loses: [string, Story][] = [
    ['a server was killed', calm().fault(3, 0, 'kill', 'strike', { effects: [{ kind: 'killed', who: ['r1'] }] })],
    ['a server evicted', calm().evicted(3, 'r1', 'another')],
    ['a server ran as another process', calm().sample(3, 'r1', { runId: 'run-2' })],
    ['a server was out of sight', calm().watch(3, 'r1', false)],
    ['a server was a replica', calm().sample(3, 'r2', { role: 'replica' })],
    ['a stranger sent a command', calm().command(3, 'r1', 'stranger', ['GET', KEY])],
    ['no server was looked at', new Story().up('c1')],
  ];
  it.each(loses)('is not proven to be where %s', (_, story) => {
    expect(asked(story, kept)).toBe('unexplained');
    expect(asked(story, kept, 'evicted')).toBe('deployment');
    expect(asked(story, always)).toBe('lock');
  });

  describe('since its first evidence', () => {
    const since: FindingKind = {
      ...OVERLAP,
      ownMistake: { theory: 'It must look.', onlyIf: 'servers kept all, by steady clocks', since: 'its evidence' },
    };
    /** c1 is granted at 3 s, and what is found ends at 8 s. */
    const found = (story: Story) => {
      const input = story.grant('c1', 3).input();
      const invoke = input.history.event(story.input().history.operations.invokeLine[0]!)!;
      return blameFor(violation('client-paused', { evidence: [invoke.i] }), since, input).on;
    };
    const between = (from: number, until: number, effects: FaultEffect[], story = calm()) =>
      story.fault(from, 0, 'f', 'strike', { effects }).fault(until, 0, 'f', 'heal', { beganNs: ns(until) });
    const killed: FaultEffect = { kind: 'killed', who: ['r1'] };
    const ahead: FaultEffect = { kind: 'clock-jumped', who: ['r1'], offsetMs: 9_000 };

    it('counts what befell servers from then on, and not before', () => {
      expect(found(calm())).toBe('lock');
      const another = new Story().up('c1').up('c2').watch(0.1, 'r1').sample(0.2, 'r1');
      const again = another.sample(2.2, 'r1', { runId: 'run-2' }).sample(9, 'r1', { runId: 'run-2' });
      expect(found(between(1, 2, [killed], again))).toBe('lock');
      expect(found(between(1, 2, [ahead]))).toBe('lock');
      expect(found(between(1, 4, [ahead]))).toBe('unexplained');
      expect(found(between(7, 9, [killed]))).toBe('unexplained');
      expect(found(calm().evicted(1, 'r1', 'another'))).toBe('lock');
      expect(found(calm().evicted(4, 'r1', 'another'))).toBe('unexplained');
      expect(found(calm().command(1, 'r1', 'stranger', ['GET', KEY]))).toBe('lock');
    });

    it('or since the last of its holds was asked for by the attempt that was granted, until the last event that it names', () => {
      const kind: FindingKind = { ...since, ownMistake: { ...since.ownMistake!, since: 'its last hold' } };
      const held = (grantSentS: number, lastS = 7) => {
        const story = between(1, 4, [ahead]).grant('c3', lastS, { key: 'other' });
        const input = between(7.5, 9, [killed], story).input();
        const { completionLine } = input.history.operations;
        return blameFor(
          violation('client-paused', {
            holds: [hold('c1', { grantSentNs: ns(2) }), hold('c2', { grantSentNs: ns(grantSentS) })],
            evidence: [completionLine[0]!],
          }),
          kind,
          input,
        ).on;
      };
      expect(held(3.9)).toBe('unexplained');
      expect(held(4.1)).toBe('lock');
      expect(held(4.1, 7.6)).toBe('unexplained');
    });

    it('needs a server that was looked at before, was one process until a look after, and was in sight', () => {
      const unseen = (...at: number[]) => at.reduce((story, s) => story.sample(s, 'r1'), new Story().up('c1').up('c2'));
      const seen = (...at: number[]) => unseen(...at).watch(0.1, 'r1');
      expect(found(seen(2, 9))).toBe('lock');
      expect(found(unseen(2, 9))).toBe('unexplained');
      expect(found(seen(4, 9))).toBe('unexplained');
      expect(found(seen(2).sample(9, 'r1', { runId: 'run-2' }))).toBe('unexplained');
      expect(found(seen(2, 9).sample(9.5, 'r1', { runId: 'run-2' }))).toBe('lock');
      expect(found(seen(2, 9).sample(4, 'r2'))).toBe('unexplained');
      expect(found(seen(2, 9).watch(1, 'r1', false))).toBe('unexplained');
      expect(found(seen(2, 9).watch(1, 'r1', false).watch(2.5, 'r1'))).toBe('lock');
      expect(found(seen(2, 9).watch(2.5, 'r1').watch(7, 'r1', false))).toBe('unexplained');
    });
  });

  it('counts what befell servers by then, and not what befell clients', () => {
    const later = calm().fault(9, 0, 'kill', 'strike', { effects: [{ kind: 'killed', who: ['r1'] }] });
    expect(asked(later, kept)).toBe('lock');
    const client = calm().fault(3, 0, 'kill', 'strike', { effects: [{ kind: 'killed', who: ['c2'] }] });
    expect(asked(client, kept)).toBe('lock');
    expect(asked(calm().command(3, 'r1', 'c1', ['GET', KEY]).command(3.1, 'r1', 'lua', ['GET', KEY]), kept)).toBe(
      'lock',
    );
  });

  it('asks for steady clocks of servers only where keys that end matter', () => {
    const moved = calm().fault(3, 0, 'clock', 'strike', {
      effects: [{ kind: 'clock-jumped', who: ['r1'], offsetMs: 9_000 }],
    });
    expect(asked(moved, kept)).toBe('lock');
    expect(asked(moved, steady)).toBe('unexplained');
  });

  it('is said of these kinds', () => {
    const own = checkers.flatMap(({ properties }) =>
      properties.flatMap(({ kinds }) =>
        Object.entries(kinds).flatMap(([name, { ownMistake }]) =>
          ownMistake
            ? [`${name}: ${ownMistake.onlyIf ?? 'always'}${ownMistake.since ? `, since ${ownMistake.since}` : ''}`]
            : [],
        ),
      ),
    );
    expect(own.sort()).toEqual([
      'deadlock: all leases had ended',
      'fence-inversion: servers kept all, by steady clocks, since its evidence',
      'fence-repeat: servers kept all, by steady clocks, since its evidence',
      'fifo-inversion: servers kept all, by steady clocks, since its evidence',
      'lawful-holder-refused: servers kept all, by steady clocks',
      'left-behind: always',
      'not-opened: servers kept all, by steady clocks',
      'passed-early: servers kept all, by steady clocks',
      'permit-leak: servers kept all, by steady clocks',
      'revived: servers kept all, since its last hold',
      'silent-release: servers kept all, since its last hold',
      'slept: always',
    ]);
  });
});

it('is not said to be by servers that kept all where there are more commands than are read', () => {
  const kept = (commandCount: number) => {
    const input = calm().input();
    return serversKeptAll(
      { ...input, observations: { ...input.observations, commandCount } },
      { fromNs: ns(1), untilNs: ns(7) },
      false,
    );
  };
  expect(kept(1_000_000)).toBe(true);
  expect(kept(1_000_001)).toBe(false);
});

describe('a deadlock', () => {
  /** c1 holds for a lease of 5 s; a probe that began at 20 s is refused at 27 s. */
  const whole = ({ afterMs = 7_000, reason = 'held' } = {}) =>
    calm()
      .grant('c1', 1)
      .release('c1', 2)
      .recovered(19)
      .event(27, { type: 'probe', key: KEY, client: 'c1', acquired: false, afterMs, reason });
  const deadlock = (story: Story) => {
    const { history } = story.input();
    const probe = history.rare.find(({ type }) => type === 'probe')!;
    const fields = { class: 'liveness', kind: 'deadlock', fromNs: ns(19), untilNs: ns(27) } as const;
    const kind = checkers.find(({ name }) => name === 'liveness')!.properties[0]!.kinds.deadlock!;
    return whose(violation('unexplained', { ...fields, evidence: [probe.i] }), story, kind);
  };
  const jumped = (untilS: number, offsetMs: number) =>
    whole()
      .fault(3, 0, 'clock', 'strike', { effects: [{ kind: 'clock-jumped', who: ['r1'], offsetMs }] })
      .fault(untilS, 0, 'clock', 'heal', { beganNs: ns(untilS) });

  it('is the mistake of the lock where all that a lease keeps had ended', () => {
    expect(deadlock(whole())).toBe('lock');
    expect(deadlock(whole({ reason: 'queued-behind' }))).toBe('lock');
    expect(deadlock(whole({ afterMs: 4_900 }))).toBe('unexplained');
  });

  it('is not, where something else than a holder was in the way', () => {
    expect(deadlock(whole({ reason: 'connection lost' }))).toBe('unexplained');
  });

  it('is not, where a stranger stored what was in the way, or made it last', () => {
    const left = (argv: string[], by = 'stranger') =>
      deadlock(whole().command(0.999, 'r1', 'c1', ['SET', KEY, 'of-c1', 'PX', '5000']).command(1.5, 'r1', by, argv));
    expect(left(['SET', KEY, 'maintenance'])).toBe('unexplained');
    expect(left(['SET', `${KEY}:gate`, 'shut'])).toBe('unexplained');
    expect(left(['PERSIST', KEY])).toBe('unexplained');
    expect(left(['DEL', KEY])).toBe('lock');
    expect(left(['GET', KEY])).toBe('lock');
    expect(left(['PERSIST', KEY], 'c1')).toBe('lock');
    expect(left(['SET', 'lock:1', 'of another key'])).toBe('lock');
    expect(deadlock(whole().command(2.5, 'r1', 'stranger', ['SET', KEY, 'maintenance']))).toBe('unexplained');
  });

  it('is not, where what is in the way may have come while the server was not watched', () => {
    const set = (story: Story, at: number, value: string) =>
      story.command(at, 'r1', 'c1', ['SET', KEY, value, 'PX', '5000']);
    const stored = () => set(whole(), 0.999, 'of-c1');
    const blind = (story: Story) => story.watch(21, 'r1', false).watch(22, 'r1');
    expect(deadlock(stored())).toBe('lock');
    // A look shows that nothing is there.
    expect(deadlock(blind(stored()).sample(25, 'r1'))).toBe('lock');
    expect(deadlock(blind(stored()))).toBe('unexplained');
    expect(deadlock(blind(stored()).sample(25, 'r1', { owner: 'maintenance' }))).toBe('unexplained');
    // A client was seen to store what stands there, before it or after.
    expect(deadlock(blind(stored()).sample(25, 'r1', { owner: 'of-c1' }))).toBe('lock');
    expect(deadlock(set(blind(stored()), 24, 'again'))).toBe('lock');
    expect(deadlock(blind(stored()).command(24, 'r1', 'c1', ['DEL', KEY]))).toBe('lock');
  });

  it('is not, where a key may have been stored by a clock that was ahead', () => {
    expect(deadlock(jumped(10, 4_900))).toBe('lock');
    expect(deadlock(jumped(10, 5_100))).toBe('unexplained');
    expect(deadlock(jumped(15.5, -9_000))).toBe('unexplained');
    expect(deadlock(jumped(14, -9_000))).toBe('lock');
    const drifting = whole().fault(3, 0, 'drift', 'strike', {
      effects: [{ kind: 'clock-drifts', who: ['r1'], ratePpm: 5, gainedMs: 0 }],
    });
    expect(deadlock(drifting)).toBe('unexplained');
    // At any moment it may be at either end; what it stored just before it was healed ends by that.
    const strobing = whole()
      .fault(3, 0, 'clock', 'strike', { effects: [{ kind: 'clock-strobes', who: ['r1'], offsetMs: 100 }] })
      .fault(10, 0, 'clock', 'heal', { beganNs: ns(10) });
    expect(deadlock(strobing)).toBe('unexplained');
  });

  it('is not, before what the lock keeps for a silent client had ended, if that ever does', () => {
    const keeps = (place: Deadlines['place']) => {
      const who = { client: 'c0', slot: 'c0', host: 'c0', address: '10.77.0.9', lock: 'any', features: [] };
      return deadlock(whole().event(0.05, { type: 'client-up', ...who, ...(place && { deadlines: { place } }) }));
    };
    expect(keeps(1_900)).toBe('lock');
    expect(keeps(2_100)).toBe('unexplained');
    expect(keeps('lease')).toBe('unexplained');
    expect(keeps('never')).toBe('lock');
  });
});

describe('harm at a resource that checks tokens', () => {
  const harm = (resource: RunConfig['resource'], cause = 'client-paused') =>
    whose(
      violation(cause, { class: 'harm', kind: 'stale-write' }),
      calm().configured({ ...(resource && { resource }) }),
    );

  it("is not the lease's: it would have been refused", () => {
    expect(harm('trusting')).toBe('lease');
    expect(harm('checking')).toBe('unexplained');
    expect(harm('checking', 'evicted')).toBe('deployment');
  });
});
