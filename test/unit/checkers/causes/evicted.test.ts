/** An eviction is named where the server's own event shows it between the two grants, and nowhere else. */
import { describe, expect, it } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { Cause } from '../../../../harness/vocabulary/verdict.js';
import { KEY, Story } from '../build.js';

function only(story: Story): Cause {
  const found = mutualExclusion.check(story.input()).violations.map(({ cause }) => cause);
  expect(found).toHaveLength(1);
  return found[0]!;
}

/** c1 is granted at 1 s, c2 at 3 s, both until 4 s: broken. */
function broken(): Story {
  return new Story().up('c1').up('c2').grant('c1', 1).grant('c2', 3).release('c1', 4).release('c2', 4);
}

const TAKEN = 0.999; // c1's take, as its node ran it
const RETAKEN = 2.999;

describe('on one node', () => {
  const granted = () => broken().watch(0, 'r1').sample(0.5, 'r1').take(TAKEN, 'r1', 'c1');
  const pressed = (story: Story) =>
    story
      .fault(1.5, 0, 'evict', 'phase', {
        did: 'limited the memory of r1',
        effects: [{ kind: 'short-of-memory', who: ['r1'] }],
      })
      .fault(2.1, 0, 'evict', 'strike', { targets: ['r1'] })
      .fault(3.5, 0, 'evict', 'heal', { targets: ['r1'] });

  it('is named, with the fault that filled the memory', () => {
    const cause = only(pressed(granted()).evicted(2, 'r1').take(RETAKEN, 'r1', 'c2'));
    expect(cause.name).toBe('evicted');
    expect(cause.sentence).toBe("r1 evicted c1's lock:0 because its memory was full, and granted it to c2.");
    expect(cause.chain.map(({ text }) => text)).toEqual([
      'r1 granted lock:0 to c1 (SET)',
      'limited the memory of r1',
      "r1 evicted lock:0, c1's: its memory was full",
      'r1 granted lock:0 to c2 (SET)',
      "until 5.998 s c1's lease would have run",
    ]);
    expect(cause.chain.map(({ observation }) => observation).filter((line) => line !== undefined)).toHaveLength(3);
  });

  it('is named however long ago the first was granted, under a lock without leases', () => {
    const setnx = (story: Story, at: number, by: string) =>
      story.command(at, 'r1', by, ['setnx', KEY, `value-of-${by}`]);
    const granted = new Story()
      .up('c1', [], 'none')
      .up('c2', [], 'none')
      .grant('c1', 1)
      .grant('c2', 31)
      .release('c1', 32)
      .release('c2', 32);
    const evicted = setnx(granted.watch(0, 'r1').sample(0.5, 'r1'), TAKEN, 'c1').evicted(30, 'r1');
    const cause = only(setnx(evicted, 30.999, 'c2'));
    expect(cause.name).toBe('evicted');
    expect(cause.chain.map(({ text }) => text)).toEqual([
      'r1 granted lock:0 to c1 (SETNX)',
      'c1 was granted lock:0 without a lease that ends',
      "r1 evicted lock:0, c1's: its memory was full",
      'r1 granted lock:0 to c2 (SETNX)',
    ]);
  });

  it('needs no fault: a memory may be full by itself', () => {
    const cause = only(granted().evicted(2, 'r1').take(RETAKEN, 'r1', 'c2'));
    expect(cause.name).toBe('evicted');
    expect(cause.chain).toHaveLength(4);
  });

  it('is not named without the event, though the memory was being filled', () => {
    expect(only(pressed(granted()).sample(2.5, 'r1').take(RETAKEN, 'r1', 'c2')).name).toBe('unexplained');
  });

  const looked = (story: Story) => story.looks(1.1, 3, 'r1', { owner: 'value-of-c1' });

  it.each([
    ['before the first grant', (story: Story) => story.evicted(0.9, 'r1')],
    ['after the second grant', (story: Story) => story.evicted(3.1, 'r1')],
    ['of another key', (story: Story) => story.evicted(2, 'r1', 'lock:01')],
    ['on another node', (story: Story) => looked(story.watch(0, 'r2').evicted(2, 'r2'))],
  ])('is not named for an eviction %s', (_what, add) => {
    expect(only(add(granted()).take(RETAKEN, 'r1', 'c2')).name).toBe('never-granted');
  });

  it('is not named where another client had taken the key in between', () => {
    const story = granted().command(1.5, 'r1', 'c3', ['SET', KEY, 'value-of-c3']).evicted(2, 'r1');
    expect(only(story.take(RETAKEN, 'r1', 'c2')).name).toBe('overwritten');
  });

  it('is not named where the key had been removed before, and taken anew', () => {
    const story = granted().command(1.5, 'r1', 'c3', ['DEL', KEY]).take(1.6, 'r1', 'c3').evicted(2, 'r1');
    expect(only(story.take(RETAKEN, 'r1', 'c2')).name).toBe('released-by-other');
  });

  it('is not named where the key had been removed before, and another client may have taken it anew', () => {
    const unseen = granted().command(1.5, 'r1', 'c3', ['DEL', KEY]).sample(1.6, 'r1', { owner: 'value-of-c4' });
    const story = unseen.take(1.7, 'r1', 'c5').evicted(2, 'r1').take(RETAKEN, 'r1', 'c2');
    expect(only(story).name).toBe('released-by-other');
  });

  it('is not named where another client may have taken the key while it was not watched', () => {
    const story = granted().watch(1.5, 'r1', false).watch(1.6, 'r1').evicted(2, 'r1');
    expect(only(story.take(RETAKEN, 'r1', 'c2')).name).toBe('unexplained');
  });

  it('names the first of several', () => {
    const story = granted().evicted(2, 'r1').take(2.2, 'r1', 'c3').evicted(2.5, 'r1');
    expect(only(story.take(RETAKEN, 'r1', 'c2')).chain.map(({ text }) => text)).toEqual([
      'r1 granted lock:0 to c1 (SET)',
      "r1 evicted lock:0, c1's: its memory was full",
      'r1 let c3 have lock:0 (SET)',
      'r1 granted lock:0 to c2 (SET)',
      "until 5.998 s c1's lease would have run",
    ]);
  });

  it('is not misled by a sample that was answered after the eviction and read before what came before it', () => {
    const story = granted().take(1.99, 'r1', 'c3').sample(2.05, 'r1').take(2.051, 'r1', 'c3').evicted(2.052, 'r1');
    expect(only(story.take(RETAKEN, 'r1', 'c2')).name).toBe('evicted');
  });
});

