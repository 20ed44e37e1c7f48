/** Who had the key when. Commands run at the second that is said, and are read a millisecond later. */
import { describe, expect, it } from 'vitest';
import { free, KEY, Lines } from './literal.js';

/** c1 has it from 1 s to 3 s, c2 from 4 s on, for 5 s. */
const story = () =>
  free()
    .cmd(1, 'c1', `SET ${KEY} v1 NX PX 5000`)
    .cmd(3, 'c1', `DEL ${KEY}`)
    .cmd(4, 'c2', `SET ${KEY} v2 NX PX 5000`)
    .cmd(20, 'c2', 'PING');

describe('at an instant', () => {
  it.each([
    [0.5, 'v1', 'no'],
    [1.0005, 'v1', 'unknown'],
    [2, 'v1', 'yes'],
    [2, 'v2', 'no'],
    [3.5, 'v1', 'no'],
    [8, 'v2', 'yes'],
    [9.5, 'v2', 'no'],
  ])('%s s: %s %s', (atS, owner, truth) => {
    expect(story().changes.storedAt(owner, atS * 1e9).truth).toBe(truth);
  });

  it('names the line that shows it', () => {
    expect(story().changes.storedAt('v1', 2e9)).toEqual({ truth: 'yes', lines: [1] });
  });

  it('knows nothing about the time before the first command', () => {
    expect(new Lines().cmd(1, 'c1', `DEL ${KEY}`).changes.storedAt('v1', 0.5e9).truth).toBe('unknown');
  });
});

describe('between two instants', () => {
  it.each([
    [0.1, 0.5, 'v1', 'no'],
    [0.1, 1.0005, 'v1', 'unknown'],
    [0.1, 2, 'v1', 'yes'],
    [1.5, 2, 'v1', 'yes'],
    [3.5, 9, 'v1', 'no'],
    [3.5, 3.9, 'v2', 'no'],
    [3.5, 30, 'v2', 'yes'],
    [9.5, 30, 'v2', 'no'],
  ])('%s s to %s s: %s %s', (fromS, untilS, owner, truth) => {
    expect(story().changes.everStored(owner, fromS * 1e9, untilS * 1e9).truth).toBe(truth);
  });

  it('a gap may hide it', () => {
    const lines = free().cmd(1, 'c1', `SET ${KEY} v1`).gap(2).cmd(3, 'c2', `SET ${KEY} v2`);
    expect(lines.changes.everStored('v3', 1.5e9, 4e9).truth).toBe('unknown');
    expect(lines.changes.everStored('v3', 3.5e9, 4e9).truth).toBe('no');
  });
});

describe('a sample', () => {
  it('says which client has it where nothing was known, and until when', () => {
    const lines = new Lines()
      .sample(1, { owner: 'v1', pttlMs: 4_000 })
      .cmd(2, 'c2', `SET ${KEY} v2 NX`)
      .cmd(6, 'c3', `SET ${KEY} v3 NX`);
    expect(lines.applied('c2')).toEqual(['no']);
    expect(lines.applied('c3')).toEqual(['yes']);
  });

  it('names the owners of a hash', () => {
    const lines = new Lines().sample(1, { owner: '{"o1":"2"}' }).end();
    expect(lines.changes.storedAt('o1', 1.5e9).truth).toBe('yes');
    expect(lines.changes.storedAt('o2', 1.5e9).truth).toBe('no');
    const text = new Lines().sample(1, { owner: '{"o1":"2"}', type: 'string' }).end();
    expect(text.changes.storedAt('o1', 1.5e9).truth).toBe('no');
  });

  it('shows which of the writes before it were refused', () => {
    const tries = () => new Lines().cmd(1, 'c1', `SET ${KEY} v1 NX PX 5000`).cmd(1.1, 'c2', `SET ${KEY} v2 NX PX 5000`);
    const first = tries().sample(1.5, { owner: 'v1' }).end();
    expect([first.applied('c1'), first.applied('c2')]).toEqual([['yes'], ['no']]);
    expect(first.changes.storedAt('v1', 1.3e9).truth).toBe('yes');
    const neither = tries().sample(1.5, { owner: 'v0' }).end();
    expect([neither.applied('c1'), neither.applied('c2')]).toEqual([['no'], ['no']]);
    // c1's may have been there for a second, and gone when c3's came.
    const short = new Lines()
      .cmd(1, 'c1', `SET ${KEY} v1 NX PX 1000`)
      .cmd(4, 'c3', `SET ${KEY} v3 NX PX 5000`)
      .sample(5, { owner: 'v3' })
      .end();
    expect([short.applied('c1'), short.applied('c3')]).toEqual([['unknown'], ['yes']]);
  });

  it('that found nothing at all says so of keys that it does not look for, also of those that come later', () => {
    const other = `${KEY}:queue`;
    const pushed = (lines: Lines) => lines.cmd(3, 'c1', `RPUSH ${other} c1@1`).end().reading.state(other);
    const gone = () => new Lines().gap(1);
    expect(pushed(gone().sample(2, undefined, { isEmpty: true })).held).toMatchObject({ items: [{ value: 'c1@1' }] });
    expect(pushed(gone().sample(2)).held).toBeUndefined();
    const seen = gone().cmd(1.5, 'c2', `LREM ${other} 0 c2@1`).sample(2, undefined, { isEmpty: true });
    expect(pushed(seen).held).toMatchObject({ items: [{ value: 'c1@1' }] });
    // What it shows of what was stored at that moment is not known.
    const then = gone().cmd(2, 'c2', `RPUSH ${other} c2@1`).sample(2, undefined, { isEmpty: true });
    expect(then.end().reading.state(other).exists).toBe('yes');
  });

  it('that found nothing at all took nothing whose time was over', () => {
    const emptied = (atS: number) =>
      free()
        .cmd(1, 'c1', `SET ${KEY} v1 NX PX 1000`)
        .sample(atS, undefined, { isEmpty: true })
        .cmd(5, 'c2', `SET ${KEY} v2 NX PX 1000`)
        .end()
        .changes.list.slice(-2)
        .map(({ how }) => how);
    expect(emptied(3)).toEqual(['expired', 'command']);
    expect(emptied(1.5)).toEqual(['sample', 'command']);
  });

  it('says nothing of a command at the same time', () => {
    const lines = free().cmd(1, 'c1', `SET ${KEY} v1`).sample(1, undefined).end();
    expect(lines.changes.storedAt('v1', 1.5e9).truth).toBe('yes');
  });

  it('is believed against what commands say, unless it may be old', () => {
    const taken = () => free().cmd(1, 'c1', `SET ${KEY} v1`);
    expect(taken().sample(2).end().state.exists).toBe('no');
    expect(taken().sample(2, undefined, { exact: false }).end().state.exists).toBe('unknown');
  });

  it('of another process is one of a server that may have lost everything', () => {
    const lines = free().sample(0.5).cmd(1, 'c1', `SET ${KEY} v1`).sample(2, { owner: 'v1' }, { runId: 'b' });
    // When it was restarted is not known.
    expect(lines.changes.storedAt('v1', 1.9e9).truth).toBe('unknown');
    expect(lines.changes.list.some(({ how }) => how === 'gap')).toBe(true);
    expect(lines.end().changes.storedAt('v1', 2.5e9).truth).toBe('yes');
  });
});
