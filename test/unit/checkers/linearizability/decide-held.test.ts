/** The reading of the classes, told: what ends a hold, how long a lease certainly runs, and who acts on after it. */
import { describe, expect, it } from 'vitest';
import { decideHeld } from '../../../../checkers/linearizability/decide-held.js';
import { Story } from '../build.js';

/** `leased/acted` of the only key. */
function decided(story: Story): string {
  const [one, ...others] = decideHeld(story.input());
  expect(others).toEqual([]);
  return `${one!.leased.verdict}/${one!.acted.verdict}`;
}

/** c1 is granted the key at 1 s, with a lease of 5 s, and c2 at `atS`. */
const then = (atS: number, tell: (story: Story) => Story = (story) => story) =>
  decided(
    tell(new Story().grant('c1', 1, { grantSent: 1 })).grant('c2', atS, { sent: atS, began: atS, grantSent: atS }),
  );

describe('a hold', () => {
  it('ends where its release began, whatever came of it', () => {
    for (const end of [{}, { reason: 'unreachable' }, { type: 'info' }, { type: 'never' }] as const) {
      expect(then(3.1, (story) => story.release('c1', 3, end))).toBe('valid/valid');
      expect(then(2.9, (story) => story.release('c1', 3, end))).toBe('invalid/invalid');
    }
  });

  it('ends where its client was told that it is lost, and where that went down', () => {
    expect(then(3.1, (story) => story.lost('c1', 3))).toBe('valid/valid');
    expect(then(2.9, (story) => story.lost('c1', 3))).toBe('invalid/invalid');
    expect(then(3.1, (story) => story.down('c1', 3))).toBe('valid/valid');
    expect(then(2.9, (story) => story.down('c1', 3))).toBe('invalid/invalid');
  });

  it('may have been lost at any time where the clock of its client cannot be trusted', () => {
    const lostAt3 = (sent: number) =>
      decided(
        new Story()
          .grant('c1', 1, { sent, began: 0.9, grantSent: 0.9 })
          .grant('c2', 2.9, { began: 2.8, grantSent: 2.8 })
          .lost('c1', 3),
      );
    expect(lostAt3(0.9)).toBe('invalid/invalid');
    // It began before it was asked.
    expect(lostAt3(0.91)).toBe('valid/valid');
  });

  it('ends with its lease, less the margin; who acts on for longer than the margin holds on', () => {
    // A thousandth of 5 s, and 2 ms.
    expect(then(5.992, (story) => story.release('c1', 5.999))).toBe('invalid/invalid');
    expect(then(5.994, (story) => story.release('c1', 6.006))).toBe('valid/valid');
    expect(then(6.001, (story) => story.release('c1', 6.0069))).toBe('valid/valid');
    expect(then(6.001, (story) => story.release('c1', 6.0071))).toBe('valid/invalid');
  });

  it('is renewed from when the renewal was sent; one that came too late mends nothing', () => {
    const renewed = (sentS: number) => (story: Story) => story.renewed('c1', sentS).release('c1', 12);
    expect(then(8.9, renewed(4))).toBe('invalid/invalid');
    expect(then(9.1, renewed(4))).toBe('valid/invalid');
    expect(then(9.1, renewed(6.1))).toBe('valid/invalid');
  });

  it('may be over by a shorter lease that was asked for, whether or not it was given', () => {
    const asked = (leaseMs: number) => (story: Story) =>
      story.extend('c1', 2, leaseMs, { type: 'info' }).release('c1', 12);
    expect(then(3.1, asked(1_000))).toBe('valid/invalid');
    expect(then(2.9, asked(1_000))).toBe('invalid/invalid');
    // A longer one is not taken for given.
    expect(then(6.1, asked(9_000))).toBe('valid/invalid');
  });

  it('that had to wait for another one is in nobody’s way but others’, when its client acts on', () => {
    // c1 asks before c2 has it, and is granted it after c2; by its own reckoning the lease is over at 6 s, by the server's later.
    const waited = (story: Story) =>
      decided(
        story
          .grant('c2', 1.02, { sent: 1.01, began: 1.01, grantSent: 1.01 })
          .release('c2', 1.05)
          .grant('c1', 1.07, { sent: 1, began: 1, grantSent: 1 })
          .release('c1', 6.5),
      );
    expect(waited(new Story())).toBe('valid/valid');
    expect(waited(new Story().grant('c3', 6.2, { sent: 6.1, began: 6.1, grantSent: 6.1 }))).toBe('valid/invalid');
  });

  it('of an acquire that is not known to have been granted is none', () => {
    const story = new Story().acquire('c1', [1, 2], { type: 'info' }).grant('c2', 3);
    expect(decided(story)).toBe('valid/valid');
  });
});

describe('a grant', () => {
  it('is impossible throughout the hold of another, though its own hold proves nothing', () => {
    const story = new Story()
      .grant('c1', 1)
      .grant('c2', 3, { sent: 2, began: 2, grantSent: 2 })
      .lost('c2', 2.5)
      .release('c1', 4);
    expect(decided(story)).toBe('invalid/invalid');
  });

  it('to its owner once more, for writing, is not decided', () => {
    const story = new Story()
      .promised({ kind: 'read-write' })
      .grant('c1', 1, { mode: 'read' })
      .grant('c1', 2, { mode: 'write' });
    expect(decided(story)).toBe('unknown/unknown');
    expect(decideHeld(story.input())[0]!.leased.why).toEqual([
      'a client was granted it for writing while it had it already',
    ]);
  });
});
