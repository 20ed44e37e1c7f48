/** Until when a key was certainly there, and what may have taken it: each doubt has a story in which it decides. */
import { describe, expect, it } from 'vitest';
import { KEY, LEASE_MS, type Story } from '../build.js';
import { causeNames, FIRST_TAKE, grantedByR1, overwrites, SECOND_TAKE, twoGrants } from './two-grants.js';

const retaken = (story: Story) => causeNames(story.take(SECOND_TAKE, 'r1', 'c2'));
const lostAt = (story: Story, at: number, node = 'r1') => story.watch(at, node, false).watch(at + 0.05, node);
describe('a value that is found after a gap is the holder’s', () => {
  const found = (before: (story: Story) => Story) => {
    const story = before(twoGrants().watch(0, 'r1').sample(0.1, 'r1')).take(FIRST_TAKE, 'r1', 'c1', 'same');
    return causeNames(overwrites(lostAt(story, 1.3).sample(1.7, 'r1', { owner: 'same' })));
  };

  it('unless another client ever stored it', () => {
    expect(found((story) => story)).toEqual(['overwritten']);
    expect(found((story) => story.take(0.2, 'r1', 'c3', 'same', 0, 300))).toEqual(['unexplained']);
  });

  it('where only its replicas have it besides', () => {
    const story = grantedByR1().watch(0, 'r2').sample(0.5, 'r2', { role: 'replica' });
    story.command(1, 'r2', 'link', ['SET', KEY, 'value-of-c1', 'PXAT', '1700000005999']);
    story.looks(0.6, 2.9, 'r2', { role: 'replica' }).looks(1.1, 1.3, 'r1', { owner: 'value-of-c1' });
    lostAt(story, 1.35).looks(1.45, 2.95, 'r1', { owner: 'value-of-c1', pttlMs: 4_000 });
    expect(causeNames(overwrites(story))).toEqual(['overwritten']);
  });
});

describe('what its own client stored anew after it was gone', () => {
  /** c1's key is gone at 1.5 s, and at 2 s c1's renewal sets it again; c2 is granted at 2.999 s. */
  const anew = (gone: (story: Story) => Story, then: (story: Story) => Story, ttlMs = LEASE_MS, by = 'c1') => {
    const set = ['SET', KEY, 'value-of-c1', 'PX', String(ttlMs)];
    return retaken(then(gone(grantedByR1().up('c3')).command(2, 'r1', by, set)));
  };
  const deleted = (at: number) => (story: Story) => story.command(at, 'r1', 'c3', ['DEL', KEY]);
  const evicted = (at: number) => (story: Story) => story.evicted(at, 'r1');

  it('is lost by what took it then, and not by what had before', () => {
    expect(anew(deleted(1.5), evicted(2.5))).toEqual(['evicted']);
    expect(anew(evicted(1.5), deleted(2.5))).toEqual(['released-by-other']);
    expect(anew(deleted(1.5), (story) => story, 500)).toEqual(['lease-too-short']);
  });

  it('is nobody else’s to store', () => {
    expect(anew(deleted(1.5), evicted(2.5), LEASE_MS, 'c3')).not.toContain('evicted');
  });
});

it('what another removes and stores anew in one script is another’s', () => {
  const story = grantedByR1().command(2, 'r1', 'c3', ['EVAL', 'take', '1', KEY, 'value-of-c1']);
  story.command(2, 'r1', 'lua', ['del', KEY]).command(2, 'r1', 'lua', ['set', KEY, 'value-of-c1', 'PX', '4000']);
  expect(causeNames(overwrites(story))).toEqual(['unexplained']);
  const kept = grantedByR1().command(2, 'r1', 'c3', ['SET', KEY, 'value-of-c1', 'PX', '4000']);
  expect(causeNames(overwrites(kept))).toEqual(['overwritten']);
});

it('once a look did not find it, nothing that comes after has taken it', () => {
  const forgot = lostAt(grantedByR1().sample(1.2, 'r1', { owner: 'value-of-c1' }), 2);
  forgot.sample(2.5, 'r1', { runId: 'run-2' }).unlock(2.55, 'r1', 'c3');
  expect(retaken(lostAt(forgot, 2.6).unlock(2.8, 'r1', 'c3'))).toEqual(['node-forgot']);
});

