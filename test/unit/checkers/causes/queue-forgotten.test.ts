/** That a server forgot the queue in which a client stood is said where it is proven, and each link of that is taken away once. */
import { describe, expect, it } from 'vitest';
import { fifo } from '../../../../checkers/liveness/fifo.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import type { Quorum } from '../../../../harness/vocabulary/topology.js';
import { fairStory, KEY, ns, type Story } from '../build.js';

const QUEUE = `{${KEY}}:queue`;
const DEADLINES = `{${KEY}}:deadlines`;

interface Telling {
  /** What r1 does before it is killed. */
  before?: (story: Story) => Story;
  /** What it does when it runs again, before c1 is granted the lock. */
  after?: (story: Story) => Story;
  killed?: number;
  effects?: FaultEffect['kind'][];
  deadline?: boolean;
  quorum?: Quorum;
  /** How the new process is found. */
  look?: { at?: number; runId?: string; isEmpty?: true };
  brokeOff?: number;
  /** For how long a place lasts. */
  leaseMs?: number;
  /** By whom, when and for what r1 is asked whether anybody is queued, before c1 is granted the lock. */
  /** When c1's attempt left. */
  asked?: number;
  looked?: { by?: string; at?: number; under?: string };
}

const pushed = (s: Story) => s.command(1.2, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@1']);
const same = (s: Story) => s;

/** c2 asks at 1 s and is queued; r1 is killed and runs again from 2 s on; c1 asks at 2.2 s and is granted at 2.5 s, c2 at 4 s. */
function cause({
  before = same,
  after = same,
  killed = 1.6,
  effects = ['killed', 'forgot'],
  deadline = true,
  quorum = { kind: 'primary' },
  look: { at = 2.01, runId = 'run-2', ...look } = { isEmpty: true },
  brokeOff = killed + 0.002,
  leaseMs = 5_000,
  asked = 2.201,
  looked: { by = 'c1', at: lookedAt = 2.498, under = QUEUE } = {},
}: Telling = {}) {
  const story = fairStory(deadline);
  story.deployed(quorum).watch(0.1, 'r1').sample(0.5, 'r1');
  // Over the same connection as later: by that it is the process that was granted the lock.
  before(pushed(story)).event(1.5, { type: 'step', client: 'c2', name: 'queued', clientNs: ns(1.5), hold: 1 });
  const told = effects.map((kind) => ({ kind, who: ['r1'] }) as FaultEffect);
  story.fault(killed + 0.01, 0, 'amnesia', 'strike', { effects: told, beganNs: ns(killed) });
  story
    .watch(brokeOff, 'r1', false)
    .watch(2, 'r1')
    .sample(at, 'r1', { runId, ...look });
  after(story).command(lookedAt, 'r1', by, ['LINDEX', under, '0']);
  story.grant('c2', 4, { sent: 1, began: 1.001, leaseMs });
  story
    .grant('c1', 2.5, { sent: asked - 0.001, began: asked, ...(asked < 2 && { grantSent: asked }) })
    .release('c1', 3);
  story.take(2.499, 'r1', 'c1', 'c1@2').sample(3.2, 'r1', { runId }).command(3.5, 'r1', 'c1', ['DEL', KEY]);
  const input = story.take(3.999, 'r1', 'c2', 'c2@1').sample(6, 'r1', { runId }).input();
  const [violation] = fifo.check(input).violations;
  for (const { history, observation } of violation?.cause.chain ?? []) {
    if (history !== undefined) expect(input.history.event(history)).toBeDefined();
    if (observation !== undefined) expect(input.observations.line(observation)).toBeDefined();
  }
  return violation?.cause;
}

it('is named where the server was killed with the place in its queue, and ran again with nothing', () => {
  const { name, sentence, chain } = cause()!;
  expect(name).toBe('node-forgot');
  expect(sentence).toMatch(
    /^r1 had stored c2's place c2@1 in .*:queue at 1\.200 s; then it was killed and forgot what it had/,
  );
  expect(chain.map(({ text }) => text)).toContain('r1 ran again, and had nothing stored');
});

it('is told of the kill that came after, and of none before', () => {
  const effects = ['killed', 'forgot'].map((kind) => ({ kind, who: ['r1'] }) as FaultEffect);
  const before = (s: Story) => s.fault(0.4, 1, 'amnesia', 'strike', { effects, beganNs: ns(0.35) });
  const { name, chain } = cause({ before })!;
  expect(name).toBe('node-forgot');
  expect(chain.filter(({ history }) => history !== undefined)[0]!.atNs).toBe(ns(1.61));
});

describe('unexplained', () => {
  const name = (telling: Telling) => cause(telling)?.name;

  it('where the other one looked before the server was killed, and never again', () => {
    const looked = { at: 1.56 };
    expect(name({ asked: 1.54, looked: { at: 2.498 } })).toBe('node-forgot');
    expect(name({ asked: 1.54, looked })).toBe('unexplained');
  });

  it('where no fault tells that it was killed, or that it forgot', () => {
    expect(name({ effects: ['killed'] })).toBe('unexplained');
    expect(name({ effects: ['forgot'] })).toBe('unexplained');
  });

  it('where the lock does not say when places end', () => {
    expect(name({ deadline: false })).toBe('unexplained');
  });

  it('where a look does not show that nothing was stored, or not in a new process, or only when the other one had been granted it', () => {
    expect(name({ look: {} })).toBe('unexplained');
    expect(name({ look: { isEmpty: true, runId: 'run-1' } })).toBe('unexplained');
    const gone = (s: Story) => s.command(2.55, 'r1', 'c1', ['DEL', KEY]);
    expect(name({ after: gone, look: { isEmpty: true, at: 2.6 } })).toBe('unexplained');
    expect(name({ after: gone })).toBe('node-forgot');
  });

  it('where the server is not seen to have granted it to the other one', () => {
    const refused = (s: Story) => s.command(2.3, 'r1', 'c3', ['SET', KEY, 'c3@2', 'PX', '5000', 'NX']);
    expect(name({ after: refused })).toBe('unexplained');
  });

  it('where the place was taken out before, or may have been, as others were', () => {
    const left = (s: Story) => s.command(1.3, 'r1', 'c2', ['LREM', QUEUE, '0', 'c2@1']);
    expect(name({ before: left })).toBe('unexplained');
    const another = (by: string) => (s: Story) =>
      s.command(0.6, 'r1', 'c3', ['RPUSH', QUEUE, 'c3@0']).command(0.7, 'r1', by, ['LREM', QUEUE, '0', 'c3@0']);
    expect(name({ before: another('c4') })).toBe('unexplained');
    expect(name({ before: another('c3') })).toBe('node-forgot');
  });

  it('but not where others took out what nobody had stored for as long as places last', () => {
    const dead = (refreshed: number) => (s: Story) =>
      s
        .command(0.11, 'r1', 'c3', ['RPUSH', QUEUE, 'c3@0'])
        .command(refreshed, 'r1', 'c3', ['ZADD', DEADLINES, '6', 'c3@0'])
        .command(1.45, 'r1', 'c2', ['ZADD', DEADLINES, '6', 'c2@1'])
        .command(1.85, 'r1', 'c4', ['LREM', QUEUE, '0', 'c3@0']);
    expect(name({ before: dead(0.12), killed: 1.9, leaseMs: 1_700 })).toBe('node-forgot');
    expect(name({ before: dead(0.9), killed: 1.9, leaseMs: 1_700 })).toBe('unexplained');
  });

  it('where the place is missing in one of the keys in which it was stored', () => {
    const both = (s: Story) => s.command(1.25, 'r1', 'c2', ['ZADD', DEADLINES, '6', 'c2@1']);
    expect(name({ before: both })).toBe('node-forgot');
    expect(name({ before: (s) => both(s).command(1.4, 'r1', 'c2', ['ZREM', DEADLINES, 'c2@1']) })).toBe('unexplained');
  });

  it('where the time of its key would have been over when the other one was granted the lock', () => {
    const timed = (ms: string) => (s: Story) => s.command(1.3, 'r1', 'c2', ['PEXPIRE', QUEUE, ms]);
    expect(name({ before: timed('200') })).toBe('unexplained');
    expect(name({ before: timed('1000') })).toBe('unexplained');
    expect(name({ before: timed('2000') })).toBe('node-forgot');
  });

  it('where its client stood in the queue again before the other one was granted the lock', () => {
    const again = (value: string) => (s: Story) => s.command(2.3, 'r1', 'c2', ['ZADD', QUEUE, '3', value]);
    expect(name({ after: again('c2@1') })).not.toBe('node-forgot');
    expect(name({ after: again('c2@1.1') })).not.toBe('node-forgot');
  });

  it('where the other one never looked at the queue: it jumps every queue', () => {
    expect(name({ looked: { under: `{${KEY}}:other` } })).toBe('unexplained');
    expect(name({ looked: { by: 'c3' } })).toBe('unexplained');
    expect(name({ looked: { at: 2.1 } })).toBe('unexplained');
    expect(name({ looked: { at: 2.7 } })).toBe('unexplained');
  });

  it('where the other one asked of the queue only what concerned itself', () => {
    const own = (argv: string[]) => (s: Story) => s.command(2.498, 'r1', 'c1', argv);
    const looked = { under: `{${KEY}}:other` };
    expect(name({ after: own(['ZRANGE', QUEUE, '0', '0']), looked })).toBe('node-forgot');
    expect(name({ after: own(['ZSCORE', QUEUE, 'c1@2']), looked })).toBe('unexplained');
    expect(name({ after: own(['PEXPIRE', QUEUE, '5000']), looked })).toBe('unexplained');
  });

  it('where the other one looked only when it had been granted the lock', () => {
    const looked = { at: 2.4995 };
    expect(name({ looked })).toBe('unexplained');
    const script = (s: Story) =>
      s
        .command(2.4995, 'r1', 'c1', ['EVAL', 'take', '2', KEY, QUEUE, 'c1@3'])
        .command(2.4995, 'r1', 'lua', ['lindex', QUEUE, '0'])
        .command(2.4995, 'r1', 'lua', ['set', KEY, 'c1@3', 'PX', '5000']);
    expect(name({ after: script, looked: { at: 2.1 } })).toBe('node-forgot');
  });

  it('where the other one was granted it past a third one’s place as well', () => {
    const third = (at: number) => (s: Story) => s.command(at, 'r1', 'c3', ['RPUSH', QUEUE, 'c3@1']);
    expect(name({ after: third(2.3) })).toBe('node-forgot');
    expect(name({ after: third(2.1) })).toBe('unexplained');
  });

  it('where its client may have stood in the queue again, while nobody watched', () => {
    const looked = (s: Story) => s.sample(2.35, 'r1', { runId: 'run-2' });
    expect(name({ after: looked })).toBe('node-forgot');
    expect(name({ after: (s) => looked(s.watch(2.1, 'r1', false).watch(2.3, 'r1')) })).toBe('unexplained');
  });

  it('where the server was not watched until it was gone', () => {
    expect(name({ brokeOff: 1.55 })).toBe('unexplained');
  });

  it('on independent nodes', () => {
    expect(name({ quorum: { kind: 'majority', nodes: ['r1', 'r2', 'r3'], majority: 2 } })).not.toBe('node-forgot');
  });
});
