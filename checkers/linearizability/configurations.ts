/**
 * The configurations that a search has been in: which operations had taken effect, and the state of the lock.
 *
 * Operations take effect nearly in the order of their calls, so of each set only the middle is kept: the words between
 * those that are full and those that are empty. Two configurations are compared word by word; the hash only finds them.
 */

/** A set of numbers below a bound, which knows its hash and where its middle is. */
class BitSet {
  /** Of all that are in it, whatever the order in which they came. */
  hash = 0;
  /** Words before `low` are full; words after `high` are empty. */
  private low = 0;
  private high = -1;
  private readonly words: Int32Array;

  /** `salt` tells the hashes of two sets apart. */
  constructor(
    bound: number,
    private readonly salt: number,
  ) {
    this.words = new Int32Array((bound >>> 5) + 1);
  }

  has(n: number): boolean {
    return (this.words[n >>> 5]! & (1 << (n & 31))) !== 0;
  }

  add(n: number): void {
    const word = n >>> 5;
    this.words[word]! |= 1 << (n & 31);
    this.hash ^= mixed(n + this.salt);
    if (word > this.high) this.high = word;
    while (this.words[this.low] === FULL) this.low++;
  }

  remove(n: number): void {
    const word = n >>> 5;
    this.words[word]! &= ~(1 << (n & 31));
    this.hash ^= mixed(n + this.salt);
    if (word < this.low) this.low = word;
    while (this.high >= 0 && this.words[this.high] === 0) this.high--;
  }

  /** How many numbers `write` writes. */
  get size(): number {
    return 2 + Math.max(0, this.high - this.low + 1);
  }

  /** Writes where the middle begins, how long it is, and the middle; gives the place after it. */
  write(into: Int32Array, at: number): number {
    into[at] = this.low;
    into[at + 1] = this.size - 2;
    for (let word = this.low; word <= this.high; word++) into[at + 2 + word - this.low] = this.words[word]!;
    return at + this.size;
  }
}

const FULL = -1;

/** A number's 32 bits mixed well (the finalizer of MurmurHash3), so that sums of them, bit by bit, make a set's hash. */
function mixed(n: number): number {
  let bits = n | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

const EMPTY = -1;
const HEADER = 2;

export class Configurations {
  /** How many are remembered. */
  count = 0;
  private readonly completed: BitSet;
  private readonly unknown: BitSet;
  private readonly states = new Map<string | number, number>();
  /** Each configuration: its hash, its state, and both sets. */
  private kept = new Int32Array(1 << 12);
  private keptUntil = 0;
  /** Where each one is in `kept`, at the place that its hash gives or after it. */
  private places = new Int32Array(1 << 10).fill(EMPTY);

  /** Operations of a known outcome have numbers below the first bound, the others of their own below the second. */
  constructor(completed: number, unknown: number) {
    this.completed = new BitSet(completed, 1);
    this.unknown = new BitSet(unknown, 1 << 30);
  }

  has(n: number, isUnknown: boolean): boolean {
    return (isUnknown ? this.unknown : this.completed).has(n);
  }

  add(n: number, isUnknown: boolean): void {
    (isUnknown ? this.unknown : this.completed).add(n);
  }

  remove(n: number, isUnknown: boolean): void {
    (isUnknown ? this.unknown : this.completed).remove(n);
  }

  /** Remembers the operations as they are now with this state; false: it was remembered already. */
  remember(state: string | number): boolean {
    const at = this.keptUntil;
    const until = this.writeAt(at, this.numberOf(state));
    const mask = this.places.length - 1;
    let place = this.kept[at]! & mask;
    for (; this.places[place] !== EMPTY; place = (place + 1) & mask) {
      if (this.isSame(this.places[place]!, at, until)) return false;
    }
    this.places[place] = at;
    this.keptUntil = until;
    this.count++;
    if (2 * this.count > this.places.length) this.spread();
    return true;
  }

  private numberOf(state: string | number): number {
    const known = this.states.get(state);
    if (known !== undefined) return known;
    this.states.set(state, this.states.size);
    return this.states.size - 1;
  }

  private writeAt(at: number, state: number): number {
    const needed = at + HEADER + this.completed.size + this.unknown.size;
    if (needed > this.kept.length) {
      const larger = new Int32Array(2 * needed);
      larger.set(this.kept.subarray(0, at));
      this.kept = larger;
    }
    this.kept[at] = mixed(state) ^ this.completed.hash ^ this.unknown.hash;
    this.kept[at + 1] = state;
    return this.unknown.write(this.kept, this.completed.write(this.kept, at + HEADER));
  }

  /** Whether what is kept at `one` is what stands in `[at, until)`. Lengths are part of both, so they need no look. */
  private isSame(one: number, at: number, until: number): boolean {
    for (let n = 0; n < until - at; n++) if (this.kept[one + n] !== this.kept[at + n]) return false;
    return true;
  }

  private spread(): void {
    const old = this.places;
    this.places = new Int32Array(2 * old.length).fill(EMPTY);
    const mask = this.places.length - 1;
    for (const at of old) {
      if (at === EMPTY) continue;
      let place = this.kept[at]! & mask;
      while (this.places[place] !== EMPTY) place = (place + 1) & mask;
      this.places[place] = at;
    }
  }
}