describe('what may or may not have been over when another asked in that very millisecond', () => {
  /** r1's clock is 3.4 s ahead, and c1's time over at 5.999 s by it, at which c3 asks. */
  const AHEAD_MS = 3_400;
  const asked = () =>
    grantedByR1()
      .sample(1.2, 'r1', { owner: 'value-of-c1' })
      .up('c3')
      .fault(2, 0, 'clock', 'strike', { effects: [{ kind: 'clock-jumped', who: ['r1'], offsetMs: AHEAD_MS }] })
      .sample(2.2, 'r1', { skewMs: AHEAD_MS, owner: 'value-of-c1', pttlMs: 399 })
      .take(2.5995, 'r1', 'c3', 'value-of-c3', AHEAD_MS);
  const taken = (story: Story) => causeNames(story.take(SECOND_TAKE, 'r1', 'c2', 'value-of-c2', AHEAD_MS));
  const released = (story: Story, at = 2.7) => taken(story.unlock(at, 'r1', 'c3', 'value-of-c3', AHEAD_MS));
  const command = (at: number, client: string, ...argv: string[]) => asked().command(at, 'r1', client, argv, AHEAD_MS);

  it('is over when a later clock has looked at it, unless it may have been given more time', () => {
    expect(released(asked())).toEqual(['clock-jumped']);
    expect(released(command(2.5997, 'c1', 'PEXPIRE', KEY, '100'), 2.6997)).not.toContain('clock-jumped');
    expect(released(command(2.5997, 'c4', 'HSET', KEY, 'field', '1'))).not.toContain('clock-jumped');
  });
});

describe('a key that c3 gave another time, which was over when somebody asked for it in that very millisecond', () => {
  const shortened = (byMs: number) => grantedByR1().command(1.6, 'r1', 'c3', ['PEXPIRE', KEY, String(byMs - 1_600)]);
  const prolonged = (...argv: string[]) => shortened(2_600).command(2.6, 'r1', 'c5', ['PEXPIRE', KEY, ...argv]);
  const asking = (story: Story) =>
    causeNames(
      story
        .command(SECOND_TAKE, 'r1', 'c2', ['EVAL', 'take', '1', KEY])
        .command(SECOND_TAKE, 'r1', 'lua', ['exists', KEY])
        .command(SECOND_TAKE, 'r1', 'lua', ['set', KEY, 'value-of-c2', 'PX', '5000']),
    );

  it('was shortened by c3, unless it was given yet another one then', () => {
    expect(retaken(shortened(2_600))).toEqual(['shortened-by-other']);
    expect(retaken(prolonged('50'))).toEqual(['unexplained']);
  });

  it('may have gone otherwise where nothing was seen for a while', () => {
    expect(asking(lostAt(prolonged('9000', 'NX'), 2.62))).toEqual(['unexplained']);
  });

  it('may have been there for the next one who was granted it', () => {
    expect(asking(shortened(2_990))).toEqual(['shortened-by-other']);
    expect(asking(shortened(2_999))).toEqual(['unexplained']);
  });
});

describe('on a node of which', () => {
  const nodes = ['r1', 'r2', 'r3', 'r4', 'r5'];
  const seen = (r3: (story: Story) => Story) => {
    const story = twoGrants().independent();
    for (const node of nodes) if (node !== 'r3') story.watch(0, node).sample(0.5, node);
    for (const node of ['r1', 'r2']) story.take(FIRST_TAKE, node, 'c1').sample(1.2, node, { owner: 'value-of-c1' });
    for (const node of ['r4', 'r5']) story.take(SECOND_TAKE, node, 'c2');
    return causeNames(r3(story));
  };
  const found = (story: Story) => story.sample(3.05, 'r3', { runId: 'run-2', owner: 'value-of-c2' });

  it('no command was seen, nothing is known', () => {
    expect(seen((story) => found(story.sample(1.2, 'r3', { owner: 'value-of-c1' })))).toEqual(['unexplained']);
  });

  it('only a look showed who was granted, what comes after that look has not taken it', () => {
    const forgot = (story: Story) => {
      story.watch(0, 'r3').sample(0.5, 'r3').take(FIRST_TAKE, 'r3', 'c1').sample(1.2, 'r3', { owner: 'value-of-c1' });
      return found(story.watch(2, 'r3', false)).watch(3.06, 'r3');
    };
    expect(seen(forgot)).toEqual(['node-forgot']);
    expect(seen((story) => forgot(story).evicted(3.2, 'r3').unlock(3.5, 'r3', 'c2'))).toEqual(['node-forgot']);
  });
});
