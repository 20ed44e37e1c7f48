import { expect, test } from 'vitest';
import { createRandom } from '../../../../harness/runtimes/random.js';

test('the same seed gives the same numbers, another seed others', () => {
  const draw = (seed: number) =>
    Array.from(
      { length: 20 },
      (
        (random) => () =>
          random.int(0, 1_000_000)
      )(createRandom(seed)),
    );
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

test('a fork depends on the seed and the label only, not on how much was drawn', () => {
  const fresh = createRandom(7).fork('nemesis').int(0, 1_000_000);
  const used = createRandom(7);
  for (let n = 0; n < 10; n++) used.float();
  expect(used.fork('nemesis').int(0, 1_000_000)).toBe(fresh);
  expect(createRandom(7).fork('clients').int(0, 1_000_000)).not.toBe(fresh);
});

test('numbers stay within their bounds, both included', () => {
  const random = createRandom(1);
  const drawn = new Set(Array.from({ length: 200 }, () => random.int(2, 4)));
  expect([...drawn].sort()).toEqual([2, 3, 4]);
  for (let n = 0; n < 200; n++) expect(random.float()).toBeLessThan(1);
  expect(() => random.pick([])).toThrow();
});
