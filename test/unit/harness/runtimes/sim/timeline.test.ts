import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drawsFor } from '../../../../../harness/runtimes/sim/draws.js';
import { Timeline } from '../../../../../harness/runtimes/sim/timeline.js';

describe('virtual time', () => {
  test('what is to happen happens in the order of its time, and of one time in the order in which it was asked for', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 })), (delays) => {
        const timeline = new Timeline();
        const begin = timeline.nowNs;
        const seen: [at: number, n: number][] = [];
        delays.forEach((delay, n) => {
          timeline.at(begin + delay, () => seen.push([timeline.nowNs - begin, n]));
        });
        while (timeline.next());
        const wanted = delays.map((delay, n): [number, number] => [delay, n]);
        expect(seen).toEqual(wanted.sort(([a, n], [b, m]) => a - b || n - m));
      }),
    );
  });

  test('time never goes back: what is asked for too late happens now', () => {
    const timeline = new Timeline();
    const begin = timeline.nowNs;
    const seen: number[] = [];
    timeline.at(begin + 100, () => timeline.at(begin + 50, () => seen.push(timeline.nowNs - begin)));
    while (timeline.next());
    expect(seen).toEqual([100]);
  });

  test('what was cancelled does not happen, and takes no time', () => {
    const timeline = new Timeline();
    const begin = timeline.nowNs;
    timeline.at(begin + 1_000, () => expect.unreachable()).cancel();
    timeline.at(begin + 10, () => {});
    while (timeline.next());
    expect(timeline.nowNs - begin).toBe(10);
    expect(timeline.happened).toBe(1);
  });
});

describe('draws', () => {
  test('a number depends on the seed, on what it is for and on its place, and on nothing else', () => {
    const draw = drawsFor(7, 'r1>c1');
    expect(draw(3)).toBe(drawsFor(7, 'r1>c1')(3));
    const others = [draw(4), drawsFor(8, 'r1>c1')(3), drawsFor(7, 'r1>c2')(3)];
    for (const other of others) expect(other).not.toBe(draw(3));
  });

  test('they are spread evenly enough', () => {
    const draw = drawsFor(1, 'x');
    const numbers = Array.from({ length: 10_000 }, (_, n) => draw(n));
    for (let tenth = 0; tenth < 10; tenth++) {
      const inside = numbers.filter((value) => Math.floor(value * 10) === tenth).length;
      expect(Math.abs(inside - 1_000)).toBeLessThan(200);
    }
  });
});
