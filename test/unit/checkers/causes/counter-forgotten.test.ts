/** That a killed server took the count of the tokens with it is said where it is proven, and each link of that is taken away once. */
import { describe, expect, it } from 'vitest';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import type { Quorum } from '../../../../harness/vocabulary/topology.js';
import { ns, type Story } from '../build.js';
import { COUNTER, count, fencedStory, tokenCause } from './fenced-story.js';

interface Telling {
  tokens?: readonly [number, number];
  /** Counts to the first token, for c1 at 0.999 s and c3 before. */
  first?: (story: Story) => Story;
  /** Counts for c2, which was asked at 2.997 s and granted at 3 s. */
  second?: (story: Story) => Story;
  /** What else befell the counter. */
  also?: (story: Story) => Story;
  quorum?: Quorum;
  effects?: FaultEffect[];
  /** When the record of the kill was written. */
  struck?: number;
}

const KILLED: FaultEffect[] = [
  { kind: 'killed', who: ['r1'], sinceNs: ns(1.99) },
  { kind: 'forgot', who: ['r1'], sinceNs: ns(1.99) },
];

/** c1 counts up to 2 and is granted at 1 s; r1 is killed at 2 s, is watched again at 2.5 s, and counts up for c2. */
function told({
  tokens: [higher, lower] = [2, 1],
  first = (s) => count(count(s, 0.9, 'c3'), 0.9995, 'c1'),
  second = (s) => count(s, 2.9995, 'c2'),
  also = (s) => s,
  quorum = { kind: 'primary' },
  effects = KILLED,
  struck = 2,
}: Telling = {}) {
  const story = fencedStory(quorum).watch(0.1, 'r1').sample(0.5, 'r1');
  first(story.grant('c1', 1, { token: higher }).release('c1', 1.5));
  also(
    story
      .fault(struck, 0, 'amnesia', 'strike', { targets: ['r1'], did: 'SIGKILL to r1, data removed', effects })
      .watch(2.01, 'r1', false)
      .fault(2.4, 0, 'amnesia', 'heal', { targets: ['r1'] })
      .watch(2.5, 'r1'),
  );
  second(story.grant('c2', 3, { token: lower, sent: 2.997, began: 2.997 }).release('c2', 4)).sample(5, 'r1');
  return tokenCause(story);
}

const name = (telling: Telling) => told(telling).name;

describe('named', () => {
  it('where nothing but the kill can have taken the count', () => {
    expect(told()).toMatchObject({
      name: 'node-forgot',
      sentence:
        'r1 had counted {lock:0}:fence up to 2 for c1; then it was killed and forgot what it had (SIGKILL to r1, data removed), and when it counted up for c2 it came to 1.',
      chain: [
        { text: 'r1 counted {lock:0}:fence up to 2 for c1' },
        { text: 'c1 was granted lock:0 with token 2' },
        { text: 'SIGKILL to r1, data removed' },
        { text: 'r1 counted {lock:0}:fence up for c2' },
        { text: 'c2 was granted lock:0 with token 1' },
      ],
    });
  });

  it('where others counted on, before and after, and the token came again', () => {
    const on = (s: Story) => count(count(count(s, 0.9, 'c3'), 0.9995, 'c1'), 1.7, 'c3');
    expect(name({ tokens: [2, 2], first: on, also: (s) => count(s, 2.6, 'c3') })).toBe('node-forgot');
    expect(name({ also: (s) => s.sample(2.6, 'r1').command(2.7, 'r1', 'c3', ['GET', COUNTER]) })).toBe('node-forgot');
  });
});

it('is named where the lock was stored beside it, and a look found the server empty', () => {
  const first = (s: Story) => count(count(s, 0.9, 'c3'), 0.9995, 'c1').take(0.9996, 'r1', 'c1');
  expect(name({ first, also: (s) => s.sample(2.6, 'r1', { isEmpty: true }) })).toBe('node-forgot');
});

