/** That a server forgot a grant of a lock with keys of its own is said where it is proven, and each link of that is taken away once. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import type { LockModel } from '../../../../harness/vocabulary/protocol.js';
import type { Quorum } from '../../../../harness/vocabulary/topology.js';
import { EPOCH_WALL_MS, KEY, ns, Story } from '../build.js';

const READERS = `{${KEY}}:readers`;
type Telling = (story: Story) => Story;
const same: Telling = (story) => story;

const WRITES = ['SET', KEY, 'c3@1', 'NX', 'PX', '5000'];

const script = (s: Story, at: number, client: string, ...calls: string[][]) =>
  calls.reduce(
    (told, argv) => told.command(at, 'r1', 'lua', argv),
    s.command(at, 'r1', client, ['EVAL', 'abc', '2', KEY, READERS]),
  );

interface Told {
  /** What c1 stores at 1 s, when it is granted the lock. */
  stores?: string[][];
  /** When that ran. */
  storedAt?: number;
  /** What c1 does before that. */
  first?: Telling;
  /** What r1 does before it is killed. */
  before?: Telling;
  /** What it does when it runs again, before c3 is granted the lock. */
  after?: Telling;
  /** By what c3 comes in at 2.5 s. */
  writes?: string[][];
  effects?: FaultEffect['kind'][];
  quorum?: Quorum;
  model?: LockModel;
  look?: { at?: number; runId?: string; isEmpty?: true };
  brokeOff?: number;
  /** When c3's attempt left. */
  grantSent?: number;
}

const wall = (seconds: number) => String(EPOCH_WALL_MS + seconds * 1000);
const reads = (untilS: number, end = ['PEXPIREAT', READERS, wall(7)]) => [['ZADD', READERS, wall(untilS), 'c1@1'], end];

/** c1 reads from 1 s for 5 s; r1 is killed at 1.6 s and runs again from 2 s on; c3 writes from 2.5 s on. */
function causeOf({
  stores = reads(6),
  storedAt = 0.9995,
  first = same,
  before = same,
  after = same,
  writes = [['ZCARD', READERS], WRITES],
  effects = ['killed', 'forgot'],
  quorum = { kind: 'primary' },
  model = { kind: 'read-write' },
  look: { at = 2.01, runId = 'run-2', ...look } = { isEmpty: true },
  brokeOff = 1.602,
  grantSent,
}: Told = {}) {
  const story = new Story().promised(model);
  for (const client of ['c1', 'c2', 'c3', 'c4']) story.up(client);
  first(story.deployed(quorum).watch(0.1, 'r1')).sample(0.5, 'r1');
  before(script(story.grant('c1', 1, { mode: 'read' }), storedAt, 'c1', ...stores));
  const told = effects.map((kind) => ({ kind, who: ['r1'] }) as FaultEffect);
  story.fault(1.61, 0, 'amnesia', 'strike', { effects: told, beganNs: ns(1.6) });
  story
    .watch(brokeOff, 'r1', false)
    .watch(2, 'r1')
    .sample(at, 'r1', { runId, ...look });
  script(
    after(story).grant('c3', 2.5, {
      mode: 'write',
      sent: (grantSent ?? 2.5) - 0.1,
      ...(grantSent !== undefined && { grantSent }),
    }),
    2.4995,
    'c3',
    ...writes,
  );
  const input = story.release('c1', 4).release('c3', 4.1).sample(9, 'r1', { runId }).input();
  const [violation] = mutualExclusion.check(input).violations.filter(({ class: name }) => name === 'exclusion');
  for (const { history, observation } of violation?.cause.chain ?? []) {
    if (history !== undefined) expect(input.history.event(history)).toBeDefined();
    if (observation !== undefined) expect(input.observations.line(observation)).toBeDefined();
  }
  return violation!.cause;
}

it('is named where the server was killed with the grant in a key of its own, and ran again with nothing', () => {
  const { name, sentence, chain } = causeOf();
  expect(name).toBe('node-forgot');
  expect(sentence).toMatch(
    /^r1 had stored c1's grant, c1@1 in .*:readers, at 1\.000 s; then it was killed and forgot what it had/,
  );
  expect(chain.map(({ text }) => text)).toContain('r1 ran again, and had nothing stored');
});

