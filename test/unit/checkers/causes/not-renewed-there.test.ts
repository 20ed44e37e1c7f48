/** Of independent nodes, those that let a client's time run out beside one that lost it: each link of it is taken away once. */
import { describe, expect, it } from 'vitest';
import { unrenewedSentences } from '../../../../checkers/causes/not-renewed-there.js';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import { EPOCH_WALL_MS, KEY, Story } from '../build.js';

const NODES = ['r1', 'r2', 'r3', 'r4', 'r5'];
const RENEWAL_MS = 5_000;
const take = (client: string, ...lease: string[]) => ['SET', KEY, `value-of-${client}`, ...lease, 'NX'];
const TAKES = take('c2', 'PX', '5000');

interface Told {
  renewedOn?: string[];
  /** Who renews on r3. */
  renewedBy?: string;
  renewalMs?: number;
  /** When c2's attempt leaves, and when it has its answer. */
  sent?: number;
  answered?: number;
  /** By which command r4 stores c1's first lease. */
  stores?: string[];
  /** What happens to c1's key on r2. */
  lose?: (story: Story) => Story;
  /** How c2 asks r4. */
  asks?: string[];
  and?: (story: Story) => Story;
}

const removed =
  (at: number, ...nodes: string[]) =>
  (story: Story) =>
    nodes.reduce((told, node) => told.command(at, node, 'c3', ['DEL', KEY]), story);
const forgets = (story: Story) => story.watch(6, 'r2', false).watch(6.2, 'r2').sample(6.25, 'r2', { runId: '2' });

/** All grant c1 5 s at 1 s; r1, r2 and r3 give it 5 s more at 4 s; r2 forgets; c2 is granted by r2, r4 and r5 at 6.5 s. */
function told({
  renewedOn = ['r1', 'r2', 'r3'],
  renewedBy = 'c1',
  renewalMs = RENEWAL_MS,
  sent = 6.498,
  answered = 6.5,
  stores = take('c1', 'PX', '5000'),
  lose = forgets,
  asks = TAKES,
  and = (story) => story,
}: Told = {}): Story {
  const story = new Story().independent().up('c1').up('c2').up('c3').grant('c1', 1).extend('c1', 4);
  story.grant('c2', answered, { grantSent: sent }).release('c1', 7.5).release('c2', 7.6);
  for (const node of NODES) {
    story.watch(0, node).sample(0.5, node);
    story.command(0.999, node, 'c1', node === 'r4' ? stores : take('c1', 'PX', '5000'));
    const by = node === 'r3' ? renewedBy : 'c1';
    if (renewedOn.includes(node)) story.command(4.0005, node, by, ['PEXPIRE', KEY, `${renewalMs}`]);
  }
  lose(story);
  for (const node of NODES) {
    story.command(6.499, node, 'c2', node === 'r4' ? asks : TAKES);
    story.sample(7, node, node === 'r2' ? { runId: '2' } : {});
  }
  return and(story);
}

const causeOf = (story: Story) => mutualExclusion.check(story.input()).violations[0]!.cause;
const nameOf = (changed: Told) => causeOf(told(changed)).name;

describe('nodes that a renewal did not reach, which a majority allows for', () => {
  it('are told beside what the cause is, and are none', () => {
    const { name, sentence, chain } = causeOf(told());
    expect(name).toBe('node-forgot');
    expect(sentence).toBe(
      "r2 restarted without lock:0, which it had granted to c1, and granted it to c2. On r4 and r5 c1's time was over; its renewal was on r1, r2 and r3, a majority.",
    );
    expect(chain.map(({ text }) => text)).toEqual(
      expect.arrayContaining([
        "r4 gave c1's lock:0 time for the last time (SET)",
        "r3 gave c1's lock:0 more time (PEXPIRE)",
        'r5 granted lock:0 to c2 (SET)',
      ]),
    );
    expect(chain.filter(({ text }) => text.startsWith('r3 gave'))).toHaveLength(1);
  });

  it('are named together where the same is so of them', () => {
    const one = (node: string, what: string) => ({ node, what, chain: [] });
    const all = [one('r3', 'a is over.'), one('r4', 'b is over.'), one('r5', 'a is over.')];
    expect(unrenewedSentences(all)).toEqual(['On r3 and r5 a is over.', 'On r4 b is over.']);
  });

  it('leave the name to whatever took it from the node that had it', () => {
    expect(nameOf({ lose: removed(5, 'r2') })).toBe('released-by-other');
  });

  it('are not told where the renewal was on no majority, was not the holder’s, or not from before', () => {
    expect(nameOf({ renewedOn: ['r1', 'r2'] })).toBe('unexplained');
    expect(nameOf({ renewedBy: 'c3' })).toBe('unexplained');
    expect(nameOf({ sent: 3.9 })).toBe('unexplained');
    // What c1 asked for did not give it the time.
    const refused = (story: Story) => story.command(4.0006, 'r3', 'c1', take('c1', 'PX', '5000'));
    expect(nameOf({ renewedBy: 'c3', and: refused })).toBe('unexplained');
    // It was for a lease of before, under the same name.
    const before = (story: Story) =>
      story
        .take(0.6, 'r3', 'c1')
        .command(0.7, 'r3', 'c1', ['PEXPIRE', KEY, '8000'])
        .command(0.8, 'r3', 'c1', ['DEL', KEY]);
    expect(nameOf({ renewedOn: ['r1', 'r2'], and: before })).toBe('unexplained');
  });

  it('are not told where the renewal found nothing to renew', () => {
    expect(nameOf({ lose: removed(3, 'r2', 'r3') })).toBe('unexplained');
    expect(nameOf({ lose: removed(5, 'r2', 'r3') })).toBe('released-by-other');
    // It gave another's key the time.
    const retaken = (story: Story) => removed(3, 'r3')(story).take(3.1, 'r3', 'c3');
    expect(nameOf({ lose: removed(5, 'r2'), and: retaken })).toBe('unexplained');
  });

  it('are not told where the renewal would not have stood until the other one was granted', () => {
    expect(nameOf({ renewalMs: 2_600, answered: 6.59 })).toBe('node-forgot');
    expect(nameOf({ renewalMs: 2_600, answered: 6.61 })).toBe('unexplained');
  });

  it('are not told where it is not seen that what the client had asked for there had run out', () => {
    const gap = (story: Story) => story.watch(3, 'r4', false).watch(3.1, 'r4');
    expect(nameOf({ and: gap })).toBe('unexplained');
    expect(nameOf({ and: (story) => gap(story).sample(3.2, 'r4', { owner: 'value-of-c1', pttlMs: 2_799 }) })).toBe(
      'node-forgot',
    );
    expect(nameOf({ and: (story) => story.command(5, 'r4', 'c1', ['DEL', KEY]) })).toBe('unexplained');
    expect(nameOf({ asks: ['SET', KEY, 'value-of-c2', 'PX', '5000'] })).toBe('unexplained');
    expect(nameOf({ stores: take('c1', 'PX', '4600') })).toBe('node-forgot');
    expect(nameOf({ stores: take('c1', 'PXAT', `${EPOCH_WALL_MS + 5_999}`) })).toBe('unexplained');
  });
});