it('is named where the server was killed in the moment of the first count, which it had printed', () => {
  const at = (killed: number, first: (s: Story) => Story) =>
    name({ effects: KILLED.map((one) => ({ ...one, sinceNs: ns(killed) }) as FaultEffect), struck: killed, first });
  const counts = (s: Story, since: number) => count(count(s, since, 'c3'), 0.9995, 'c1');
  expect(at(0.9994, (s) => counts(s, 0.9).watch(0.9996, 'r1', false).watch(1.5, 'r1'))).toBe('node-forgot');
  // By the process that came after it; and nobody watched it when it was killed.
  const again = (lost: number) => (s: Story) =>
    counts(s.watch(lost, 'r1', false).watch(0.952, 'r1').sample(0.98, 'r1', { isEmpty: true }), 0.99);
  expect(at(0.95, again(0.951))).toBe('unexplained');
  expect(at(0.95, again(0.949))).toBe('unexplained');
});

it('is named where its next attempt counted too soon to be told apart, if only one of the counts came to its token', () => {
  const looked = (s: Story) => s.sample(2.6, 'r1', { isEmpty: true });
  const first = (s: Story) => count(count(s, 0.9, 'c3'), 0.9995, 'c1').take(0.9996, 'r1', 'c1');
  const second = (s: Story) => count(count(s, 2.9995, 'c2'), 3.001, 'c2');
  expect(name({ first, second, also: looked })).toBe('node-forgot');
  expect(name({ first, second, also: looked, tokens: [3, 3] })).toBe('unexplained');
  // What they came to is not known.
  expect(name({ first, second })).toBe('unexplained');
});

