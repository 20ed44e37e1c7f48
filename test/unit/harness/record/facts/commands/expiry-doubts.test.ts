/** Whether a key had expired that a command came to in its last milliseconds, by what a look at the server leaves. */
import { describe, expect, it, test } from 'vitest';
import { EPOCH_MS, free, KEY, type Lines } from './literal.js';

/** A number that is 1 and has 100 ms to live, to which c2 adds one when it may be over; what that script does then. */
function asked(atS: number, ...then: string[]): Lines {
  const lines = free().cmd(1, 'c1', `SET ${KEY} 1 PX 100`).cmd(atS, 'c2', 'EVAL take 0').lua(`INCR ${KEY}`);
  for (const words of then) lines.lua(words);
  return lines;
}

/** At the very end of its time: two milliseconds before that and one after it cannot be told apart from it. */
const NEAR_S = 1.1;
const TIMED = `PEXPIRE ${KEY} 1000`;

const found = (lines: Lines, value: string, atS = 1.3) => lines.sample(atS, { owner: value, pttlMs: 800 }).end();
const steps = (lines: Lines) =>
  lines.changes.list.filter(({ line }) => line >= 2).map(({ how, by, applied }) => `${by?.name ?? how} ${applied}`);

describe('a look decides', () => {
  it('that it had expired', () => {
    const lines = found(asked(NEAR_S, TIMED).cmd(1.2, 'c3', `INCR ${KEY}`), '2');
    expect(steps(lines)).toEqual(['expired yes', 'INCR yes', 'PEXPIRE yes', 'INCR yes']);
    expect(lines.state).toMatchObject({ exists: 'yes', held: { value: '2' } });
  });

  it('that it had not', () => {
    const lines = found(asked(NEAR_S, TIMED).cmd(1.2, 'c3', `INCR ${KEY}`), '3');
    expect(steps(lines)).toEqual(['INCR yes', 'PEXPIRE yes', 'INCR yes']);
    expect(lines.state).toMatchObject({ exists: 'yes', held: { value: '3' } });
  });

  test('by what all commands since come to, also those that expire it again', () => {
    const lines = found(
      asked(NEAR_S, `PEXPIRE ${KEY} 20`).cmd(1.2, 'c3', `SET ${KEY} 7 PX 1000 NX`).cmd(1.25, 'c4', `DECR ${KEY}`),
      '6',
    );
    expect(lines.applied('c3')).toEqual(['yes']);
  });
});

describe('it stays open', () => {
  const values = (lines: Lines) => steps(lines).slice(0, 2);
  const open = ['expired unknown', 'INCR unknown'];

  it('without a look, and where that leaves both or none', () => {
    expect(values(asked(NEAR_S, TIMED))).toEqual(open);
    expect(values(found(asked(NEAR_S, TIMED).cmd(1.2, 'c3', `SET ${KEY} 5`), '5'))).toEqual(open);
    expect(values(found(asked(NEAR_S, TIMED), '9'))).toEqual(open);
  });

  it('where a look does not say when it was made', () => {
    const lines = asked(NEAR_S, TIMED).sample(1.3, { owner: '1', pttlMs: 800 }, { exact: false }).end();
    expect(values(lines)).toEqual(open);
  });

  it('where something else may have happened to it meanwhile', () => {
    expect(values(found(asked(NEAR_S, TIMED).gap(1.2), '1'))).toEqual(open);
    expect(values(found(asked(NEAR_S, TIMED).evicted(1.2).cmd(1.25, 'c3', `INCR ${KEY}`), '1'))).toEqual(open);
    const shown = asked(NEAR_S, TIMED);
    shown.reading.clockShowed({ line: 90, atNs: 1.2e9 }, EPOCH_MS + 2_200);
    expect(values(found(shown, '1'))).toEqual(open);
  });

  it('where a command on it may have done anything', () => {
    expect(values(found(asked(NEAR_S, TIMED).cmd(1.2, 'c3', `SOMETHING ${KEY}`), '1'))).toEqual(open);
  });

  it('of more commands than are kept', () => {
    const many = (count: number) => {
      const lines = asked(NEAR_S, TIMED);
      for (let n = 0; n < count; n++) lines.cmd(1.2 + n / 10_000, 'c3', `INCR ${KEY}`);
      return values(found(lines, String(count + 1)));
    };
    expect(many(200)).toEqual(['expired yes', 'INCR yes']);
    expect(many(300)).toEqual(open);
  });
});

it('is not asked where the key was certainly there, or certainly gone', () => {
  expect(steps(found(asked(1.05, TIMED), '9'))[0]).toBe('INCR yes');
  expect(steps(found(asked(1.2, TIMED), '9')).slice(0, 2)).toEqual(['expired yes', 'INCR yes']);
});
