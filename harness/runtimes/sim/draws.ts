/**
 * Random numbers that depend on a seed and on what they are drawn for, not on what was drawn before: the delay of the third
 * message on a link stays what it is when something else is left out. Else nothing could be shrunk.
 */

/** A stream of numbers in [0, 1) for one thing: its nth number is always the same. */
export type Draws = (n: number) => number;

export function drawsFor(seed: number, what: string): Draws {
  let key = 0x811c9dc5 ^ seed;
  for (let at = 0; at < what.length; at++) key = Math.imul(key ^ what.charCodeAt(at), 0x01000193);
  return (n) => mixed(mixed(key) ^ Math.imul(n, 0x9e3779b1)) / 2 ** 32;
}

/** The finalizer of MurmurHash3, which has every bit of what it is given decide about every bit of the result. */
function mixed(value: number): number {
  let mix = value | 0;
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}