describe('not named', () => {
  it('where the server was not killed, or forgot nothing', () => {
    for (const effects of [[], [KILLED[0]!], [KILLED[1]!], [{ ...KILLED[0]!, who: ['r2'] } as FaultEffect, KILLED[1]!]])
      expect(name({ effects })).toBe('unexplained');
  });

  it('where the second attempt may have left, or the first count run, when the server was alive or dead already', () => {
    expect(name({ struck: 2.9985 })).toBe('unexplained');
    const early = KILLED.map((effect) => ({ ...effect, sinceNs: ns(0.95) }) as FaultEffect);
    const first = (s: Story) => count(count(s, 0.9, 'c3').watch(0.97, 'r1', false).watch(0.98, 'r1'), 0.9995, 'c1');
    expect(name({ effects: early, struck: 0.96, first })).toBe('unexplained');
  });

  it('where the server had begun anew before it was killed, of which no fault tells', () => {
    const broke = (runId: string, looked = 1.8) => {
      const counts = (s: Story) => count(count(s, 0.9, 'c3'), 0.9995, 'c1');
      return (s: Story) => counts(s).watch(1.5, 'r1', false).watch(1.6, 'r1').sample(looked, 'r1', { runId });
    };
    expect(name({ first: broke('run-0') })).toBe('unexplained');
    // The same process, which nobody watched for a moment; before that it is not known to be.
    expect(name({ first: broke('run-1') })).toBe('node-forgot');
    expect(name({ first: broke('run-1', 1.4) })).toBe('unexplained');
  });

  it('where anybody did anything else to the counter, at any time', () => {
    const counts = (s: Story) => count(count(s, 0.9, 'c3'), 0.9995, 'c1');
    for (const argv of [
      ['DEL', COUNTER],
      ['SET', COUNTER, '0'],
      ['INCRBY', COUNTER, '-1'],
      ['PEXPIRE', COUNTER, '100000'],
    ]) {
      const meddle = (at: number) => (s: Story) => s.command(at, 'r1', 'c3', argv);
      const tellings: Telling[] = [
        { first: (s) => counts(meddle(0.6)(s)) },
        { first: (s) => meddle(1.2)(counts(s)) },
        { also: meddle(2.7) },
        { second: (s) => meddle(4.5)(count(s, 2.9995, 'c2')) },
      ];
      tellings.forEach((telling, n) => {
        expect(name(telling), `${argv} ${n}`).not.toBe('node-forgot');
      });
    }
  });

  it('where the first count came to another number, or one of them was another’s, or was made twice and never came to it', () => {
    expect(name({ tokens: [3, 1] })).toBe('unexplained');
    expect(name({ first: (s) => count(count(s, 0.9, 'c3'), 0.9995, 'c3') })).toBe('unexplained');
    const again = (s: Story) => count(count(count(s, 0.9, 'c3'), 0.9982, 'c1'), 0.9995, 'c1');
    expect(name({ first: again, tokens: [1, 1] })).toBe('unexplained');
    expect(name({ first: again, tokens: [3, 1] })).toBe('node-forgot');
    expect(name({ first: (s) => count(count(s, 0.9, 'c3'), 1.2, 'c1') })).toBe('unexplained');
    expect(name({ second: (s) => count(s, 2.9995, 'c3') })).toBe('unexplained');
    expect(name({ second: (s) => s })).toBe('unexplained');
    expect(name({ second: (s) => count(count(s, 2.9985, 'c2'), 2.9995, 'c2') })).toBe('unexplained');
    expect(name({ second: (s) => count(s, 2.9, 'c2') })).toBe('unexplained');
  });

  it('where a client had counted down, by more than the count that was lost', () => {
    const first = (s: Story) => count(s.command(0.9, 'r1', 'c3', ['INCRBY', COUNTER, '4']), 0.9995, 'c1');
    expect(name({ tokens: [5, 1], first })).toBe('node-forgot');
    const down = (s: Story) => first(s).command(1.6, 'r1', 'c3', ['INCRBY', COUNTER, '-4']);
    expect(name({ tokens: [5, 1], first: down })).toBe('unexplained');
  });

  it('where the second count is known to have come to another number than the token that was given out', () => {
    const looked = (s: Story) => s.sample(2.6, 'r1', { runId: 'run-2', isEmpty: true });
    expect(name({ also: looked })).toBe('node-forgot');
    expect(name({ also: looked, tokens: [2, 2] })).toBe('unexplained');
  });

  it('where the second client had drawn its token when it was refused, before the kill, of which the lines were read late', () => {
    const late = (s: Story, read: number, at: number, client: string) =>
      s.command(read, 'r1', client, ['INCR', COUNTER], (at - read) * 1_000);
    const story = fencedStory({ kind: 'primary' }).watch(0.1, 'r1').sample(0.5, 'r1');
    late(story.grant('c1', 1, { token: 2 }).release('c1', 1.5).refused('c2', 0.94, 0.96), 2.7, 0.95, 'c2');
    late(story, 2.701, 0.9995, 'c1')
      .fault(2, 0, 'amnesia', 'strike', { targets: ['r1'], effects: KILLED })
      .watch(2.702, 'r1', false)
      .fault(2.4, 0, 'amnesia', 'heal', { targets: ['r1'] })
      .watch(2.703, 'r1');
    story.grant('c2', 2.6, { token: 1 }).release('c2', 4).sample(5, 'r1', { runId: 'run-2' });
    expect(tokenCause(story).name).toBe('unexplained');
  });

  it('where the second count was of another counter', () => {
    const other = (s: Story) => s.command(2.9995, 'r1', 'c2', ['INCR', `${COUNTER}:other`]);
    expect(name({ second: other })).toBe('unexplained');
  });

  it('where the server evicted the counter', () => {
    const first = (s: Story) => count(count(s, 0.9, 'c3').evicted(0.99, 'r1', COUNTER), 0.9995, 'c1');
    expect(name({ first, tokens: [1, 1] })).not.toBe('node-forgot');
  });

  it('where not all that the server did is in the record, or can be looked at', () => {
    expect(name({ also: (s) => s.event(6, { type: 'closed', observations: 9_999 }) })).toBe('unexplained');
    expect(name({ first: (s) => s, second: (s) => s })).toBe('unexplained');
    const many = (s: Story) => s.times(33, (_, n) => s.command(2.6, 'r1', 'c3', ['SET', `${COUNTER}:${n}`, 'x']));
    expect(name({ also: many })).toBe('unexplained');
  });

  it('where there is another server that can have counted', () => {
    expect(name({ also: (s) => s.sample(2.6, 'r2') })).toBe('unexplained');
    expect(name({ quorum: { kind: 'majority', nodes: ['r1'], majority: 1 } })).toBe('unexplained');
  });
});