describe('on a replicated deployment', () => {
  /** c1 granted by r1, whose replica r2 has the write, is told to delete it, and is primary when it grants c2. */
  const promoted = () =>
    broken()
      .watch(0, 'r1')
      .watch(0, 'r2')
      .sample(0.5, 'r1')
      .sample(0.5, 'r2', { role: 'replica' })
      .take(TAKEN, 'r1', 'c1')
      .command(1.001, 'r2', 'link', ['SET', KEY, 'value-of-c1', 'PXAT', '1700000005999'])
      .looks(1.1, 2, 'r1', { owner: 'value-of-c1' })
      .sample(0.9, 'r2', { role: 'replica' })
      .looks(1.1, 1.9, 'r2', { role: 'replica', owner: 'value-of-c1' })
      .sample(1.9, 'r2', { role: 'replica', owner: 'value-of-c1' })
      .command(2.01, 'r2', 'link', ['DEL', KEY])
      .sample(2.5, 'r2')
      .take(RETAKEN, 'r2', 'c2');

  it("is named where the primary's eviction deleted the replica's key, too", () => {
    const cause = only(promoted().evicted(2, 'r1'));
    expect(cause.name).toBe('evicted');
    expect(cause.sentence).toBe("r1 evicted c1's lock:0 because its memory was full, and r2 granted it to c2.");
    expect(cause.chain.map(({ text }) => text)).toContain('r2 deleted it, as its primary had (DEL)');
  });

  it('is not named where nothing shows why the replica was to delete it', () => {
    expect(only(promoted()).name).not.toBe('evicted');
    expect(only(promoted().evicted(0.3, 'r1')).name).not.toBe('evicted');
  });
});

describe('on independent nodes', () => {
  const nodes = ['r1', 'r2', 'r3', 'r4', 'r5'];
  /** c1 on the one, c2 on the other nodes. */
  const redlock = (c1On: string[], c2On: string[]) => {
    const story = broken().independent();
    for (const node of nodes) story.watch(0, node).sample(0.5, node);
    for (const node of c1On) story.take(TAKEN, node, 'c1');
    for (const node of c2On) story.take(RETAKEN, node, 'c2');
    return story;
  };

  it('one that evicted it, and was the only one that granted both, explains it', () => {
    expect(only(redlock(['r1', 'r2', 'r3'], ['r3', 'r4', 'r5']).evicted(2, 'r3')).name).toBe('evicted');
  });

  it('a key that was taken after an eviction was granted: no minority is blamed', () => {
    const story = redlock(['r1', 'r2', 'r3'], ['r2', 'r3', 'r4', 'r5']).evicted(2, 'r3');
    expect(only(story)).toMatchObject({ name: 'evicted', sentence: expect.not.stringContaining('r2') });
  });

  it('one that evicted it does not, where another one granted both for no reason', () => {
    const story = redlock(['r1', 'r2', 'r3', 'r4'], ['r3', 'r4', 'r5']).evicted(2, 'r3');
    // Whether r4 refused c2 is unknown: watching it broke off, without a restart.
    story.watch(2.8, 'r4', false).watch(2.9, 'r4');
    expect(only(story).name).toBe('unexplained');
  });
});
