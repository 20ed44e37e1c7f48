import type { History } from '../../vocabulary/history.js';

/** Makes it once for each history: several checkers and the report want the same, and of a long run it is large. */
export function once<T>(make: (history: History) => T): (history: History) => T {
  const made = new WeakMap<History, { value: T }>();
  return (history) => {
    const known = made.get(history) ?? { value: make(history) };
    made.set(history, known);
    return known.value;
  };
}