it('is named of a set without times, too, and of one that never ends', () => {
  expect(causeOf({ stores: [['SADD', READERS, 'c1@1']] }).name).toBe('node-forgot');
  expect(causeOf({ stores: [['ZADD', READERS, '3', 'c1@1']] }).name).toBe('node-forgot');
});

describe('unexplained', () => {
  const name = (told: Told) => causeOf(told).name;

  it('where somebody had removed what the next one looked for, and something else was lost that had been stored beside', () => {
    const stores = [...reads(6), ['SET', `{${KEY}}:until`, '7', 'PX', '5000']];
    expect(name({ stores })).toBe('node-forgot');
    expect(name({ stores, before: (s) => s.command(1.3, 'r1', 'stranger', ['DEL', READERS]) })).toBe('unexplained');
  });

  it('where the next one looked before the server was killed, and never again', () => {
    const looks: Telling = (s) => s.command(1.3, 'r1', 'c3', ['ZCARD', READERS]);
    expect(name({ before: looks, grantSent: 1.2 })).toBe('node-forgot');
    expect(name({ before: looks, grantSent: 1.2, writes: [WRITES] })).toBe('unexplained');
  });

  it('where no fault tells that it was killed, or that it forgot', () => {
    expect(name({ effects: ['killed'] })).toBe('unexplained');
    expect(name({ effects: ['forgot'] })).toBe('unexplained');
  });

  it('where a look does not show that nothing was stored, or not in a new process, or only after the next grant', () => {
    expect(name({ look: {} })).toBe('unexplained');
    expect(name({ look: { isEmpty: true, runId: 'run-1' } })).toBe('unexplained');
    expect(name({ look: { isEmpty: true, at: 2.6 } })).toBe('unexplained');
  });

  it('where the time of its key would have been over by then, or that which is stored with it', () => {
    expect(name({ stores: reads(6, ['PEXPIRE', READERS, '300']) })).toBe('unexplained');
    expect(name({ stores: reads(6, ['PEXPIREAT', READERS, wall(2.4)]) })).toBe('unexplained');
    expect(name({ stores: reads(2.4) })).toBe('unexplained');
    const inSeconds = [['ZADD', READERS, String(Math.floor(Number(wall(2)) / 1000)), 'c1@1']];
    expect(name({ stores: inSeconds })).toBe('unexplained');
    expect(name({ stores: reads(2.6) })).toBe('node-forgot');
  });

  it('where it was stored only when its client had been told that it holds the lock', () => {
    expect(name({ storedAt: 1.008 })).not.toBe('node-forgot');
  });

  it('where its own client had lowered the time that is stored with it, and not where it had raised that', () => {
    const again = (untilS: number) => (s: Story) => s.command(1.3, 'r1', 'c1', ['ZADD', READERS, wall(untilS), 'c1@1']);
    expect(name({ before: again(2.4) })).toBe('unexplained');
    expect(name({ stores: reads(2.4), before: again(6) })).toBe('node-forgot');
  });

  it('where somebody else shortened the time of its key before', () => {
    const shortens: Telling = (s) => s.command(1.3, 'r1', 'c2', ['PEXPIRE', READERS, '500']);
    expect(name({ before: shortens })).toBe('unexplained');
  });

  it('where it had been taken out before, or may have been, as others were', () => {
    expect(name({ before: (s) => s.command(1.3, 'r1', 'c1', ['ZREM', READERS, 'c1@1']) })).not.toBe('node-forgot');
    expect(name({ before: (s) => s.command(1.3, 'r1', 'c2', ['ZREM', READERS, 'c1@1']) })).not.toBe('node-forgot');
    const another = (by: string) => (s: Story) =>
      s.command(1.2, 'r1', 'c2', ['ZADD', READERS, wall(6), 'c2@1']).command(1.4, 'r1', by, ['ZREM', READERS, 'c2@1']);
    expect(name({ before: another('c4') })).toBe('unexplained');
    expect(name({ before: another('c2') })).toBe('node-forgot');
  });

  it('but not where others took out whose lease was over', () => {
    const dead = (leaseMs: number) => (s: Story) =>
      s
        .grant('c2', 1.1, { mode: 'read', leaseMs })
        .command(1.0995, 'r1', 'c2', ['ZADD', READERS, wall(1.3), 'c2@1'])
        .command(1.5, 'r1', 'c4', ['ZREM', READERS, 'c2@1']);
    expect(name({ before: dead(200) })).toBe('node-forgot');
    expect(name({ before: dead(5_000) })).toBe('unexplained');
  });

  it('where the next one was granted without a look for it, be it that others had looked', () => {
    expect(name({ writes: [WRITES] })).toBe('unexplained');
    expect(name({ writes: [['EXISTS', `${READERS}:2`], WRITES] })).toBe('unexplained');
    const others: Telling = (s) => script(s, 2.499, 'c4', ['ZCARD', READERS]);
    expect(name({ writes: [WRITES], after: others })).toBe('unexplained');
    const itself: Telling = (s) => s.command(2.499, 'r1', 'c3', ['ZCARD', READERS]);
    expect(name({ writes: [WRITES], after: itself })).toBe('node-forgot');
  });

  it('where the next one only stored its own beside, whoever stands there', () => {
    expect(name({ writes: [['ZADD', READERS, wall(7), 'c3@1']] })).toBe('unexplained');
    expect(name({ stores: [['SADD', READERS, 'c1@1']], writes: [['SADD', READERS, 'c3@1']] })).toBe('unexplained');
  });

  it('where somebody was seen to empty the server, be it when nothing was there', () => {
    expect(name({ first: (s) => s.command(0.3, 'r1', 'stranger', ['FLUSHALL']) })).toBe('unexplained');
    expect(name({ first: (s) => s.command(0.3, 'r1', 'stranger', ['PING']) })).toBe('node-forgot');
  });

  it('where a release of before, of the same name, may have come over another connection', () => {
    const held = (from: string, runId = 'run-1') => {
      const first: Telling = (s) => {
        s.grant('c1', 0.3, { mode: 'read' }).release('c1', 0.4, { type: 'info' });
        s.command(0.2995, 'r1', 'c1', ['ZADD', READERS, wall(5.3), 'c1@1'], 0, from);
        s.sample(0.35, 'r1', { runId });
        return runId === 'run-1' ? s : s.sample(0.45, 'r1', { isEmpty: true });
      };
      return causeOf({ first }).name;
    };
    expect(held('10.77.0.9:40000')).toBe('node-forgot');
    expect(held('10.77.0.9:39999')).toBe('unexplained');
    expect(held('10.77.0.9:39999', 'run-0')).toBe('node-forgot');
  });

  it('where its client had stored something there again', () => {
    const again: Telling = (s) => s.command(2.3, 'r1', 'c1', ['ZADD', READERS, wall(6), 'c1@1']);
    expect(name({ after: again })).not.toBe('node-forgot');
  });

  it('where the server was not watched until it was gone', () => {
    expect(name({ brokeOff: 1.55 })).toBe('unexplained');
  });

  it('where the next grant is not seen, on independent nodes, and of permits', () => {
    expect(name({ writes: [['EXISTS', READERS]] })).not.toBe('node-forgot');
    expect(name({ quorum: { kind: 'majority', nodes: ['r1', 'r2', 'r3'], majority: 2 } })).not.toBe('node-forgot');
    expect(name({ model: { kind: 'semaphore', permits: 1 } })).not.toBe('node-forgot');
  });

  it('where the clock of the server gained something meanwhile', () => {
    const effects: FaultEffect[] = [{ kind: 'clock-jumped', who: ['r1'], offsetMs: 1_000 }];
    const jumps: Telling = (s) => s.fault(1.3, 1, 'clock', 'strike', { effects, beganNs: ns(1.29) });
    expect(name({ before: jumps })).toBe('unexplained');
  });

  it('where its keys were ever evicted', () => {
    const stored: Telling = (s) => s.command(0.7, 'r1', 'c4', ['ZADD', READERS, '1', 'c4@1']);
    expect(name({ before: stored })).toBe('node-forgot');
    expect(name({ before: (s) => stored(s).evicted(0.8, 'r1', READERS) })).toBe('unexplained');
  });
});
