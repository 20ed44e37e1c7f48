import { describe, expect, it } from 'vitest';
import {
  EndedMeanwhile,
  Interrupted,
  isRefusal,
  minorityOf,
  Refusal,
  waitFor,
  words,
} from '../../../../nemesis/levers/basics.js';
import { FakeClock } from '../fakes.js';

it('as many nodes may forget at once as leave a majority of all', () => {
  expect([1, 2, 3, 4, 5, 6, 7].map(minorityOf)).toEqual([0, 0, 1, 1, 2, 2, 3]);
});

it('tells what may not be done now from what failed', () => {
  expect([new Refusal('r'), new EndedMeanwhile('e'), new Error('x'), 'r'].map(isRefusal)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(words([])).toBe('nothing');
  expect(words(['r1', 'r2'])).toBe('r1, r2');
});

describe('waiting', () => {
  const wait = (after: number, signal = new AbortController().signal) => {
    const clock = new FakeClock();
    let asked = 0;
    const read = () => (++asked > after ? asked : undefined);
    const waited = waitFor(read, { timeoutMs: 30, pollMs: 10, doing: 'before it came', context: { clock, signal } });
    return clock.run(waited).then((value) => [value, clock.nowNs() / 1e6]);
  };

  it('ends with what comes, also at the last moment, and then without it', async () => {
    expect(await wait(0)).toEqual([1, 0]);
    expect(await wait(3)).toEqual([4, 30]);
    expect(await wait(4)).toEqual([undefined, 30]);
  });

  it('ends with the run, unless it has come by then', async () => {
    const over = AbortSignal.abort();
    expect(await wait(0, over)).toEqual([1, 0]);
    await expect(wait(1, over)).rejects.toThrow(new Interrupted('before it came'));
  });
});
