/**
 * Sorts indexes that are nearly in order, as those of recorded events are: they were written as they happened, and only the
 * clients' own stamps move some of them past their neighbours.
 *
 * An insertion sort costs as much as there are pairs out of order, and a merge sort 20 comparisons for each of a million
 * items however well they are sorted. Where there turn out to be many pairs, the merge sort takes over.
 */
const MOVES_FOR_EACH = 64;

/** In place. `before(a, b)`: negative where `a` comes first. */
export function sortNearlySorted(indexes: Int32Array, before: (a: number, b: number) => number): void {
  let movesLeft = MOVES_FOR_EACH * indexes.length;
  for (let at = 1; at < indexes.length; at++) {
    const index = indexes[at]!;
    let place = at;
    while (place > 0 && before(index, indexes[place - 1]!) < 0) {
      indexes[place] = indexes[place - 1]!;
      place--;
    }
    indexes[place] = index;
    movesLeft -= at - place;
    if (movesLeft < 0) {
      indexes.sort(before);
      return;
    }
  }
}
