/** Seeded randomness: the same seed and the same forks give the same numbers, whatever else was drawn meanwhile. */
import { createHash } from 'node:crypto';
import { uniformFloat32 } from 'pure-rand/distribution/uniformFloat32';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { Random } from '../vocabulary/time.js';

/** A random stream from a seed (any 32-bit integer). */
export function createRandom(seed: number): Random {
  const generator = xoroshiro128plus(seed);
  return {
    int: (min, max) => uniformInt(generator, min, max),
    float: () => uniformFloat32(generator),
    pick: (items) => {
      const item = items[uniformInt(generator, 0, items.length - 1)];
      if (items.length === 0 || item === undefined) throw new Error('pick() from an empty list');
      return item;
    },
    fork: (label) => createRandom(createHash('sha256').update(`${seed}/${label}`).digest().readInt32LE(0)),
  };
}
